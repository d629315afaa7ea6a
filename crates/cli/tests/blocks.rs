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

/// add rax, rbx; imul rcx, rax.
const CODE: &str = "4801d8480fafc8";

#[test]
fn one_block_comes_with_its_ports_and_its_bottleneck() {
    let expected = "\
cycles  instructions  fused uops   uops  category        bottleneck        block
  3.00             2           2    2.0  scalar-integer  dependency chain  4801d8480fafc8

instruction    uops     p0     p1     p2     p3     p4     p5     p6     p7
add rax,rbx    1.00   ";
    let output = mallacc(&["block", CODE], "");
    let out = text(&output.stdout);
    assert!(out.starts_with(expected), "{out}");
    // imul: 3 cycles on port 1 (uops.info); two fused uops, four a cycle.
    let multiply = "imul rcx,rax   1.00      -   1.00      -      -      -      -      -      -\n";
    assert!(out.contains(multiply), "{out}");
    let sentence = "\
Bottleneck: the dependency chain [imul rcx,rax (3)] takes 3.00 of 3.00 cycles per iteration. Alone,
port 1 would take 1.00 and fetch to allocation 0.50.
";
    assert!(out.ends_with(sentence), "{out}");
    let two = text(&mallacc(&["block", CODE, "90"], "").stdout);
    assert_eq!(two.lines().count(), 3, "several blocks are a list: {two}");
    assert!(two.contains("dependency chain") && two.contains("fetch to allocation"), "{two}");
    let json = mallacc(&["block", CODE, "--format", "json"], "");
    let list: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(list[0]["analysis"]["instructions"][1]["ports"]["1"], 1.0);
    assert_eq!(list[0]["analysis"]["limits"][0]["part"], "dependency chain");
    assert_eq!(list[0]["bottleneck"], sentence.trim_end().replace('\n', " "));
}

#[test]
fn assembly_language_is_read_from_arguments_files_and_standard_input() {
    if !skips::have("as") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("loop.s");
    std::fs::write(&file, "  add rax, rbx   # one\n  imul rcx, rax\n").unwrap();
    let place = format!("@{}", file.display());
    let expected = mallacc(&["block", CODE], "").stdout;
    for (args, input) in [
        (vec!["--asm", "add rax, rbx; imul rcx, rax"], ""),
        (vec!["--asm", &place], ""),
        (vec!["--asm", "-"], "add rax, rbx\nimul rcx, rax\n"),
        (vec!["--asm", "add %rbx, %rax; imul %rax, %rcx", "--syntax", "att"], ""),
    ] {
        let output = mallacc(&[vec!["block"], args.clone()].concat(), input);
        assert_eq!(text(&output.stdout), text(&expected), "{args:?}: {}", text(&output.stderr));
    }
    for (args, what) in [
        (vec!["--asm", "nop\nimull rax"], "line 2 (imull rax): no such instruction"),
        (vec!["--asm", "add rax, rxb"], "`rxb` has no address"),
        (vec!["--asm", " # nothing"], "no instruction"),
        (vec!["--asm", "@/no/such/file"], "/no/such/file: cannot read"),
        (vec!["--asm", "-", "-"], "can be given once"),
    ] {
        let output = mallacc(&[vec!["block"], args.clone()].concat(), "");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let err = text(&output.stderr);
        assert!(err.lines().count() == 1 && err.contains(what), "{args:?}: {err}");
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_mallacc"));
    let output = child.args(["block", "--asm", "nop"]).env("PATH", folder.path()).output().unwrap();
    let err = text(&output.stderr);
    assert!(err.lines().count() == 1 && err.contains("apt install binutils"), "{err}");
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
