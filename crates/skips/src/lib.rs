//! Lets tests report that they were skipped, and why.
//!
//! A test that returns early counts as passed, and libtest captures what a passing test prints. So
//! a test that lacks something reports it here, bypassing libtest's capture, in one line on the
//! process's stderr:
//!
//! ```text
//! skipped: cargo PACKAGE/PROGRAM::TEST: what is missing
//! ```
//! `.ci/totals` subtracts such tests from the passed ones and counts them as skipped. The guest's
//! tests and those of the RTL print the same line with `guest` and `rtl` in place of `cargo`.
//!
//! With `MALLACC_REQUIRE=tools` in the environment, a test that lacks a tool fails.

use std::env::{current_exe, split_paths, var, var_os};
use std::fmt::Display;
use std::io::{Write, stderr};
use std::panic::Location;
use std::path::Path;
use std::thread;

/// The variable that says what must be available; its only value is `tools`.
pub const REQUIRE: &str = "MALLACC_REQUIRE";

/// Reports that the calling test is skipped because something is missing that no package installs:
/// measured data, a permission, a device.
#[track_caller]
pub fn without(what: impl Display) {
    let line = format!("skipped: cargo {}: {what}\n", test(Location::caller()));
    // Not `eprint!`, which libtest captures. Without a stderr, there is nobody to tell.
    let _ = stderr().write_all(line.as_bytes());
}

/// Reports that the calling test is skipped because something is missing that can be installed or
/// built.
///
/// # Panics
/// With `MALLACC_REQUIRE=tools`.
#[track_caller]
pub fn without_tool(what: impl Display) {
    let required = var_os(REQUIRE).is_some_and(|value| value == "tools");
    assert!(!required, "{what}; {REQUIRE}=tools makes this a failure");
    without(what);
}

/// Whether a program is on PATH. If not, the calling test is reported as skipped.
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

/// The running test: package, program, and its name or the location of the call.
fn test(place: &Location<'_>) -> String {
    let program = current_exe().ok();
    let stem = program.as_deref().and_then(Path::file_stem).unwrap_or_default().to_string_lossy();
    // Cargo appends a hash.
    let program = stem.rsplit_once('-').map_or(&*stem, |(name, _)| name);
    let package = var("CARGO_PKG_NAME").unwrap_or_default();
    // Each test runs in a thread with its name, except with a single test thread.
    match thread::current().name() {
        Some(name) if name != "main" => format!("{package}/{program}::{name}"),
        _ => format!("{package}/{program}::{}:{}", place.file(), place.line()),
    }
}
