//! The interface of a core.
//!
//! A core takes [`Step`]s in program order and reports the cycle at which the newest instruction
//! retired. Its state apart from time (caches, predictors, accelerator, open calls) is a
//! [`crate::Functional`], one per core, which answers most of what others ask of a core. The timing
//! is the core's own.
//!
//! To add a core: one folder with an implementation of [`Core`] and of [`crate::kind::CoreKind`],
//! and one line in [`crate::kind::registry`]. An in-order core could use from here:
//!
//! - [`crate::Functional`]: warming as a whole; prediction and resolution of branches, markers with
//!   the accelerator and the call tracker, and iterations of string instructions, each as a
//!   separate step that reports what happened and leaves the timing to the core;
//! - [`crate::frontend`]: fetch and decode, up to the decoded-uop queue;
//! - [`crate::retire`]: in-order retirement and the CPI stack.

use stats::Counts;

use crate::functional::State;
use crate::step::{Step, Steps};

/// A simulated core with its private memory hierarchy and accelerator.
pub trait Core: Counts + Send {
    /// Executes a block with timing.
    fn execute(&mut self, step: &Step);

    /// From now on, another thread runs on this core.
    fn context_switch(&mut self);

    /// Cycles so far: the newest retirement. Never decreases.
    fn cycles(&self) -> u64;

    /// Executes a block without timing: caches, predictors and accelerator change as if it had run
    /// ([`crate::Functional::warm`]).
    fn warm(&mut self, step: &Step);

    /// Its state apart from time.
    fn state(&self) -> &dyn State;

    /// The same, mutable.
    fn state_mut(&mut self) -> &mut dyn State;

    /// Executes a run of steps, `timed` or warming. One virtual call serves many blocks: within a
    /// run there are no indirect calls.
    fn run(&mut self, steps: Steps<'_>, timed: bool) {
        if timed {
            steps.for_each(|step| self.execute(step));
        } else {
            warm_all(self, steps);
        }
    }
}

/// Separate from the timed run, so that the compiler can optimise each loop on its own.
#[inline(never)]
fn warm_all<C: Core + ?Sized>(core: &mut C, steps: Steps<'_>) {
    steps.for_each(|step| core.warm(step));
}
