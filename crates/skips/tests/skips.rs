//! Skips bypass libtest's capture and are counted as skips: the line that a test writes, and
//! `.ci/totals`, which reads it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Tells `a_test_that_lacks_something` what it lacks: `tool` or `data`.
const LACK: &str = "MALLACC_TEST_LACKS";

/// The tests below start this one, with the variable set.
#[test]
fn a_test_that_lacks_something() {
    match std::env::var(LACK).as_deref() {
        Ok("tool") => assert!(!mallacc_skips::have("no-such-program")),
        Ok("data") => mallacc_skips::without("no such data"),
        _ => {}
    }
}

fn lacking(what: &str, require: Option<&str>) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_test_that_lacks_something"]).env(LACK, what);
    command.env("CARGO_PKG_NAME", "package");
    command.env_remove(mallacc_skips::REQUIRE).args(["--test-threads", "2"]);
    command.envs(require.map(|value| (mallacc_skips::REQUIRE, value)));
    command.output().unwrap()
}

#[test]
fn a_skip_is_told_though_the_test_passes_and_its_output_is_captured() {
    for (what, reason) in [("tool", "no-such-program is not installed"), ("data", "no such data")] {
        let output = lacking(what, None);
        assert!(output.status.success());
        let text = String::from_utf8(output.stderr).unwrap();
        let line = format!("skipped: cargo package/skips::a_test_that_lacks_something: {reason}\n");
        assert_eq!(text, line);
    }
}

#[test]
fn want_of_a_tool_is_a_failure_where_tools_are_required_and_want_of_data_is_not() {
    let output = lacking("tool", Some("tools"));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!output.status.success(), "{text}");
    assert!(text.contains("no-such-program is not installed; MALLACC_REQUIRE=tools"), "{text}");
    assert!(lacking("data", Some("tools")).status.success());
}

fn totals() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.ci/totals")
}

/// The verdict of `.ci/totals` on a log: whether it is a success, and its last line. `None` without
/// python3.
fn summed(log: &str) -> Option<(bool, String)> {
    if !mallacc_skips::have("python3") {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log");
    std::fs::write(&file, log).unwrap();
    let output = Command::new("python3").arg(totals()).arg(&file).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    Some((output.status.success(), text.lines().last().unwrap_or_default().to_owned()))
}

/// Checks the totals of a log.
fn sums_to(log: &str, well: bool, line: &str) {
    if let Some(said) = summed(log) {
        assert_eq!(said, (well, line.to_owned()), "{log}");
    }
}

const CARGO: &str = "     Running tests/a.rs (target/debug/deps/a-0123)
test one ... ok
test two ... ok
test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s
";

#[test]
fn a_skipped_test_counts_once_and_not_as_passed() {
    sums_to(CARGO, true, "5 passed, 0 failed, 0 skipped");
    let skip = "skipped: cargo p/a::one: gcc is not installed\n";
    sums_to(&format!("{skip}{CARGO}"), true, "4 passed, 0 failed, 1 skipped");
    let twice = format!("{skip}{skip}skipped: cargo q/a::one: no data\n{CARGO}");
    sums_to(&twice, true, "3 passed, 0 failed, 2 skipped");
    // On a single thread, libtest has already begun the line.
    let glued = CARGO.replace("one ... ok", &format!("one ... {}ok", &skip));
    sums_to(&glued, true, "4 passed, 0 failed, 1 skipped");
}

#[test]
fn the_guests_and_the_rtls_skips_are_added_and_nothing_is_taken_off() {
    let guest = "== threads\n== programs\nskipped: guest programs/xz: xz is not installed\n\
                 skipped: guest code: python3 is not installed\nguest: all tests passed\n";
    sums_to(guest, true, "2 passed, 0 failed, 2 skipped");
    let failed = guest.replace("all tests passed", "failed: programs code");
    // A test that never started cannot be subtracted from those that did.
    sums_to(&failed, false, "1 passed, 2 failed, 2 skipped");
    let rtl = "lint e4p32: clean\nlint Entries=5: refused, as it must be\n\
               e4p32: 200000 operations in 300000 cycles agree\n\
               skipped: rtl formal: no .venv; run make rtl-setup\n";
    sums_to(rtl, true, "3 passed, 0 failed, 1 skipped");
}

#[test]
fn what_ended_without_a_result_is_a_failure() {
    let broken = CARGO.lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
    sums_to(&format!("{CARGO}{broken}"), false, "5 passed, 1 failed, 0 skipped");
    sums_to("== threads\n", false, "1 passed, 1 failed, 0 skipped");
    let make = format!("{CARGO}make: *** [Makefile:1: test] Error 2\n");
    sums_to(&make, false, "5 passed, 1 failed, 0 skipped");
    sums_to("", false, "0 passed, 0 failed, 0 skipped");
}
