//! Samples of a timed microbenchmark.

/// A calibration that moved by more than this beside a sample: the clock changed, or something
/// else ran, and the sample is left out.
pub const MOVED: f64 = 0.02;

/// A repeat's ticks and those of the chains before and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Of the repeat.
    pub ticks: u64,
    /// Of the chain before it.
    pub before: u64,
    /// Of the chain after it.
    pub after: u64,
}

impl Sample {
    /// By how much the second chain differs from the first.
    pub fn moved(&self) -> f64 {
        (self.after as f64 - self.before as f64).abs() / self.before as f64
    }

    /// Core cycles of the repeat: a chain takes a cycle for each addition.
    pub fn cycles(&self, additions: u64) -> f64 {
        let chain = self.before.midpoint(self.after) as f64;
        self.ticks as f64 * additions as f64 / chain
    }
}

/// What a timed program printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timed {
    /// Additions of a chain.
    pub additions: u64,
    /// Steps of a repeat.
    pub steps: u64,
    /// One for each repeat.
    pub samples: Vec<Sample>,
}

impl Timed {
    /// Reads a program's output: lines `timed: N additions, N steps` and `sample: N ticks, N
    /// before, N after`; other lines are the program's own. The error is a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut timed = Self::default();
        for (number, line) in text.lines().enumerate() {
            let wrong = |rule| format!("line {}: {line:?}: {rule}", number + 1);
            if let Some(rest) = line.strip_prefix("timed: ") {
                let [additions, steps] = numbers(rest, ["additions", "steps"])
                    .ok_or_else(|| wrong("must have additions and steps"))?;
                (timed.additions, timed.steps) = (additions, steps);
            } else if let Some(rest) = line.strip_prefix("sample: ") {
                let [ticks, before, after] = numbers(rest, ["ticks", "before", "after"])
                    .ok_or_else(|| wrong("must have ticks, before and after"))?;
                timed.samples.push(Sample { ticks, before, after });
            }
        }
        if timed.samples.is_empty() || timed.additions == 0 || timed.steps == 0 {
            return Err("no timed samples; build the microbenchmarks anew with `make guest`".into());
        }
        Ok(timed)
    }

    /// Cycles of a step for each sample whose calibration held, and how many were left out.
    pub fn cycles_per_step(&self) -> (Vec<f64>, usize) {
        let held = self.samples.iter().filter(|sample| sample.moved() <= MOVED);
        let kept: Vec<f64> =
            held.map(|sample| sample.cycles(self.additions) / self.steps as f64).collect();
        let left_out = self.samples.len() - kept.len();
        (kept, left_out)
    }

    /// Core cycles of a tick, for each sample whose calibration held.
    pub fn cycles_per_tick(&self) -> Vec<f64> {
        let held = self.samples.iter().filter(|sample| sample.moved() <= MOVED);
        held.map(|s| self.additions as f64 / s.before.midpoint(s.after) as f64).collect()
    }
}

/// `N name, N name, …` with these names, all above 0.
fn numbers<const N: usize>(text: &str, names: [&str; N]) -> Option<[u64; N]> {
    let mut parts = text.split(", ");
    let mut found = [0; N];
    for (value, name) in found.iter_mut().zip(names) {
        let (number, unit) = parts.next()?.split_once(' ')?;
        *value = number.parse().ok().filter(|&n| n > 0 && unit == name)?;
    }
    parts.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_cycles_through_the_chain_beside_them() {
        // 1,000 additions in 500 ticks: two cycles a tick. 300 ticks of 60 steps: 10 a step.
        let text = "timed: 1000 additions, 60 steps\nsample: 300 ticks, 500 before, 500 after\n\
                    tp: 2 repeats of 60 iterations\n";
        let timed = Timed::parse(text).unwrap();
        assert_eq!(timed.cycles_per_step(), (vec![10.0], 0));
        assert_eq!(timed.cycles_per_tick(), [2.0]);
    }

    #[test]
    fn a_sample_whose_calibration_moved_over_two_per_cent_is_left_out() {
        let sample = |before, after| Sample { ticks: 100, before, after };
        let samples =
            vec![sample(1000, 1020), sample(1000, 1021), sample(1000, 980), sample(1000, 979)];
        let timed = Timed { additions: 1000, steps: 100, samples };
        let (kept, left_out) = timed.cycles_per_step();
        assert_eq!((kept.len(), left_out), (2, 2));
        // 100 ticks, a chain of 1,010 on average for 1,000 cycles, 100 steps.
        assert!((kept[0] - 1000.0 / 1010.0).abs() < 1e-12, "{kept:?}");
    }

    #[test]
    fn output_that_is_not_a_timing_is_refused_in_a_sentence() {
        for (text, part) in [
            ("tp: 2 repeats\n", "no timed samples"),
            ("timed: 5 additions, 5 steps\n", "no timed samples"),
            ("timed: many additions, 5 steps\n", "line 1: \"timed: many"),
            ("timed: 5 additions, 5 steps\nsample: 1 ticks, 0 before, 3 after\n", "line 2"),
            ("timed: 5 additions, 5 steps\nsample: 1 ticks, 2 before\n", "line 2"),
        ] {
            let error = Timed::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
