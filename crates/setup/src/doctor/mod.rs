//! What Mallacc finds on this system of everything that it needs, and what to do about it.

mod interface;
mod limits;
mod parts;
mod programs;
mod qemu;
mod trial;

use crate::error::parts;
use documents::json::pretty;
use documents::text::{pad_right, wrap};
use serde_json::json;
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
    fn colour(self) -> &'static str {
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
    const ALL: [Self; 3] = [Self::Runs, Self::Commands, Self::Limits];

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
    fn new(group: Group, name: &'static str, rule: &'static str) -> Self {
        let (found, remedy) = (String::new(), String::new());
        Self { group, name, state: State::Ok, found, remedy, rule }
    }

    /// It is as it should be.
    fn ok(self, found: impl Into<String>) -> Self {
        Self { found: found.into(), ..self }
    }

    /// It is not.
    fn but(self, state: State, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { state, found: found.into(), remedy: remedy.into(), ..self }
    }

    /// An error of the launcher: what is wrong before the first semicolon, what to do after it.
    fn error(self, error: &dyn std::fmt::Display, state: State, remedy: &str) -> Self {
        let text = error.to_string();
        let (found, known) = parts(&text);
        self.but(state, found, if known.is_empty() { remedy } else { known })
    }
}

/// Everything that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings(Vec<Finding>);

/// Looks at everything. It runs a shell under QEMU, if that is there.
pub fn examine() -> Findings {
    let mut all = qemu::examine();
    all.extend(parts::needed());
    // Without the parts there is nothing to try.
    let complete = !all.iter().any(|finding| finding.state == State::Missing);
    all.extend(complete.then(trial::examine));
    all.extend(parts::others());
    all.extend(programs::examine());
    all.extend(limits::examine());
    Findings(all)
}

/// Columns of the words and of the names, and where the texts begin.
const STATE_WIDTH: usize = 11;
const NAME_WIDTH: usize = 18;
const INDENT: usize = 2 + STATE_WIDTH + NAME_WIDTH;

impl Findings {
    /// The findings.
    pub fn all(&self) -> &[Finding] {
        &self.0
    }

    /// Whether `mallacc run` would work.
    pub fn runs_work(&self) -> bool {
        self.missing().next().is_none()
    }

    fn missing(&self) -> impl Iterator<Item = &Finding> {
        let needed = |f: &&Finding| f.group == Group::Runs && f.state == State::Missing;
        self.0.iter().filter(needed)
    }

    /// As text with lines of at most this width.
    pub fn text(&self, width: usize, colour: bool) -> String {
        let mut text = String::new();
        for group in Group::ALL {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(group.name());
            text.push('\n');
            for finding in self.0.iter().filter(|finding| finding.group == group) {
                text.push_str(&lines(finding, width, colour));
            }
        }
        text.push('\n');
        text.push_str(&wrap(&self.summary(), width, ""));
        text.push('\n');
        text
    }

    fn summary(&self) -> String {
        let attention = self.0.iter().filter(|finding| finding.state != State::Ok).count();
        let missing: Vec<&str> = self.missing().map(|finding| finding.name).collect();
        if !missing.is_empty() {
            return format!("`mallacc run` cannot work: {}.", missing.join(", "));
        }
        match attention {
            0 => "`mallacc run` works, and so does everything else.".to_owned(),
            1 => "`mallacc run` works. One finding needs attention.".to_owned(),
            more => format!("`mallacc run` works. {more} findings need attention."),
        }
    }

    /// As JSON, with the reasons.
    pub fn json(&self) -> String {
        let findings = self.0.iter().map(|finding| {
            json!({
                "group": finding.group.name(),
                "name": finding.name,
                "state": finding.state.name(),
                "found": finding.found,
                "remedy": (!finding.remedy.is_empty()).then_some(&finding.remedy),
                "rule": finding.rule,
            })
        });
        let findings: Vec<_> = findings.collect();
        pretty(&json!({ "runs_work": self.runs_work(), "findings": findings }))
    }
}

fn lines(finding: &Finding, width: usize, colour: bool) -> String {
    let state = pad_right(finding.state.name(), STATE_WIDTH);
    let state = match colour {
        true => format!("\x1b[{}m{state}\x1b[0m", finding.state.colour()),
        false => state,
    };
    let indent = " ".repeat(INDENT);
    let block = |text: &str| {
        let room = width.saturating_sub(INDENT).max(20);
        wrap(text, room, "").replace('\n', &format!("\n{indent}"))
    };
    let name = pad_right(finding.name, NAME_WIDTH);
    let mut text = format!("  {state}{name}{}\n", block(&finding.found));
    if !finding.remedy.is_empty() {
        text.push_str(&format!("{indent}{}\n", block(&format!("To do: {}", finding.remedy))));
    }
    text
}

/// A path as a user writes it.
fn shown(path: &Path) -> String {
    let home = std::env::var_os("HOME").filter(|home| Path::new(home).is_absolute());
    match home.and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(states: &[(Group, State)]) -> Findings {
        let finding = |&(group, state)| Finding {
            found: "something that is long enough to be broken into more than one line of text"
                .to_owned(),
            remedy: if state == State::Ok { String::new() } else { "change it".to_owned() },
            ..Finding::new(group, "a thing", "").but(state, "", "")
        };
        Findings(states.iter().map(finding).collect())
    }

    #[test]
    fn only_what_runs_need_decides_whether_they_work() {
        let works = |states| findings(states).runs_work();
        assert!(works(&[(Group::Runs, State::Ok), (Group::Runs, State::Attention)]));
        assert!(works(&[(Group::Runs, State::Ok), (Group::Commands, State::Missing)]));
        assert!(!works(&[(Group::Runs, State::Missing), (Group::Limits, State::Ok)]));
    }

    #[test]
    fn lines_keep_to_the_width_and_say_what_to_do() {
        let all = [(Group::Runs, State::Missing), (Group::Limits, State::Ok)];
        let text = findings(&all).text(60, false);
        assert!(text.lines().all(|line| line.len() <= 60), "{text}");
        assert_eq!(text.matches("To do: change it").count(), 1, "{text}");
        assert!(text.ends_with("`mallacc run` cannot work: a thing.\n"), "{text}");
        let coloured = findings(&all).text(60, true);
        assert!(coloured.contains("\x1b[31mmissing") && coloured.contains("\x1b[32mok"));
    }

    #[test]
    fn an_error_s_remedy_is_apart_from_what_is_wrong() {
        let finding = Finding::new(Group::Runs, "x", "");
        let error = finding.clone().error(&"a: not found; build it", State::Missing, "");
        assert_eq!((error.found.as_str(), error.remedy.as_str()), ("a: not found", "build it"));
        let error = finding.error(&"a: not found", State::Missing, "look");
        assert_eq!((error.found.as_str(), error.remedy.as_str()), ("a: not found", "look"));
    }
}
