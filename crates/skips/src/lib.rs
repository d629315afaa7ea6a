//! Tests say what they did not do, and why.
//!
//! A test that returns early counts as passed, and libtest keeps what a passing test prints. So a
//! test that lacks something says so here, past libtest's capture, in one line on the process's
//! stderr:
//!
//! ```text
//! skipped: cargo PACKAGE/PROGRAM::TEST: what is missing
//! ```
//! `.ci/totals` takes such tests off the passed ones and counts them as skipped. The guest's tests
//! and those of the RTL print the same line with `guest` and `rtl` in place of `cargo`.
//!
//! With `MALLACC_REQUIRE=tools` in the environment a test that lacks a tool fails.

use std::env::{current_exe, split_paths, var, var_os};
use std::fmt::Display;
use std::io::{Write, stderr};
use std::panic::Location;
use std::path::Path;
use std::thread;

/// The variable that says what must be there; its only value is `tools`.
pub const REQUIRE: &str = "MALLACC_REQUIRE";

/// Says that the calling test ends here for want of something that no package installs: measured
/// data, a right, a device.
#[track_caller]
pub fn without(what: impl Display) {
    let line = format!("skipped: cargo {}: {what}\n", test(Location::caller()));
    // Not `eprint!`, which libtest captures. Without a stderr nobody wants to know.
    let _ = stderr().write_all(line.as_bytes());
}

/// Says that the calling test ends here for want of something that can be installed or built.
///
/// # Panics
/// With `MALLACC_REQUIRE=tools`.
#[track_caller]
pub fn without_tool(what: impl Display) {
    let required = var_os(REQUIRE).is_some_and(|value| value == "tools");
    assert!(!required, "{what}; {REQUIRE}=tools makes this a failure");
    without(what);
}

/// Whether a program is on PATH. If not, the calling test is skipped.
///
/// # Panics
/// With `MALLACC_REQUIRE=tools`, if it is not.
#[track_caller]
pub fn have(program: &str) -> bool {
    let path = var_os("PATH").unwrap_or_default();
    let found = split_paths(&path).any(|folder| folder.join(program).is_file());
    if !found {
        without_tool(format_args!("{program} is not installed"));
    }
    found
}

/// The running test: package, program, and its name or the place of the call.
fn test(place: &Location<'_>) -> String {
    let program = current_exe().ok();
    let stem = program.as_deref().and_then(Path::file_stem).unwrap_or_default().to_string_lossy();
    // Cargo appends a hash.
    let program = stem.rsplit_once('-').map_or(&*stem, |(name, _)| name);
    let package = var("CARGO_PKG_NAME").unwrap_or_default();
    // Each test has a thread of its own with its name, but for a run on one thread.
    match thread::current().name() {
        Some(name) if name != "main" => format!("{package}/{program}::{name}"),
        _ => format!("{package}/{program}::{}:{}", place.file(), place.line()),
    }
}
