//! What Mallacc finds on this system of everything that it needs, and what to do about it.

mod finding;
mod interface;
mod limits;
mod parts;
mod programs;
mod qemu;
mod trial;

use documents::json::pretty;
use documents::text::{pad_right, wrap};
use serde_json::json;

pub use finding::{Finding, Group, State};

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
const NAME_WIDTH: usize = 17;
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
}
