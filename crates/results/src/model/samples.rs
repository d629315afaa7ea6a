//! One measured interval of a sampled run.

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
