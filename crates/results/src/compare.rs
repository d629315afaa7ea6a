//! Pairs configurations for comparison, and estimates the whole run from its samples.

use crate::confidence::{Estimate, ratio};
use crate::figures::{GroupFigures, placed};
use crate::model::{BASELINE, CallKind, Configuration, LIMIT, Run};

impl Run {
    /// The baseline of a configuration: the first one without an accelerator on the same machine.
    pub fn baseline_of(&self, configuration: &Configuration) -> Option<&Configuration> {
        self.configurations
            .iter()
            .find(|other| other.accelerator == BASELINE && other.machine == configuration.machine)
    }

    /// The configuration that the headline is about: the last one that has a baseline and an
    /// accelerator other than the limit study.
    pub fn headline_configuration(&self) -> Option<&Configuration> {
        self.configurations.iter().rev().find(|candidate| {
            candidate.accelerator != BASELINE
                && candidate.accelerator != LIMIT
                && self.baseline_of(candidate).is_some()
        })
    }

    /// The limit study on a machine.
    pub fn limit_of(&self, machine: &str) -> Option<&Configuration> {
        self.configurations
            .iter()
            .find(|other| other.accelerator == LIMIT && other.machine == machine)
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
        found
    }

    /// The allocating kind with the most calls, the first in code order among equals; `None` if
    /// there were no calls.
    pub fn main_kind(&self) -> Option<CallKind> {
        let calls = &self.configurations.first()?.calls;
        let mut best: Option<(CallKind, u64)> = None;
        for (kind, stats) in calls.iter().filter(|(kind, _)| kind.allocates()) {
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
        self.accelerator == BASELINE
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
        Some(ratio(&rates)?.scaled(population as f64))
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
        found
    }
}
