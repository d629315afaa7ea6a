//! What a core is to everything around it.
//!
//! A core takes [`Step`]s in program order and says in which cycle the newest instruction retired.
//! What it knows apart from time (caches, predictors, accelerator, open calls) is a [`Functional`],
//! which every core owns one of; most of what others ask of a core is answered from it. How time
//! passes is the core's own affair.
//!
//! To add a core: one folder with an implementation of [`Core`] and of [`crate::kind::CoreKind`],
//! one line in [`crate::kind::registry`]. What an in-order core would take from here:
//!
//! - [`Functional`]: warming as a whole; prediction and resolution of branches, markers with the
//!   accelerator and the call tracker, and iterations of string instructions, each as a step of its
//!   own that says what happened and leaves the time to the core;
//! - [`crate::frontend`]: fetch and decode, up to the decoded-uop queue;
//! - [`crate::retire`]: in-order retirement and the CPI stack.

use accel::Accelerator;
use memory::Memory;
use predict::Predictor;

use crate::calls::CallTracker;
use crate::frontend::FetchCounters;
use crate::functional::Functional;
use crate::ooo::CoreCounters;
use crate::retire::Component;
use crate::step::{Step, Steps};

/// A simulated core with its private hierarchy and accelerator.
pub trait Core: Send {
    /// Executes a block with all times.
    fn execute(&mut self, step: &Step);

    /// Another thread runs on this core from now on.
    fn context_switch(&mut self);

    /// Cycles so far: the newest retirement. Never falls.
    fn cycles(&self) -> u64;

    /// Event counts of the core itself.
    fn counters(&self) -> CoreCounters;

    /// How fused uops came through fetch and decode.
    fn fetch_counters(&self) -> FetchCounters;

    /// Cycles charged to each component; they sum to [`Core::cycles`].
    fn cpi_stack(&self) -> [u64; Component::COUNT];

    /// All that it knows apart from time.
    fn functional(&self) -> &Functional;

    /// The same, to change it.
    fn functional_mut(&mut self) -> &mut Functional;

    /// Executes a block without times: caches, predictors and accelerator change as if it had run.
    fn warm(&mut self, step: &Step) {
        self.functional_mut().warm(step);
    }

    /// Takes a run of steps, `timed` or warming. One call for many blocks: within it nothing is
    /// dispatched.
    fn run(&mut self, steps: Steps<'_>, timed: bool) {
        if timed {
            steps.for_each(|step| self.execute(step));
        } else {
            steps.for_each(|step| self.warm(step));
        }
    }

    /// The program unmapped a range of `len` bytes, or gave it back.
    fn unmap(&mut self, addr: u64, len: u64) {
        self.functional_mut().memory.unmap(addr, len);
    }

    /// The hierarchy, for its statistics.
    fn memory(&self) -> &Memory {
        &self.functional().memory
    }

    /// The predictors, for their statistics.
    fn predictor(&self) -> &Predictor {
        &self.functional().predictor
    }

    /// The accelerator, for its counters and checks.
    fn accelerator(&self) -> &dyn Accelerator {
        self.functional().markers.accelerator()
    }

    /// Allocator calls: finished ones are the caller's to drain.
    fn calls_mut(&mut self) -> &mut CallTracker {
        &mut self.functional_mut().calls
    }
}
