//! A finding: what was looked at, how it is, and what to do.

use crate::error::parts;
use std::path::Path;

/// How a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// As it should be.
    Ok,
    /// Something works only in part, or may not work.
    Attention,
    /// It is not there.
    Missing,
}

impl State {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Attention => "attention",
            Self::Missing => "missing",
        }
    }

    /// The terminal's colour.
    pub fn colour(self) -> &'static str {
        match self {
            Self::Ok => "32",
            Self::Attention => "33",
            Self::Missing => "31",
        }
    }
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// What every run needs.
    Runs,
    /// What single commands need.
    Commands,
    /// What the system allows.
    Limits,
}

impl Group {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::Runs, Self::Commands, Self::Limits];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Runs => "Running programs",
            Self::Commands => "Other commands",
            Self::Limits => "Limits of this system",
        }
    }
}

/// Something that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is about.
    pub group: Group,
    /// What was looked for.
    pub name: &'static str,
    /// How it is.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What to do; empty if nothing is.
    pub remedy: String,
    /// Why Mallacc needs it, with the source of any figure.
    pub rule: &'static str,
}

impl Finding {
    /// One that is still to be made.
    pub fn new(group: Group, name: &'static str, rule: &'static str) -> Self {
        let (found, remedy) = (String::new(), String::new());
        Self { group, name, state: State::Ok, found, remedy, rule }
    }

    /// It is as it should be.
    pub fn ok(self, found: impl Into<String>) -> Self {
        Self { found: found.into(), ..self }
    }

    /// It is not.
    pub fn but(self, state: State, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { state, found: found.into(), remedy: remedy.into(), ..self }
    }

    /// An error of the launcher: what is wrong before the first semicolon, what to do after it.
    pub fn error(self, error: &dyn std::fmt::Display, state: State, remedy: &str) -> Self {
        let text = error.to_string();
        let (found, known) = parts(&text);
        self.but(state, found, if known.is_empty() { remedy } else { known })
    }
}

/// A path as a user writes it.
pub fn shown(path: &Path) -> String {
    let home = std::env::var_os("HOME").filter(|home| Path::new(home).is_absolute());
    match home.and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_s_remedy_is_apart_from_what_is_wrong() {
        let finding = Finding::new(Group::Runs, "x", "");
        let error = finding.clone().error(&"a: not found; build it", State::Missing, "");
        assert_eq!((error.found.as_str(), error.remedy.as_str()), ("a: not found", "build it"));
        let error = finding.error(&"a: not found", State::Missing, "look");
        assert_eq!((error.found.as_str(), error.remedy.as_str()), ("a: not found", "look"));
    }
}
