//! Programs that single commands run.

use super::finding::{Finding, Group, State};
use crate::needs::on_path;

/// A kind of program: any of these names will do.
struct Wanted {
    name: &'static str,
    any: &'static [&'static str],
    remedy: &'static str,
    rule: &'static str,
}

const WANTED: [Wanted; 5] = [
    Wanted {
        name: "browser",
        any: &["chromium", "chromium-browser", "google-chrome", "firefox", "xdg-open"],
        remedy: "open reports elsewhere: a page is one file that needs no network",
        rule: "`mallacc report` writes pages for a browser",
    },
    Wanted {
        name: "assembler",
        any: &["as"],
        remedy: "apt install binutils; without it, give blocks in hexadecimal",
        rule: "`mallacc block --asm` runs it",
    },
    Wanted {
        name: "C compiler",
        any: &["gcc"],
        remedy: "apt install gcc",
        rule: "the workload gcc is this program; programs of your own are compiled with one",
    },
    Wanted {
        name: "C++ compiler",
        any: &["g++"],
        remedy: "apt install g++",
        rule: "`make build` compiles the guest allocator, the workload xapian its program",
    },
    Wanted {
        name: "perl",
        any: &["perl"],
        remedy: "apt install perl",
        rule: "`make demo` runs a program in it, and so do several workloads",
    },
];

/// All of them.
pub fn examine() -> Vec<Finding> {
    let finding = |wanted: &Wanted| {
        let finding = Finding::new(Group::Commands, wanted.name, wanted.rule);
        match wanted.any.iter().find(|name| on_path(name)) {
            Some(name) => finding.ok(*name),
            None => {
                let none = format!("not found: {}", wanted.any.join(", "));
                finding.but(State::Attention, none, wanted.remedy)
            }
        }
    };
    WANTED.iter().map(finding).collect()
}
