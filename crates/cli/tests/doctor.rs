//! `mallacc doctor` on this system, and on systems that lack something.

use crate::common::system::{System, told};
use crate::common::{Bench, live};
use serde_json::Value;
use std::process::Command;

const FAILED: i32 = 125;

fn findings(text: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(text).unwrap();
    document["findings"].as_array().unwrap().clone()
}

fn state<'a>(findings: &'a [Value], name: &str) -> &'a str {
    let found = findings.iter().find(|finding| finding["name"] == name);
    found.unwrap_or_else(|| panic!("{name}: {findings:?}"))["state"].as_str().unwrap()
}

#[test]
fn where_runs_work_it_says_so_and_each_finding_has_its_reason() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let (text, stderr, status) = told(&bench.run(&["doctor"]));
    assert_eq!((status, stderr.as_str()), (Some(0), ""), "{text}");
    assert!(text.contains("`mallacc run` works"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let (document, ..) = told(&bench.run(&["doctor", "--format", "json"]));
    let all = findings(&document);
    for finding in &all {
        let full = |key: &str| finding[key].as_str().is_some_and(|text| !text.is_empty());
        assert!(["name", "group", "found", "rule"].into_iter().all(full), "{finding}");
        assert_eq!(finding["state"] == "ok", finding["remedy"].is_null(), "{finding}");
        assert!(text.contains(finding["name"].as_str().unwrap()), "{finding}");
    }
    for name in ["QEMU", "plugin", "guest allocator", "trial run"] {
        assert_eq!(state(&all, name), "ok");
    }
}

#[test]
fn without_a_qemu_runs_cannot_work() {
    let Some(system) = System::new() else { return };
    let (text, _, status) = told(&system.command(&["doctor"]).output().unwrap());
    assert_eq!(status, Some(FAILED), "{text}");
    assert!(text.contains("`mallacc run` cannot work: QEMU"), "{text}");
    let json = system.command(&["doctor", "--format", "json"]).output().unwrap();
    let all = findings(&told(&json).0);
    assert_eq!(state(&all, "QEMU"), "missing");
    // Other commands work in part.
    assert_eq!(state(&all, "browser"), "attention");
    assert!(all.iter().all(|finding| finding["name"] != "trial run"), "nothing to try");
}

#[test]
fn limits_that_are_too_low_or_move_figures_need_attention() {
    let Some(system) = System::new() else { return };
    for (limit, name) in
        [("-n 32", "ulimit -n"), ("-v 1500000", "ulimit -v"), ("-s 16384", "ulimit -s")]
    {
        let doctor = system.command(&["doctor", "--format", "json"]);
        let mut shell = Command::new("sh");
        let script = format!("ulimit -S {limit} && exec \"$@\"");
        shell.args(["-c", &script, "sh"]).arg(doctor.get_program()).args(doctor.get_args());
        shell.envs(doctor.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = shell.env_remove("MALLACC_QEMU").output().unwrap();
        if output.stdout.is_empty() {
            skips::without(format!("this user may not set ulimit {limit}"));
            continue;
        }
        assert_eq!(state(&findings(&told(&output).0), name), "attention");
    }
}

#[test]
fn a_variable_that_names_no_qemu_is_found() {
    let Some(system) = System::new() else { return };
    let mut command = system.command(&["doctor"]);
    let (text, _, status) = told(&command.env("MALLACC_QEMU", "/no/such/file").output().unwrap());
    assert_eq!(status, Some(FAILED));
    assert!(text.contains("/no/such/file: not found"), "{text}");
    assert!(text.contains("To do: unset MALLACC_QEMU"), "{text}");
}

#[test]
fn a_qemu_that_does_not_load_the_plugin_is_found_by_trying() {
    let Some(system) = System::new() else { return };
    if !live() {
        return;
    }
    // It claims everything and executes the program without a plugin.
    let body = "case $1 in --version) echo 'qemu-x86_64 version 9.9.9'; exit;;\n\
                --help) echo '-plugin x'; exit;; esac\n\
                while [ \"$1\" != -0 ]; do shift; done; shift 2; exec \"$@\"";
    system.program("qemu-x86_64", body);
    let json = system.command(&["doctor", "--format", "json"]).output().unwrap();
    assert_eq!(json.status.code(), Some(FAILED));
    let all = findings(&told(&json).0);
    assert_eq!((state(&all, "QEMU"), state(&all, "trial run")), ("ok", "missing"));
}
