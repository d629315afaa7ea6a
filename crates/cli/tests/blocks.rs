//! `mallacc block`, `validate blocks` and `area` as a user calls them.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

fn mallacc(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mallacc"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn blocks_are_predicted_from_arguments_and_standard_input() {
    // add rax,rax: a chain of one cycle; mov rax,[rax]: the load-to-use of 4.
    let output = mallacc(&["block", "4801c0", "-", "--format", "csv"], "488b00\n\n");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let out = text(&output.stdout);
    let cycles: Vec<f64> =
        out.lines().skip(1).map(|l| l.split(',').nth(1).unwrap().parse().unwrap()).collect();
    assert_eq!(cycles, [1.0, 4.0]);
}

#[test]
fn a_bad_block_is_named_and_does_not_stop_the_others() {
    for bad in ["zz", "4", "ff", "eb00"] {
        let output = mallacc(&["block", bad, "4801c0", "--format", "json"], "");
        assert_eq!(output.status.code(), Some(1), "{bad}");
        let err = text(&output.stderr);
        assert!(err.lines().count() == 1 && err.contains(bad), "{bad}: {err}");
        let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(list.as_array().unwrap().len(), 1);
        assert_eq!(list[0]["prediction"]["cycles_per_iteration"], 1.0);
    }
    for (bad, what) in [("", "no bytes"), ("4801c0ebfe", "leaves the block"), ("48", "byte 0")] {
        let output = mallacc(&["block", bad], "");
        assert_eq!(output.status.code(), Some(1), "{bad}");
        let err = text(&output.stderr);
        assert!(err.lines().count() == 1 && err.contains(what), "{bad}: {err}");
        assert_eq!(text(&output.stdout), "", "nothing to tell");
    }
    let output = mallacc(&["block", "-"], "\n");
    assert_eq!(output.status.code(), Some(2), "nothing to predict");
}

#[test]
fn the_timeline_has_a_line_for_each_uop_and_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("t.html");
    let args = ["block", "488b00", "--timeline", "--html", page.to_str().unwrap()];
    let output = mallacc(&args, "");
    assert!(output.status.success());
    assert_eq!(text(&output.stdout).matches("mov rax,[rax] load").count(), 4);
    assert!(std::fs::read_to_string(page).unwrap().contains("<html"));
}

#[test]
fn measured_blocks_are_compared_and_bad_rows_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m.csv");
    std::fs::write(&file, "hex,cycles_per_100_iterations\n4801c0,100\nxyz,5\n488b00,none\n")
        .unwrap();
    let file = file.to_str().unwrap();
    let output = mallacc(&["validate", "blocks", file, "--format", "json"], "");
    assert_eq!(output.status.code(), Some(1), "two rows were left out");
    let out = text(&output.stdout);
    assert!(out.contains("line 3") && out.contains("line 4"), "{out}");
    assert!(out.contains("xyz,5") && out.contains("488b00,none"), "their text: {out}");
    let rows = mallacc(&["validate", "blocks", file, "--format", "csv"], "");
    assert_eq!(text(&rows.stderr).lines().count(), 2, "the rows left out are named beside CSV");
    assert_eq!(rows.status.code(), Some(1));
    for (name, contents, what) in [
        ("empty.csv", "", "no column hex"),
        ("columns.csv", "hex,cycles\n90,1\n", "no column cycles_per_100_iterations"),
        ("rows.csv", "hex,cycles_per_100_iterations\n", "no rows"),
    ] {
        let file = folder.path().join(name);
        std::fs::write(&file, contents).unwrap();
        let output = mallacc(&["validate", "blocks", file.to_str().unwrap()], "");
        assert_eq!(output.status.code(), Some(2), "{name}");
        let err = text(&output.stderr);
        assert!(err.lines().count() == 1 && err.contains(what), "{name}: {err}");
    }
    let missing = mallacc(&["validate", "blocks", "/nowhere.csv"], "");
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("/nowhere.csv: cannot read"));
}

#[test]
fn the_area_table_has_the_papers_total_and_the_synthesised_ranges() {
    let output = mallacc(&["area", "--speedup", "0.5"], "");
    let out = text(&output.stdout);
    // CAM 873 + SRAM 346 + index 265 at 16 entries and 48 bits; per 0.5 %: twice that.
    let row = out.lines().find(|l| l.trim_start().starts_with("16       48  estimate")).unwrap();
    assert!(row.contains("1484") && row.contains("2968"), "{row}");
    for storage in ["flip-flops", "clock-gated", "latches"] {
        assert_eq!(out.matches(storage).count(), 8, "4 sizes, 2 widths");
    }
    assert_eq!(mallacc(&["area", "--speedup", "nan"], "").status.code(), Some(2));
}
