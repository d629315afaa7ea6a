//! The caller's side of an experiment: it receives progress and may request an end.

use std::sync::atomic::AtomicBool;

pub use stream::live::Stopper;

/// What an experiment reports while it runs, and what it asks.
pub trait Monitor {
    /// The flag that requests an orderly end. From the first call on, such requests set it instead
    /// of ending the process.
    fn stop(&self) -> &AtomicBool;

    /// The signal that requested an end, if any.
    fn signal(&self) -> Option<i32>;

    /// This program is running now: a request to end stops its stream too.
    fn program_started(&self, stopper: Stopper, pid: u32);

    /// The program has been waited for: its process number may belong to another process now.
    fn program_ended(&self);

    /// Begins to show the progress of `what`.
    fn progress(&self, what: &str) -> Box<dyn Progress>;

    /// The experiment begins one of its parts.
    fn step(&self, text: &str);

    /// Something that a reader of the result needs to know.
    fn warning(&self, text: &str);

    /// A part of the experiment failed; the others go on.
    fn problem(&self, text: &str);
}

/// The progress of something, which ends when this is dropped.
pub trait Progress {
    /// This many `things` have been processed so far.
    fn reached(&mut self, count: u64, things: &str);
}

/// The instructions of a simulation as progress.
pub(crate) struct Instructions(pub Box<dyn Progress>);

impl sim::Progress for Instructions {
    fn instructions(&mut self, executed: u64) {
        self.0.reached(executed, "instructions");
    }
}
