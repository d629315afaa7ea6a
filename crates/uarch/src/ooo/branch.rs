//! The timing of a block's end: redirects and wrong-path fetch.

use super::*;
use crate::functional::BranchOutcome;

/// The most wrong-path lines fetched for one misprediction.
const WRONG_PATH_LINES: u64 = 4;
/// Bytes per cycle that wrong-path fetch takes from a line.
const WRONG_PATH_BYTES: u64 = 16;

impl<O: Observer> OutOfOrder<O> {
    /// Predicts the block's branch and, if mispredicted, restarts fetch after it has executed.
    #[inline(always)]
    pub(super) fn resolve_branch(&mut self, step: &Step) {
        match self.functional.resolve_branch(step, self.retire.last()) {
            BranchOutcome::None => {}
            BranchOutcome::SystemCall => self.system_call(),
            BranchOutcome::Asynchronous => self.asynchronous(),
            BranchOutcome::NotTaken => self.fetch.not_taken(step.block),
            BranchOutcome::Taken { plain, btb_miss } => {
                self.fetch.taken_branch(step.block.branch.addr, step.next, plain);
                if btb_miss {
                    let at = self.fetch.cycle() + u64::from(self.params.btb_miss_redirect);
                    self.fetch.redirect(at, FetchCause::Redirect);
                }
            }
            BranchOutcome::Mispredicted { wrong } => self.mispredicted(wrong),
        }
    }

    /// Fetch continues on the correct path after the branch has completed; until then it followed
    /// `wrong` (0 if unknown).
    pub(super) fn mispredicted(&mut self, wrong: u64) {
        self.counters.mispredicts += 1;
        let done = self.branch_done;
        if wrong != 0 {
            let time = done.saturating_sub(self.fetch.cycle());
            let cycles_per_line = self.line / WRONG_PATH_BYTES;
            let lines = (time / cycles_per_line).min(WRONG_PATH_LINES);
            for line in 0..lines {
                let at = self.fetch.cycle() + line * cycles_per_line;
                self.functional.memory.fetch_wrong_path(wrong + line * self.line, at);
            }
        }
        let at = done + u64::from(self.params.mispredict_redirect);
        self.fetch.redirect(at, FetchCause::Mispredict);
    }

    fn system_call(&mut self) {
        self.counters.syscalls += 1;
        self.drain(u64::from(self.params.syscall));
    }

    /// A signal or a fault. Costs as much as a system call.
    fn asynchronous(&mut self) {
        self.counters.asynchronous += 1;
        self.drain(u64::from(self.params.syscall));
    }
}
