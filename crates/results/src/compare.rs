//! Pairs configurations for comparison, and estimates the whole run from its samples.

use stats::Meaning;

use crate::confidence::{Estimate, around_first, ratio};
use crate::figures::{GroupFigures, meaning, placed};
use crate::model::{CallKind, Configuration, Phase, Role, Run};
use crate::select::CallGroup;
use crate::statistics::{Value, quotient};

/// A counter that must be 0 and is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The configuration that counted it.
    pub configuration: String,
    /// Its group and name.
    pub name: String,
    /// What it counted.
    pub count: u64,
    /// Its meaning, without a full stop.
    pub sentence: String,
}

impl Run {
    /// The baseline that a configuration's gains are measured against: the first one without an
    /// accelerator on the same machine. There is none if the run is invalid or could not measure
    /// any call: then no gain is defined.
    pub fn baseline_of(&self, configuration: &Configuration) -> Option<&Configuration> {
        self.baseline_on(&configuration.machine)
    }

    fn baseline_on(&self, machine: &str) -> Option<&Configuration> {
        let gains = self.unmeasured.is_none() && !self.is_invalid();
        self.first(machine, Role::Baseline).filter(|_| gains)
    }

    /// The configuration that the headline is about, of the first machine.
    pub fn headline_configuration(&self) -> Option<&Configuration> {
        self.machines().into_iter().find_map(|machine| self.subject_of(machine))
    }

    /// What must not have been counted.
    pub fn faults(&self) -> Vec<Fault> {
        let (schema, mut found) = (self.groups(), Vec::new());
        for item in &self.configurations {
            let figures = GroupFigures::of(self, item);
            for (_, group, figure) in meaning(&schema, Meaning::Fault) {
                if let Value::Count(count @ 1..) = figures.value(&group.path, &figure.name) {
                    found.push(Fault {
                        configuration: item.name.clone(),
                        name: format!("{}.{}", group.path, figure.name),
                        count,
                        sentence: figure.sentence.trim_end_matches('.').to_owned(),
                    });
                }
            }
        }
        found
    }

    /// Whether the program's markers or a model were at fault: then no gain may be stated.
    pub fn is_invalid(&self) -> bool {
        self.markers.is_some_and(|markers| markers.broken > 0) || self.counted_faults()
    }

    /// Whether there are [`Run::faults`]; does not describe them, because each gain asks.
    fn counted_faults(&self) -> bool {
        let counted = |path: &str, name: &str| {
            let counts = self.configurations.iter().filter_map(|item| item.counted.get(path, name));
            counts.max() > Some(0)
        };
        self.schema.kinds().iter().any(|kind| {
            let mut faults = kind.figures.iter().filter(|figure| figure.meaning == Meaning::Fault);
            faults.any(|figure| {
                let mut groups = self.schema.groups_of(kind);
                groups.any(|group| counted(&group.path(), &figure.name))
            })
        })
    }

    /// The configuration that a machine's headline is about: the accelerator that the run was made
    /// for, or else the first one, if the machine has a baseline to compare it with, as in
    /// [`Run::baseline_of`].
    pub fn subject_of(&self, machine: &str) -> Option<&Configuration> {
        self.baseline_on(machine)?;
        self.first(machine, Role::Subject).or_else(|| self.first(machine, Role::Candidate))
    }

    /// The limit study on a machine that has a baseline: all accelerated steps at no cost.
    pub fn limit_of(&self, machine: &str) -> Option<&Configuration> {
        self.baseline_on(machine)?;
        self.first(machine, Role::Limit)
    }

    /// Allocator calls at no cost, on a machine that has a baseline.
    pub fn bound_of(&self, machine: &str) -> Option<&Configuration> {
        self.baseline_on(machine)?;
        self.first(machine, Role::Bound)
    }

    /// The names of the machines, each once, in the order of the configurations.
    pub fn machines(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for item in &self.configurations {
            if !names.contains(&item.machine.as_str()) {
                names.push(&item.machine);
            }
        }
        names
    }

    fn first(&self, machine: &str, role: Role) -> Option<&Configuration> {
        self.configurations.iter().find(|item| item.role == role && item.machine == machine)
    }

    /// Contradictions in the counters, one sentence each; empty if there are none. Checks the sums
    /// that every simulator must satisfy, and that samples are aligned.
    pub fn contradictions(&self) -> Vec<String> {
        let mut found: Vec<String> =
            self.configurations.iter().flat_map(|item| item.contradictions(self)).collect();
        let instructions = |item: &Configuration| -> Vec<u64> {
            item.samples.iter().map(|point| point.instructions).collect()
        };
        let Some((first, others)) = self.configurations.split_first() else { return found };
        let expected = instructions(first);
        for other in others.iter().filter(|other| instructions(other) != expected) {
            found.push(format!(
                "{}: its samples cover other instructions than those of {}",
                other.name, first.name
            ));
        }
        let seeds = first.replicates.len();
        for other in others.iter().filter(|other| other.replicates.len() != seeds) {
            found.push(format!(
                "{}: it was simulated with {} seeds, must be the {seeds} of {}",
                other.name,
                other.replicates.len(),
                first.name
            ));
        }
        found
    }

    /// The allocating kind with the most calls, the first in code order among equals; `None` if
    /// there were no calls.
    pub fn main_kind(&self) -> Option<CallKind> {
        self.main_kind_of(CallGroup::Allocation)
    }

    /// The kinds that reports single out: the allocating and the freeing one with the most calls.
    pub fn main_kinds(&self) -> Vec<CallKind> {
        let groups = [CallGroup::Allocation, CallGroup::Deallocation];
        groups.into_iter().filter_map(|group| self.main_kind_of(group)).collect()
    }

    /// The same as [`Run::main_kind`] among the kinds of a group.
    fn main_kind_of(&self, group: CallGroup) -> Option<CallKind> {
        let calls = &self.configurations.first()?.calls;
        let mut best: Option<(CallKind, u64)> = None;
        for (kind, stats) in calls.iter().filter(|(kind, _)| group.contains(*kind)) {
            if stats.calls > best.map_or(0, |(_, calls)| calls) {
                best = Some((kind, stats.calls));
            }
        }
        best.map(|(kind, _)| kind)
    }
}

impl Configuration {
    /// Whether this is a baseline.
    pub fn is_baseline(&self) -> bool {
        self.role == Role::Baseline
    }

    /// Cycles per measured instruction, for example of a part of the CPI stack.
    pub fn per_instruction(&self, cycles: u64) -> Option<f64> {
        (self.instructions > 0).then(|| cycles as f64 / self.instructions as f64)
    }

    /// Cycles of the whole run if it was sampled: an estimate from the samples.
    pub fn whole_run_cycles(&self, population: u64) -> Option<Estimate> {
        self.whole_run(population, |point| point.cycles)
    }

    /// Allocator cycles of the whole run if it was sampled.
    pub fn whole_run_allocator_cycles(&self, population: u64) -> Option<Estimate> {
        self.whole_run(population, |point| point.allocator_cycles)
    }

    fn whole_run(
        &self,
        population: u64,
        part: fn(&crate::model::SamplePoint) -> u64,
    ) -> Option<Estimate> {
        let rates: Vec<_> = self.samples.iter().map(|p| (part(p), p.instructions)).collect();
        let estimate = ratio(&rates)?;
        let seeds: Option<Vec<f64>> =
            self.replicates.iter().map(|p| quotient(part(p), p.instructions)).collect();
        let half_width = around_first(&seeds.unwrap_or_default(), estimate.half_width);
        Some(Estimate { half_width, ..estimate }.scaled(population as f64))
    }

    /// Contradictions in these counters; see [`Run::contradictions`].
    fn contradictions(&self, run: &Run) -> Vec<String> {
        let mut found = Vec::new();
        let mut expect_equal = |what: String, sum: u64, total: u64| {
            if sum != total {
                found.push(format!("{}: {what} are {sum}, must be {total}", self.name));
            }
        };
        let (schema, figures) = (run.groups(), GroupFigures::of(run, self));
        for group in placed(&schema) {
            let whole = figures.whole(group.kind, &group.path);
            if let Some(whole) = whole.filter(|_| figures.has(&group.path)) {
                let counters = figures.counters(&group.path).iter();
                let sum = counters.map(|(_, value)| *value).fold(0, u64::saturating_add);
                let unit = group.kind.figures.first().map_or("parts", |part| part.unit.name());
                let what = format!("{unit} in the {}", group.kind.head.title);
                expect_equal(what, sum, whole);
            }
            if let Some((left, sum, total)) = figures.balance(group.kind, &group.path) {
                let name = if group.name.is_empty() { &group.kind.head.title } else { group.name };
                expect_equal(format!("{name} {left}"), sum, total);
            }
        }
        for (kind, calls) in self.calls.iter() {
            let total = calls.latency.total();
            expect_equal(format!("{} calls in the histogram", kind.name()), total, calls.calls);
        }
        if !self.samples.is_empty() {
            let sum = self.samples.iter().map(|point| point.cycles).sum();
            expect_equal("cycles in the samples".into(), sum, self.cycles);
            let sum = self.samples.iter().map(|point| point.instructions).sum();
            expect_equal("instructions in the samples".into(), sum, self.instructions);
        }
        if !self.phases.is_empty() {
            let sum: Phase = self.phases.iter().copied().sum();
            expect_equal("cycles in the phases".into(), sum.cycles, self.cycles);
            let calls = sum.allocator_cycles;
            expect_equal("allocator cycles in the phases".into(), calls, self.allocator_cycles);
        }
        if let Some(own) = self.replicates.first() {
            expect_equal("cycles of the first seed".into(), own.cycles, self.cycles);
        }
        found
    }
}
