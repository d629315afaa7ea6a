//! What a reader takes away: the headline is about what he asked for, and what could not be
//! measured says why.

use crate::common::{Bench, configurations, live, micro_is_built, root};
use serde_json::Value;
use std::process::Stdio;

/// The report of a command as text, on lines as long as its sentences.
fn report(bench: &Bench, options: &[&str], rest: &[&str]) -> String {
    let place = bench.path("report.txt").display().to_string();
    let command =
        [&["run", "--quiet", "--no-store", "--output", &place][..], options, &["--"], rest];
    let output = bench.run(&command.concat());
    let text = std::fs::read_to_string(&place).unwrap_or_default();
    assert!(!text.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A program of a few hundred allocations.
const ALLOCATES: &str = "#include <stdlib.h>\nint main(void) {\n  for (int i = 0; i < 400; i++) \
                         free(malloc(16 + i % 64));\n  return 0;\n}\n";
/// One with an allocator of its own, which hands out memory and never takes it back.
const OWN: &str = "#include <stddef.h>\nstatic char heap[1 << 20];\nstatic size_t used;\n\
                   void *malloc(size_t n) {\n  void *p = heap + used;\n\
                   \x20 used += n + 15 & ~15ul;\n  return p;\n}\n\
                   void free(void *p) { (void)p; }\n\
                   int main(void) { for (int i = 0; i < 400; i++) free(malloc(24)); return 0; }\n";

#[test]
fn each_reason_why_nothing_was_measured_is_reported() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let Some(program) = bench.compile("plain", ALLOCATES, &[]) else { return };
    let fixed = bench.compile("static", ALLOCATES, &["-static"]).unwrap();
    let own = bench.compile("own", OWN, &["-rdynamic", "-Wno-parentheses"]).unwrap();
    let none = bench.compile("none", "int main(void) { return 0; }\n", &[]).unwrap();
    for (options, program, reason) in [
        (&[][..], &fixed, "could not be measured: the program is statically linked"),
        (&[], &own, "could not be measured: the program defines malloc itself"),
        (&["--max", "0"], &program, "could not be measured: --max 0 leaves nothing to measure"),
        (&["--roi"], &program, "could not be measured: --roi was given"),
        (&["--skip", "1G"], &program, "could not be measured: --skip 1000000000 leaves none"),
        (&[], &none, "made no allocator call in the measured part"),
    ] {
        let text = report(&bench, options, &[program]);
        assert!(text.contains(reason), "{reason}: {text}");
        assert!(!text.contains("faster"), "{reason}: {text}");
    }
}

#[test]
fn a_damaged_recording_says_so_in_place_of_an_answer() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let Some(program) = bench.compile("plain", ALLOCATES, &[]) else { return };
    let trace = bench.path("t.mtrace").display().to_string();
    assert!(bench.run(&["record", "--quiet", "-o", &trace, "--", &program]).status.success());
    let mut bytes = std::fs::read(&trace).unwrap();
    bytes.truncate(bytes.len() / 8);
    std::fs::write(&trace, bytes).unwrap();
    let options = ["--no-store", "--allow-truncated", "--config", "none"];
    let (document, _) = bench.json("replay", &options, &[&trace]);
    let reason = document["unmeasured"].as_str().unwrap_or_default();
    assert!(reason.contains("ended before the first allocator call"), "{document}");
}

#[test]
fn a_plugin_that_does_not_load_is_a_failure_and_no_result() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let broken = bench.file("libbroken.so", "no library");
    let mut command = bench.command(&["run", "--no-store", "--", "true"]);
    let output = command.env("MALLACC_FEEDER", broken).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{text}");
    assert!(text.contains("QEMU ended before the plugin was loaded"), "{text}");
    assert!(!text.contains("0 instructions"), "nothing was measured: {text}");
}

#[test]
fn few_calls_are_called_few() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let few = "#include <stdlib.h>\nint main(void) { free(malloc(9)); return 0; }\n";
    let Some(program) = bench.compile("few", few, &[]) else { return };
    let text = report(&bench, &[], &[&program]);
    assert!(text.contains("too few to state a gain"), "{text}");
}

#[test]
fn a_changed_machine_has_a_name_of_its_own_and_its_changes_are_listed() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let Some(program) = bench.compile("plain", ALLOCATES, &[]) else { return };
    bench.file("narrow.toml", "[core]\nallocate_width = 2\n");
    let text = report(&bench, &["--machine", "./narrow.toml"], &[&program]);
    assert!(text.starts_with("On narrow, Mallacc with 32 entries makes the program"), "{text}");
    let changed = "machine narrow is haswell with core.allocate_width = 2 (4).";
    assert!(text.contains(changed), "{text}");
}

#[test]
fn a_deterministic_run_executes_the_same_instructions_in_every_environment() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let Some(program) = bench.compile("plain", ALLOCATES, &[]) else { return };
    let long = "x".repeat(5000);
    let many: Vec<(String, String)> =
        (0..10).map(|number| (format!("A{number}"), "v".to_owned())).collect();
    let own = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let environments = [
        own(&[]),
        own(&[("A", "1")]),
        own(&[("AB", "12"), ("C", "3")]),
        own(&[("B", &long)]),
        many,
    ];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let cycles = environments.map(|environment| {
        let options = ["run", "--deterministic", "--no-store", "--quiet", "--format", "json"];
        let place = bench.path("report.json").display().to_string();
        let rest = ["--seeds", "1", "--config", "none", "--output", &place, "--", &program];
        let mut command = bench.command(&[&options[..], &rest].concat());
        let status = command.env_clear().env("PATH", &path).envs(environment).status().unwrap();
        assert!(status.success());
        let document: Value =
            serde_json::from_str(&std::fs::read_to_string(&place).unwrap()).unwrap();
        let figure = |name: &str| configurations(&document)[0][name].as_u64().unwrap();
        (figure("instructions"), figure("cycles"))
    });
    assert!(cycles.iter().all(|found| found.0 == cycles[0].0), "{cycles:?}");
    // The linker reads other characters, which moves mispredicted branches and, below the long
    // variable, pages.
    let apart = |found: &(u64, u64)| found.1.abs_diff(cycles[0].1) as f64 / cycles[0].1 as f64;
    assert!(cycles.iter().all(|found| apart(found) < 0.03), "{cycles:?}");
}

fn roles(document: &Value) -> Vec<(&str, &str)> {
    configurations(document)
        .iter()
        .map(|item| (item["name"].as_str().unwrap(), item["role"].as_str().unwrap()))
        .collect()
}

#[test]
fn the_headline_is_about_the_accelerator_that_was_named_first_on_each_machine() {
    if !micro_is_built() {
        return;
    }
    let bench = Bench::new();
    let program = root().join("guest/build/micro/tp_small").display().to_string();
    let arguments = [program.as_str(), "--iterations", "500", "--repeats", "2"];
    let asked = ["--config", "none", "--config", "mallacc:entries=64", "--ablations"];
    let text = report(&bench, &asked, &arguments);
    assert!(text.starts_with("On haswell, Mallacc with 64 entries makes the program"), "{text}");
    assert!(!text.contains("limit study"), "only parts of it were simulated: {text}");
    let machines = ["--machine", "haswell", "--machine", "goldencove"];
    let options =
        [&["--no-store", "--config", "none", "--config", "mallacc"][..], &machines].concat();
    let rest = [&["--"][..], &arguments].concat();
    let (document, _) = bench.json("run", &options, &rest);
    let expected = [
        ("baseline@haswell", "baseline"),
        ("mallacc-16@haswell", "subject"),
        ("baseline@goldencove", "baseline"),
        ("mallacc-16@goldencove", "subject"),
    ];
    assert_eq!(roles(&document), expected);
    let text = report(&bench, &options[1..], &arguments);
    for machine in ["haswell", "goldencove"] {
        let answer = format!("On {machine}, Mallacc with 16 entries makes the program");
        assert!(text.contains(&answer), "{answer}: {text}");
    }
}

#[test]
fn calls_at_no_cost_bound_every_accelerator() {
    if !micro_is_built() {
        return;
    }
    let bench = Bench::new();
    let program = root().join("guest/build/micro/gauss_free").display().to_string();
    let configs = ["none", "mallacc:entries=32", "limit", "limit:all=on"];
    let mut options = vec!["--no-store"];
    options.extend(configs.iter().flat_map(|config| ["--config", config]));
    let rest = ["--", &program, "--iterations", "500", "--repeats", "2"];
    let (document, _) = bench.json("run", &options, &rest);
    let all = configurations(&document);
    let bound = &all[3];
    assert_eq!(bound["role"], "bound");
    for item in &all[..3] {
        let (cycles, least) = (item["cycles"].as_u64().unwrap(), bound["cycles"].as_u64().unwrap());
        assert!(least < cycles, "{}: {cycles} cycles, the bound {least}", item["name"]);
    }
    // Whatever lies between a call's markers is gone, and nothing else.
    assert_eq!(bound["malloc"]["calls"], all[0]["malloc"]["calls"]);
    let share = bound["allocator_share"].as_f64().unwrap();
    assert!(share < 0.01, "{share}");
}

/// Reads its standard input and allocates as much.
const COPIES: &str = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) {\n  int c, n = 0;\n\
                      \x20 while ((c = getchar()) != EOF) { free(malloc(16 + c)); n++; }\n\
                      \x20 printf(\"%d\\n\", n);\n  return 0;\n}\n";

#[test]
fn every_execution_of_a_rerun_repeats_alone_with_its_seed() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let Some(program) = bench.compile("copies", COPIES, &[]) else { return };
    let input = bench.file("input", "some text ".repeat(30));
    let seed = bench.file("seed.toml", "name = \"seed\"\n[memory]\nseed = 1\n");
    let execute = |options: &[&str], stdout: Stdio| -> (Value, String) {
        let place = bench.path("report.json").display().to_string();
        let all = ["--no-store", "--quiet", "--format", "json", "--config", "none", "--output"];
        let mut command =
            bench.command(&[&["run"], options, &all, &[&place, "--", &program]].concat());
        command.stdin(std::fs::File::open(&input).unwrap());
        let output = command.stdout(stdout).spawn().unwrap().wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = std::fs::read_to_string(&place).unwrap();
        (serde_json::from_str(&text).unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let (_, printed) = execute(&["--rerun", "--seeds", "2"], Stdio::piped());
    assert_eq!(printed, "300\n", "all read their input, and the first one's output is shown");
    // The later ones print into /dev/null, so that the first has to as well to be alike.
    let (rerun, _) = execute(&["--rerun", "--seeds", "2"], Stdio::null());
    assert_eq!(rerun["executions"], 2);
    for (execution, options) in [
        &["--deterministic", "--seeds", "1"][..],
        &["--deterministic", "--seeds", "1", "--seed", "2", "--machine", &seed],
    ]
    .into_iter()
    .enumerate()
    {
        let (alone, _) = execute(options, Stdio::null());
        let (alone, own) =
            (&configurations(&alone)[0], &configurations(&rerun)[0]["replicates"][execution]);
        for figure in ["instructions", "cycles", "allocator_cycles"] {
            assert_eq!(own[figure], alone[figure], "{figure} of execution {execution}");
        }
    }
    let cycles = |at: usize| &configurations(&rerun)[0]["replicates"][at]["cycles"];
    assert_ne!(cycles(0), cycles(1));
}

#[test]
fn a_program_is_simulated_with_three_seeds_and_a_pipe_is_read_only_once() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let Some(program) = bench.compile("plain", ALLOCATES, &[]) else { return };
    let text = report(&bench, &["--deterministic"], &[&program]);
    assert!(text.contains("Simulated 3 times"), "{text}");
    assert!(text.contains(" ±"), "{text}");
    let text = report(&bench, &["--deterministic", "--seeds", "1"], &[&program]);
    assert!(text.contains("Simulated once") && !text.contains(" ±"), "{text}");
    let mut command = bench.command(&["run", "--no-store", "--rerun", "--", &program]);
    let output = command.stdin(Stdio::piped()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("--rerun: stdin is a pipe"), "{text}");
    assert_eq!(output.status.code(), Some(2), "{text}");
}
