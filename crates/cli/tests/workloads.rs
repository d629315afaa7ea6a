//! Every workload at its small size: it prints what it prints natively, and its figures hold.

use crate::common::{Bench, check_run, configurations, live, number, root};
use std::process::Command;

/// The native run of a workload's program, as `mallacc` would start it.
fn native(document: &serde_json::Value) -> Vec<u8> {
    let args = document["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap());
    let mut command = Command::new(document["program"].as_str().unwrap());
    // The settings that --deterministic fixes.
    command.env("PERL_HASH_SEED", "0").env("PERL_PERTURB_KEYS", "0").env("PYTHONHASHSEED", "0");
    command.args(args).output().unwrap().stdout
}

fn check(name: &str, least_calls: u64) {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let work = bench.path("work").display().to_string();
    let report = bench.path("report.json").display().to_string();
    let mut command = bench.command(&["run", "--workload", name, "--size", "small"]);
    command.args(["--deterministic", "--no-store", "--format", "json", "--output", &report]);
    let output = command.env("MALLACC_WORK", work).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    if error.contains("apt install") || error.contains("program not found") {
        skips::without_tool(format_args!("{}; run make setup-workloads", error.trim()));
        return;
    }
    assert!(output.status.success(), "{error}");
    let text = std::fs::read_to_string(&report).unwrap();
    let document = serde_json::from_str(&text).unwrap();
    check_run(&document);
    assert!(!output.stdout.is_empty() && output.stdout == native(&document), "its output");
    let item = &configurations(&document)[0];
    let calls = number(item, "allocation/calls");
    assert!(calls >= least_calls, "{calls} allocations");
    assert!(number(item, "deallocation/calls") > 0);
}

// The required numbers of calls are orders of magnitude below what each program makes: they show
// that its allocator was replaced.

#[test]
fn perl_runs() {
    check("perl", 1000);
}

#[test]
fn python3_runs() {
    check("python3", 1000);
}

#[test]
fn sqlite3_runs() {
    check("sqlite3", 500);
}

#[test]
fn cc1_runs() {
    check("cc1", 1000);
}

#[test]
fn xalan_runs() {
    check("xalan", 500);
}

#[test]
fn a_xapian_query_program_runs() {
    check("xapian", 1000);
}

#[test]
fn a_xapian_search_over_abstracts_runs() {
    check("xapian-abstracts", 1000);
}

#[test]
fn a_xapian_search_over_whole_articles_runs() {
    check("xapian-pages", 1000);
}

#[test]
fn a_key_value_store_that_never_frees_runs() {
    check("kv-never-frees", 1000);
}

#[test]
fn a_key_value_store_that_frees_runs() {
    check("kv-frees", 1000);
}

/// A server: its client ends it, and so does a failing client.
fn served(name: &str, least_calls: u64) {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let report = bench.path("report.json").display().to_string();
    let mut command = bench.command(&["run", "--workload", name, "--size", "small"]);
    command.args(["--deterministic", "--no-store", "--format", "json", "--output", &report]);
    let output = command.args(["--config", "none"]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    if error.contains("not found") || error.contains("No such file") {
        skips::without_tool(format_args!("{}; run make setup-workloads", error.trim()));
        return;
    }
    assert!(output.status.success(), "{error}");
    let document = serde_json::from_str(&std::fs::read_to_string(&report).unwrap()).unwrap();
    check_run(&document);
    let item = &configurations(&document)[0];
    assert!(number(item, "allocation/calls") >= least_calls);
    assert_eq!(document["complete"], true, "{error}");
}

#[test]
fn redis_serves_its_client_and_ends() {
    served("redis", 2000);
}

#[test]
fn every_workload_file_has_its_test() {
    let source = include_str!("workloads.rs");
    for entry in std::fs::read_dir(root().join("workloads")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let name = path.file_stem().unwrap().to_str().unwrap();
            let tested =
                ["check", "served"].iter().any(|how| source.contains(&format!("{how}(\"{name}\"")));
            assert!(tested, "{name} has no test");
        }
    }
}
