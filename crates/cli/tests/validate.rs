//! `mallacc validate memory` and `validate host` as a user calls them.

use crate::common::{Bench, micro_is_built, sentence};
use serde_json::Value;

#[test]
fn an_unusable_machine_is_named_in_the_error() {
    let bench = Bench::new();
    for command in ["memory", "host"] {
        let text = bench.refused(&["validate", command, "--machine", "haswel"], 2);
        assert!(sentence(&text).contains("\"haswell\""), "{text}");
        let text = bench.refused(&["validate", command, "--machine", "./none.toml"], 2);
        assert!(sentence(&text).contains("cannot read"), "{text}");
        let file = bench.file("bad.toml", "[memory.l1d]\nsize = 48000\n");
        let text = bench.refused(&["validate", command, "--machine", &file], 2);
        assert!(sentence(&text).contains("l1d.size = 48000: must be divisible"), "{text}");
    }
}

#[test]
fn what_the_host_is_asked_to_do_is_checked() {
    let bench = Bench::new();
    let text = bench.refused(&["validate", "host", "tp_smal"], 2);
    assert!(sentence(&text).contains("\"tp_small\""), "{text}");
    let text = bench.refused(&["validate", "host", "--processes", "0"], 2);
    assert!(text.contains("'0' for '--processes <N>': must be a whole number from 1"), "{text}");
}

#[test]
fn an_empty_store_is_said_to_be_empty() {
    let bench = Bench::new();
    let store = bench.file("empty.db", "");
    for command in ["list", "show"] {
        let text = bench.refused(&[command, "--store", &store], 125);
        assert!(sentence(&text).contains("holds no runs yet"), "{text}");
    }
}

#[test]
fn a_workload_says_what_it_lacks_and_how_to_get_it() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("workloads")).unwrap();
    let file = |program: &str, input: &str| {
        format!(
            "description = \"\"\npackages = [\"a-package\"]\nprogram = \"{program}\"\n\
             args = [\"{{dir}}/{input}\"]\n[size]\nfull = \"1\"\n"
        )
    };
    bench.file("workloads/program.toml", file("no-such-program", "program.toml"));
    bench.file("workloads/input.toml", file("true", "nowhere.txt"));
    for (name, what) in [("program", "apt install a-package"), ("input", "nowhere.txt is missing")]
    {
        let mut command = bench.command(&["run", "--workload", name, "--no-store"]);
        command.env("MALLACC_WORKLOADS", bench.path("workloads"));
        let output = command.env("MALLACC_WORK", bench.path("work")).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(125), "{text}");
        assert!(sentence(&text).contains(what), "{text}");
    }
}

/// A sanity check only: the host's times vary.
#[test]
fn the_host_is_compared_with_a_machine_and_every_sample_is_accounted_for() {
    if !micro_is_built() {
        return;
    }
    let bench = Bench::new();
    let args = ["validate", "host", "tp_small", "antagonist", "--format", "json"];
    let sizes = ["--iterations", "512", "--repeats", "5", "--processes", "3"];
    let output = bench.run(&[&args[..], &sizes[..]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        let count = |key: &str| row[key].as_u64().unwrap();
        // Four measured repeats in each of three processes.
        assert_eq!(count("kept") + count("moved") + count("shared"), 4 * 3, "{row}");
        let simulated = row["simulated"].as_f64().unwrap();
        assert!(simulated.is_finite() && simulated > 1.0, "{row}");
        if count("kept") > 0 {
            let native = &row["native"];
            let [low, median, high] =
                ["low", "median", "high"].map(|k| native[k].as_f64().unwrap());
            assert!(0.0 < low && low <= median && median <= high && high.is_finite(), "{row}");
            assert!(row["error"].as_f64().unwrap().is_finite(), "{row}");
        }
    }
    assert_eq!(rows[0]["comparable"], true);
    assert_eq!(rows[1]["comparable"], false, "antagonist");
    assert_eq!(document["paper_mean_absolute_error"], 0.0628);
    assert!(document["machine"].is_string() && document["notes"].is_array());
}
