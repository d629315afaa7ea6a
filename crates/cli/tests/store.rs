//! Stored runs: labels, differences, removal.

use crate::common::{Bench, live, sentence};
use results::Run;
use results::store::Store;
use serde_json::Value;

const USAGE: i32 = 2;
const FAILED: i32 = 125;

/// A store of five runs, two of them labelled `before` and one `after`.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.store(&["one", "two", "three", "four", "five"]);
    let mut store = Store::open(&bench.path("mallacc.db")).unwrap();
    for (id, label) in [(1, "before"), (2, "before"), (4, "after")] {
        let run = store.load(id).unwrap();
        store.finish_run(id, &Run { label: Some(label.into()), ..run }).unwrap();
    }
    bench
}

fn printed(bench: &Bench, args: &[&str]) -> String {
    let output = bench.run(args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The programs of the runs that are left, as the list names them.
fn left(bench: &Bench) -> Vec<String> {
    let list = printed(bench, &["list"]);
    let rows = list.lines().filter(|line| line.trim_start().starts_with(char::is_numeric));
    rows.map(|row| row.split_whitespace().last().unwrap().to_owned()).collect()
}

#[test]
fn runs_are_removed_by_number_range_and_label_and_named() {
    let bench = bench();
    let text = printed(&bench, &["rm", "5", "before"]);
    let expected = "removed run 1: [before] one\nremoved run 2: [before] two\n\
                    removed run 5: five\n";
    assert_eq!(text, expected);
    assert_eq!(left(&bench), ["three", "four"]);
    printed(&bench, &["rm", "1..9"]);
    let text = bench.refused(&["list"], FAILED);
    assert!(sentence(&text).contains("holds no runs yet"), "{text}");
    // Numbers are not used again.
    bench.store(&["six"]);
    assert!(printed(&bench, &["list"]).contains("\n  6  "));
}

#[test]
fn a_missing_run_is_an_error_that_removes_nothing() {
    let bench = bench();
    for (args, status, words) in [
        (&["rm", "1", "9"][..], FAILED, "run 9: not in store"),
        (&["rm", "1", "7..9"], FAILED, "runs 7..9: none of them"),
        (&["rm", "1", "befor"], USAGE, "no run has it. Did you mean \"before\"?"),
        (&["rm", "1", "other"], USAGE, "no run has it. `mallacc list`"),
        (&["rm", "--store", "none.db", "1"], FAILED, "no such file"),
    ] {
        let text = bench.refused(args, status);
        assert!(sentence(&text).contains(words), "{text}");
    }
    for args in [&["rm"][..], &["rm", "-1"], &["rm", "1.5"], &["rm", "9..7"]] {
        assert!(bench.refused(args, USAGE).contains("RUN"), "{args:?}");
    }
    assert_eq!(left(&bench).len(), 5);
    assert!(!bench.path("none.db").exists());
}

#[test]
fn labels_are_in_the_list_and_name_runs() {
    let bench = bench();
    let list = printed(&bench, &["list", "--label", "before"]);
    assert!(list.contains("[before] one") && list.contains("[before] two"), "{list}");
    assert!(!list.contains("four"), "{list}");
    let json: Value =
        serde_json::from_str(&printed(&bench, &["show", "after", "--format", "json"])).unwrap();
    assert_eq!((&json["id"], &json["label"]), (&4.into(), &"after".into()));
    assert!(printed(&bench, &["show", "after"]).contains("[after] four"));
    assert!(printed(&bench, &["report", "before", "-o", "-"]).contains("[before] two"));
    for command in [&["show", "before"][..], &["diff", "before", "4"]] {
        let text = bench.refused(command, USAGE);
        assert!(sentence(&text).contains("several runs have it (1, 2)"), "{text}");
    }
    for label in ["", "7", "1..2", "a\nb"] {
        let text = bench.refused(&["run", "--label", label, "sh"], USAGE);
        assert!(text.contains("no number and no range"), "{label}: {text}");
    }
}

#[test]
fn a_label_is_stored_with_the_run_that_gets_it() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let run = ["run", "--quiet", "--config", "none", "--label", "first try", "sh", "-c", ":"];
    assert!(bench.run(&run).status.success());
    let text = printed(&bench, &["show", "first try"]);
    assert!(text.contains("[first try] sh -c :"), "{text}");
}

#[test]
fn two_runs_are_compared_by_number_and_label_in_each_format() {
    let bench = bench();
    let table = printed(&bench, &["diff", "1", "after"]);
    for part in ["run 1 (before)", "run 4 (after)", "different programs, one and four", "cycles"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let json: Value =
        serde_json::from_str(&printed(&bench, &["diff", "1", "4", "--format", "json"])).unwrap();
    let names: Vec<&str> = json["configurations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| pair["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["baseline", "limit"]);
    let csv = printed(&bench, &["diff", "1", "4", "--format", "csv"]);
    assert!(csv.contains("\nbaseline,cycles,cycles,800,,800,,0,0,same\n"), "{csv}");
    let text = bench.refused(&["diff", "1", "9"], FAILED);
    assert!(sentence(&text).contains("run 9: not in store"), "{text}");
    let text = bench.refused(&["diff", "1..2", "4"], USAGE);
    assert!(sentence(&text).contains("must be one run"), "{text}");
}
