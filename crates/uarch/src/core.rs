//! What a core is to everything around it.
//!
//! A core takes [`Step`]s in program order and says in which cycle the newest instruction retired.
//! What it knows apart from time (caches, predictors, accelerator, open calls) is a
//! [`crate::Functional`], which every core owns one of; most of what others ask of a core is
//! answered from it. How time passes is the core's own affair.
//!
//! To add a core: one folder with an implementation of [`Core`] and of [`crate::kind::CoreKind`],
//! one line in [`crate::kind::registry`]. What an in-order core would take from here:
//!
//! - [`crate::Functional`]: warming as a whole; prediction and resolution of branches, markers with
//!   the accelerator and the call tracker, and iterations of string instructions, each as a step of
//!   its own that says what happened and leaves the time to the core;
//! - [`crate::frontend`]: fetch and decode, up to the decoded-uop queue;
//! - [`crate::retire`]: in-order retirement and the CPI stack.

use stats::Counts;

use crate::functional::State;
use crate::step::{Step, Steps};

/// A simulated core with its private hierarchy and accelerator.
pub trait Core: Counts + Send {
    /// Executes a block with all times.
    fn execute(&mut self, step: &Step);

    /// Another thread runs on this core from now on.
    fn context_switch(&mut self);

    /// Cycles so far: the newest retirement. Never falls.
    fn cycles(&self) -> u64;

    /// Executes a block without times: caches, predictors and accelerator change as if it had run
    /// ([`crate::Functional::warm`]).
    fn warm(&mut self, step: &Step);

    /// What it knows apart from time.
    fn state(&self) -> &dyn State;

    /// The same, to change it.
    fn state_mut(&mut self) -> &mut dyn State;

    /// Takes a run of steps, `timed` or warming. One call for many blocks: within it nothing is
    /// dispatched.
    fn run(&mut self, steps: Steps<'_>, timed: bool) {
        if timed {
            steps.for_each(|step| self.execute(step));
        } else {
            warm_all(self, steps);
        }
    }
}

/// Apart from the timed run, so that the compiler can fit each to its own loop.
#[inline(never)]
fn warm_all<C: Core + ?Sized>(core: &mut C, steps: Steps<'_>) {
    steps.for_each(|step| core.warm(step));
}
