//! Which instructions are skipped, warmed, simulated and measured.
//!
//! Everything is decided by instruction count and region-of-interest markers, and is the same for
//! every machine. A run is measured in full until it exceeds its budget of detailed instructions;
//! from then on it is sampled. The samples lie on the same grid from the start, so a run that turns
//! out to be long is estimated from systematic samples over all of it, and a short run is exact.

use crate::batch::Item;

/// Systematic sampling: of every `period` instructions the last `warm + measure` are timed and the
/// last `measure` counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Instructions from one sample to the next.
    pub period: u64,
    /// Instructions of detailed warm-up.
    pub warm: u64,
    /// Instructions measured.
    pub measure: u64,
}

impl Sample {
    /// Reads `PERIOD:WARM:MEASURE`; suffixes k, M and G mean thousand, million and billion.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let [period, warm, measure] = parts[..] else {
            return Err(format!(
                "sample {text:?}: must be PERIOD:WARM:MEASURE in instructions; try 10M:200k:100k"
            ));
        };
        let sample = Self { period: count(period)?, warm: count(warm)?, measure: count(measure)? };
        if sample.measure == 0 || sample.warm.saturating_add(sample.measure) > sample.period {
            return Err(format!(
                "sample {text:?}: MEASURE must be above 0 and WARM + MEASURE at most PERIOD; \
                 try 10M:200k:100k"
            ));
        }
        Ok(sample)
    }
}

/// Reads a count with an optional suffix k, M or G.
pub fn count(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        Some((at, 'g' | 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    let digits = digits.replace('_', "");
    let number = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(factor));
    number.ok_or_else(|| {
        let exact = digits.parse::<f64>().ok().map(|n| n * factor as f64);
        // 1.5M is a whole number of instructions, which can be written without a fraction.
        let exact = exact.filter(|n| *n >= 1.0 && *n < 1e15 && n.fract() == 0.0);
        let remedy = exact.map_or("10M".to_owned(), |n| format!("{n}"));
        format!(
            "{text:?}: must be a whole number of instructions, 0 or more, optionally with k, \
             M or G; try {remedy}"
        )
    })
}

/// How often each machine simulates the stream: once as described, and once more for each further
/// seed, with what differs from run to run drawn anew (`crate::variation`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// Simulations of each machine, the one as described included; at least 1.
    pub count: u64,
    /// Give the further ones up when the program turns out to be longer than this many
    /// instructions, or is sampled; `None` = never.
    pub up_to: Option<u64>,
}

impl Seeds {
    /// Every machine once.
    pub const ONE: Self = Self { count: 1, up_to: None };

    /// Whether the further ones go on after so many instructions.
    pub fn go_on(&self, executed: u64, sampled: bool) -> bool {
        self.count > 1 && self.up_to.is_none_or(|limit| !sampled && executed <= limit)
    }
}

/// The user's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Instructions at the start that are only used for warming.
    pub skip: u64,
    /// Instructions after that; `None` = to the end.
    pub max: Option<u64>,
    /// The sampling grid.
    pub sample: Sample,
    /// Instructions timed in full before sampling starts; `None` = never sample, `Some(0)` = from
    /// the beginning.
    pub budget: Option<u64>,
    /// Measure nothing before the first region of interest.
    pub roi_only: bool,
    /// How often each machine simulates it.
    pub seeds: Seeds,
}

/// Instructions of a phase, the smallest part of a run whose course is kept.
pub const PHASE: u64 = 20_000;

/// Progress of a run through its plan.
#[derive(Debug)]
pub struct Planner {
    plan: Plan,
    /// Instructions executed.
    pub executed: u64,
    /// Instructions measured or represented by samples.
    pub population: u64,
    /// Whether the budget was exceeded: only the samples count.
    pub sampled: bool,
    /// The planned end was reached.
    pub finished: bool,
    /// Regions of interest begun.
    pub regions: u64,
    stage: Stage,
    timed: Option<bool>,
    /// Value of `population` at the start of the open sample.
    sample_began: Option<u64>,
    /// Value of `population` at the start of the open phase.
    phase_began: u64,
    /// The next change is due when `executed` (while skipping) or `population` (afterwards) reaches
    /// this.
    next_change: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The first `skip` instructions.
    Skip,
    /// Waiting for a region of interest, or between two.
    Outside,
    /// Counting.
    Inside,
}

impl Planner {
    /// At the start of the plan.
    pub fn new(plan: Plan) -> Self {
        Self {
            plan,
            executed: 0,
            population: 0,
            sampled: plan.budget == Some(0),
            finished: false,
            regions: 0,
            stage: Stage::Skip,
            timed: None,
            sample_began: None,
            phase_began: 0,
            next_change: 0,
        }
    }

    /// A region of interest begins. The first one discards all earlier counts.
    pub fn roi_begin(&mut self, items: &mut Vec<Item>) {
        self.regions += 1;
        if self.stage == Stage::Skip {
            return;
        }
        if self.regions == 1 {
            self.population = 0;
            self.sampled = self.plan.budget == Some(0);
            self.sample_began = None;
            self.phase_began = 0;
            self.timed = None;
            items.push(Item::Restart);
        }
        self.stage = Stage::Inside;
        self.next_change = 0;
    }

    /// The region of interest ends.
    pub fn roi_end(&mut self) {
        if self.stage == Stage::Inside && self.regions > 0 {
            self.stage = Stage::Outside;
            self.next_change = 0;
        }
    }

    /// The stream has ended: an open sample is dropped, because it is not of full length.
    pub fn end(&mut self, items: &mut Vec<Item>) {
        self.sample_began = None;
        self.end_phase(items);
    }

    /// Called before a block of this many instructions; pushes the changes that are due.
    #[inline(always)]
    pub fn advance(&mut self, instructions: u64, items: &mut Vec<Item>) {
        let position = if self.stage == Stage::Skip { self.executed } else { self.population };
        if position >= self.next_change {
            self.change(items);
        }
        self.extend(instructions);
    }

    /// Counts a block that goes on where the one before it ended, without a branch: it belongs to
    /// that one, and nothing changes in between.
    #[inline(always)]
    pub fn extend(&mut self, instructions: u64) {
        self.executed += instructions;
        if self.stage == Stage::Inside {
            self.population += instructions;
        }
    }

    #[cold]
    fn change(&mut self, items: &mut Vec<Item>) {
        if self.stage == Stage::Skip {
            if self.executed < self.plan.skip {
                self.set_timed(false, items);
                self.next_change = self.plan.skip;
                return;
            }
            let waits = self.plan.roi_only && self.regions == 0;
            self.stage = if waits { Stage::Outside } else { Stage::Inside };
        }
        if self.stage == Stage::Outside {
            self.end_sample(items);
            self.set_timed(false, items);
            self.next_change = u64::MAX;
            return;
        }
        if self.plan.max.is_some_and(|max| self.population >= max) {
            self.end_sample(items);
            self.end_phase(items);
            self.stage = Stage::Outside;
            self.finished = true;
            self.next_change = u64::MAX;
            return;
        }
        if self.plan.budget.is_some_and(|budget| self.population >= budget) {
            self.sampled = true;
        }
        self.follow_grid(items);
    }

    /// Determines the mode at this position of the sampling grid, and where it changes next.
    fn follow_grid(&mut self, items: &mut Vec<Item>) {
        let Sample { period, warm, measure } = self.plan.sample;
        let offset = self.population % period;
        let start = self.population - offset;
        let (warm_at, measure_at) = (period - warm - measure, period - measure);
        // A block may carry the position past the end of a sample into the next period.
        if self.sample_began.is_some_and(|began| began < start || offset < measure_at) {
            self.end_sample(items);
        }
        if self.population - self.phase_began >= PHASE {
            self.end_phase(items);
        }
        self.set_timed(!self.sampled || offset >= warm_at, items);
        let mut next = match offset {
            _ if offset < warm_at => start + warm_at,
            _ if offset < measure_at => start + measure_at,
            _ => start + period,
        };
        if offset >= measure_at && self.sample_began.is_none() {
            self.sample_began = Some(self.population);
            items.push(Item::SampleBegin);
        }
        if !self.sampled {
            next = next.min(self.phase_began + PHASE);
        }
        for limit in [self.plan.budget, self.plan.max].into_iter().flatten() {
            if limit > self.population {
                next = next.min(limit);
            }
        }
        self.next_change = next;
    }

    fn set_timed(&mut self, timed: bool, items: &mut Vec<Item>) {
        if self.timed != Some(timed) {
            self.timed = Some(timed);
            items.push(Item::Timed(timed));
        }
    }

    /// Samples show the course of a sampled run.
    fn end_phase(&mut self, items: &mut Vec<Item>) {
        let instructions = self.population - self.phase_began;
        if instructions > 0 && !self.sampled {
            items.push(Item::PhaseEnd { instructions });
        }
        self.phase_began = self.population;
    }

    fn end_sample(&mut self, items: &mut Vec<Item>) {
        if let Some(began) = self.sample_began.take() {
            items.push(Item::SampleEnd { instructions: self.population - began });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs blocks of one instruction; returns each item with the number of instructions before it.
    fn items(plan: Plan, instructions: u64) -> (Vec<(u64, Item)>, Planner) {
        let mut planner = Planner::new(plan);
        let (mut all, mut items) = (Vec::new(), Vec::new());
        for _ in 0..instructions {
            let at = planner.executed;
            planner.advance(1, &mut items);
            all.extend(items.drain(..).map(|item| (at, item)));
        }
        (all, planner)
    }

    #[test]
    fn counts_are_whole_numbers_and_the_error_says_how_to_write_a_fraction() {
        for (text, value) in
            [("0", 0), ("12k", 12_000), ("3M", 3_000_000), ("1_0G", 10_000_000_000)]
        {
            assert_eq!(count(text), Ok(value), "{text}");
        }
        for (text, remedy) in [
            ("1.5M", "try 1500000"),
            ("0.0001k", "try 10M"),
            ("-1", "try 10M"),
            ("ten", "try 10M"),
            ("99999999999G", "try 10M"),
        ] {
            let error = count(text).unwrap_err();
            assert!(error.starts_with(&format!("{text:?}: must be a whole number of")), "{error}");
            assert!(error.contains("0 or more") && error.ends_with(remedy), "{error}");
        }
    }

    const GRID: Sample = Sample { period: 100, warm: 20, measure: 10 };

    fn plan() -> Plan {
        Plan { skip: 0, max: None, sample: GRID, budget: None, roi_only: false, seeds: Seeds::ONE }
    }

    #[test]
    fn a_short_run_is_timed_whole_and_still_marks_its_samples() {
        let (items, planner) = items(Plan { budget: Some(1000), ..plan() }, 150);
        let sample = [(90, Item::SampleBegin), (100, Item::SampleEnd { instructions: 10 })];
        assert_eq!(items, [vec![(0, Item::Timed(true))], sample.to_vec()].concat());
        assert!(!planner.sampled);
    }

    #[test]
    fn above_its_budget_a_run_is_sampled_on_the_same_grid() {
        let (items, planner) = items(Plan { budget: Some(150), ..plan() }, 301);
        let expected = [
            (0, Item::Timed(true)),
            (90, Item::SampleBegin),
            (100, Item::SampleEnd { instructions: 10 }),
            (150, Item::Timed(false)),
            (170, Item::Timed(true)),
            (190, Item::SampleBegin),
            (200, Item::SampleEnd { instructions: 10 }),
            (200, Item::Timed(false)),
            (270, Item::Timed(true)),
            (290, Item::SampleBegin),
            (300, Item::SampleEnd { instructions: 10 }),
            (300, Item::Timed(false)),
        ];
        assert_eq!(items, expected);
        assert!(planner.sampled);
        assert_eq!(planner.population, 301);
    }

    #[test]
    fn phases_end_at_their_length_where_the_region_goes_on_and_with_the_stream() {
        let phase = |instructions| Item::PhaseEnd { instructions };
        let whole = Plan { sample: Sample { period: 100_000, ..GRID }, ..plan() };
        let (mut items, mut planner) = items(whole, PHASE + 7);
        assert_eq!(items, [(0, Item::Timed(true)), (PHASE, phase(PHASE))]);
        let mut last = Vec::new();
        planner.end(&mut last);
        assert_eq!(last, [phase(7)]);
        items.clear();
        // A sampled run has samples instead.
        let mut planner = Planner::new(Plan { budget: Some(0), ..whole });
        let mut all = Vec::new();
        (0..2 * PHASE).for_each(|_| planner.advance(1, &mut all));
        planner.end(&mut all);
        assert!(!all.iter().any(|item| matches!(item, Item::PhaseEnd { .. })));
    }

    #[test]
    fn skipped_instructions_warm_and_a_maximum_ends_the_run() {
        let (items, planner) = items(Plan { skip: 30, max: Some(50), ..plan() }, 100);
        let phase = (80, Item::PhaseEnd { instructions: 50 });
        assert_eq!(items, [(0, Item::Timed(false)), (30, Item::Timed(true)), phase]);
        assert!(planner.finished);
    }

    #[test]
    fn the_first_region_of_interest_voids_what_came_before() {
        let mut planner = Planner::new(plan());
        let mut items = Vec::new();
        planner.advance(5, &mut items);
        planner.roi_begin(&mut items);
        planner.advance(7, &mut items);
        planner.roi_end();
        planner.advance(9, &mut items);
        let expected = [Item::Timed(true), Item::Restart, Item::Timed(true), Item::Timed(false)];
        assert_eq!(items, expected);
        assert_eq!((planner.executed, planner.population), (21, 7));
    }

    #[test]
    fn sample_texts_are_read_with_suffixes_and_checked() {
        let sample = Sample { period: 10_000_000, warm: 200_000, measure: 100_000 };
        assert_eq!(Sample::parse("10M:200k:100k"), Ok(sample));
        for text in ["10M", "1:2:3", "10:0:0", "a:b:c", "99999999999999999999G:1:1"] {
            assert!(Sample::parse(text).unwrap_err().contains("try"), "{text}");
        }
    }
}
