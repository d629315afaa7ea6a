//! The output for people and programs, and that its figures agree with the counters.

use std::collections::HashMap;

use fixtures::machine::{Cache, Machine, declared};
use fixtures::{
    BASELINE, FREE_CALLS, INSTRUCTIONS, LIMIT, MALLACC_32, MALLOC_CALLS, sampled, whole,
};
use mallacc_results::text::{self, Style};
use mallacc_results::{CallKind, Configuration, MarkerCounts, Role, Run, confidence, csv, json};
use serde_json::{Value, json};
use stats::{Counts, Layout, Reading, Walk};

fn close(actual: &Value, expected: f64) {
    let actual = actual.as_f64().expect("a number");
    assert!((actual - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{actual} {expected}");
}

/// A field by its path, for example `configurations.0.malloc.p50`.
fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(value, |value, step| {
        let next = step.parse::<usize>().map_or(value.get(step), |index| value.get(index));
        next.unwrap_or_else(|| panic!("no {step} of {path}"))
    })
}

#[test]
fn json_has_the_promised_fields_with_derived_values() {
    let value = json::value(&whole());
    assert_eq!(at(&value, "program"), "perl");
    assert_eq!(at(&value, "instructions"), 1_250_000);
    close(at(&value, "host_seconds"), 0.125);
    close(at(&value, "mips"), 1.25 / 0.125);
    let base = at(&value, "configurations.0");
    let own = at(&value, "configurations.2");
    assert_eq!(at(own, "name"), "mallacc-32");
    assert_eq!(at(own, "machine"), "haswell");
    assert_eq!(at(own, "accelerator"), "mallacc");
    assert_eq!(at(own, "parameters"), &json!({"entries": 32, "index_mode": true}));
    assert_eq!(at(own, "cycles"), MALLACC_32.cycles());
    assert_eq!(at(own, "instructions"), INSTRUCTIONS);
    close(at(own, "ipc"), INSTRUCTIONS as f64 / MALLACC_32.cycles() as f64);
    assert_eq!(at(own, "allocator_cycles"), MALLACC_32.allocator_cycles());
    close(at(base, "allocator_share"), BASELINE.allocator_cycles() as f64 / 1e6);
    close(at(own, "speedup"), BASELINE.cycles() as f64 / MALLACC_32.cycles() as f64 - 1.0);
    assert_eq!(at(base, "speedup"), 0.0);

    // The fastest 900 of the 1,000 calls include the median; the 950th call is among the next 80,
    // the 990th among the last 20.
    let malloc = at(own, "malloc");
    assert_eq!(at(malloc, "calls"), MALLOC_CALLS);
    assert_eq!(at(malloc, "cycles"), MALLACC_32.malloc_cycles());
    close(at(malloc, "cycles_per_call"), MALLACC_32.malloc_cycles() as f64 / 1_000.0);
    for (name, latency) in ["p50", "p95", "p99"].into_iter().zip(MALLACC_32.malloc) {
        close(at(malloc, name), latency as f64);
    }
    close(at(malloc, "max"), MALLACC_32.malloc[2] as f64);
    close(at(malloc, "fast_share"), 0.98);
    let ratio = BASELINE.malloc_cycles() as f64 / MALLACC_32.malloc_cycles() as f64;
    close(at(malloc, "speedup"), ratio - 1.0);
    close(at(own, "free.speedup"), BASELINE.free as f64 / MALLACC_32.free as f64 - 1.0);
    assert_eq!(at(malloc, "latency"), &json!([[11, 11, 900], [24, 24, 80], [110, 110, 20]]));
    assert_eq!(at(own, "allocation.calls"), 1_000);
    assert_eq!(at(own, "deallocation.calls"), 980);

    for (name, expected) in [
        ("lookup_hits", 990),
        ("lookup_misses", 10),
        ("pop_hits", 980),
        ("pop_misses", 20),
        ("evictions", 10),
        ("blocked_cycles", 1_500),
        ("invariant_violations", 0),
    ] {
        assert_eq!(at(own, &format!("malloc_cache.{name}")), expected, "{name}");
    }
    close(at(own, "malloc_cache.pop_hit_rate"), 0.98);
    assert_eq!(at(base, "malloc_cache"), &Value::Null);
}

#[test]
fn json_derives_cache_and_predictor_figures_from_their_counters() {
    let value = json::value(&whole());
    let base = at(&value, "configurations.0");
    close(at(base, "caches.0.mpki"), 12_000.0 / 1_200.0);
    close(at(base, "caches.0.hit_rate"), 0.97);
    close(at(base, "caches.0.prefetch_accuracy"), 0.75);
    close(at(base, "tlbs.0.mpki"), 0.5);
    close(at(base, "predictor.mpki"), (5_000.0 + 700.0 + 300.0) / 1_200.0);
    close(at(base, "predictor.accuracy"), 0.975);
    // Cumulative shares of the classes by frequency: 50, 80, 90, 96, 100 %.
    close(at(base, "size_classes_50"), 1.0);
    close(at(base, "size_classes_90"), 3.0);
    close(at(base, "size_classes_99"), 5.0);
}

/// Two machines as the cores of one chip.
struct Chip([Machine; 2]);

impl Counts for Chip {
    fn visit(&self, walk: &mut Walk<'_>) {
        for (index, core) in self.0.iter().enumerate() {
            walk.nth("core", index, |walk| core.visit(walk));
        }
    }
}

#[test]
fn alike_parts_of_a_machine_are_shown_as_their_sum() {
    let core = |misses| {
        let mut core = Machine::whole(&["L1D"], &[]);
        core.caches[0].1 =
            Cache { accesses: 1_000, hits: 1_000 - misses, misses, ..Cache::default() };
        core
    };
    let chip = Chip([core(10), core(30)]);
    let layout = Layout::of(&chip);
    let mut run = whole();
    run.schema = layout.schema();
    run.configurations.truncate(1);
    run.configurations[0].counted = layout.values(&Reading::of(&chip));
    let value = json::value(&run);
    let cache = at(&value, "configurations.0.caches.0");
    assert_eq!((at(cache, "name"), at(cache, "misses")), (&json!("L1D"), &json!(40)));
    close(at(cache, "hit_rate"), 1_960.0 / 2_000.0);
    let table = csv::render(&run, &run.schema);
    let lines: Vec<Vec<String>> = table.lines().map(split_csv).collect();
    let column = lines[0].iter().position(|name| name == "cache.L1D.misses").unwrap();
    assert_eq!(lines[1][column], "40");
}

#[test]
fn a_division_by_zero_is_null_in_json_empty_in_csv_and_a_dash_in_text() {
    let empty = |name: &str, role: Role| Configuration {
        name: name.into(),
        role,
        counted: Machine::whole(&["L1D"], &["DTLB"]).values(),
        ..Configuration::default()
    };
    let run = Run {
        program: "true".into(),
        schema: declared(),
        configurations: vec![empty("baseline", Role::Baseline), empty("mallacc", Role::Subject)],
        ..Run::default()
    };
    let value = json::value(&run);
    assert_eq!(at(&value, "mips"), &Value::Null);
    let own = at(&value, "configurations.1");
    for path in [
        "ipc",
        "speedup",
        "allocator_share",
        "allocator_speedup",
        "size_classes_50",
        "malloc.cycles_per_call",
        "malloc.p50",
        "malloc.fast_share",
        "malloc.speedup",
        "predictor.mpki",
        "predictor.accuracy",
        "malloc_cache.lookup_hit_rate",
        "malloc_cache.pop_hit_rate",
    ] {
        assert_eq!(at(own, path), &Value::Null, "{path}");
    }
    let row = &csv_rows(&run)[1];
    assert_eq!(row["ipc"], "");
    assert_eq!(row["malloc.cycles_per_call"], "");
    assert_eq!(row["malloc.calls"], "0");
    let text = text::detail(&run, &Style::PLAIN);
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    let line = text.lines().find(|line| line.starts_with("  IPC")).unwrap();
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["IPC", "-", "-"]);
}

#[test]
fn sampled_figures_carry_the_interval_of_their_ratio() {
    let value = json::value(&sampled());
    let own = at(&value, "configurations.1");
    let pairs: Vec<(u64, u64)> =
        fixtures::SAMPLED_BASE.into_iter().zip(fixtures::SAMPLED_MALLACC).collect();

    // Speedup: the instructions are the same, so it is a single ratio of the paired cycles.
    let expected = confidence::ratio(&pairs).unwrap();
    close(at(own, "speedup"), 4_000.0 / 3_900.0 - 1.0);
    close(at(own, "speedup_ci95"), expected.half_width.unwrap());
    assert!(expected.half_width.unwrap() < 0.02, "paired samples must agree closely");

    // Cycles per call: each sample has 10 calls, so it is the mean of the samples' means.
    let means = fixtures::SAMPLED_BASE.map(|cycles| (cycles / 10) as f64 / 10.0);
    let mean = means.iter().sum::<f64>() / 4.0;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / 3.0;
    let base = at(&value, "configurations.0");
    close(at(base, "malloc.cycles_per_call"), mean);
    // 3.182446 is t(0.975, 3) in any printed table.
    let half = at(base, "malloc.cycles_per_call_ci95").as_f64().unwrap();
    assert!((half - 3.182_446 * (variance / 4.0).sqrt()).abs() < 1e-5, "{half}");

    // The whole run: cycles per instruction times the population.
    close(at(base, "whole_run.cycles"), 4_000.0 / 4_000.0 * fixtures::POPULATION as f64);
    assert!(at(base, "whole_run.cycles_ci95").as_f64().unwrap() > 0.0);
    assert!(at(&value, "configurations.0").get("p50_ci95").is_none());
    assert!(json::value(&whole())["configurations"][0].get("ipc_ci95").is_none());
}

#[test]
fn the_printed_json_is_the_value() {
    for run in [whole(), sampled(), Run::default()] {
        let parsed: Value = serde_json::from_str(&json::render(&run)).unwrap();
        assert_eq!(parsed, json::value(&run));
    }
}

/// The rows of a CSV by column name.
fn csv_rows(run: &Run) -> Vec<HashMap<String, String>> {
    let text = csv::render(run, &declared());
    let mut lines = text.lines().map(split_csv);
    let header = lines.next().unwrap();
    lines
        .map(|cells| {
            assert_eq!(cells.len(), header.len());
            header.iter().cloned().zip(cells).collect()
        })
        .collect()
}

/// Splits a line at commas outside quotes.
fn split_csv(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let (mut quoted, mut previous) = (false, ' ');
    for letter in line.chars() {
        match letter {
            '"' => {
                if !quoted && previous == '"' {
                    cells.last_mut().unwrap().push('"');
                }
                quoted = !quoted;
            }
            ',' if !quoted => cells.push(String::new()),
            _ => cells.last_mut().unwrap().push(letter),
        }
        previous = letter;
    }
    cells
}

#[test]
fn csv_has_one_row_for_each_configuration_with_the_figures_of_the_json() {
    let run = whole();
    let (rows, value) = (csv_rows(&run), json::value(&run));
    assert_eq!(rows.len(), 4);
    for (index, row) in rows.iter().enumerate() {
        let item = at(&value, &format!("configurations.{index}"));
        assert_eq!(row["args"], "words.pl a, \"b\"");
        assert_eq!(row["run"], "7");
        for name in ["cycles", "ipc", "speedup", "malloc.calls", "malloc.p99", "free.speedup"] {
            let expected = at(item, name).as_f64().unwrap();
            assert_eq!(row[name].parse::<f64>().unwrap(), expected, "{name}");
        }
        close(at(item, "caches.0.mpki"), row["cache.L1D.mpki"].parse().unwrap());
        assert_eq!(row["cache.L2.mpki"], "");
    }
    assert_eq!(rows[0]["malloc_cache.pop_hits"], "");
    assert_eq!(rows[2]["malloc_cache.pop_hits"], "980");
    assert_eq!(rows[2]["parameters"], "entries=32 index_mode=on");
}

#[test]
fn csv_columns_are_the_same_in_every_run_and_have_names_of_their_own() {
    let headers = [whole(), sampled(), Run::default()]
        .map(|run| csv::render(&run, &declared()).lines().next().unwrap().to_owned());
    assert!(headers.iter().all(|header| *header == headers[0]));
    assert_eq!(format!("{}\n", headers[0]), csv::header(&declared()));
    let mut names = split_csv(&headers[0]);
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn the_headline_puts_the_program_first_and_names_the_machine() {
    let percent = |base: u64, own: u64| 100.0 * (base as f64 / own as f64 - 1.0);
    let expected = [
        format!(
            "On haswell, Mallacc with 32 entries makes the program {:.1} % faster and its \
             allocator {:.0} % faster: malloc {:.0} % faster ({:.1} → {:.1} cycles per call), \
             free {:.0} % faster ({:.1} → {:.1} cycles per call).",
            percent(BASELINE.cycles(), MALLACC_32.cycles()),
            percent(BASELINE.allocator_cycles(), MALLACC_32.allocator_cycles()),
            percent(BASELINE.malloc_cycles(), MALLACC_32.malloc_cycles()),
            BASELINE.malloc_cycles() as f64 / 1_000.0,
            MALLACC_32.malloc_cycles() as f64 / 1_000.0,
            percent(BASELINE.free, MALLACC_32.free),
            BASELINE.free as f64,
            MALLACC_32.free as f64,
        ),
        format!(
            "With the accelerated steps at no cost (limit study) the program would be {:.1} % \
             faster and its allocator {:.0} % faster.",
            percent(BASELINE.cycles(), LIMIT.cycles()),
            percent(BASELINE.allocator_cycles(), LIMIT.allocator_cycles()),
        ),
    ];
    assert_eq!(text::headline(&whole()), expected);
}

#[test]
fn ablations_and_partial_limits_are_never_in_the_headline() {
    let expected = text::headline(&whole());
    let mut run = whole();
    let part = |name: &str, like: &Configuration| Configuration {
        name: name.into(),
        role: Role::Part,
        cycles: like.cycles / 2,
        ..like.clone()
    };
    let (own, limit) = (run.configurations[2].clone(), run.configurations[3].clone());
    run.configurations.insert(1, part("limit/size_class", &limit));
    run.configurations.insert(1, part("m32/list", &own));
    run.configurations.push(part("m32/no_index", &own));
    assert_eq!(text::headline(&run), expected);
    // Without the full limit study none is mentioned, whatever parts of it there are.
    run.configurations.retain(|item| item.role != Role::Limit);
    assert_eq!(text::headline(&run), expected[..1]);
}

#[test]
fn each_machine_has_its_own_answer() {
    let mut run = whole();
    let second: Vec<Configuration> = run
        .configurations
        .iter()
        .map(|item| Configuration {
            name: format!("{}@goldencove", item.name),
            machine: "goldencove".into(),
            ..item.clone()
        })
        .collect();
    run.configurations.extend(second);
    let headline = text::headline(&run);
    assert_eq!(headline.len(), 4);
    assert!(headline[0].starts_with("On haswell, Mallacc with 32 entries"), "{headline:?}");
    assert!(headline[2].starts_with("On goldencove, Mallacc with 32 entries"), "{headline:?}");
}

#[test]
fn a_limit_study_that_is_beaten_says_that_it_is_no_bound() {
    let mut run = whole();
    let cycles = run.configurations[2].cycles + 1;
    run.configurations[3].cycles = cycles;
    let sentence = text::headline(&run).remove(1);
    assert!(sentence.contains("the limit study is not an upper bound"), "{sentence}");
    let mut bound = run.configurations[3].clone();
    (bound.name, bound.role, bound.cycles) = ("bound".into(), Role::Bound, 500_000);
    run.configurations.push(bound);
    let sentence = text::headline(&run).remove(2);
    let gain = 100.0 * (BASELINE.cycles() as f64 / 500_000.0 - 1.0);
    let expected = format!("cost nothing at all, the program would be {gain:.0} % faster.");
    assert!(sentence.ends_with(&expected), "{sentence}");
}

#[test]
fn too_few_calls_or_samples_are_reported_in_place_of_a_gain() {
    let mut run = whole();
    for item in &mut run.configurations {
        item.calls[CallKind::Malloc] = Default::default();
        (0..99).for_each(|_| item.calls[CallKind::Malloc].record(20));
    }
    let headline = text::headline(&run);
    assert_eq!(headline[0], "Only 99 calls of malloc, too few to state a gain.");
    assert!(headline.iter().all(|sentence| !sentence.contains("faster")), "{headline:?}");
    run.configurations.iter_mut().for_each(|item| item.calls[CallKind::Malloc].record(20));
    assert!(text::headline(&run)[0].contains("faster"), "100 are enough");
    let mut run = sampled();
    run.sampling.as_mut().unwrap().samples = 1;
    assert!(text::headline(&run)[0].starts_with("Only 1 sample of 1,000 instructions"));
}

#[test]
fn time_that_moved_between_malloc_and_free_is_said_beside_the_figures() {
    assert_eq!(text::cautions(&whole()), [""; 0]);
    let mut run = whole();
    let own = &mut run.configurations[2];
    own.calls[CallKind::Free] = Default::default();
    (0..FREE_CALLS).for_each(|_| own.calls[CallKind::Free].record(BASELINE.free + 3));
    let cautions = text::cautions(&run);
    assert_eq!(cautions.len(), 1);
    let expected = "With mallacc-32, malloc becomes faster and free slower.";
    assert!(cautions[0].starts_with(expected), "{}", cautions[0]);
    assert!(text::summary(&run, &Style::PLAIN).contains("Caution: With mallacc-32"));
}

#[test]
fn a_gain_whose_interval_contains_zero_is_not_called_one() {
    let mut run = sampled();
    let own = &mut run.configurations[1];
    for (point, cycles) in own.samples.iter_mut().zip([1_100, 1_000, 900, 990]) {
        point.cycles = cycles;
    }
    own.cycles = 3_990;
    let headline = text::headline(&run).remove(0);
    assert!(headline.contains("the program not measurably faster or slower (+0.3 ±"), "{headline}");
}

#[test]
fn a_slowdown_is_called_one() {
    let mut run = whole();
    run.configurations.swap(0, 2);
    run.configurations[0].role = Role::Baseline;
    run.configurations[1].role = Role::Part;
    run.configurations[2].role = Role::Subject;
    let headline = text::headline(&run).remove(0);
    let loss = |base: u64, own: u64| 100.0 * (1.0 - base as f64 / own as f64);
    let malloc = loss(MALLACC_32.malloc_cycles(), BASELINE.malloc_cycles());
    let program = loss(MALLACC_32.cycles(), BASELINE.cycles());
    assert!(headline.contains(&format!("malloc {malloc:.0} % slower (14.0 → 18.2")), "{headline}");
    assert!(headline.contains(&format!("the program {program:.1} % slower and")), "{headline}");
}

#[test]
fn runs_without_calls_accelerators_or_configurations_still_get_a_headline() {
    let mut run = whole();
    run.configurations.truncate(1);
    let expected = format!(
        "On haswell (baseline), the allocator takes 2.8 % of the program's cycles: {:.1} cycles for \
         each malloc, {:.1} cycles for each free.",
        BASELINE.malloc_cycles() as f64 / 1_000.0,
        BASELINE.free as f64
    );
    assert_eq!(text::headline(&run), [expected]);
    run.configurations[0].calls = Default::default();
    assert!(text::headline(&run)[0].contains("made no allocator call in the measured part"));
    run.unmeasured = Some("the program is statically linked".into());
    let expected = "What hardware support would buy could not be measured: the program is \
                    statically linked.";
    assert_eq!(text::headline(&run), [expected]);
    run.configurations.clear();
    assert_eq!(text::headline(&run), ["Nothing was measured: no configuration finished."]);
}

#[test]
fn a_violated_invariant_is_said_in_the_summary() {
    let mut run = whole();
    run.configurations[1].counted.set("malloc_cache", "invariant_violations", 3);
    let text = text::summary(&run, &Style::PLAIN);
    let alarm = "mallacc-16: malloc_cache.invariant_violations is 3 and must be 0 (Pops";
    assert!(text.contains(alarm), "{text}");
}

#[test]
fn no_line_of_any_view_is_wider_than_80_columns() {
    for run in [whole(), sampled()] {
        for text in
            [text::detail(&run, &Style::PLAIN), text::list(&[run.clone(), whole()], &Style::PLAIN)]
        {
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
    }
}

#[test]
fn the_ascii_style_prints_nothing_else() {
    for run in [whole(), sampled()] {
        let style = Style { unicode: false, ..Style::PLAIN };
        assert!(text::detail(&run, &style).is_ascii());
        assert!(text::list(&[run], &style).is_ascii());
    }
}

#[test]
fn a_whole_run_reads_like_this() {
    insta::assert_snapshot!(text::summary(&whole(), &Style::PLAIN));
}

#[test]
fn a_sampled_run_reads_like_this() {
    insta::assert_snapshot!(text::detail(&sampled(), &Style::PLAIN));
}

#[test]
fn the_full_view_reads_like_this() {
    let style = Style { unicode: false, ..Style::PLAIN };
    insta::assert_snapshot!(text::detail(&whole(), &style));
}

#[test]
fn the_list_reads_like_this() {
    insta::assert_snapshot!(text::list(&[whole(), sampled()], &Style::PLAIN));
}

#[test]
fn json_reads_like_this() {
    let mut run = whole();
    run.configurations.drain(..2);
    run.configurations.truncate(1);
    insta::assert_snapshot!(json::render(&run));
}

#[test]
fn csv_reads_like_this() {
    // One column per line, so that a change is easy to see.
    let text = csv::render(&whole(), &declared());
    let mut lines = text.lines().map(split_csv);
    let (header, baseline) = (lines.next().unwrap(), lines.next().unwrap());
    let own = lines.nth(1).unwrap();
    let table: Vec<String> = header
        .iter()
        .zip(baseline.iter().zip(&own))
        .map(|(name, (baseline, own))| format!("{name}: {baseline} | {own}"))
        .collect();
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn no_gain_is_stated_when_begins_and_ends_do_not_balance() {
    let mut run = whole();
    let balanced = MarkerCounts { begun: 1_980, ended: 1_980, broken: 0 };
    run.markers = Some(balanced);
    assert_eq!(text::headline(&run), text::headline(&whole()));
    let said = text::facts(&run).into_iter().find(|line| line.starts_with("Markers:"));
    assert_eq!(said.unwrap(), "Markers: 1,980 allocator calls began, all of which ended.");
    run.markers = Some(MarkerCounts { ended: 6, broken: 1, ..balanced });
    let headline = text::headline(&run);
    assert!(headline[0].contains("no gain is stated"), "{headline:?}");
    assert!(headline.iter().all(|sentence| !sentence.contains("faster")), "{headline:?}");
    let alarm = text::alarms(&run).remove(0);
    assert!(alarm.starts_with("Markers: 1,980 allocator calls began, 6 ended"), "{alarm}");
}

#[test]
fn no_gain_is_stated_when_a_pop_returned_a_wrong_pointer() {
    let mut run = whole();
    run.configurations[2].counted.set("malloc_cache", "invariant_violations", 1);
    let headline = text::headline(&run);
    assert!(headline[0].contains("no gain is stated"), "{headline:?}");
    assert!(headline.iter().all(|sentence| !sentence.contains("faster")), "{headline:?}");
}
