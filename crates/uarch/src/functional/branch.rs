//! The end of a block: where control went, and whether that was predicted.

use decode::BranchKind;
use predict::BranchKind as Predicted;

use memory::Mapping;

use super::Functional;
use crate::step::Step;

/// What the end of a block means for the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchOutcome {
    /// Nothing: the next block follows in memory, or is not known.
    None,
    /// A system call.
    SystemCall,
    /// Control went where no branch sent it: a signal is delivered, or the thread's instruction
    /// faulted.
    Asynchronous,
    /// A conditional branch, correctly predicted not taken.
    NotTaken,
    /// A taken branch, correctly predicted.
    Taken {
        /// A direct jump or a conditional branch.
        plain: bool,
        /// It missed in the target buffer.
        btb_miss: bool,
    },
    /// A misprediction.
    Mispredicted {
        /// Where fetch went; 0 if unknown.
        wrong: u64,
    },
}

impl<M: Mapping> Functional<M> {
    /// Predicts the block's branch and trains the predictors with its outcome. `retired`: when the
    /// block's last instruction retired; a return ends a call then.
    #[inline(always)]
    pub fn resolve_branch(&mut self, step: &Step, retired: u64) -> BranchOutcome {
        let branch = &step.block.branch;
        let Some(kind) = predicted_kind(branch.kind) else { return without_branch(step) };
        if branch.kind == BranchKind::Return {
            self.calls.returned(retired);
        }
        if step.next == 0 {
            return BranchOutcome::None;
        }
        let taken = match kind {
            Predicted::Conditional => step.next != branch.next,
            _ => true,
        };
        let direct = branch.target != 0;
        if direct && taken && step.next != branch.target {
            return BranchOutcome::Asynchronous;
        }
        let outcome =
            self.predictor.predict_and_update(kind, branch.addr, taken, step.next, branch.next);
        if outcome.mispredicted {
            BranchOutcome::Mispredicted { wrong: wrong_path(branch, taken) }
        } else if taken {
            let plain = matches!(kind, Predicted::Conditional | Predicted::Jump);
            BranchOutcome::Taken { plain, btb_miss: outcome.btb_miss }
        } else {
            BranchOutcome::NotTaken
        }
    }

    /// Trains the predictors without using their predictions. A core calls it for an elided block
    /// end too: the predictors see the same branches whatever the accelerator leaves out. Otherwise
    /// shifted histories would move mispredictions about in code that has nothing to do with
    /// allocation, by more than an accelerator gains.
    pub fn warm_branch(&mut self, step: &Step) {
        let branch = &step.block.branch;
        let Some(kind) = predicted_kind(branch.kind) else { return };
        let taken = kind != Predicted::Conditional || step.next != branch.next;
        let asynchronous = branch.target != 0 && taken && step.next != branch.target;
        if step.next == 0 || asynchronous {
            return;
        }
        self.predictor.warm(kind, branch.addr, taken, step.next, branch.next);
    }
}

fn without_branch(step: &Step) -> BranchOutcome {
    let branch = &step.block.branch;
    if branch.kind == BranchKind::Syscall {
        return BranchOutcome::SystemCall;
    }
    let repeats = step.block.insns.last().is_some_and(|insn| insn.rep);
    if step.next != 0 && step.next != branch.next && !repeats {
        return BranchOutcome::Asynchronous;
    }
    BranchOutcome::None
}

fn predicted_kind(kind: BranchKind) -> Option<Predicted> {
    Some(match kind {
        BranchKind::None | BranchKind::Syscall => return None,
        BranchKind::Conditional => Predicted::Conditional,
        BranchKind::Jump => Predicted::Jump,
        BranchKind::IndirectJump => Predicted::IndirectJump,
        BranchKind::Call => Predicted::Call,
        BranchKind::IndirectCall => Predicted::IndirectCall,
        BranchKind::Return => Predicted::Return,
    })
}

/// Where fetch went after a mispredicted conditional branch; unknown (0) for others.
fn wrong_path(branch: &decode::Branch, taken: bool) -> u64 {
    match branch.kind {
        BranchKind::Conditional if taken => branch.next,
        BranchKind::Conditional => branch.target,
        _ => 0,
    }
}
