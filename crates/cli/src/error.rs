//! Exit statuses of failed commands. The table is in `docs/usage.md`.

use experiments::{Class, Ending, Failure};

/// The command line or a configuration is wrong; the same value as clap's.
const USAGE: u8 = 2;
/// A pop found a cached Head or Next that was not the true one.
pub const VIOLATION: u8 = 3;
/// Mallacc itself failed. This and the next two follow env(1) and timeout(1).
pub const FAILED: u8 = 125;
/// The program was found but cannot be run.
const CANNOT_RUN: u8 = 126;
/// The program was not found.
const NOT_FOUND: u8 = 127;
/// A signal's number is added to this, as in a shell.
pub const SIGNALLED: u8 = 128;

/// The exit status of a failure of this kind.
pub fn status(class: Class) -> u8 {
    match class {
        Class::Usage => USAGE,
        Class::Violation => VIOLATION,
        Class::Failed => FAILED,
        Class::CannotRun => CANNOT_RUN,
        Class::NotFound => NOT_FOUND,
        Class::Program(ending) => passed_on(ending),
    }
}

/// The exit status that passes on how a program ended.
pub fn passed_on(ending: Ending) -> u8 {
    ending.status().unwrap_or(FAILED)
}

/// What every command returns: the exit status.
pub type Done = Result<u8, Failure>;
