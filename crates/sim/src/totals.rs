//! What a machine counted in a measured part of a run.

use std::collections::BTreeMap;

use results::{CallStats, PerKind, SamplePoint};
use stats::Reading;
use uarch::Call;

/// Counters and calls of a measured part of a run.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Counters.
    pub counters: Reading,
    /// Allocator calls.
    pub calls: PerKind<CallStats>,
    /// Allocations by size class.
    pub size_classes: BTreeMap<u64, u64>,
    /// Bytes of a block of each of these classes.
    pub class_bytes: BTreeMap<u64, u64>,
    /// Allocations by requested size.
    pub requested_sizes: BTreeMap<u64, u64>,
    /// Cycles inside calls.
    pub allocator_cycles: u64,
    /// Calls by who made them, as in [`crate::Item::Caller`].
    pub callers: BTreeMap<u32, CallerTotals>,
}

/// The calls of one caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallerTotals {
    /// Calls that ended.
    pub calls: u64,
    /// Bytes that they requested.
    pub bytes: u64,
    /// Their cycles.
    pub cycles: u64,
}

impl Totals {
    /// Adds finished calls.
    pub fn calls(&mut self, calls: &[Call]) {
        for call in calls {
            self.calls[call.kind].record(call.cycles);
            self.allocator_cycles += call.cycles;
            let caller = self.callers.entry(call.caller).or_default();
            caller.calls += 1;
            caller.cycles += call.cycles;
            if call.kind.allocates() {
                caller.bytes = caller.bytes.saturating_add(call.argument);
                if let Some(class) = call.class {
                    let number = u64::from(class.number);
                    *self.size_classes.entry(number).or_default() += 1;
                    self.class_bytes.entry(number).or_insert(class.bytes);
                }
                *self.requested_sizes.entry(call.argument).or_default() += 1;
            }
        }
    }
}

/// A sample in progress.
#[derive(Clone, Debug, Default)]
pub struct OpenSample {
    /// Counters at its start.
    pub from: Reading,
    /// Cycle at its start.
    pub start: u64,
    /// Calls that ended in it.
    pub calls: Vec<Call>,
}

impl OpenSample {
    /// The sample ended in cycle `end`; its calls and counters are added to `totals`.
    pub fn finish(
        self,
        to: &Reading,
        end: u64,
        instructions: u64,
        totals: &mut Totals,
    ) -> SamplePoint {
        let cycles = end - self.start;
        let mut point = SamplePoint { instructions, cycles, ..SamplePoint::default() };
        for call in &self.calls {
            let tally = &mut point.calls[call.kind];
            tally.calls += 1;
            tally.cycles += call.cycles;
            point.allocator_cycles += call.cycles;
        }
        totals.calls(&self.calls);
        totals.counters.add_difference(&self.from, to);
        point
    }
}
