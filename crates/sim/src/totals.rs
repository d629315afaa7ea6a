//! Counters of a machine as one flat vector: differences and sums without forgetting one.

use std::collections::BTreeMap;

use results::{CallKind, CallStats, PerKind, SamplePoint};
use uarch::{Call, Component, Core, Observer};

/// Every counter of a core, hierarchy, predictors and accelerator, in a fixed order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters(Vec<u64>);

impl Counters {
    /// What a core has counted since it was made.
    pub fn read<O: Observer>(core: &Core<O>) -> Self {
        let mut values = Vec::with_capacity(128);
        each(core, |_, _, value| values.push(value));
        Self(values)
    }

    /// `group.name` of every counter, in the same order.
    pub fn names<O: Observer>(core: &Core<O>) -> Vec<String> {
        let mut names = Vec::new();
        each(core, |group, name, _| names.push(format!("{group}.{name}")));
        names
    }

    /// Adds what was counted between two readings.
    pub fn add_difference(&mut self, from: &Self, to: &Self) {
        self.0.resize(to.0.len(), 0);
        for ((sum, from), to) in self.0.iter_mut().zip(&from.0).zip(&to.0) {
            *sum += to - from;
        }
    }

    /// The counters by name.
    pub fn named(&self, names: &[String]) -> BTreeMap<String, u64> {
        names.iter().cloned().zip(self.0.iter().copied()).collect()
    }

    /// Cycles between two readings.
    pub fn cycles_between(from: &Self, to: &Self) -> u64 {
        to.0[0] - from.0[0]
    }
}

/// Calls `f(group, name, value)` for every counter; cycles come first.
fn each<O: Observer>(core: &Core<O>, mut f: impl FnMut(&str, &str, u64)) {
    f("core", "cycles", core.cycles());
    let counters = core.counters();
    for (name, value) in [
        ("instructions", counters.instructions),
        ("uops", counters.uops),
        ("elided", counters.elided),
        ("injected", counters.injected),
        ("mispredicts", counters.mispredicts),
        ("forwards", counters.forwards),
        ("forward_failures", counters.forward_failures),
        ("order_clears", counters.order_clears),
        ("syscalls", counters.syscalls),
        ("page_faults", counters.page_faults),
        ("asynchronous", counters.asynchronous),
    ] {
        f("core", name, value);
    }
    let fetch = core.fetch_counters();
    f("fetch", "uop_cache", fetch.uop_cache);
    f("fetch", "legacy", fetch.legacy);
    f("fetch", "loop_buffer", fetch.loop_buffer);
    for (component, cycles) in Component::ALL.iter().zip(core.cpi_stack()) {
        f("cpi", component.name(), cycles);
    }
    core.memory().statistics().for_each(|group, name, _, _, value| f(group, name, value));
    core.predictor().statistics().for_each(|group, name, _, value| f(group, name, value));
    let accelerator = core.accelerator().counters();
    for (name, value) in [
        ("lookup_hits", accelerator.lookup_hits),
        ("lookup_misses", accelerator.lookup_misses),
        ("pop_hits", accelerator.pop_hits),
        ("pop_misses", accelerator.pop_misses),
        ("pushes", accelerator.pushes),
        ("prefetches", accelerator.prefetches),
        ("evictions", accelerator.evictions),
        ("invalidations", accelerator.invalidations),
        ("flushes", accelerator.flushes),
        ("blocked_cycles", accelerator.blocked_cycles),
        ("invariant_violations", accelerator.invariant_violations),
    ] {
        f("malloc_cache", name, value);
    }
}

/// Counters and calls of a measured part of a run.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Counters.
    pub counters: Counters,
    /// Allocator calls.
    pub calls: PerKind<CallStats>,
    /// Allocations by size class.
    pub size_classes: BTreeMap<u64, u64>,
    /// Allocations by requested size.
    pub requested_sizes: BTreeMap<u64, u64>,
    /// Cycles inside calls.
    pub allocator_cycles: u64,
}

impl Totals {
    /// Counts finished calls.
    pub fn calls(&mut self, calls: &[Call]) {
        for call in calls {
            let kind = CallKind::ALL[call.kind as usize];
            self.calls[kind].record(call.cycles);
            self.allocator_cycles += call.cycles;
            if kind.allocates() {
                if let Some(class) = call.class {
                    *self.size_classes.entry(u64::from(class)).or_default() += 1;
                }
                *self.requested_sizes.entry(call.argument).or_default() += 1;
            }
        }
    }
}

/// A sample in work.
#[derive(Clone, Debug, Default)]
pub struct OpenSample {
    /// Reading at its start.
    pub from: Counters,
    /// Calls that ended in it.
    pub calls: Vec<Call>,
}

impl OpenSample {
    /// The finished sample; its calls and counters are added to `totals`.
    pub fn finish(self, to: &Counters, instructions: u64, totals: &mut Totals) -> SamplePoint {
        let mut point = SamplePoint {
            instructions,
            cycles: Counters::cycles_between(&self.from, to),
            ..SamplePoint::default()
        };
        for call in &self.calls {
            let tally = &mut point.calls[CallKind::ALL[call.kind as usize]];
            tally.calls += 1;
            tally.cycles += call.cycles;
            point.allocator_cycles += call.cycles;
        }
        totals.calls(&self.calls);
        totals.counters.add_difference(&self.from, to);
        point
    }
}
