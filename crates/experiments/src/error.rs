//! What ends an experiment early, and how a program ended.

use launch::LaunchError;
use params::ConfigError;
use results::Exit;
use results::store::StoreError;
use sim::RunError;
use stream::StreamError;
use traces::TraceError;

/// A signal's number is added to this, as in a shell.
const SIGNALLED: u8 = 128;

/// How the run of a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself; `None` if it could not be determined how.
    Program(Option<Exit>),
    /// By this signal, which requested the experiment's end.
    Interrupted(i32),
}

impl Ending {
    /// Whether the program ran to its end and reported success.
    pub fn succeeded(self) -> bool {
        self == Self::Program(Some(Exit::Code(0)))
    }

    /// The exit status that a shell would show, if it is known how the program ended.
    pub fn status(self) -> Option<u8> {
        match self {
            Self::Program(Some(Exit::Code(code))) => Some(code as u8),
            Self::Program(Some(Exit::Signal(signal))) | Self::Interrupted(signal) => {
                Some(SIGNALLED.wrapping_add(signal as u8))
            }
            Self::Program(None) => None,
        }
    }
}

/// Kinds of failure, each with an exit status of its own in the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The request or a configuration is wrong.
    Usage,
    /// A pop found a cached Head or Next that was not the true one.
    Violation,
    /// The request was valid but could not be fulfilled.
    Failed,
    /// The program was found but cannot be run.
    CannotRun,
    /// The program was not found.
    NotFound,
    /// A program that the experiment needs did not succeed.
    Program(Ending),
}

/// One clear sentence and its kind.
#[derive(Debug)]
pub struct Failure {
    /// Its kind.
    pub class: Class,
    /// What, the value, the rule, the remedy.
    pub text: String,
}

impl Failure {
    /// The user requested something impossible.
    pub fn usage(text: impl Into<String>) -> Self {
        Self { class: Class::Usage, text: text.into() }
    }

    /// Something failed.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { class: Class::Failed, text: text.into() }
    }
}

impl From<LaunchError> for Failure {
    fn from(error: LaunchError) -> Self {
        let class = match &error {
            LaunchError::NotFound { .. } => Class::NotFound,
            LaunchError::BadAllocator { .. } => Class::Usage,
            LaunchError::NotRunnable { .. } | LaunchError::NotX86 { .. } => Class::CannotRun,
            _ => Class::Failed,
        };
        Self { class, text: error.to_string() }
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

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        Self::failed(error.to_string())
    }
}
