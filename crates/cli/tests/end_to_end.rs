//! Real programs through the whole chain.

use crate::common::{Bench, check_run, configurations, have, live, number, root};
use std::path::Path;
use std::process::{Command, Stdio};

const PERL: &str = "my %h; $h{\"key$_\"} = [$_] for 1..2000; print scalar(keys %h), \"\\n\"";

#[test]
fn a_program_prints_and_exits_as_it_does_natively() {
    if !live() || !have("perl") {
        return;
    }
    let bench = Bench::new();
    let script = "print STDOUT join('|', @ARGV, scalar <STDIN>); print STDERR 'e'; exit 7";
    let stdin = bench.file("in", "line\nmore\n");
    let open = || Stdio::from(std::fs::File::open(&stdin).unwrap());
    let args = ["-e", script, "a b", "--config", ""];
    let native = Command::new("perl").args(args).stdin(open()).output().unwrap();
    let mut ours = bench.command(&["run", "--quiet", "--no-store", "--config", "none", "--"]);
    let ours = ours.arg("perl").args(args).stdin(open()).output().unwrap();
    assert_eq!(ours.stdout, native.stdout);
    assert_eq!(ours.stderr, native.stderr);
    assert_eq!((native.status.code(), ours.status.code()), (Some(7), Some(7)));
}

#[test]
fn the_default_run_compares_four_configurations_and_stores_them() {
    if !live() || !have("perl") {
        return;
    }
    let bench = Bench::new();
    let (document, output) = bench.json("run", &[], &["--", "perl", "-e", PERL]);
    assert!(output.status.success());
    assert_eq!(output.stdout, b"2000\n", "the guest's stdout is its own");
    check_run(&document);
    let names: Vec<_> = configurations(&document).iter().map(|item| &item["name"]).collect();
    assert_eq!(names, ["baseline", "mallacc-16", "mallacc-32", "limit"]);
    for key in ["program", "instructions", "host_seconds", "mips"] {
        assert!(!document[key].is_null(), "{key}");
    }
    for item in configurations(&document) {
        for key in ["machine", "accelerator", "parameters", "ipc", "allocator_cycles"] {
            assert!(!item[key].is_null(), "{key}");
        }
        for key in ["calls", "cycles", "cycles_per_call", "p50", "p95", "p99"] {
            assert!(!item["malloc"][key].is_null() && !item["free"][key].is_null(), "{key}");
        }
    }
    assert_eq!(number(&document, "configurations/2/parameters/entries"), 32);
    assert!(number(&document, "configurations/2/malloc_cache/lookup_hits") > 1000);
    let list = String::from_utf8(bench.run(&["list"]).stdout).unwrap();
    assert!(list.contains("perl"), "{list}");
    let shown = bench.run(&["show", "1", "--format", "json"]);
    let stored: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(stored, document, "what is stored is what was reported");
}

#[test]
fn calls_in_are_calls_out() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    // Constant numbers of calls; taking the difference separates them from those of the C library.
    let source = "#include <stdlib.h>\n\
        int main(int argc, char **argv) {\n\
        int n = atoi(argv[1]);\n\
        for (int i = 0; i < n; i++) {\n\
          char *p = malloc(24); *p = 1; p = realloc(p, 2000); free(p); free(calloc(3, 5)); }\n\
        return 0; }\n";
    let Some(program) = bench.compile("calls", source, &[]) else { return };
    let calls = |count: &str| {
        let options = ["--no-store", "--config", "none", "--config", "mallacc"];
        let (document, _) = bench.json("run", &options, &["--", &program, count]);
        check_run(&document);
        ["malloc", "realloc", "free", "calloc"]
            .map(|kind| number(&document, &format!("configurations/1/{kind}/calls")))
    };
    let (few, many) = (calls("100"), calls("300"));
    let more: Vec<u64> = many.iter().zip(&few).map(|(many, few)| many - few).collect();
    assert_eq!(more, [200, 200, 400, 200]);
}

#[test]
fn a_live_run_its_recording_and_two_replays_agree_to_the_cycle() {
    if !live() || !have("perl") {
        return;
    }
    let bench = Bench::new();
    let options = ["--no-store", "--deterministic"];
    let rest = ["--", "perl", "-e", PERL];
    let (mut first, _) = bench.json("run", &options, &rest);
    let (mut second, _) = bench.json("run", &options, &rest);
    let record = [&["record", "--deterministic", "-o", "t.mtrace"][..], &rest].concat();
    assert!(bench.run(&record).status.success());
    let (mut third, _) = bench.json("replay", &["--no-store"], &["t.mtrace"]);
    let (mut fourth, _) = bench.json("replay", &["--no-store"], &["t.mtrace"]);
    let all = [&mut first, &mut second, &mut third, &mut fourth];
    let [first, others @ ..] = all.map(|document| {
        // The time on the host varies.
        for key in ["host_seconds", "mips", "started"] {
            document[key] = 0.into();
        }
        &*document
    });
    for other in others {
        assert_eq!(other, first);
    }
}

#[test]
fn one_configuration_alone_is_what_it_is_beside_others() {
    if !live() || !have("perl") {
        return;
    }
    let bench = Bench::new();
    let record = ["record", "-o", "t.mtrace", "--", "perl", "-e", PERL];
    assert!(bench.run(&record).status.success());
    let (together, _) = bench.json("replay", &["--no-store"], &["t.mtrace"]);
    let alone = ["--no-store", "--config", "mallacc:entries=32"];
    let (alone, _) = bench.json("replay", &alone, &["t.mtrace"]);
    assert_eq!(alone["configurations"][0]["cycles"], together["configurations"][2]["cycles"]);
}

#[test]
fn a_disabled_accelerator_is_the_baseline_cycle_for_cycle() {
    if !live() || !have("perl") {
        return;
    }
    let bench = Bench::new();
    let mut options = vec!["--no-store".to_owned(), "--config".into(), "none".into()];
    for model in accel::registry() {
        let off = model.disabled();
        let settings: Vec<String> = off
            .as_table()
            .into_iter()
            .flatten()
            .filter(|(name, value)| model.defaults().get(name.as_str()) != Some(value))
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let settings = settings.join(",");
        options.extend(["--config".into(), format!("off-{0}={0}:{settings}", model.name())]);
    }
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let (document, _) = bench.json("run", &options, &["--", "perl", "-e", PERL]);
    for item in configurations(&document) {
        assert_eq!(item["cycles"], document["configurations"][0]["cycles"], "{}", item["name"]);
    }
}

#[test]
fn without_markers_the_same_allocator_takes_the_same_time_within_a_percent() {
    let plain = root().join("guest/build/libmallacc_guest_plain.so");
    if !live() || !have("perl") || !plain.exists() {
        return;
    }
    let bench = Bench::new();
    let cycles = |guest: Option<&Path>| {
        let report = bench.path("report.json").display().to_string();
        let args = ["run", "--no-store", "--deterministic", "--config", "none"];
        let mut command = bench.command(&args);
        command.args(["--format", "json", "--output", &report, "--", "perl", "-e", PERL]);
        if let Some(path) = guest {
            command.env(launch::products::GUEST.variable, path);
        }
        assert!(command.output().unwrap().status.success());
        let text = std::fs::read_to_string(&report).unwrap();
        number(&serde_json::from_str(&text).unwrap(), "configurations/0/cycles") as f64
    };
    let (marked, plain) = (cycles(None), cycles(Some(&plain)));
    let apart = (marked / plain - 1.0).abs();
    assert!(apart < 0.01, "{marked} cycles with markers dropped, {plain} without");
}

#[test]
fn scripts_and_exec_are_followed_to_the_last_image() {
    if !live() || !have("perl") {
        return;
    }
    let bench = Bench::new();
    let script =
        bench.file("wrapper", "#!/bin/sh\nexec perl -e 'print \"deep $ARGV[0]\\n\"' \"$1\"\n");
    assert!(Command::new("chmod").args(["+x", &script]).status().unwrap().success());
    let options = ["--no-store", "--config", "none"];
    let (document, output) = bench.json("run", &options, &["--", &script, "one"]);
    assert_eq!(output.stdout, b"deep one\n");
    assert_eq!(number(&document, "execs"), 1);
    check_run(&document);
}

#[test]
fn sampling_gives_intervals_and_says_so() {
    if !live() || !have("perl") {
        return;
    }
    let bench = Bench::new();
    let options = ["--no-store", "--sample", "200k:20k:20k"];
    let (document, _) = bench.json("run", &options, &["--", "perl", "-e", PERL]);
    let samples = number(&document, "sampling/samples");
    let population = number(&document, "sampling/population");
    assert_eq!(samples, population / 200_000, "one for each whole period");
    assert!(document["configurations"][1]["ipc_ci95"].is_f64(), "an interval on every mean");
    check_run(&document);
    let options = ["--no-store", "--budget", "1M", "--config", "none"];
    let (document, _) = bench.json("run", &options, &["--", "perl", "-e", PERL]);
    assert!(document["sampling"].is_object(), "above the budget it is sampled");
}

#[test]
fn skip_and_max_bound_what_is_measured_and_the_program_still_ends_by_itself() {
    if !live() || !have("perl") {
        return;
    }
    let bench = Bench::new();
    let options = ["--no-store", "--skip", "1M", "--max", "500k", "--config", "none"];
    let (document, output) = bench.json("run", &options, &["--", "perl", "-e", PERL]);
    assert_eq!(output.stdout, b"2000\n");
    let measured = number(&document, "configurations/0/instructions");
    // Blocks are not split: the last one may exceed the count by its length.
    assert!((500_000..500_300).contains(&measured), "{measured}");
}

#[test]
fn threads_share_one_core_and_forked_children_leave() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let source = "#include <pthread.h>\n#include <stdlib.h>\n#include <sys/wait.h>\n\
        #include <unistd.h>\n\
        static void *work(void *p) { for (int i = 0; i < 500; i++) free(malloc(40)); return p; }\n\
        int main(void) { pthread_t t[2];\n\
        for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);\n\
        for (int i = 0; i < 2; i++) pthread_join(t[i], 0);\n\
        pid_t child = fork(); if (child == 0) _exit(0); waitpid(child, 0, 0); return 0; }\n";
    let Some(program) = bench.compile("threads", source, &["-pthread"]) else { return };
    let (document, output) = bench.json("run", &["--no-store"], &["--", &program]);
    assert!(output.status.success());
    check_run(&document);
    assert_eq!(number(&document, "threads"), 3);
    assert!(number(&document, "context_switches") >= 3);
    assert_eq!(number(&document, "forked_children"), 1);
    assert!(number(&document, "configurations/1/malloc_cache/flushes") >= 3);
    // A call that is split by a switch is not counted.
    let calls = number(&document, "configurations/0/malloc/calls");
    assert!(calls + number(&document, "context_switches") >= 1000, "{calls}");
}
