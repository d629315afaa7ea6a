//! What the predictor counts.

use stats::{Counts, Walk, counters};

use crate::branch::BranchKind;

counters! {
    /// Counters of one kind of branch.
    pub struct KindStatistics = Head::list("branch", "branches")
        .title("branches by kind")
        .about("One kind of branch.")
        .since(2);

    /// Branches executed.
    executed: Branches,
    /// Of those, taken.
    taken: Branches,
    /// Direction or target predicted wrongly.
    mispredicted: Branches,
    /// Predicted taken but absent from the branch target buffer.
    btb_misses: Branches,
}

counters! {
    /// What follows from the counters of all kinds.
    pub struct PredictorStatistics = Head::one("predictor")
        .title("branches and their prediction")
        .about("The branch predictor.");

    /// Conditional branches.
    conditional: Branches = "branch.conditional.executed",
    /// Of them, predicted in the wrong direction.
    conditional_mispredicted: Branches = "branch.conditional.mispredicted",
    /// Indirect jumps and calls.
    indirect: Branches = "branch.indirect_jump.executed + branch.indirect_call.executed",
    /// Of them, predicted to the wrong target.
    indirect_mispredicted: Branches =
        "branch.indirect_jump.mispredicted + branch.indirect_call.mispredicted",
    /// Returns.
    returns: Branches = "branch.return.executed",
    /// Of them, predicted to the wrong target.
    returns_mispredicted: Branches = "branch.return.mispredicted",
    /// Share of the conditional branches predicted in the right direction.
    accuracy: Fraction = "1 - conditional_mispredicted / conditional"
        [hit_rate(), called("directions right")],
    /// Wrong predictions of any kind per 1,000 instructions.
    mpki: PerThousandInstructions = "1000 * ((conditional_mispredicted + \
        indirect_mispredicted + returns_mispredicted) / core.instructions)"
        [miss_rate(), called("branches")],
}

/// Counters for all kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PredictStatistics {
    /// One per kind, in the order of [`BranchKind::ALL`].
    pub kinds: [KindStatistics; 6],
}

impl PredictStatistics {
    /// The counters of one kind.
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
}

impl Counts for PredictStatistics {
    fn visit(&self, walk: &mut Walk<'_>) {
        walk.one(&PredictorStatistics::default());
        for kind in BranchKind::ALL {
            walk.named(kind.name(), &self.kind(kind));
        }
    }
}
