//! The instructions of the malloc cache are listed once, in `docs/isa.md`; everything else that
//! names them agrees with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The part of a document under a heading.
fn section(text: &str, heading: &str) -> String {
    let lines = text.lines().skip_while(|line| *line != heading).skip(1);
    lines.take_while(|line| !line.starts_with("## ")).collect::<Vec<_>>().join("\n")
}

/// Words that are names of instructions by their form: `mc` and at least four more letters.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let is_name = |word: &&str| {
        let letters = word.strip_prefix("mc").unwrap_or_default();
        let stem = ["sz", "hd", "nxt", "inval", "flush", "sample", "next"];
        letters.chars().all(|letter| letter.is_ascii_lowercase())
            && stem.iter().any(|stem| letters.starts_with(stem))
    };
    words.filter(is_name).map(str::to_owned).collect()
}

/// The first name in each row of a table.
fn rows(table: &str) -> BTreeSet<String> {
    let first = |line: &str| line.strip_prefix("| `")?.split('`').next().map(str::to_owned);
    table.lines().filter_map(first).collect()
}

/// The list: the table under "Instructions".
fn listed() -> BTreeSet<String> {
    let listed = rows(&section(&read("docs/isa.md"), "## Instructions"));
    assert!(listed.len() > 5 && listed.contains("mchdpop"), "{listed:?}");
    listed
}

/// RV32 splits what does not fit into one register, and configures by an instruction.
const ONLY_ON_RV32: [&str; 2] = ["mcnext", "mccfg"];

/// Numbers and names of the encodings' table.
fn encoded() -> BTreeMap<u32, String> {
    let table = section(&read("docs/isa.md"), "## Encodings");
    let row = |line: &str| {
        let (number, rest) = line.strip_prefix("| ")?.split_once(" | `")?;
        Some((number.parse().ok()?, rest.split('`').next()?.to_owned()))
    };
    table.lines().filter_map(row).collect()
}

#[test]
fn the_encodings_are_those_of_the_instructions() {
    let mut expected = listed();
    expected.extend(ONLY_ON_RV32.map(str::to_owned));
    assert_eq!(encoded().into_values().collect::<BTreeSet<_>>(), expected);
}

#[test]
fn the_soc_s_header_has_the_documented_numbers() {
    let encoded = encoded();
    let header = read("rtl/soc/sw/mallacc_rv.h");
    let mut seen = 0;
    for function in header.split("static inline ").skip(1) {
        let name = function.split('(').next().unwrap().split(' ').next_back().unwrap();
        let number = function.split("MC_OP(").nth(1).and_then(|rest| rest.split(',').next());
        let number: u32 = number.unwrap().parse().unwrap();
        assert_eq!(encoded.get(&number).map(String::as_str), Some(name), "funct7 {number}");
        seen += 1;
    }
    assert!(seen > 5, "{seen} functions");
}

#[test]
fn the_models_and_the_documents_name_no_other_instruction_and_the_model_names_each() {
    let listed = listed();
    let folder = |folder: &str| {
        let entries = fs::read_dir(root().join(folder)).unwrap().flatten().map(|e| e.path());
        let written = entries.filter(|p| p.extension().is_some_and(|e| e == "rs" || e == "md"));
        let text = written.map(|path| fs::read_to_string(path).unwrap());
        text.collect::<String>()
    };
    let model = names(&folder("crates/mcache/src"));
    assert_eq!(model, listed, "crates/mcache");
    for place in ["docs", "crates/accel/src", "crates/stream/src"] {
        let mut others = names(&folder(place));
        others.retain(|name| !ONLY_ON_RV32.contains(&name.as_str()));
        assert!(others.is_subset(&listed), "{place}: {:?}", others.difference(&listed));
    }
}

/// What the table of markers and the page on instructions say about the marked steps.
#[test]
fn the_markers_and_the_instructions_correspond() {
    let listed = listed();
    let markers = read("docs/markers.md");
    let encodings = section(&read("docs/isa.md"), "## Encodings");
    let mut named = BTreeSet::new();
    for line in markers.lines().filter(|line| line.starts_with("| 0x0")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let instructions = names(cells[4]);
        assert!(instructions.is_subset(&listed), "{line}");
        if !cells[2].ends_with("_END`") {
            assert!(!instructions.is_empty(), "no instruction: {line}");
            assert!(encodings.contains(cells[2]), "docs/isa.md does not say what {} is", cells[2]);
        }
        named.extend(instructions);
    }
    // What a kernel or a run-time library executes has no marker.
    let unmarked = ["mcflush", "mcsampleset"].map(str::to_owned);
    assert_eq!(named, &listed - &BTreeSet::from(unmarked));
}
