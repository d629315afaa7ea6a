//! Exit statuses, declared once: the help and the table in `docs/usage.md` are made from this.

use experiments::{Class, Ending, Failure};

/// Some of a list of independent items could not be processed; the others were.
pub const PARTLY: u8 = 1;
/// The command line or a configuration is wrong; the same value as clap's.
const USAGE: u8 = 2;
/// The markers of an allocator, or the model, are at fault.
pub const VIOLATION: u8 = 3;
/// Mallacc itself failed. This and the next two follow env(1) and timeout(1).
pub const FAILED: u8 = 125;
/// The program was found but cannot be run.
const CANNOT_RUN: u8 = 126;
/// The program was not found.
const NOT_FOUND: u8 = 127;
/// A signal's number is added to this, as in a shell.
pub const SIGNALLED: u8 = 128;

/// All exit statuses, each with its meaning.
fn statuses() -> [(String, &'static str); 10] {
    let interrupts = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
    let interrupts = interrupts.map(|signal| (SIGNALLED + signal as u8).to_string()).join(", ");
    [
        (
            "the program's".into(),
            "`run`, `record` and `record-mallocs` pass the program's exit code on",
        ),
        (
            format!("{SIGNALLED} + N"),
            "signal N killed the program; what ran until then is reported and stored",
        ),
        ("0".into(), "success; a replay succeeds even if the recorded program failed"),
        (
            PARTLY.to_string(),
            "some blocks of `block` or `validate blocks` could not be read or predicted",
        ),
        (USAGE.to_string(), "wrong usage, an unknown name, or an invalid machine file or setting"),
        (VIOLATION.to_string(), "the program succeeded, but its allocator's markers are at fault"),
        (
            FAILED.to_string(),
            "mallacc failed: a part is missing, or a recording, file or store cannot be used",
        ),
        (CANNOT_RUN.to_string(), "the program cannot be executed (as with env(1))"),
        (NOT_FOUND.to_string(), "the program was not found (as with env(1))"),
        (interrupts, "Ctrl-C, SIGTERM, SIGHUP: what was measured is reported and stored"),
    ]
}

/// A list of them for the help.
pub fn help() -> String {
    let line = |(status, meaning): (String, &str)| {
        format!("\n  {status:<13}  {}", meaning.replace('`', ""))
    };
    format!("Exit status:{}", statuses().map(line).concat())
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_documentation_has_the_declared_statuses() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/usage.md");
        let text = fs::read_to_string(path).unwrap();
        let head = "| status | meaning |\n|---|---|\n";
        let (before, rest) = text.split_once(head).unwrap();
        let end = rest.find("\n\n").unwrap() + 1;
        let row = |(status, meaning)| format!("| {status} | {meaning} |\n");
        let rows: String = statuses().map(row).concat();
        let expected = [before, head, &rows, &rest[end..]].concat();
        if std::env::var_os("MALLACC_UPDATE_DOCS").is_some() {
            fs::write(path, &expected).unwrap();
        }
        assert_eq!(fs::read_to_string(path).unwrap(), expected);
    }
}
