//! `mallacc sma-study` on one small trace: tests/data/tar.amt, recorded by workloads/traces/.

use crate::common::{Bench, live, root};
use serde_json::Value;

fn traces() -> String {
    root().join("crates/cli/tests/data").display().to_string()
}

#[test]
fn figures_come_in_every_form_and_are_the_same_each_time() {
    let bench = Bench::new();
    let study = |format: &str| {
        let args = [
            "sma-study",
            "fig8",
            "table1",
            "--quick",
            "--no-cycles",
            "--format",
            format,
            "--traces",
        ];
        let mut args: Vec<String> = args.map(str::to_owned).to_vec();
        args.push(traces());
        let output = bench.run(&args);
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    };
    let value: Value = serde_json::from_str(&study("json")).unwrap();
    let tables = value["tables"].as_array().unwrap();
    // The paper's order, whatever the order of the arguments.
    assert_eq!([&tables[0]["table"], &tables[1]["table"]], ["table1", "fig8"]);
    let state = &tables[0]["rows"][0]["cells"];
    for (kind, bytes) in [("SMA", 40.0), ("SMA (LM)", 56.0), ("SMA (CAM)", 104.0)] {
        assert_eq!((&state[kind]["value"], &state[kind]["paper"]), (&bytes.into(), &bytes.into()));
    }
    let row = &tables[1]["rows"][0];
    let waste = |kind: &str| row["cells"][kind]["value"].as_f64().unwrap();
    assert_eq!(row["name"], "tar");
    // Of 4,096 bytes, the state alone is 1 %; with headers it is more, and dlmalloc's state alone
    // is 13 %.
    assert!(waste("SMA") > 0.97 && waste("SMA (header)") > waste("SMA"));
    assert!(waste("DLmalloc") > 13.0);
    assert!(study("csv").contains("\nfig8,tar,SMA,"));
    assert!(study("markdown").contains("\n| tar |"));
    let text = study("text");
    assert!(text.contains("Figure 8") && text == study("text"));
}

/// Cycles of a call by row and kind, or `None` if a part is missing.
fn cycles(table: &str) -> Option<impl Fn(&str, &str) -> f64> {
    if let (true, Err(error)) = (live(), launch::products::DRIVER.find()) {
        skips::without_tool(error);
        return None;
    }
    let bench = Bench::new();
    let args = ["sma-study", table, "--quick", "--subsets", "1", "--format", "json", "--traces"];
    let mut args: Vec<String> = args.map(str::to_owned).to_vec();
    args.push(traces());
    let output = bench.run(&args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    Some(move |row: &str, kind: &str| {
        let rows = value["tables"][0]["rows"].as_array().unwrap();
        let row = rows.iter().find(|item| item["name"] == row).unwrap();
        row["cells"][kind]["value"].as_f64().unwrap()
    })
}

#[test]
fn calls_take_longer_in_a_slow_scratch_pad_and_on_a_narrow_core() {
    if !live() {
        return;
    }
    let (Some(local), Some(shared)) = (cycles("table1"), cycles("table2")) else { return };
    for kind in ["SMA", "SMA (LM)", "DLmalloc", "talc, 64-bit"] {
        for call in ["allocation", "free"] {
            let [wide, narrow] =
                ["Haswell", "narrow"].map(|core| format!("{call}, cycles, {core} core"));
            assert!(local(&wide, kind) > 5.0, "{kind}: {}", local(&wide, kind));
            assert!(local(&narrow, kind) > local(&wide, kind), "{kind}, {call}");
            // Looking eight uops ahead hides little of 50 to 100 cycles: at least one access is
            // visible.
            assert!(shared(&narrow, kind) > local(&narrow, kind) + 50.0, "{kind}, {call}");
        }
    }
}

#[test]
fn the_report_goes_to_a_file() {
    let bench = Bench::new();
    let traces = traces();
    let args = ["sma-study", "fig9", "--subsets", "1", "-o", "s.txt", "--traces", &traces];
    let output = bench.run(&args);
    assert!(output.status.success() && output.stdout.is_empty());
    let text = std::fs::read_to_string(bench.path("s.txt")).unwrap();
    assert!(text.contains("external"), "{text}");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("no trace of a2p, gcc"), "{told}");
}

#[test]
fn what_is_missing_or_unknown_is_said_with_its_remedy() {
    let bench = Bench::new();
    let text = |args: &[&str]| {
        let output = bench.run(args);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, error) = text(&["sma-study"]);
    assert_eq!(code, Some(125));
    assert!(error.contains("record-mallocs") && error.contains("--traces"), "{error}");
    let (code, error) = text(&["sma-study", "fig21"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("fig21") && error.contains("fig12"), "{error}");
    std::fs::write(bench.path("x.amt"), "AMTRACE1xxx").unwrap();
    let (code, error) = text(&["sma-study", "--traces", "."]);
    assert_eq!(code, Some(125));
    assert!(error.contains("x.amt") && error.contains("cut short"), "{error}");
}
