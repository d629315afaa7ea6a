//! Figures over all programs: 2, 6, 13, 14 and 18.

use results::Configuration;

use super::mean;
use crate::needs::{BASELINE, LIMIT, LIST_PART, MALLACC, SMALL};
use crate::sheet::{Cell, Derived, Table, Unit, exact};
use crate::study::{Measured, Study, statistic};
use crate::subject::Kind;

/// Bounds of Figure 2, in cycles.
const BOUNDS: [u64; 5] = [20, 50, 100, 1_000, 10_000];
/// Shares of Figure 6, in percent.
const SHARES: [u64; 5] = [50, 75, 90, 95, 99];
/// What Google's datacenters spend in the allocator: "nearly 7 %" (abstract).
const DATACENTER: f64 = 0.069;
/// The number of classes from which the paper speaks of many.
const MANY_CLASSES: u64 = 5;
const NEVER_FREES: &str = "kv-never-frees";

fn programs(study: &Study) -> impl Iterator<Item = &Measured> {
    study.measured.iter().filter(|measured| measured.subject.kind == Kind::Program)
}

/// Our name and the paper's.
fn label(measured: &Measured) -> String {
    let subject = measured.subject;
    subject.paper.map_or(subject.name.to_owned(), |paper| format!("{} ({paper})", subject.name))
}

/// Values of the programs that are also in the paper.
fn in_paper(values: &[(&Measured, f64)]) -> Vec<f64> {
    values.iter().filter(|(m, _)| m.subject.paper.is_some()).map(|(_, value)| *value).collect()
}

fn largest(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.reduce(f64::max)
}

/// A program's value minus the largest of the other programs that have a counterpart in the paper.
fn above_others(values: &[(&Measured, f64)], name: &str) -> Option<f64> {
    let own = values.iter().find(|(m, _)| m.subject.name == name)?.1;
    let others = values.iter().filter(|(m, _)| m.subject.name != name && m.subject.paper.is_some());
    Some(own - largest(others.map(|(_, value)| *value))?)
}

/// Figure 2.
pub fn time_by_duration(study: &Study) -> Derived {
    let columns = BOUNDS.map(|bound| format!("< {bound}"));
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut derived = Derived { table: Table::new("program", &columns), ..Derived::default() };
    let mut shares = Vec::new();
    for measured in programs(study) {
        let Some(base) = measured.configuration(BASELINE) else { continue };
        let cells = BOUNDS.iter().map(|bound| Cell::exact(time_below(base, *bound), Unit::Percent));
        derived.table.row(label(measured), cells.collect());
        let share = measured.fast_share(BASELINE);
        derived.of(measured.subject.name, "fast_share", share.map(exact));
        shares.extend(share.map(|share| (measured, share)));
    }
    let of = |names: &[&str]| -> Vec<f64> {
        let chosen = shares.iter().filter(|(m, _)| names.contains(&m.subject.name));
        chosen.map(|(_, share)| *share).collect()
    };
    let xapian = of(&["xapian-abstracts", "xapian-pages"]).into_iter().reduce(f64::min);
    let others = largest(of(&["perl", "xalan"]).into_iter());
    derived.overall("xapian_less_others", xapian.zip(others).map(|(x, o)| x - o));
    derived
}

/// Share of malloc cycles in calls shorter than a bound. Exact below 256 cycles; above that, a
/// bucket of the histogram counts with its midpoint.
pub fn time_below(item: &Configuration, bound: u64) -> Option<f64> {
    let calls = item.calls.allocation();
    let (mut below, mut all) = (0.0, 0.0);
    for (bucket, count) in calls.latency.buckets() {
        let (low, high) = results::LatencyHistogram::bounds(bucket as usize);
        let cycles = count as f64 * (low as f64 + high as f64) / 2.0;
        all += cycles;
        below += if low < bound { cycles } else { 0.0 };
    }
    (all > 0.0).then(|| below / all)
}

/// Allocations per class, the most used class first.
fn by_use(item: &Configuration) -> Vec<u64> {
    let mut counts: Vec<u64> = item.size_classes.values().copied().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts
}

/// The fewest classes that cover `percent` % of the allocations.
fn classes_for(counts: &[u64], percent: u64) -> Option<u64> {
    let total: u64 = counts.iter().sum();
    let mut covered = 0;
    let found = counts.iter().position(|count| {
        covered += count;
        covered * 100 >= total * percent
    });
    found.filter(|_| total > 0).map(|index| index as u64 + 1)
}

/// Figure 6.
pub fn size_classes(study: &Study) -> Derived {
    let columns = SHARES.map(|share| format!("{share} %"));
    let mut columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    columns.extend(["all", "in the first", "in the first two"]);
    let mut derived = Derived { table: Table::new("program", &columns), ..Derived::default() };
    let mut many = Vec::new();
    for measured in programs(study) {
        let Some(base) = measured.configuration(BASELINE) else { continue };
        let counts = by_use(base);
        let total: u64 = counts.iter().sum();
        let first = |n: usize| {
            let covered: u64 = counts.iter().take(n).sum();
            (total > 0).then(|| covered as f64 / total as f64)
        };
        let count = |n: u64| Cell::exact(Some(n as f64), Unit::Count);
        let mut cells: Vec<Cell> = SHARES
            .iter()
            .map(|share| classes_for(&counts, *share).map_or(Cell::Empty, count))
            .collect();
        cells.push(count(counts.len() as u64));
        cells.extend([1, 2].map(|n| Cell::exact(first(n), Unit::Percent)));
        derived.table.row(label(measured), cells);
        let name = measured.subject.name;
        let ninety = classes_for(&counts, 90);
        derived.of(name, "classes_90", ninety.map(|n| exact(n as f64)));
        derived.of(name, "first_class", first(1).map(exact));
        derived.of(name, "first_two", first(2).map(exact));
        many.extend(ninety.map(|n| (measured, f64::from(u8::from(n >= MANY_CLASSES)))));
    }
    let many = in_paper(&many);
    derived.overall("many_classes", (!many.is_empty()).then(|| many.iter().sum()));
    derived
}

/// Figure 13.
pub fn allocator(study: &Study) -> Derived {
    let columns = ["16 entries", "32 entries", "limit", "less time, 32", "fast path"];
    let mut derived = Derived { table: Table::new("program", &columns), ..Derived::default() };
    let (mut speedups, mut limits, mut lost) = (Vec::new(), Vec::new(), Vec::new());
    let mut fast = Vec::new();
    for measured in programs(study) {
        let [small, own, limit] =
            [SMALL, MALLACC, LIMIT].map(|name| measured.allocator_speedup(name));
        let less = own.map(|own| 1.0 - 1.0 / (1.0 + own.value));
        let share = measured.fast_share(BASELINE);
        let mut cells = [small, own, limit].map(|e| Cell::of(e, Unit::Percent)).to_vec();
        cells.extend([less, share].map(|value| Cell::exact(value, Unit::Percent)));
        derived.table.row(label(measured), cells);
        let loss = own.zip(small).map(|(own, small)| own.value - small.value);
        derived.of(measured.subject.name, "speedup", own);
        derived.of(measured.subject.name, "lost_with_16", loss.map(exact));
        speedups.extend(own.map(|e| (measured, e.value)));
        limits.extend(limit.map(|e| (measured, e.value)));
        lost.extend(loss.map(|loss| (measured, loss)));
        fast.extend(own.and(share).map(|share| (measured, share)));
    }
    let means = [mean(&in_paper(&speedups)), mean(&in_paper(&limits))];
    derived.table.row("mean of the paper's kind", {
        let [own, limit] = means.map(|value| Cell::exact(value, Unit::Percent));
        vec![Cell::Empty, own, limit]
    });
    derived.overall("mean", means[0]);
    derived.overall("limit_mean", means[1]);
    derived.overall("correlation", correlation(&in_paper(&fast), &in_paper(&speedups)));
    let others = lost.iter().filter(|(m, _)| m.subject.name != "xalan").map(|(_, loss)| *loss);
    derived.overall("others_lost_with_16", largest(others));
    derived
}

/// Pearson's coefficient; `None` for fewer than three pairs or if one of the two is constant.
fn correlation(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() != y.len() || x.len() < 3 {
        return None;
    }
    let (mean_x, mean_y) = (mean(x)?, mean(y)?);
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| f(x - mean_x, y - mean_y)).sum()
    };
    let scale = (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt();
    (scale > 0.0).then(|| sum(&|x, y| x * y) / scale)
}

/// Figure 14.
pub fn malloc(study: &Study) -> Derived {
    let columns = ["cycles per call", "32 entries", "limit", "less time, 32", "list part alone"];
    let mut derived = Derived { table: Table::new("program", &columns), ..Derived::default() };
    let mut speedups = Vec::new();
    for measured in programs(study) {
        let calls = measured.configuration(BASELINE).map(|item| item.calls.allocation());
        let each = calls.filter(|c| c.calls > 0).map(|c| c.cycles as f64 / c.calls as f64);
        let [own, limit, list] =
            [MALLACC, LIMIT, LIST_PART].map(|name| measured.malloc_speedup(name));
        let less = own.map(|own| 1.0 - 1.0 / (1.0 + own.value));
        derived.table.row(
            label(measured),
            vec![
                Cell::exact(each, Unit::Cycles),
                Cell::of(own, Unit::Percent),
                Cell::of(limit, Unit::Percent),
                Cell::exact(less, Unit::Percent),
                Cell::of(list, Unit::Percent),
            ],
        );
        derived.of(measured.subject.name, "speedup", own);
        speedups.extend(own.map(|e| (measured, e.value)));
    }
    let in_paper_mean = mean(&in_paper(&speedups));
    derived.table.row(
        "mean of the paper's kind",
        vec![Cell::Empty, Cell::exact(in_paper_mean, Unit::Percent)],
    );
    derived.overall("mean", in_paper_mean);
    let own = speedups.iter().find(|(m, _)| m.subject.name == NEVER_FREES).map(|(_, s)| *s);
    let others = speedups
        .iter()
        .filter(|(m, _)| m.subject.name != NEVER_FREES && m.subject.paper.is_some())
        .map(|(_, speedup)| *speedup)
        .reduce(f64::min);
    derived.overall("never_frees_less_others", own.zip(others).map(|(own, least)| own - least));
    derived
}

/// Figure 18.
pub fn shares(study: &Study) -> Derived {
    let columns = ["allocator", "malloc", "free", "calls per 1,000 instructions"];
    let mut derived = Derived { table: Table::new("program", &columns), ..Derived::default() };
    let mut shares = Vec::new();
    for measured in programs(study) {
        let Some(base) = measured.configuration(BASELINE) else { continue };
        let share = statistic(&measured.run, BASELINE, "allocator_share");
        let (taken, given) = (base.calls.allocation(), base.calls.deallocation());
        let of = |cycles: u64| (base.cycles > 0).then(|| cycles as f64 / base.cycles as f64);
        let calls = 1000.0 * (taken.calls + given.calls) as f64;
        let rate = (base.instructions > 0).then(|| calls / base.instructions as f64);
        derived.table.row(
            label(measured),
            vec![
                Cell::of(share, Unit::Percent),
                Cell::exact(of(taken.cycles), Unit::Percent),
                Cell::exact(of(given.cycles), Unit::Percent),
                Cell::exact(rate, Unit::Ratio),
            ],
        );
        shares.extend(share.map(|share| (measured, share.value)));
    }
    let all = in_paper(&shares);
    let below = all.iter().filter(|share| **share < DATACENTER).count();
    let part = (!all.is_empty()).then(|| below as f64 / all.len() as f64);
    derived.overall("below_datacenter", part);
    derived.overall("never_frees_less_others", above_others(&shares, NEVER_FREES));
    derived
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::synthetic::{study, with_latencies};
    use std::collections::BTreeMap;

    fn value(derived: &Derived, subject: &str, quantity: &str) -> Option<f64> {
        let found = derived.values.iter().find(|v| (v.0, v.1) == (subject, quantity));
        found.unwrap().2.map(|estimate| estimate.value)
    }

    /// Ten calls of 20 cycles and one of 200; with 32 entries 10 and 200, with 16 entries 15.
    fn program(name: &str, fast: u64, slow: u64) -> Measured {
        let calls = |each: u64| [vec![each; fast as usize], vec![200; slow as usize]].concat();
        with_latencies(
            name,
            &[(BASELINE, calls(20)), (SMALL, calls(15)), (MALLACC, calls(10)), (LIMIT, calls(5))],
        )
    }

    #[test]
    fn time_by_duration_is_of_cycles_and_not_of_calls() {
        let derived = time_by_duration(&study(vec![program("perl", 10, 1)]));
        // 200 of 400 cycles are in calls of 20.
        assert_eq!(value(&derived, "perl", "fast_share"), Some(0.5));
        let texts: Vec<String> = derived.table.rows[0].1.iter().map(Cell::text).collect();
        assert_eq!(texts[..3], ["0.0 %", "50.0 %", "50.0 %"]);
        assert_eq!(texts[3], "100.0 %");
        assert_eq!(value(&derived, "", "xapian_less_others"), None);
    }

    #[test]
    fn allocator_speedup_is_of_all_cycles_and_its_mean_of_the_papers_programs() {
        let both = vec![program("perl", 10, 1), program("python3", 10, 0)];
        let derived = allocator(&study(both));
        // 400 / 300 - 1 with 32 entries, 400 / 350 - 1 with 16; python3 is not in the paper.
        assert!((value(&derived, "perl", "speedup").unwrap() - 1.0 / 3.0).abs() < 1e-12);
        assert!((value(&derived, "", "mean").unwrap() - 1.0 / 3.0).abs() < 1e-12);
        let lost = 400.0 / 300.0 - 400.0 / 350.0;
        assert!((value(&derived, "perl", "lost_with_16").unwrap() - lost).abs() < 1e-12);
        // python3: 200 / 100 - 200 / 150.
        let others = 2.0 - 200.0 / 150.0;
        assert!((value(&derived, "", "others_lost_with_16").unwrap() - others).abs() < 1e-12);
        assert_eq!(value(&derived, "", "correlation"), None);
    }

    #[test]
    fn a_program_with_more_fast_calls_gains_more_and_correlates() {
        let all =
            [("perl", 10, 4), ("xalan", 10, 2), ("kv-frees", 10, 1), ("kv-never-frees", 1, 9)];
        let study = study(all.map(|(name, fast, slow)| program(name, fast, slow)).to_vec());
        assert!(value(&allocator(&study), "", "correlation").unwrap() > 0.9);
        assert!(value(&malloc(&study), "", "never_frees_less_others").unwrap() < 0.0);
        assert!(value(&shares(&study), "", "never_frees_less_others").unwrap() > 0.0);
    }

    #[test]
    fn classes_are_counted_from_the_most_used() {
        let mut item = program("xalan", 1, 0);
        item.run.configurations[0].size_classes = BTreeMap::from([(3, 10), (5, 60), (9, 30)]);
        let derived = size_classes(&study(vec![item]));
        assert_eq!(value(&derived, "xalan", "classes_90"), Some(2.0));
        assert_eq!(value(&derived, "xalan", "first_two"), Some(0.9));
        assert_eq!(value(&derived, "", "many_classes"), Some(0.0));
        assert_eq!(classes_for(&[60, 30, 10], 91), Some(3));
        assert_eq!(classes_for(&[], 50), None);
    }

    #[test]
    fn correlation_is_one_on_a_line_and_none_without_variation() {
        assert!((correlation(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]).unwrap() - 1.0).abs() < 1e-12);
        assert!((correlation(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]).unwrap() + 1.0).abs() < 1e-12);
        assert_eq!(correlation(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]), None);
    }
}
