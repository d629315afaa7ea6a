//! The end of a block: prediction, redirects, wrong-path fetch.

use super::*;
use predict::BranchKind as Predicted;

/// Wrong-path lines fetched at most for one misprediction.
const WRONG_PATH_LINES: u64 = 4;
/// Cycles that fetch spends on one line of a wrong path: 64 bytes at 16 a cycle.
const CYCLES_PER_LINE: u64 = 4;
const LINE_BYTES: u64 = 64;

impl<O: Observer> Core<O> {
    /// Predicts the block's branch and, when wrong, restarts fetch after it has executed.
    #[inline(always)]
    pub(super) fn resolve_branch(&mut self, step: &Step) {
        let branch = &step.block.branch;
        let Some(kind) = predicted_kind(branch.kind) else {
            self.end_without_branch(step);
            return;
        };
        if branch.kind == BranchKind::Return {
            self.calls.returned(self.retire.last());
        }
        if step.next == 0 {
            return;
        }
        let taken = match kind {
            Predicted::Conditional => step.next != branch.next,
            _ => true,
        };
        let direct = branch.target != 0;
        if direct && taken && step.next != branch.target {
            self.asynchronous();
            return;
        }
        let outcome =
            self.predictor.predict_and_update(kind, branch.addr, taken, step.next, branch.next);
        if outcome.mispredicted {
            self.mispredicted(wrong_path(branch, taken));
        } else if taken {
            let plain = matches!(kind, Predicted::Conditional | Predicted::Jump);
            self.fetch.taken_branch(branch.addr, step.next, plain);
            if outcome.btb_miss {
                let at = self.fetch.cycle() + u64::from(self.params.btb_miss_redirect);
                self.fetch.redirect(at, FetchCause::Redirect);
            }
        } else {
            self.fetch.not_taken(step.block);
        }
    }

    /// Fetch goes on at the right place after the branch has completed; until then it followed
    /// `wrong` (0 if unknown).
    pub(super) fn mispredicted(&mut self, wrong: u64) {
        self.counters.mispredicts += 1;
        let done = self.branch_done;
        if wrong != 0 {
            let time = done.saturating_sub(self.fetch.cycle());
            let lines = (time / CYCLES_PER_LINE).min(WRONG_PATH_LINES);
            for line in 0..lines {
                let at = self.fetch.cycle() + line * CYCLES_PER_LINE;
                self.memory.fetch_wrong_path(wrong + line * LINE_BYTES, at);
            }
        }
        let at = done + u64::from(self.params.mispredict_redirect);
        self.fetch.redirect(at, FetchCause::Mispredict);
    }

    fn end_without_branch(&mut self, step: &Step) {
        let branch = &step.block.branch;
        if branch.kind == BranchKind::Syscall {
            self.syscall();
            return;
        }
        let repeats = step.block.insns.last().is_some_and(|insn| insn.rep);
        if step.next != 0 && step.next != branch.next && !repeats {
            self.asynchronous();
        }
    }

    /// Control went where no branch sent it: a signal is delivered, or the thread's instruction
    /// faulted. Costs what a system call costs.
    fn asynchronous(&mut self) {
        self.counters.asynchronous += 1;
        self.drain(u64::from(self.params.syscall));
    }
}

pub(super) fn predicted_kind(kind: BranchKind) -> Option<Predicted> {
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

/// Where fetch went on a wrong prediction of a conditional branch; unknown (0) for others.
fn wrong_path(branch: &decode::Branch, taken: bool) -> u64 {
    match branch.kind {
        BranchKind::Conditional if taken => branch.next,
        BranchKind::Conditional => branch.target,
        _ => 0,
    }
}
