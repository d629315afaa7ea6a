//! The QEMU that runs use.

use super::finding::{Finding, Group, State, shown};
use super::interface;
use launch::qemu::{VARIABLE, Version, own_builds};
use launch::{LaunchError, Qemu};

const RULE: &str = "mallacc executes programs under QEMU's user mode with a plugin; 7.2 is the \
                    first version with AVX2, which the modelled machine has (QEMU's change log)";

/// Bugs of QEMU 7.2 that concern users, as Mallacc's tests found them. 10.0 has none of them.
const BUGS: [&str; 3] = [
    "a program with threads that forks aborts",
    "saved vector state counts as stray accesses",
    "a thread's end is reported before its child-tid word is cleared",
];
/// The version with these bugs, and one without. Those in between were not tested.
const BUGS_IN: Version = Version(7, 2);
const FIXED_IN: Version = Version(10, 0);

/// The QEMU, and its known bugs if it has some.
pub fn examine() -> Vec<Finding> {
    let finding = Finding::new(Group::Runs, "QEMU", RULE);
    let found = match Qemu::find() {
        Ok(found) => found,
        Err(error) => return vec![missing(finding, &error)],
    };
    let interface = interface::version(&found.path);
    let interface =
        interface.map_or_else(String::new, |version| format!("; plugin interface {version}"));
    let text =
        format!("{} at {}, {}{interface}", found.version, shown(&found.path), origin(&found));
    let mut all = vec![finding.ok(text)];
    if found.version < FIXED_IN {
        let rule = "tested with QEMU 7.2 and 10.0";
        let who = match found.version == BUGS_IN {
            true => format!("QEMU {BUGS_IN} has bugs that later versions do not have"),
            false => {
                format!("{BUGS_IN} has bugs, {FIXED_IN} has not; {} is untested", found.version)
            }
        };
        let remedy = match std::env::var_os(VARIABLE) {
            Some(_) => format!("`mallacc setup --force` builds 10.0; unset {VARIABLE} to use it"),
            None => "if one concerns you, `mallacc setup --force` builds 10.0".to_owned(),
        };
        let text = format!("{who}: {}", BUGS.join("; "));
        all.push(Finding::new(Group::Runs, "QEMU's bugs", rule).but(
            State::Attention,
            text,
            remedy,
        ));
    }
    all
}

fn missing(finding: Finding, error: &LaunchError) -> Finding {
    let remedy = match std::env::var_os(VARIABLE) {
        Some(_) => format!("unset {VARIABLE}, or let it name a QEMU; `mallacc setup` builds one"),
        None => "run `mallacc setup`, which builds one".to_owned(),
    };
    let finding = finding.error(error, State::Missing, &remedy);
    Finding { remedy, ..finding }
}

/// Where the search found it.
fn origin(found: &Qemu) -> String {
    if std::env::var_os(VARIABLE).is_some() {
        format!("named by {VARIABLE}")
    } else if own_builds().contains(&found.path) {
        "built by mallacc setup".to_owned()
    } else {
        "found on PATH".to_owned()
    }
}
