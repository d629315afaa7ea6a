//! `mallacc report`: where the page goes, which runs it contains, and what is refused.

use crate::common::{Bench, have, root, sentence};
use serde_json::Value;
use std::process::Command;

const USAGE: i32 = 2;
const FAILED: i32 = 125;

fn bench(programs: &[&str]) -> Bench {
    let bench = Bench::new();
    bench.store(programs);
    bench
}

#[test]
fn without_arguments_the_latest_run_becomes_report_html() {
    let bench = bench(&["first", "second"]);
    let output = bench.run(&["report"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("report.html"));
    let page = std::fs::read_to_string(bench.path("report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>"));
    assert!(page.contains("second") && !page.contains("first<"));
}

#[test]
fn a_page_goes_to_stdout_or_replaces_a_file_whole() {
    let bench = bench(&["one", "two"]);
    let printed = bench.run(&["report", "1", "-o", "-"]);
    assert!(printed.status.success() && printed.stderr.is_empty());
    let longer = "x".repeat(4_000_000);
    let file = bench.file("old.html", longer);
    assert!(bench.run(&["report", "1", "--output", &file]).status.success());
    assert_eq!(std::fs::read(&file).unwrap(), printed.stdout);
    assert!(!bench.path("report.html").exists());
}

#[test]
fn several_runs_and_ranges_are_compared_each_once() {
    let bench = bench(&["aaa", "bbb", "ccc", "ddd"]);
    let output = bench.run(&["report", "4", "1..2", "2", "-o", "-"]);
    let page = String::from_utf8(output.stdout).unwrap();
    let titles: Vec<&str> = page
        .split("<h2 ")
        .skip(1)
        .filter_map(|part| part.split_once('>')?.1.split('<').next())
        .filter(|title| title.starts_with("Run "))
        .collect();
    assert_eq!(titles, ["Run 4: ddd", "Run 1: aaa", "Run 2: bbb"]);
}

#[test]
fn what_cannot_be_reported_is_one_sentence_and_a_failure() {
    let bench = bench(&["one", "two"]);
    let mentions = |text: &str, words: &[&str]| {
        words.iter().for_each(|word| assert!(text.contains(word), "{word:?} is not in {text}"));
    };
    mentions(sentence(&bench.refused(&["report", "7"], FAILED)), &["run 7", "1", "2"]);
    mentions(sentence(&bench.refused(&["report", "7..9"], FAILED)), &["7..9", "mallacc list"]);
    let text = bench.refused(&["report", "-o", "no/such/folder/x.html"], FAILED);
    mentions(sentence(&text), &["no/such/folder/x.html", "--output"]);
    let text = bench.refused(&["report", "--store", "none.db"], FAILED);
    mentions(sentence(&text), &["none.db", "mallacc run"]);
    assert!(!bench.path("none.db").exists(), "reading creates nothing");
    drop(results::store::Store::open(&bench.path("empty.db")).unwrap());
    let text = bench.refused(&["report", "--store", "empty.db"], FAILED);
    mentions(sentence(&text), &["empty.db", "no runs", "mallacc run"]);
    mentions(&bench.refused(&["report", "9..7"], USAGE), &["9..7", "7..12"]);
    let text = bench.refused(&["report", "latest"], USAGE);
    mentions(sentence(&text), &["label \"latest\"", "no run has it", "mallacc list"]);
    let other = bench.file("notes.db", "these are notes");
    mentions(sentence(&bench.refused(&["report", "--store", &other], FAILED)), &["notes.db"]);
    assert!(!bench.path("report.html").exists(), "nothing was written");
}

#[test]
fn the_timeline_of_a_block_has_the_same_look_and_works_in_a_browser() {
    let bench = Bench::new();
    let block = ["block", "488b0048ffc74801d80fafc3", "--html", "timeline.html"];
    assert!(bench.run(&block).status.success());
    let page = std::fs::read_to_string(bench.path("timeline.html")).unwrap();
    let report = root().join("crates/report/src/style.css");
    assert!(page.contains(&std::fs::read_to_string(report).unwrap()), "one style sheet");
    if !have("chromium") || !have("node") {
        return;
    }
    let script = root().join("crates/report/tests/browser/check.mjs");
    let mut command = Command::new("node");
    command.arg(script).arg("chromium").args([bench.path("timeline.html"), bench.path("seen")]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(seen["complaints"], Value::Array(Vec::new()));
    for view in seen["views"].as_array().unwrap() {
        assert_eq!(view["pageWidth"], view["windowWidth"], "only the timeline scrolls");
        if let Some(keyboard) = view.get("keyboard") {
            assert_eq!(keyboard["reached"], keyboard["controls"]);
            assert_eq!(keyboard["unmarked"], Value::Array(Vec::new()));
        }
    }
}
