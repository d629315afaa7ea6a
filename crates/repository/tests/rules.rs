//! Rules for the whole repository: sizes, directions of dependencies, restrictions on models.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FILE_LINES_MAX: usize = 600;
const LINE_CHARS_MAX: usize = 100;

/// Files that may be longer or wider, each with its reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("crates/decode/data/haswell.tsv", "a table of measurements, a line for each instruction"),
    ("crates/decode/data/goldencove.tsv", "a table of a model, a line for each instruction"),
    ("rtl/cosim/example.ops", "a recorded stream of operations"),
];

/// Files that may have a wider line, each with its reason.
const WIDE: &[(&str, &str)] = &[
    ("crates/memory/src/naive.rs", "an assertion in a macro, which formatting leaves alone"),
    ("crates/results/src/store/document.rs", "the text of a document"),
    ("sma/sma/src/heap.rs", "the head of an implementation, which formatting leaves alone"),
    ("guest/tests/programs.sh", "command lines of programs"),
    ("guest/tests/repeatable.sh", "a command line of a program"),
];

/// Text files that people write.
const WRITTEN: [&str; 12] =
    ["rs", "cc", "c", "h", "hpp", "cpp", "sv", "py", "pl", "sh", "toml", "tsv"];

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every file in git.
fn files() -> Vec<String> {
    let list = Command::new("git").args(["ls-files"]).current_dir(root()).output();
    match list {
        Ok(list) if list.status.success() => {
            String::from_utf8(list.stdout).unwrap().lines().map(str::to_owned).collect()
        }
        // An unpacked archive has no history: walk its folders.
        _ => {
            let mut found = Vec::new();
            for folder in ["crates", "sma", "guest", "rtl", "workloads", "bench", "tools"] {
                walk(&root().join(folder), &mut found);
            }
            found
        }
    }
}

fn walk(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "build" && name != "target" && !name.starts_with('.') {
            walk(&path, found);
        } else if path.is_file() {
            found.push(path.strip_prefix(root()).unwrap().display().to_string());
        }
    }
}

fn written() -> impl Iterator<Item = (String, String)> {
    let known = |name: &String| {
        let extension = Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or_default();
        WRITTEN.contains(&extension)
    };
    files().into_iter().filter(known).filter_map(|name| {
        let text = fs::read_to_string(root().join(&name)).ok()?;
        Some((name, text))
    })
}

fn excepted(name: &str) -> bool {
    EXCEPTIONS.iter().any(|(file, _)| *file == name)
}

#[test]
fn files_and_lines_keep_to_their_sizes() {
    let mut broken = Vec::new();
    let mut seen = 0;
    for (name, text) in written().filter(|(name, _)| !excepted(name)) {
        seen += 1;
        let lines = text.lines().count();
        if lines > FILE_LINES_MAX {
            broken.push(format!("{name}: {lines} lines, at most {FILE_LINES_MAX}"));
        }
        for (number, line) in text.lines().enumerate() {
            let chars = line.chars().count();
            let wide = WIDE.iter().any(|(file, _)| *file == name) || name.ends_with("Cargo.toml");
            if chars > LINE_CHARS_MAX && !wide && !cannot_break(line) {
                broken.push(format!("{name}:{}: {chars} characters", number + 1));
            }
        }
    }
    assert!(seen > 100, "the search found {seen} files");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// A link, a string literal, a row of a table or a diagram: breaking it would break its meaning.
fn cannot_break(line: &str) -> bool {
    let code = line.trim_start();
    let drawn = |c: char| ('\u{2500}'..='\u{257f}').contains(&c);
    line.contains("http") || code.starts_with('"') || code.starts_with("//! |") || {
        code.starts_with("//") && line.contains(drawn)
    }
}

#[test]
fn every_exception_is_a_file_that_needs_it() {
    for (name, reason) in EXCEPTIONS.iter().chain(WIDE) {
        assert!(!reason.is_empty());
        let text = fs::read_to_string(root().join(name));
        let text = text.unwrap_or_else(|error| panic!("{name}: {error}"));
        let long = text.lines().count() > FILE_LINES_MAX;
        let wide = text.lines().any(|line| line.chars().count() > LINE_CHARS_MAX);
        assert!(long || wide, "{name} keeps to the sizes");
    }
}

/// What each crate may depend on: data flows from the stream to the report, one way.
const ALLOWED: &[(&str, &[&str])] = &[
    ("mallacc-documents", &[]),
    ("mallacc-params", &[]),
    ("mallacc-stats", &[]),
    ("mallacc-mcache", &[]),
    ("sma", &[]),
    ("sma-c", &["sma"]),
    ("sma-rig", &["sma"]),
    ("mallacc-results", &["mallacc-documents", "mallacc-stats", "mallacc-stream"]),
    ("mallacc-traces", &[]),
    ("mallacc-recorder", &["mallacc-traces"]),
    ("mallacc-report", &["mallacc-documents", "mallacc-results", "mallacc-stats"]),
    ("mallacc-fixtures", &["mallacc-results", "mallacc-stats"]),
    ("mallacc-skips", &[]),
    ("mallacc-benches", &[]),
    ("mallacc-repository", &[]),
    ("mallacc-study", &["mallacc-documents", "mallacc-traces", "sma", "sma-rig"]),
    ("mallacc-paper", &["mallacc-accel", "mallacc-documents", "mallacc-results"]),
    ("mallacc-stream", &[]),
    ("mallacc-predict", &["mallacc-params", "mallacc-stats"]),
    ("mallacc-memory", &["mallacc-params", "mallacc-stats"]),
    ("mallacc-feeder", &["mallacc-stream"]),
    ("mallacc-launch", &["mallacc-stream"]),
    ("mallacc-setup", &["mallacc-documents", "mallacc-launch", "mallacc-stream"]),
    ("mallacc-symbols", &["mallacc-stream"]),
    ("mallacc-markers", &["mallacc-stream"]),
    ("mallacc-decode", &["mallacc-stream"]),
    (
        "mallacc-accel",
        &["mallacc-params", "mallacc-stats", "mallacc-mcache", "mallacc-decode", "mallacc-stream"],
    ),
    (
        "mallacc-uarch",
        &[
            "mallacc-params",
            "mallacc-stats",
            "mallacc-stream",
            "mallacc-decode",
            "mallacc-memory",
            "mallacc-predict",
            "mallacc-accel",
        ],
    ),
    (
        "mallacc-sim",
        &[
            "mallacc-params",
            "mallacc-stats",
            "mallacc-stream",
            "mallacc-decode",
            "mallacc-memory",
            "mallacc-predict",
            "mallacc-accel",
            "mallacc-uarch",
            "mallacc-markers",
            "mallacc-results",
            "mallacc-mcache",
        ],
    ),
    (
        "mallacc-validate",
        &[
            "mallacc-documents",
            "mallacc-params",
            "mallacc-stream",
            "mallacc-decode",
            "mallacc-memory",
            "mallacc-accel",
            "mallacc-uarch",
            "mallacc-report",
        ],
    ),
    ("mallacc", &["mallacc-experiments", "mallacc-report", "mallacc-results", "mallacc-setup"]),
];

/// Crates that may depend on everything. Only the command depends on them.
const ON_TOP: &[&str] = &["mallacc-experiments"];

fn packages() -> Vec<Value> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--no-deps", "--format-version", "1", "--offline"]);
    let output = command.current_dir(root()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    document["packages"].as_array().unwrap().clone()
}

#[test]
fn dependencies_point_one_way() {
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    let mut broken = Vec::new();
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        let ours = dependencies
            .filter(|d| d["kind"].is_null() && !d["path"].is_null())
            .map(|d| d["name"].as_str().unwrap());
        for dependency in ours {
            if dependency == "mallacc" || ON_TOP.contains(&dependency) && name != "mallacc" {
                broken.push(format!("{name} -> {dependency}: nothing may depend on it"));
            }
            match allowed.get(name) {
                Some(list) if !list.contains(&dependency) => {
                    broken.push(format!("{name} -> {dependency}"));
                }
                None if !ON_TOP.contains(&name) => {
                    broken.push(format!("{name}: no rule says what it may depend on"));
                }
                _ => {}
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Crates link their test files into one program, `tests/all.rs`, which must name them.
#[test]
fn every_test_file_is_part_of_a_test_program() {
    for package in packages() {
        let manifest = PathBuf::from(package["manifest_path"].as_str().unwrap());
        let folder = manifest.with_file_name("tests");
        let targets = package["targets"].as_array().unwrap().iter();
        let programs: Vec<PathBuf> =
            targets.map(|target| PathBuf::from(target["src_path"].as_str().unwrap())).collect();
        let all = fs::read_to_string(folder.join("all.rs")).unwrap_or_default();
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let file = entry.path();
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if file.extension().is_some_and(|extension| extension == "rs") {
                let named = all.lines().any(|line| line == format!("mod {name};"));
                assert!(named || programs.contains(&file), "{} is in no program", file.display());
            }
        }
    }
}

#[test]
fn tests_skip_in_the_one_way_that_is_counted() {
    // Split in two, so that this file does not contain it.
    let printed = ["println!(\"", "skipped"].concat();
    for (name, text) in written().filter(|(name, _)| name.ends_with(".rs")) {
        assert!(!text.contains(&printed), "{name}: tell it through the crate `skips`");
    }
}

/// Crates that only tests may use.
const FOR_TESTS: &[&str] = &["mallacc-fixtures", "mallacc-skips"];

#[test]
fn what_is_for_tests_is_in_nothing_that_is_shipped() {
    for package in packages() {
        for dependency in package["dependencies"].as_array().unwrap() {
            let name = dependency["name"].as_str().unwrap();
            let shipped = dependency["kind"].is_null() && FOR_TESTS.contains(&name);
            assert!(!shipped, "{} -> {name}: a dev-dependency at most", package["name"]);
        }
    }
}

/// Files that are modules by an explicit path, each with its reason.
const BY_PATH: &[(&str, &str, &str)] = &[(
    "sma/sma/tests/example.rs",
    "sma/sma/examples/ten_lines.rs",
    "the example is a program for cargo; the test runs what the documentation shows",
)];

/// The folder of the nearest manifest above a file.
fn crate_of(path: &Path) -> PathBuf {
    let above = path.ancestors().skip(1);
    above.map(Path::to_path_buf).find(|folder| folder.join("Cargo.toml").exists()).unwrap()
}

/// The text of an attribute's or macro's string: `#[path = "X"]`, `include!("X")`.
fn included(line: &str) -> Option<&str> {
    let code = line.trim_start();
    let attribute =
        code.strip_prefix("#[path").or_else(|| code.split_once("include!(").map(|p| p.1));
    attribute?.split('"').nth(1)
}

#[test]
fn no_crate_takes_a_module_out_of_another_crates_files() {
    let mut found = Vec::new();
    for (name, text) in written().filter(|(name, _)| name.ends_with(".rs")) {
        if name == "crates/repository/tests/rules.rs" {
            continue;
        }
        for other in text.lines().filter_map(included) {
            let file = root().join(&name);
            let other = file.parent().unwrap().join(other).canonicalize();
            let other = other.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(crate_of(&file), crate_of(&other), "{name} takes {}", other.display());
            found.push((name.clone(), other.strip_prefix(root()).unwrap().display().to_string()));
        }
    }
    found.sort();
    let allowed: Vec<(String, String)> = BY_PATH
        .iter()
        .inspect(|(_, _, reason)| assert!(!reason.is_empty()))
        .map(|(file, other, _)| ((*file).to_owned(), (*other).to_owned()))
        .collect();
    assert_eq!(found, allowed, "a crate's own modules need no path, or a reason here");
}

#[test]
fn every_dependency_has_its_reason() {
    let document = fs::read_to_string(root().join("docs/dependencies.md")).unwrap();
    for package in packages() {
        for dependency in package["dependencies"].as_array().unwrap() {
            let name = dependency["name"].as_str().unwrap();
            let ours = !dependency["path"].is_null();
            let told = document.contains(&format!("| `{name}` |"));
            assert!(ours || told, "{name} of {} is not in docs/dependencies.md", package["name"]);
        }
    }
}

/// Crates whose results must depend only on their input.
const MODELS: [&str; 8] =
    ["stats", "stream", "decode", "memory", "predict", "mcache", "accel", "uarch"];
/// What they must not use.
const BANNED: [&str; 7] =
    ["std::time", "println!(", "eprintln!(", "print!(", "rand::", "SystemTime", "Instant::now"];
/// Exempt: the live stream waits for another process, which requires a clock.
const WAITS: &str = "crates/stream/src/live/";

#[test]
fn models_do_not_print_read_clocks_or_use_unseeded_randomness() {
    let mut seen = 0;
    for (name, text) in written() {
        let model = MODELS.iter().any(|m| name.starts_with(&format!("crates/{m}/src/")));
        let is_test = name.ends_with("tests.rs") || name.contains("/tests/");
        if !model || is_test || name.starts_with(WAITS) {
            continue;
        }
        seen += 1;
        // Tests at the end of a file may print.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for banned in BANNED {
                assert!(!line.contains(banned), "{name}: {}", line.trim());
            }
        }
    }
    assert!(seen > 30, "the search found {seen} files");
}

/// The table of core families, and expressions that must not occur elsewhere because they ask which
/// family it is.
const FAMILIES: &str = "crates/decode/src/family.rs";
const FAMILY_ASKED: [&str; 5] =
    ["Family::Haswell", "Family::GoldenCove", "GOLDEN_COVE", "family.name ==", "\"goldencove\" =>"];

#[test]
fn only_one_table_tells_core_families_apart() {
    let mut seen = false;
    for (name, text) in written().filter(|(name, _)| name.ends_with(".rs")) {
        seen |= name == FAMILIES && text.contains("GOLDEN_COVE");
        if name == FAMILIES || name.contains("/tests/") {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for word in FAMILY_ASKED {
            assert!(!code.contains(word), "{name} says {word}; make it a field of {FAMILIES}");
        }
    }
    assert!(seen, "{FAMILIES} is where they are");
}

/// Tests for an accelerator's name, which must not occur outside its own crate.
const ACCELERATOR_ASKED: [&str; 4] =
    ["\"mallacc\" =>", "\"none\" =>", "== \"none\"", "== \"mallacc\""];

#[test]
fn nothing_outside_their_crate_asks_which_accelerator_it_is() {
    let mut seen = 0;
    for (name, text) in written() {
        let code = name.ends_with(".rs") && name.contains("/src/");
        if !code || name.starts_with("crates/accel/") {
            continue;
        }
        seen += 1;
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for word in ACCELERATOR_ASKED {
            assert!(!code.contains(word), "{name} says {word}; ask the model for its role");
        }
    }
    assert!(seen > 100, "the search found {seen} files");
}

/// Words by number, from lines like `| 0x01 | `LOOKUP` | …`.
fn documented_markers() -> BTreeMap<u32, String> {
    let text = fs::read_to_string(root().join("docs/markers.md")).unwrap();
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| 0x")?.split('|');
        let number = cells.next()?.trim().to_owned();
        let name = cells.next()?.trim().trim_matches('`').to_owned();
        Some((u32::from_str_radix(number.split('+').next()?, 16).ok()?, name))
    };
    text.lines().filter_map(row).collect()
}

/// `PopEnd` as `POP_END`.
fn upper_snake(camel: &str) -> String {
    let mut name = String::new();
    for letter in camel.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

/// `#define MALLACC_<prefix>_NAME value` in the header, by value.
fn defined(prefix: &str) -> BTreeMap<u32, String> {
    let header = fs::read_to_string(root().join("guest/include/mallacc.h")).unwrap();
    let define = |line: &str| {
        let mut words =
            line.strip_prefix(&format!("#define MALLACC_{prefix}_"))?.split_whitespace();
        let (name, value) = (words.next()?.to_owned(), words.next()?);
        let number = value.strip_prefix("0x").map(|hex| u32::from_str_radix(hex, 16));
        Some((number.unwrap_or_else(|| value.parse()).ok()?, name))
    };
    header.lines().filter_map(define).collect()
}

#[test]
fn the_markers_of_header_document_and_stream_agree() {
    let known = (0..=0xff_u8).filter_map(|code| {
        let op = format!("{:?}", stream::MarkerOp::from_code(code)?);
        let (name, kind) = op.split_once('(').unwrap_or((&op, "Malloc)"));
        (kind == "Malloc)").then(|| (u32::from(code), upper_snake(name)))
    });
    let known: BTreeMap<u32, String> = known.collect();
    assert!(known.len() >= 15, "{known:?}");
    assert_eq!(documented_markers(), known);
    assert_eq!(defined("OP"), known);
    let kinds = stream::CallKind::ALL.iter().zip(0..);
    let kinds = kinds.map(|(kind, code)| (code, kind.name().to_uppercase())).collect();
    assert_eq!(defined("KIND"), kinds);
}

#[test]
fn the_readme_is_short_and_names_the_two_commands() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(text.lines().count() <= 150);
    assert!(text.contains("make demo") && text.contains("make test"));
    for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        let file: PathBuf = root().join(link.split('#').next().unwrap());
        assert!(link.starts_with("http") || file.exists(), "{link} leads nowhere");
    }
}
