//! `mallacc paper` on small subsets.

use crate::common::{Bench, micro_is_built};
use serde_json::Value;

#[test]
fn a_figure_of_one_microbenchmark_is_measured_and_judged_and_resumed() {
    if !micro_is_built() {
        return;
    }
    let bench = Bench::new();
    let args = ["paper", "fig17", "--quick", "--workload", "tp_small", "--format", "json"];
    let output = bench.run(&args);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    // The paper's simulator is a user-level simulator.
    let machine = document["machine"].as_str().unwrap();
    assert!(machine.starts_with("Machine haswell-user: "), "{machine}");
    let figures = document["figures"].as_array().unwrap();
    assert_eq!((figures.len(), &figures[0]["figure"]), (1, &Value::from("fig17")));
    let claims = figures[0]["claims"].as_array().unwrap();
    let inflection = claims.iter().find(|claim| claim["quantity"] == "inflection").unwrap();
    // The microbenchmark uses four size classes in turn: with fewer entries it never hits.
    assert_eq!(inflection["measured"].as_f64(), Some(4.0));
    assert_eq!(inflection["verdict"], "reproduced");
    assert!(claims.iter().all(|claim| claim["subject"] == "tp_small"), "{claims:?}");
    // Again from the store: the same result, without a run.
    let resumed = bench.run(&[&args[..], &["--resume"]].concat());
    assert_eq!(resumed.stdout, output.stdout);
    let listed = bench.run(&["list"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert_eq!(listed.matches("tp_small").count(), 1, "{listed}");
}

#[test]
fn the_microbenchmarks_causes_stand_on_figures_that_have_not_moved() {
    if !micro_is_built() {
        return;
    }
    let bench = Bench::new();
    // At full length, as when the causes were established: a quick study is another configuration.
    let args = ["paper", "table1", "--workload", "tp_small", "--workload", "sized_deletes"];
    let measured = |more: &[&str]| {
        let output = bench.run(&[&args[..], &["--no-store", "--format", "json"], more].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{error}");
        assert!(!error.contains("stale"), "{error}");
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let claims = document["figures"][0]["claims"].as_array().unwrap().clone();
        let of = |claim: &&Value| claim["quantity"] == "malloc_cycles";
        let claim = claims.iter().find(of).unwrap().clone();
        assert_eq!(claim["verdict"], "differs");
        claim
    };
    let whole = measured(&[]);
    let (cause, date) = (whole["cause"].as_str().unwrap(), &whole["cause_established"]);
    assert!(
        cause.contains(date.as_str().unwrap()) && !cause.contains("did not measure"),
        "{cause}"
    );
    assert_eq!(whole["cause_stale"], false);
    let quick = measured(&["--quick"]);
    let cause = quick["cause"].as_str().unwrap();
    assert!(cause.starts_with("cause not established for this configuration"), "{cause}");
    assert_eq!(quick["cause_established"], Value::Null);
}

#[test]
fn a_program_without_its_input_is_named_and_the_others_go_on() {
    if !micro_is_built() {
        return;
    }
    let bench = Bench::new();
    let mut command = bench.command(&["paper", "table1", "fig2", "--quick", "--no-store"]);
    command.args(["--workload", "tp_small", "--workload", "perl", "--format", "json"]);
    command.env("MALLACC_WORKLOADS", bench.path("none"));
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{error}");
    assert!(error.lines().any(|line| line.starts_with("mallacc: perl: ")), "{error}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(document["figures"][0]["notes"][0].as_str().unwrap().contains("perl was not measured"));
    let validated = document["figures"][1]["rows"][0]["label"].as_str();
    assert_eq!(validated, Some("tp_small"));
}

#[test]
fn what_is_not_there_is_refused_in_one_sentence() {
    let bench = Bench::new();
    let unknown = bench.refused(&["paper", "fig3"], 2);
    assert!(unknown.contains("fig17") && unknown.contains("table2"), "{unknown}");
    let none = bench.refused(&["paper", "fig17", "--workload", "perl"], 2);
    assert!(none.contains("--list"), "{none}");
}
