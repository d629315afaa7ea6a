//! Where commands read and write: `-o` everywhere, `-` for stdin and stdout.

use crate::common::{Bench, live, sentence};
use std::path::Path;

const USAGE: i32 = 2;
const FAILED: i32 = 125;

/// Every command that writes a document and needs nothing but the store.
const DOCUMENTS: [&[&str]; 14] = [
    &["accelerators"],
    &["machines"],
    &["machines", "goldencove"],
    &["machines", "haswell", "--format", "toml"],
    &["workloads"],
    &["completions", "fish"],
    &["area"],
    &["block", "4801d8"],
    &["list"],
    &["show"],
    &["report"],
    &["diff", "1", "1"],
    &["paper", "--list"],
    &["validate", "blocks", "blocks.csv"],
];

const BLOCKS: &str = "hex,cycles_per_100_iterations\n4801d8,100\n";

fn bench() -> Bench {
    let bench = Bench::new();
    bench.store(&["sh"]);
    bench.file("blocks.csv", BLOCKS);
    bench
}

#[test]
fn every_document_goes_where_output_says() {
    let bench = bench();
    for command in DOCUMENTS {
        let printed = bench.run(&[command, &["-o", "-"]].concat());
        assert!(printed.status.success(), "{command:?}");
        assert!(printed.stdout.len() > 20, "{command:?}");
        // What was there before is replaced.
        bench.file("document", "x".repeat(1 << 20));
        let written = bench.run(&[command, &["--output", "document"]].concat());
        assert!(written.status.success(), "{command:?}");
        assert_eq!(written.stdout, b"", "{command:?}");
        let document = std::fs::read_to_string(bench.path("document")).unwrap();
        assert_eq!(document, String::from_utf8_lossy(&printed.stdout), "{command:?}");
        assert!(!bench.path("-").exists(), "{command:?}");
    }
}

#[test]
fn a_document_that_cannot_be_written_is_an_error_and_is_not_printed_instead() {
    if !Path::new("/dev/full").exists() {
        return skips::without("no /dev/full");
    }
    let bench = bench();
    for command in DOCUMENTS {
        let output = bench.run(&[command, &["-o", "/dev/full"]].concat());
        assert_eq!(output.status.code(), Some(FAILED), "{command:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{command:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(sentence(&text).contains("output /dev/full: cannot be written"), "{text}");
        let text = bench.refused(&[command, &["-o", "/no/such/folder/x"]].concat(), FAILED);
        assert!(sentence(&text).contains("/no/such/folder/x"), "{text}");
    }
}

#[test]
fn a_recording_is_not_written_where_the_program_prints() {
    let bench = Bench::new();
    for command in ["record", "record-mallocs"] {
        let text = bench.refused(&[command, "-o", "-", "sh"], USAGE);
        assert!(sentence(&text).contains("stdout is the program's; name a file"), "{text}");
    }
}

#[test]
fn a_recording_is_read_from_stdin_as_from_its_file() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    assert!(bench.run(&["record", "-q", "-o", "x.mtrace", "sh", "-c", ":"]).status.success());
    let bytes = std::fs::read(bench.path("x.mtrace")).unwrap();
    let replay = ["replay", "--no-store", "--config", "none", "--format", "csv"];
    let of_file = bench.run(&[&replay[..], &["x.mtrace"]].concat());
    let of_stdin = bench.fed(&[&replay[..], &["-"]].concat(), &bytes);
    assert!(of_file.status.success() && of_stdin.status.success());
    let cycles = |output: &std::process::Output| -> Vec<String> {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let rows: Vec<&str> = text.lines().collect();
        let cells = |line: &str| -> Vec<String> { line.split(',').map(str::to_owned).collect() };
        let column = |name: &str| cells(rows[0]).iter().position(|cell| cell == name).unwrap();
        ["instructions", "cycles"].map(|name| cells(rows[1])[column(name)].clone()).to_vec()
    };
    assert_eq!(cycles(&of_file), cycles(&of_stdin));
    let of_file = bench.run(&["operations", "x.mtrace", "-o", "-", "--max", "5"]);
    let of_stdin = bench.fed(&["operations", "-", "-o", "-", "--max", "5"], &bytes);
    assert_eq!(of_file.stdout, of_stdin.stdout);
    assert_eq!(String::from_utf8_lossy(&of_file.stderr), "5 operations in -\n");
    let cut = bench.fed(&["replay", "--no-store", "--quiet", "-"], &bytes[..bytes.len() - 7]);
    assert_eq!(cut.status.code(), Some(FAILED));
    let text = String::from_utf8(cut.stderr).unwrap();
    assert!(sentence(&text).contains("--allow-truncated"), "{text}");
}

#[test]
fn lists_and_machine_files_are_read_from_stdin() {
    let bench = bench();
    let of_stdin = bench.fed(&["validate", "blocks", "-"], BLOCKS.as_bytes());
    assert!(of_stdin.status.success());
    assert_eq!(of_stdin.stdout, bench.run(&["validate", "blocks", "blocks.csv"]).stdout);
    let narrow = b"[core]\nallocate_width = 1\n";
    // Four additions that depend on nothing: one a cycle if one is allocated a cycle.
    let block = ["block", "31c031db31c931d2", "--machine", "-", "--format", "csv"];
    let text = String::from_utf8(bench.fed(&block, narrow).stdout).unwrap();
    let cycles = text.lines().nth(1).and_then(|line| line.split(',').nth(1));
    assert_eq!(cycles, Some("4.0000"), "{text}");
    let output = bench.fed(&["machines", "-", "--format", "toml"], narrow);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("allocate_width = 1\n") && text.contains("name = \"stdin\""), "{text}");
    let bad = bench.fed(&["machines", "-"], b"[core]\nrob = 1\n");
    assert_eq!(bad.status.code(), Some(USAGE));
    assert!(String::from_utf8_lossy(&bad.stderr).contains("stdin: core.rob = 1: must be 8 to 512"));
}

#[test]
fn stdin_is_read_for_one_argument_only() {
    let bench = Bench::new();
    for args in [
        &["block", "-", "--machine", "-"][..],
        &["validate", "blocks", "-", "--machine", "-"],
        &["run", "--machine", "-", "--machine", "-", "sh"],
        &["replay", "-", "--machine", "-"],
    ] {
        let output = bench.fed(args, b"name = \"x\"\n");
        assert_eq!(output.status.code(), Some(USAGE), "{args:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(
            sentence(&text).contains("\"-\" means stdin and can be given once"),
            "{args:?}: {text}"
        );
    }
}

#[test]
fn a_machine_file_is_checked_by_machines_as_it_is_by_run() {
    let bench = Bench::new();
    // Each breaks a rule between parameters, which is checked when the machine is built.
    for contents in ["[core]\nrob = 1\n", "[memory.l1d]\nsize = 48001\n", "[core]\nport = 3\n"] {
        let file = bench.file("bad.toml", contents);
        let run = bench.refused(&["run", "--machine", &file, "--", "sh"], USAGE);
        for args in [
            &["machines", &file][..],
            &["machines", &file, "--format", "toml"],
            &["block", "90", "--machine", &file],
            &["validate", "memory", "--machine", &file],
            &["micro", "--machine", &file],
            &["paper", "--machine", &file],
        ] {
            assert_eq!(bench.refused(args, USAGE), run, "{args:?}");
        }
    }
}
