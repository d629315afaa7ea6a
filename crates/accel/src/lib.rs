//! Accelerator models behind one trait and one registry.
//!
//! ```text
//!            markers (operation, registers, values)
//!   core ────────────────────────────────────────────> Accelerator ──> pure state (mcache)
//!        <──────────────────────────────────────────── keep | elide until … , uops to inject
//!        ────────────────────────────────────────────> an injected uop's times (completed)
//! ```
//!
//! A model never changes what the program computes. It may leave a marked step out of the timing
//! ([`Reply::elide`]) and inject its own uops instead ([`Reply::inject`]). What it remembers about
//! the program, it learns only from marker values, in program order; what it remembers about time,
//! it learns from [`Accelerator::completed`].
//!
//! To add an accelerator: one file with one implementation, one line in [`registry`]. Its counters
//! are declared in that file (`stats::counters!`) and shown by [`Accelerator::statistics`]; reports
//! and stores need no line for them.

pub mod area;
mod choice;
pub mod limit;
pub mod mallacc;
pub mod none;
pub mod registry;
mod reply;

pub use choice::Choice;
pub use registry::{Ablations, Model, Role, Setting, find, registry};
pub use reply::{Completed, Fallback, InjectKind, Injected, IssueTo, Marker, Reply};

/// What an accelerator checked against the program, over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Checks made.
    pub made: u64,
    /// Checks that failed. Must stay 0: otherwise the model or the guest's markers are at fault.
    pub failed: u64,
    /// What was checked, in the plural: `pops`.
    pub what: &'static str,
    /// What a failed check did: `found a Head that was not the true one`.
    pub failure: &'static str,
}

/// A unit that an accelerator adds to its core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The port that it sits on, in the core family's own numbering.
    pub port: u8,
}

/// A hardware model that reacts to markers. One instance belongs to one core.
pub trait Accelerator: Send {
    /// The units that it adds to the core; injected uops name them by their index here
    /// ([`IssueTo::Unit`]). Always the same list.
    fn units(&self) -> Vec<Unit> {
        Vec::new()
    }

    /// A marker executes, in program order. `reply` arrives cleared. The core reports markers even
    /// while a region is elided.
    fn on_marker(&mut self, marker: &Marker, reply: &mut Reply);

    /// The times of an injected uop are known (only for uops with an [`Injected::token`]).
    fn completed(&mut self, completed: Completed);

    /// Another thread is about to run: state that belongs to the old one is dropped.
    fn context_switch(&mut self);

    /// Shows its groups of counters, which count from the accelerator's creation; to measure an
    /// interval, take differences. The declarations are the accelerator's own.
    fn statistics(&self, _walk: &mut stats::Walk<'_>) {}

    /// What it checked against the program, if anything.
    fn checks(&self) -> Checks {
        Checks::default()
    }

    /// Areas as given by different sources; none without hardware.
    fn area(&self) -> Vec<area::Area> {
        Vec::new()
    }
}
