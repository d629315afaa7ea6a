//! Parts of a run: measured intervals of a sampled one, phases of one that was simulated whole.

use std::iter::Sum;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::calls::{CallTally, PerKind};

/// One configuration's counters in one measured interval. Sample `i` of every configuration of a
/// run covers the same instructions, so comparisons are paired.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamplePoint {
    /// Instructions measured.
    pub instructions: u64,
    /// Cycles they took.
    pub cycles: u64,
    /// Those of them that fell inside allocator calls.
    pub allocator_cycles: u64,
    /// Calls that ended inside the interval, by kind.
    pub calls: PerKind<CallTally>,
}

/// One configuration's counters in a phase of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Instructions.
    pub instructions: u64,
    /// Cycles they took.
    pub cycles: u64,
    /// Those of the allocator calls that ended in it.
    pub allocator_cycles: u64,
}

impl AddAssign for Phase {
    fn add_assign(&mut self, other: Self) {
        self.instructions += other.instructions;
        self.cycles += other.cycles;
        self.allocator_cycles += other.allocator_cycles;
    }
}

impl Sum for Phase {
    fn sum<I: Iterator<Item = Self>>(phases: I) -> Self {
        phases.fold(Self::default(), |mut sum, phase| {
            sum += phase;
            sum
        })
    }
}

impl From<&SamplePoint> for Phase {
    fn from(point: &SamplePoint) -> Self {
        let SamplePoint { instructions, cycles, allocator_cycles, .. } = *point;
        Self { instructions, cycles, allocator_cycles }
    }
}
