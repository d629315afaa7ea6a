//! The complete path from a file of measured blocks to a report.

use std::num::NonZero;

use mallacc_validate::{Blocks, Category, bhive, report, report::Report};
use uarch::Machine;

fn scored(text: &str, threads: usize) -> (Report, usize) {
    let blocks = Blocks::new(&Machine::default()).unwrap();
    let rows = bhive::parse(text).unwrap();
    let (outcomes, errors) = bhive::predict(&blocks, rows, NonZero::new(threads).unwrap());
    (report::report(&outcomes, &errors, 1, None), outcomes.len())
}

#[test]
fn a_small_file_has_the_scores_that_follow_from_it() {
    // add rax,rax (1 cycle) measured as 1.25: error 0.2. Loads from two ports, exact.
    let text = "hex,cycles_per_100_iterations\n4801c0,125\nebfe,100\n488b07,50\n06,1\n";
    let (report, predicted) = scored(text, 2);
    assert_eq!(predicted, 2);
    assert_eq!(report.left_out.len(), 2);
    assert!(report.left_out[0].starts_with("line 3: ") && report.left_out[0].contains("leaves"));
    assert!(report.left_out[1].starts_with("line 5: "));
    let mape = report.all.mape.unwrap();
    assert!((mape - 0.1).abs() < 0.005, "{mape}");
    assert_eq!(report.all.within_5_percent, Some(0.5));
    assert_eq!(report.all.tau, Some(1.0));
    assert_eq!((report.worst[0].line, report.worst[0].category), (2, Category::ScalarInteger));
    let table = report.table();
    assert!(table.contains("division              0        -"), "{table}");
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    assert!(json["categories"][5]["mape"].is_null());
    assert!(report.csv().contains("division,0,,,,\n"));
}

#[test]
fn threads_do_not_change_the_report() {
    let codes = ["4801c0", "488b07", "48890f", "480107", "0f58c1", "48f7f1"];
    let lines: Vec<String> = codes.iter().map(|c| format!("{c},100")).collect();
    let text = format!("hex,cycles_per_100_iterations\n{}\n", lines.join("\n"));
    assert_eq!(scored(&text, 1).0, scored(&text, 3).0);
}

/// Bounds on the errors of a file of blocks.
struct Bounds {
    mean: f64,
    median: f64,
    tau: f64,
}

/// Bounds that the whole development file must satisfy.
const WHOLE: Bounds = Bounds { mean: 0.08, median: 0.025, tau: 0.92 };

/// How the figures of a sample of [`SAMPLED`] scatter around those of the whole: the standard
/// deviation over the sixteen samples into which the file can be divided, one for each first row,
/// with the core of 2026-11-22.
const SCATTER: Bounds = Bounds { mean: 0.0055, median: 0.0016, tau: 0.0078 };

/// A sample consists of every row at this interval, starting with the first.
const SAMPLED: usize = 16;

/// Bounds that any such sample must satisfy: the whole file's bounds plus three deviations.
const SAMPLE: Bounds = Bounds {
    mean: WHOLE.mean + 3.0 * SCATTER.mean,
    median: WHOLE.median + 3.0 * SCATTER.median,
    tau: WHOLE.tau - 3.0 * SCATTER.tau,
};

fn keeps_to(bounds: &Bounds, text: &str, blocks: usize) -> Report {
    let (report, predicted) = scored(text, 2);
    println!("{}", report.table());
    assert_eq!(predicted, blocks);
    assert!(report.left_out.is_empty(), "{:?}", report.left_out);
    let (mean, median) = (report.all.mape.unwrap(), report.all.median.unwrap());
    assert!(mean <= bounds.mean, "mean error {mean}, at most {}", bounds.mean);
    assert!(median <= bounds.median, "median error {median}, at most {}", bounds.median);
    let tau = report.all.tau.unwrap();
    assert!(tau >= bounds.tau, "tau {tau}, at least {}", bounds.tau);
    report
}

/// Every sixteenth block of the development file; `data/README.md` states source and licence.
const SAMPLE_TEXT: &str = include_str!("data/bhive_haswell_sample.csv");

#[test]
fn a_sample_of_the_blocks_measured_on_hardware_is_met_within_the_stated_error() {
    keeps_to(&SAMPLE, SAMPLE_TEXT, 5592_usize.div_ceil(SAMPLED));
}

/// The development file, if it is beside the repository. If not, the calling test is skipped.
#[track_caller]
pub fn development_file() -> Option<String> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/bhive_haswell_dev.csv");
    let text = std::fs::read_to_string(file).ok();
    if text.is_none() {
        skips::without("bhive_haswell_dev.csv is not beside the repository");
    }
    text
}

/// The words of each line that begins with a group of blocks.
fn cells(text: &str) -> Vec<Vec<String>> {
    let groups = ["all", "scalar-integer", "load", "store", "mixed", "vector", "division"];
    let words = |line: &str| -> Vec<String> {
        let plain = line.replace('|', " ").replace(',', "");
        plain.split_whitespace().map(str::to_owned).collect()
    };
    let scored = |words: &Vec<String>| words.len() > 5 && groups.contains(&words[0].as_str());
    text.lines().map(words).filter(scored).collect()
}

/// The scores that `docs/blocks.md` states.
fn documented_scores() -> Vec<Vec<String>> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/blocks.md");
    let text = std::fs::read_to_string(page).unwrap();
    cells(text.split("## Scores").nth(1).unwrap())
}

#[test]
fn blocks_measured_on_hardware_are_met_within_the_stated_error() {
    if let Some(text) = development_file() {
        let report = keeps_to(&WHOLE, &text, 5592);
        assert_eq!(documented_scores(), cells(&report.table()), "docs/blocks.md has other scores");
    }
}

#[test]
fn the_sample_is_chosen_by_its_rule_and_not_by_its_score() {
    let Some(text) = development_file() else { return };
    let (head, rows) = text.split_once('\n').unwrap();
    let chosen: Vec<&str> = rows.lines().step_by(SAMPLED).collect();
    assert_eq!(SAMPLE_TEXT, format!("{head}\n{}\n", chosen.join("\n")));
}
