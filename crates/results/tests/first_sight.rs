//! What a reader of the terminal sees first, for runs from which he could take a wrong figure.

use fixtures::{
    ablated, on_two_machines, whole, with_a_fault, with_broken_markers, with_one_sample,
    without_calls,
};
use mallacc_results::Run;
use mallacc_results::statistics::Value;
use mallacc_results::text::{self, Style};
use mallacc_results::{CallFigures, CallGroup, csv, json};

fn summary(run: &Run) -> String {
    text::summary(run, &Style::PLAIN)
}

#[test]
fn a_run_with_ablations_reads_like_this() {
    insta::assert_snapshot!(summary(&ablated()));
}

#[test]
fn a_run_on_two_machines_reads_like_this() {
    insta::assert_snapshot!(summary(&on_two_machines()));
}

#[test]
fn a_run_without_allocation_reads_like_this() {
    insta::assert_snapshot!(summary(&without_calls(None)));
}

#[test]
fn a_run_that_could_not_be_measured_reads_like_this() {
    insta::assert_snapshot!(summary(&without_calls(Some("the reason is a clause"))));
}

#[test]
fn a_run_with_one_sample_reads_like_this() {
    insta::assert_snapshot!(summary(&with_one_sample()));
}

#[test]
fn a_run_with_broken_markers_reads_like_this() {
    insta::assert_snapshot!(summary(&with_broken_markers()));
}

#[test]
fn a_run_with_a_fault_reads_like_this() {
    insta::assert_snapshot!(summary(&with_a_fault()));
}

#[test]
fn the_list_states_no_gain_that_the_headline_does_not() {
    let runs = [whole(), with_one_sample(), with_broken_markers(), with_a_fault()];
    let none = without_calls(Some("the reason is a clause"));
    let list = text::list(&[&runs[..], &[none]].concat(), &Style { width: 120, ..Style::PLAIN });
    insta::assert_snapshot!(list);
}

/// Every number of a JSON document under a key that speaks of a speedup.
fn speedups(value: &serde_json::Value, found: &mut Vec<serde_json::Value>) {
    match value {
        serde_json::Value::Object(object) => {
            for (key, value) in object {
                if key.contains("speedup") && !value.is_null() {
                    found.push(value.clone());
                }
                speedups(value, found);
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| speedups(item, found)),
        _ => {}
    }
}

/// Cells of every row whose label is a speedup, dashes left out.
fn stated(table: &str) -> Vec<&str> {
    let rows = table.lines().filter_map(|line| line.trim().strip_prefix("speedup"));
    rows.flat_map(str::split_whitespace).filter(|cell| *cell != "-").collect()
}

#[test]
fn a_run_that_states_no_gain_has_no_speedup_in_any_document() {
    let none = without_calls(Some("the reason is a clause"));
    for (run, has_speedups) in
        [(whole(), true), (with_broken_markers(), false), (with_a_fault(), false), (none, false)]
    {
        let wide = Style { width: 200, ..Style::PLAIN };
        for table in [summary(&run), text::detail(&run, &wide)] {
            assert_eq!(!stated(&table).is_empty(), has_speedups, "{table}");
            assert_eq!(table.contains("% faster"), has_speedups, "{table}");
        }
        let listed = text::list(std::slice::from_ref(&run), &wide);
        let line = listed.lines().nth(1).expect("a line for the run").to_owned();
        assert_eq!(line.contains('%'), has_speedups, "{line}");

        let mut found = Vec::new();
        speedups(&json::value(&run), &mut found);
        assert_eq!(!found.is_empty(), has_speedups, "{found:?}");

        let text = csv::render(&run, &run.schema);
        let mut rows = text.lines();
        let columns: Vec<usize> = (0..)
            .zip(rows.next().expect("a header").split(','))
            .filter_map(|(at, name)| name.contains("speedup").then_some(at))
            .collect();
        assert!(columns.len() > 2, "of the program, the allocator and each kind of call");
        // The arguments contain the only quoted cell, `a, "b"`, without which commas separate.
        let rows = rows.map(|row| row.replace("\"words.pl a, \"\"b\"\"\"", ""));
        let cells = rows.map(|row| {
            columns.iter().filter(|at| !row.split(',').nth(**at).unwrap().is_empty()).count()
        });
        assert_eq!(cells.sum::<usize>() > 0, has_speedups, "{text}");

        let item = &run.configurations[2];
        let call = CallFigures::of(&run, item, CallGroup::Allocation).value("speedup");
        assert_eq!(call != Value::Undefined, has_speedups);
    }
}
