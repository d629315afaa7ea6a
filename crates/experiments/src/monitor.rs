//! Whoever started an experiment: hears how it goes, and may ask it to end.

use std::sync::atomic::AtomicBool;

pub use stream::live::Stopper;

/// What an experiment tells while it runs, and what it asks.
pub trait Monitor {
    /// The flag that asks for an orderly end. From the first call on, requests to end set it
    /// instead of ending the process.
    fn stop(&self) -> &AtomicBool;

    /// The signal that asked for an end, if one did.
    fn signal(&self) -> Option<i32>;

    /// This program runs now: a request to end stops its stream too.
    fn program_started(&self, stopper: Stopper, pid: u32);

    /// The program has been waited for: its number may belong to another one now.
    fn program_ended(&self);

    /// Begins to show how far `what` is.
    fn progress(&self, what: &str) -> Box<dyn Progress>;

    /// The experiment begins one of its parts.
    fn step(&self, text: &str);

    /// Something that a reader of the result has to know.
    fn warning(&self, text: &str);

    /// A part of the experiment failed; the rest goes on.
    fn problem(&self, text: &str);
}

/// How far something is; it is over when this is dropped.
pub trait Progress {
    /// So many `things` came by so far.
    fn reached(&mut self, count: u64, things: &str);
}

/// The instructions of a simulation as progress.
pub(crate) struct Instructions(pub Box<dyn Progress>);

impl sim::Progress for Instructions {
    fn instructions(&mut self, executed: u64) {
        self.0.reached(executed, "instructions");
    }
}
