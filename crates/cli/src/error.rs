//! What ends the command, with its exit status. The table is in `docs/usage.md`.

use launch::LaunchError;
use params::ConfigError;
use results::store::StoreError;
use sim::RunError;
use stream::StreamError;

/// The command line or a configuration is wrong, as clap has it.
pub const USAGE: u8 = 2;
/// A pop found a cached Head or Next that was not the true one.
pub const VIOLATION: u8 = 3;
/// Mallacc itself failed. This and the next two are those of env(1) and timeout(1).
pub const FAILED: u8 = 125;
/// The program was found and cannot be run.
pub const CANNOT_RUN: u8 = 126;
/// The program was not found.
pub const NOT_FOUND: u8 = 127;
/// A signal's number is added to this, as in a shell.
pub const SIGNALLED: u8 = 128;

/// One clear sentence and an exit status.
#[derive(Debug)]
pub struct Failure {
    /// The exit status.
    pub code: u8,
    /// What, the value, the rule, the remedy.
    pub text: String,
}

impl Failure {
    /// The user asked for something that cannot be.
    pub fn usage(text: impl Into<String>) -> Self {
        Self { code: USAGE, text: text.into() }
    }

    /// Something failed.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { code: FAILED, text: text.into() }
    }
}

impl From<LaunchError> for Failure {
    fn from(error: LaunchError) -> Self {
        let code = match &error {
            LaunchError::NotFound { .. } => NOT_FOUND,
            LaunchError::NotRunnable { .. } | LaunchError::NotX86 { .. } => CANNOT_RUN,
            _ => FAILED,
        };
        Self { code, text: error.to_string() }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::usage(error.0)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Config { .. } => Self::usage(error.to_string()),
            RunError::Machine(_) => Self::failed(error.to_string()),
        }
    }
}

impl From<StreamError> for Failure {
    fn from(error: StreamError) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::failed(error.to_string())
    }
}

/// What every command returns: the exit status.
pub type Done = Result<u8, Failure>;
