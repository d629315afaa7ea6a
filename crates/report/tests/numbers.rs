//! Every figure of the page agrees with the JSON of the same run: downloads to the last digit,
//! tables to the digits shown. The JSON is traversed here; nothing uses the page's code.

use fixtures::reading::{Csv, Node, csv, downloads};
use fixtures::{sampled, whole};
use results::Run;
use serde_json::Value;
use std::collections::BTreeMap;

struct Page {
    node: Node,
    files: BTreeMap<String, Csv>,
    json: Value,
}

impl Page {
    fn of(run: &Run) -> Self {
        let node = Node::parse(&mallacc_report::page(std::slice::from_ref(run)));
        let tables = downloads(&node).into_iter().filter(|(name, _)| name.ends_with(".csv"));
        let files = tables.map(|(name, text)| (name, csv(&text))).collect();
        Self { node, files, json: results::json::value(run) }
    }

    /// The download with this ending in its name.
    fn file(&self, name: &str) -> &Csv {
        let name = format!("-{name}.csv");
        let found = self.files.iter().find(|(file, _)| {
            file.ends_with(&name) && file.matches('-').count() == name.matches('-').count() + 1
        });
        found.unwrap_or_else(|| panic!("{name} is not among {:?}", self.files.keys())).1
    }

    fn configuration(&self, name: &str) -> &Value {
        let all = self.json["configurations"].as_array().unwrap();
        all.iter().find(|item| item["name"] == name).unwrap_or_else(|| panic!("{name}"))
    }

    /// Rows by label, columns by configuration: every cell must equal what `expected` returns.
    fn rows_and_configurations(
        &self,
        file: &str,
        expected: impl Fn(&Value, &str) -> Value,
    ) -> usize {
        let table = self.file(file);
        let mut checked = 0;
        for row in &table[1..] {
            for (name, cell) in table[0].iter().zip(row).skip(1) {
                let (name, interval) =
                    name.strip_suffix(" ±").map_or((&**name, false), |n| (n, true));
                if interval {
                    continue;
                }
                let expected = expected(self.configuration(name), &row[0]);
                assert_eq!(parsed(cell), expected.as_f64(), "{file}: {} {name}", row[0]);
                checked += usize::from(expected.is_number());
            }
        }
        checked
    }
}

fn parsed(cell: &str) -> Option<f64> {
    (!cell.is_empty()).then(|| cell.parse().unwrap_or_else(|_| panic!("{cell:?} is no figure")))
}

fn number(value: f64) -> Value {
    serde_json::json!(value)
}

#[test]
fn cycles_per_call_and_speedups_are_those_of_the_json() {
    let page = Page::of(&whole());
    let checked = page.rows_and_configurations("cycles-per-call", |item, kind| {
        item[kind]["cycles_per_call"].clone()
    });
    // Two kinds under four configurations.
    assert_eq!(checked, 8);
    let checked = page.rows_and_configurations("speedups", |item, what| match what {
        "allocator" => item["allocator_speedup"].clone(),
        "program" => item["speedup"].clone(),
        kind => item[kind]["speedup"].clone(),
    });
    assert_eq!(checked, 12);
}

#[test]
fn intervals_of_a_sampled_run_are_those_of_the_json() {
    let page = Page::of(&sampled());
    let table = page.file("cycles-per-call");
    assert_eq!(table[0], ["call", "baseline", "baseline ±", "mallacc-32", "mallacc-32 ±"]);
    for (column, name) in [(1, "baseline"), (3, "mallacc-32")] {
        let malloc = &page.configuration(name)["malloc"];
        assert_eq!(parsed(&table[1][column]), malloc["cycles_per_call"].as_f64());
        assert_eq!(parsed(&table[1][column + 1]), malloc["cycles_per_call_ci95"].as_f64());
        assert!(malloc["cycles_per_call_ci95"].as_f64().unwrap() > 0.0);
    }
}

/// `[low, high, count]` of a configuration's malloc histogram.
fn buckets(item: &Value) -> Vec<[u64; 3]> {
    let rows = item["malloc"]["latency"].as_array().unwrap();
    rows.iter().map(|row| [0, 1, 2].map(|i| row[i].as_u64().unwrap())).collect()
}

#[test]
fn cumulative_latencies_are_sums_of_the_histogram_in_the_json() {
    let page = Page::of(&whole());
    let table = page.file("malloc-latency-cumulative");
    let mut checked = 0;
    for row in &table[1..] {
        let (cycles, share) = (parsed(&row[1]).unwrap(), parsed(&row[2]).unwrap());
        let buckets = buckets(page.configuration(&row[0]));
        let total: u64 = buckets.iter().map(|b| b[2]).sum();
        let below: u64 = buckets.iter().filter(|b| b[1] as f64 <= cycles).map(|b| b[2]).sum();
        // Each line begins at its smallest latency with a share of 0.
        let first = buckets[0][0] as f64 == cycles && share == 0.0;
        assert!(first || share == below as f64 / total as f64, "{row:?}");
        checked += 1;
    }
    // Three configurations, three latencies each, and three beginnings.
    assert_eq!(checked, 12);
}

#[test]
fn shares_by_latency_hold_every_call_of_the_json_in_its_bin() {
    let page = Page::of(&whole());
    let table = page.file("malloc-latency");
    for name in ["baseline", "mallacc-32", "limit"] {
        let rows: Vec<(f64, f64)> = table[1..]
            .iter()
            .filter(|row| row[0] == name)
            .map(|row| (parsed(&row[1]).unwrap(), parsed(&row[2]).unwrap()))
            .collect();
        let buckets = buckets(page.configuration(name));
        let total: u64 = buckets.iter().map(|b| b[2]).sum();
        for pair in rows.windows(2) {
            let inside = |b: &&[u64; 3]| (pair[0].0..pair[1].0).contains(&(b[0] as f64));
            let count: u64 = buckets.iter().filter(inside).map(|b| b[2]).sum();
            assert_eq!(pair[0].1, count as f64 / total as f64, "{name} from {} cycles", pair[0].0);
        }
        let sum: f64 = rows.iter().map(|row| row.1).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{name}: {sum}");
    }
}

#[test]
fn class_coverage_is_the_sum_of_the_largest_classes_of_the_json() {
    let page = Page::of(&whole());
    let classes = page.configuration("baseline")["size_classes"].as_object().unwrap();
    let mut counts: Vec<u64> = classes.values().map(|count| count.as_u64().unwrap()).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let total: u64 = counts.iter().sum();
    let table = page.file("class-coverage");
    assert_eq!(table.len(), counts.len() + 2, "a header and a line for 0 classes");
    for row in &table[1..] {
        let needed = parsed(&row[0]).unwrap() as usize;
        let covered: u64 = counts[..needed].iter().sum();
        assert_eq!(parsed(&row[1]), Some(covered as f64 / total as f64));
    }
}

#[test]
fn the_cpi_stack_and_what_is_saved_follow_from_the_json() {
    let page = Page::of(&whole());
    let stack = page.file("cpi-stack");
    let cpi = |item: &Value, part: &str| {
        let cycles = &item["cpi_stack"][part.replace(' ', "_")];
        cycles.as_f64().unwrap() / item["instructions"].as_f64().unwrap()
    };
    assert_eq!(stack[0][1..], ["base", "data cache", "branches"]);
    for row in &stack[1..] {
        let item = page.configuration(&row[0]);
        for (part, cell) in stack[0].iter().zip(row).skip(1) {
            assert_eq!(parsed(cell), Some(cpi(item, part)), "{} {part}", row[0]);
        }
        let sum: f64 = row[1..].iter().filter_map(|cell| parsed(cell)).sum();
        let whole = item["cycles"].as_f64().unwrap() / item["instructions"].as_f64().unwrap();
        assert!((sum - whole).abs() < 1e-12, "the causes sum to the CPI");
    }
    let base = page.configuration("baseline");
    let checked = page.rows_and_configurations("cycles-saved", |item, part| {
        number(1_000.0 * (cpi(base, part) - cpi(item, part)))
    });
    assert_eq!(checked, 6);
}

#[test]
fn misses_hit_rates_and_predictions_are_those_of_the_json() {
    let page = Page::of(&whole());
    let of = |item: &Value, structure: &str, name: &str| {
        let mut all = ["caches", "tlbs"].iter().flat_map(|group| item[group].as_array().unwrap());
        all.find(|part| part["name"] == structure).map(|part| part[name].clone())
    };
    let checked = page.rows_and_configurations("misses", |item, structure| {
        of(item, structure, "mpki").unwrap_or_else(|| item["predictor"]["mpki"].clone())
    });
    assert_eq!(checked, 12, "two caches, a TLB and the branches under three configurations");
    page.rows_and_configurations("hit-rates", |item, structure| {
        of(item, structure, "hit_rate").unwrap_or_else(|| item["predictor"]["accuracy"].clone())
    });
    for (file, group) in [("predictor", "predictor"), ("malloc-cache", "malloc_cache")] {
        let table = page.file(file);
        for row in &table[1..] {
            let item = page.configuration(&row[0]);
            for (name, cell) in table[0].iter().zip(row).skip(1) {
                let expected = &item[group][name.replace(' ', "_")];
                assert_eq!(parsed(cell), expected.as_f64(), "{file} {name}");
            }
        }
    }
}

#[test]
fn speedup_against_entries_has_a_point_for_each_size() {
    let page = Page::of(&whole());
    for (file, of) in [
        ("malloc-against-entries", &["malloc", "speedup"][..]),
        ("free-against-entries", &["free", "speedup"]),
        ("program-against-entries", &["speedup"]),
    ] {
        let table = page.file(file);
        assert_eq!(table.len(), 3);
        for row in &table[1..] {
            let item = page.configuration(&format!("mallacc-{}", row[0]));
            let expected = of.iter().fold(item, |value, name| &value[*name]);
            assert_eq!(parsed(&row[1]), expected.as_f64(), "{file} {}", row[0]);
        }
    }
}

/// A figure as shown: its value, and half a unit of its last digit.
fn shown(text: &str) -> Option<(f64, f64)> {
    let percent = text.ends_with('%');
    let plain: String = text.chars().filter(|c| !",+% B".contains(*c)).collect();
    let value: f64 = plain.parse().ok()?;
    let decimals = plain.split_once('.').map_or(0, |(_, digits)| digits.len() as i32);
    let unit = if percent { 0.01 } else { 1.0 };
    Some((value * unit, 0.5001 * unit * 10_f64.powi(-decimals)))
}

#[test]
fn tables_of_charts_show_what_their_downloads_hold() {
    for run in [whole(), sampled()] {
        let page = Page::of(&run);
        let mut checked = 0;
        let with_table = |node: &Node| node.tag == "figure" || node.tag == "details";
        for figure in page.node.all(&with_table) {
            let (tables, links) = (figure.tagged("table"), figure.tagged("a"));
            let ([table], [link]) = (&tables[..], &links[..]) else { continue };
            let cells = &page.files[link.attribute("download")];
            let rows = table.tagged("tr");
            assert_eq!(rows.len(), cells.len());
            for (row, exact) in rows.iter().zip(cells) {
                let texts = row.all(&|node| node.tag == "th" || node.tag == "td");
                assert_eq!(texts.len(), exact.len());
                for (text, exact) in texts.iter().zip(exact) {
                    let text = text.inner();
                    match (shown(&text), exact.parse::<f64>()) {
                        (Some((value, half)), Ok(exact)) => {
                            assert!((value - exact).abs() <= half, "{text} is not {exact}");
                            checked += 1;
                        }
                        _ => assert!(text == *exact || text == "-" && exact.is_empty(), "{text}"),
                    }
                }
            }
        }
        assert!(checked >= 50, "only {checked} figures were compared");
    }
}

#[test]
fn the_comparison_shows_every_cell_that_the_terminal_shows() {
    for run in [whole(), sampled()] {
        let page = Page::of(&run);
        let style = results::text::Style { width: 1_000, ..results::text::Style::PLAIN };
        let terminal = results::text::summary(&run, &style);
        let blocks = page.node.all(&|node| node.attribute("class").starts_with("tables"));
        let rows = blocks[0].tagged("tr");
        let mut found = 0;
        // Rows of figures, without those that name the configurations.
        let rows = rows.iter().filter(|row| row.tagged("td").len() == run.configurations.len());
        for row in rows.map(|row| row.all(&|node| node.tag == "th" || node.tag == "td")) {
            let cells: Vec<String> = row.iter().map(|cell| cell.inner()).collect();
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let line = words(&cells.join(" "));
            assert!(terminal.lines().any(|other| words(other) == line), "{line}\n{terminal}");
            found += 1;
        }
        assert!(found > 10, "{found} rows");
    }
}
