//! `mallacc check-markers` on allocators with and without mistakes, live under QEMU.

use crate::common::{Bench, have, live, number, root};
use serde_json::Value;

/// Objects of the toy's program in each round, its rounds, and the pairs of large and moved blocks.
const HELD: u64 = 100;
const ROUNDS: u64 = 20;

/// Compiles the toy allocator; `None` without a compiler.
fn toy(bench: &Bench, name: &str, flags: &[&str]) -> Option<String> {
    let source = std::fs::read_to_string(root().join("crates/cli/tests/allocators/toy.c")).unwrap();
    let include = format!("-I{}", root().join("guest/include").display());
    // The compiler turns calls at a function's end into jumps only from here on.
    bench.compile(name, &source, &[&["-O2", &include], flags].concat())
}

/// The document and exit status of a check.
fn check(bench: &Bench, options: &[&str], program: &[&str]) -> (Value, Option<i32>) {
    let rest = [options, &["--"], program].concat();
    let (document, output) = bench.json("check-markers", &["--quiet"], &rest);
    (document, output.status.code())
}

/// Rule, function and count of each finding.
fn findings(document: &Value) -> Vec<(&str, &str, u64)> {
    let all = document["findings"].as_array().unwrap().iter();
    all.map(|found| {
        let function = found["at"]["function"].as_str().unwrap_or("-");
        (found["rule"].as_str().unwrap(), function, found["count"].as_u64().unwrap())
    })
    .collect()
}

/// The findings on a toy with one mistake, which must make the command fail.
fn mistake(name: &str) -> Option<Value> {
    if !live() {
        return None;
    }
    let bench = Bench::new();
    let program = toy(&bench, "toy", &[&format!("-DMISTAKE_{name}")])?;
    let (document, status) = check(&bench, &[], &[&program]);
    assert_eq!((status, &document["clean"]), (Some(3), &Value::Bool(false)), "{document:#}");
    assert_eq!(document["findings"][0]["at"]["object"], "toy");
    Some(document)
}

#[test]
fn an_allocator_that_keeps_the_rules_is_clean_and_passes_the_programs_status_on() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let Some(program) = toy(&bench, "toy", &[]) else { return };
    let (document, status) = check(&bench, &[], &[&program]);
    assert_eq!((findings(&document), status), (vec![], Some(0)), "{document:#}");
    // The held blocks, a large one, and the one that is moved.
    let mallocs = ROUNDS * (HELD + 1 + 1);
    assert!(number(&document, "calls_begun/malloc") >= mallocs, "{document:#}");
    assert_eq!(number(&document, "calls_begun/realloc"), ROUNDS);
    let begun = document["calls_begun"].as_object().unwrap().values();
    let begun: u64 = begun.map(|calls| calls.as_u64().unwrap()).sum();
    assert_eq!(number(&document, "calls_ended"), begun);
}

#[test]
fn a_path_without_its_call_end_is_named_by_its_function() {
    let Some(document) = mistake("END") else { return };
    assert_eq!(findings(&document), [("end_missing", "free_large", ROUNDS)]);
    assert_eq!(document["findings"][0]["other"]["function"], "free");
}

#[test]
fn a_lookup_without_an_update_is_found_at_every_call() {
    let Some(document) = mistake("UPDATE") else { return };
    let lookups = number(&document, "lookups");
    assert_eq!(findings(&document), [("lookup_open", "malloc", lookups)]);
    assert!(lookups >= ROUNDS * HELD);
}

#[test]
fn a_size_below_the_request_is_found_at_the_update() {
    let Some(document) = mistake("SIZE") else { return };
    let lookups = number(&document, "lookups");
    assert_eq!(findings(&document), [("size_too_small", "malloc", lookups)]);
}

#[test]
fn a_size_beyond_the_block_makes_blocks_overlap() {
    let Some(document) = mistake("OVERLAP") else { return };
    let found = findings(&document);
    assert!(matches!(found[..], [("overlap", "malloc", 1..)]), "{found:?}");
}

#[test]
fn a_push_without_markers_is_found_where_the_list_was_changed() {
    let Some(document) = mistake("PUSH") else { return };
    // The first pop after each but the last, behind which nothing pops.
    assert_eq!(findings(&document), [("unmarked_push", "stash_quietly", ROUNDS - 1)]);
    assert_eq!(document["findings"][0]["other"]["function"], "malloc");
}

#[test]
fn a_pop_without_markers_is_found_where_the_list_was_changed() {
    let Some(document) = mistake("POP") else { return };
    assert_eq!(findings(&document), [("unmarked_pop", "steal_quietly", ROUNDS - 1)]);
}

#[test]
fn a_slow_path_without_invalidate_is_found_where_the_region_was_left() {
    let Some(document) = mistake("INVALIDATE") else { return };
    let found = findings(&document);
    assert!(matches!(found[..], [("pop_open", "malloc", _), ("unmarked_push", "refill", _)]));
    assert_eq!(number(&document, "invalidations"), 0);
}

#[test]
fn a_block_that_is_handed_out_while_it_is_held_is_found() {
    let Some(document) = mistake("TWICE") else { return };
    assert_eq!(findings(&document), [("handed_out_twice", "hand_out_again", ROUNDS)]);
    assert_eq!(document["findings"][0]["other"]["function"], "malloc");
}

#[test]
fn a_program_without_symbols_has_positions() {
    if !live() || !have("strip") {
        return;
    }
    let bench = Bench::new();
    let Some(program) = toy(&bench, "toy", &["-DMISTAKE_END", "-s"]) else { return };
    let (document, _) = check(&bench, &[], &[&program]);
    let at = &document["findings"][0]["at"];
    assert_eq!((&at["function"], &at["object"]), (&Value::Null, &Value::from("toy")));
    let output = bench.run(&["check-markers", "--quiet", "--", &program]);
    let text = String::from_utf8(output.stdout).unwrap();
    let position = format!("toy+{}", at["address"].as_str().unwrap());
    assert!(text.contains(&position), "{position}: {text}");
}

#[test]
fn a_recording_has_the_findings_of_the_program_in_every_format() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let Some(program) = toy(&bench, "toy", &["-DMISTAKE_END"]) else { return };
    let live = check(&bench, &["--deterministic"], &[&program]).0;
    let trace = bench.path("toy.mtrace").display().to_string();
    let record = ["record", "--quiet", "--deterministic", "-o", &trace, "--", &program];
    assert!(bench.run(&record).status.success());
    let (recorded, output) = bench.json("check-markers", &["--quiet"], &[&trace]);
    assert_eq!((&recorded, output.status.code()), (&live, Some(3)));
    let csv = bench.run(&["check-markers", &trace, "--format", "csv"]);
    let csv = String::from_utf8(csv.stdout).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 2, "a header and a finding: {csv}");
    assert!(lines[1].starts_with(&format!("end_missing,{ROUNDS},free_large,toy,0x")), "{csv}");
}

#[test]
fn a_library_of_ones_own_is_checked_in_any_program() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let library = ["-shared", "-fPIC", "-DLIBRARY"];
    let (marked, unmarked) =
        ([&library[..]].concat(), [&library[..], &["-DMALLACC_NO_MARKERS"]].concat());
    let (Some(marked), Some(unmarked)) =
        (toy(&bench, "libtoy.so", &marked), toy(&bench, "libplain.so", &unmarked))
    else {
        return;
    };
    let source = "#include <stdlib.h>\nint main(void) {\n\
        for (int i = 0; i < 50; i++) free(malloc(24));\nreturn 7; }\n";
    let program = bench.compile("prog", source, &[]).unwrap();
    let (document, status) = check(&bench, &["--allocator", &marked], &[&program]);
    assert_eq!((findings(&document), status), (vec![], Some(7)), "the program's own status");
    assert!(number(&document, "calls_begun/malloc") >= 50);
    let (document, status) = check(&bench, &["--allocator", &unmarked], &[&program]);
    assert_eq!(status, Some(3), "nothing could be checked");
    assert!(document["unmarked"].as_str().unwrap().contains("has no markers"), "{document:#}");
    for (path, word) in
        [(&program, "does not export malloc"), (&bench.file("x", "x"), "no library")]
    {
        let text = bench.refused(&["run", "--allocator", path, "--", "true"], 2);
        assert!(text.contains(word) && text.contains("--allocator"), "{text}");
    }
}

#[test]
fn the_guest_allocator_and_its_microbenchmarks_are_clean() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    for name in ["tp", "tp_small", "sized_deletes", "gauss", "gauss_free", "antagonist"] {
        let program = root().join("guest/build/micro").join(name).display().to_string();
        let words = [&program, "--iterations", "300", "--repeats", "2"];
        let (document, status) = check(&bench, &[], &words);
        assert_eq!((findings(&document), status), (vec![], Some(0)), "{name}");
        assert!(number(&document, "pops_compared") > 300, "{name}");
    }
}

/// The table of a run of the toy with a mistake, and the exit status.
fn told(bench: &Bench, mistake: &str) -> Option<(String, Option<i32>)> {
    let program = toy(bench, "toy", &[&format!("-DMISTAKE_{mistake}")])?;
    let output = bench.run(&[
        "run",
        "--no-store",
        "--config",
        "none",
        "--config",
        "mallacc",
        "--",
        &program,
    ]);
    // Lines are wrapped.
    let words = String::from_utf8(output.stderr).unwrap();
    let words: Vec<&str> = words.split_whitespace().collect();
    Some((words.join(" "), output.status.code()))
}

#[test]
fn a_run_counts_begins_and_ends_and_states_no_gain_if_markers_are_wrong() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let Some((text, status)) = told(&bench, "NONE") else { return };
    assert!(
        text.contains("allocator calls began, all of which ended.") && status == Some(0),
        "{text}"
    );
    assert!(text.contains(" faster"), "{text}");
    for (mistake, status, word) in [("END", 3, "do not match"), ("PUSH", 3, "must be 0")] {
        let Some((text, found)) = told(&bench, mistake) else { return };
        assert_eq!(found, Some(status), "{mistake}: {text}");
        assert!(text.contains(word) && text.contains("no gain is stated"), "{mistake}: {text}");
        assert!(text.contains("check-markers") && !text.contains(" faster"), "{mistake}: {text}");
    }
}
