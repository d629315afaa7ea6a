//! Allocator calls: their kinds, and what is counted for each kind.

use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};
pub use stream::CallKind;

use super::histogram::LatencyHistogram;

/// A call that takes fewer cycles than this counts as fast path (the rule of the Mallacc authors'
/// measurement scripts).
pub const FAST_CALL_CYCLES: u64 = 100;

/// One value for each kind of call, indexed by [`CallKind`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PerKind<T>(pub [T; 8]);

impl<T> PerKind<T> {
    /// The kinds with their values, in code order.
    pub fn iter(&self) -> impl Iterator<Item = (CallKind, &T)> {
        CallKind::ALL.into_iter().zip(&self.0)
    }
}

impl<T> Index<CallKind> for PerKind<T> {
    type Output = T;

    fn index(&self, kind: CallKind) -> &T {
        &self.0[kind as usize]
    }
}

impl<T> IndexMut<CallKind> for PerKind<T> {
    fn index_mut(&mut self, kind: CallKind) -> &mut T {
        &mut self.0[kind as usize]
    }
}

/// Counters of one kind of call under one configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallStats {
    /// Calls that ended inside the measured part of the run.
    pub calls: u64,
    /// Their cycles, each from the retirement of its first instruction to that of its `ret`.
    pub cycles: u64,
    /// Calls that took fewer than [`FAST_CALL_CYCLES`] cycles.
    pub fast_calls: u64,
    /// The cycles of the fast calls.
    pub fast_cycles: u64,
    /// How often each latency occurred.
    pub latency: LatencyHistogram,
}

impl CallStats {
    /// Counts one call.
    pub fn record(&mut self, cycles: u64) {
        self.calls += 1;
        self.cycles += cycles;
        if cycles < FAST_CALL_CYCLES {
            self.fast_calls += 1;
            self.fast_cycles += cycles;
        }
        self.latency.record(cycles);
    }

    /// Adds another set of calls to this one.
    pub fn merge(&mut self, other: &Self) {
        self.calls += other.calls;
        self.cycles += other.cycles;
        self.fast_calls += other.fast_calls;
        self.fast_cycles += other.fast_cycles;
        self.latency.merge(&other.latency);
    }
}

impl PerKind<CallStats> {
    /// The calls of all kinds that `choose` accepts, merged.
    pub fn total(&self, choose: impl Fn(CallKind) -> bool) -> CallStats {
        let mut sum = CallStats::default();
        for (_, stats) in self.iter().filter(|(kind, _)| choose(*kind)) {
            sum.merge(stats);
        }
        sum
    }

    /// All calls that allocate memory: malloc, calloc, realloc, new and memalign.
    pub fn allocation(&self) -> CallStats {
        self.total(CallKind::allocates)
    }

    /// All calls that free memory: free, delete and sized delete.
    pub fn deallocation(&self) -> CallStats {
        self.total(|kind| !kind.allocates())
    }
}

/// Calls and their cycles inside one sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallTally {
    /// Calls that ended inside the sample.
    pub calls: u64,
    /// Their cycles.
    pub cycles: u64,
}
