//! What the predictor counts.

use crate::branch::BranchKind;

/// Counters of one kind of branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindStatistics {
    /// Branches executed.
    pub executed: u64,
    /// Of those, taken.
    pub taken: u64,
    /// Direction or target predicted wrongly.
    pub mispredicted: u64,
    /// Predicted taken but absent from the branch target buffer.
    pub btb_misses: u64,
}

/// Counters of all kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PredictStatistics {
    /// One for each kind, in the order of [`BranchKind::ALL`].
    pub kinds: [KindStatistics; 6],
}

impl PredictStatistics {
    /// Counters of one kind.
    pub fn kind(&self, kind: BranchKind) -> KindStatistics {
        self.kinds[kind as usize]
    }

    /// The sum over all kinds.
    pub fn total(&self) -> KindStatistics {
        self.kinds.iter().fold(KindStatistics::default(), |sum, kind| KindStatistics {
            executed: sum.executed + kind.executed,
            taken: sum.taken + kind.taken,
            mispredicted: sum.mispredicted + kind.mispredicted,
            btb_misses: sum.btb_misses + kind.btb_misses,
        })
    }

    /// Calls `each(kind, name, text, value)` for every counter, in order.
    pub fn for_each(&self, mut each: impl FnMut(&'static str, &'static str, &'static str, u64)) {
        for kind in BranchKind::ALL {
            let s = self.kind(kind);
            each(kind.name(), "executed", "Branches executed.", s.executed);
            each(kind.name(), "taken", "Branches taken.", s.taken);
            let text = "Direction or target predicted wrongly.";
            each(kind.name(), "mispredicted", text, s.mispredicted);
            let text = "Predicted taken but absent from the branch target buffer.";
            each(kind.name(), "btb_misses", text, s.btb_misses);
        }
    }
}
