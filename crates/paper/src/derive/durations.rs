//! Figures of one program's calls by their duration: 1, 15 and 16.

use results::model::FAST_CALL_CYCLES;
use results::{CallStats, LatencyHistogram};

use super::micro::list_share;
use super::programs::time_below;
use crate::needs::{BASELINE, CLASS_PART, LIMIT, LIST_PART, MALLACC};
use crate::sheet::{Cell, Derived, Table, Unit, exact};
use crate::study::{Measured, Study};

/// A peak holds at least this share of all cycles.
const PEAK: f64 = 0.01;
/// Between two peaks some bin is no higher than this share of the lower one.
const VALLEY: f64 = 0.5;
/// Bins per octave.
const BINS: u32 = 2;

/// Cycles of calls by duration: bin `i` begins at `2^(i / BINS)` cycles.
fn bins(calls: &CallStats) -> Vec<f64> {
    let mut bins: Vec<f64> = Vec::new();
    for (bucket, count) in calls.latency.buckets() {
        let (low, high) = LatencyHistogram::bounds(bucket as usize);
        let middle = (low as f64 + high as f64) / 2.0;
        let bin = (middle.max(1.0).log2() * f64::from(BINS)) as usize;
        bins.resize(bins.len().max(bin + 1), 0.0);
        bins[bin] += count as f64 * middle;
    }
    bins
}

fn begins(bin: usize) -> f64 {
    2.0_f64.powf(bin as f64 / f64::from(BINS))
}

/// The bins that are peaks: a bin is a peak if the bins after it fall to [`VALLEY`] of its height
/// before they rise above it, and if it holds enough.
fn peaks(bins: &[f64]) -> Vec<usize> {
    let least = PEAK * bins.iter().sum::<f64>();
    let (mut found, mut highest, mut lowest) = (Vec::new(), 0, f64::INFINITY);
    let mut rising = true;
    for (index, &height) in bins.iter().chain([&0.0]).enumerate() {
        let top = bins.get(highest).copied().unwrap_or(0.0);
        if rising && height > top {
            highest = index;
        } else if rising && height <= VALLEY * top {
            if top > 0.0 && top >= least {
                found.push(highest);
            }
            (rising, lowest) = (false, height);
        } else if !rising && VALLEY * height >= lowest && height > 0.0 {
            (rising, highest) = (true, index);
        } else {
            lowest = lowest.min(height);
        }
    }
    found
}

/// Figure 1.
pub fn pools(study: &Study) -> Derived {
    let columns = ["to", "malloc time", "calls"];
    let mut derived = Derived { table: Table::new("from cycles", &columns), ..Derived::default() };
    let Some(base) = study.get("perl").and_then(|m| m.configuration(BASELINE)) else {
        return derived;
    };
    let calls = base.calls.allocation();
    let bins = bins(&calls);
    let total: f64 = bins.iter().sum();
    let peaks = peaks(&bins);
    for (bin, cycles) in bins.iter().enumerate().filter(|(_, cycles)| **cycles > 0.0) {
        let (low, high) = (begins(bin).ceil() as u64, begins(bin + 1).ceil() as u64 - 1);
        let count = calls.latency.count_between(low, high);
        let mark = if peaks.contains(&bin) { " peak" } else { "" };
        derived.table.row(
            format!("{low}{mark}"),
            vec![
                Cell::exact(Some(high as f64), Unit::Count),
                Cell::exact(Some(cycles / total), Unit::Percent),
                Cell::exact(Some(count as f64), Unit::Count),
            ],
        );
    }
    derived.of("perl", "peaks", exact(peaks.len() as f64));
    derived.of("perl", "miss_over_hit", miss_over_hit(&bins, &peaks).map(exact));
    derived
}

/// Cycles at the first peak of calls that are not fast, divided by those at the highest peak of
/// fast ones. A mean over calls would be misleading: most calls of 100 cycles or more are hits in
/// the thread cache that wait for memory.
fn miss_over_hit(bins: &[f64], peaks: &[usize]) -> Option<f64> {
    let (fast, slow): (Vec<usize>, Vec<usize>) =
        peaks.iter().partition(|bin| begins(**bin) < FAST_CALL_CYCLES as f64);
    let hit = fast.into_iter().max_by(|a, b| bins[*a].total_cmp(&bins[*b]))?;
    Some(begins(*slow.first()?) / begins(hit))
}

/// Bounds of the bands of Figures 15 and 16, in cycles.
const BANDS: [(u64, u64); 6] =
    [(0, 19), (20, 39), (40, 69), (70, 99), (100, 999), (1_000, u64::MAX)];

/// Bands, median and mean of the three cases of one program.
fn bands(derived: &mut Derived, measured: &Measured) {
    let cases = [(BASELINE, "baseline"), (MALLACC, "32 entries"), (LIMIT, "limit")];
    for (name, case) in cases {
        let Some(item) = measured.configuration(name) else { continue };
        let calls = item.calls.allocation();
        let share = |(low, high): (u64, u64)| {
            let below = |bound| if bound == u64::MAX { Some(1.0) } else { time_below(item, bound) };
            let (from, to) = (below(low), below(high.saturating_add(1)));
            Cell::exact(from.zip(to).map(|(from, to)| to - from), Unit::Percent)
        };
        let mut cells: Vec<Cell> = BANDS.map(share).to_vec();
        let median = calls.latency.percentile(50.0).map(|median| median as f64);
        let mean = (calls.calls > 0).then(|| calls.cycles as f64 / calls.calls as f64);
        cells.extend([median, mean].map(|value| Cell::exact(value, Unit::Cycles)));
        derived.table.row(format!("{}, {case}", measured.subject.name), cells);
    }
}

fn band_table() -> Derived {
    let names = BANDS.map(|(low, high)| match high {
        u64::MAX => format!("{low}-"),
        _ => format!("{low}-{high}"),
    });
    let mut columns: Vec<&str> = names.iter().map(String::as_str).collect();
    columns.extend(["median", "mean"]);
    let notes =
        vec!["Columns are shares of the malloc time in calls of that many cycles.".to_owned()];
    Derived { table: Table::new("program, case", &columns), notes, ..Derived::default() }
}

/// Figure 15.
pub fn xapian(study: &Study) -> Derived {
    let mut derived = band_table();
    for measured in study.measured.iter().filter(|m| m.subject.name.starts_with("xapian")) {
        bands(&mut derived, measured);
        let name = measured.subject.name;
        let calls = |name| measured.configuration(name).map(|item| item.calls.allocation());
        let median = |name| calls(name)?.latency.percentile(50.0).map(|median| median as f64);
        let each = |name| calls(name).map(|c| c.cycles as f64 / c.calls as f64);
        let within = calls(BASELINE).filter(|c| c.calls > 0);
        let within = within.map(|c| c.latency.count_between(20, 40) as f64 / c.calls as f64);
        derived.of(name, "from_20_to_40", within.map(exact));
        derived.of(name, "limit_median", median(LIMIT).map(exact));
        let ratio = each(BASELINE).zip(each(LIMIT)).map(|(base, limit)| base / limit);
        derived.of(name, "limit_ratio", ratio.map(exact));
        let distance = median(MALLACC).zip(median(LIMIT)).map(|(own, limit)| own - limit);
        derived.of(name, "median_distance", distance.map(exact));
        let parts = measured.malloc_speedup(LIST_PART).zip(measured.malloc_speedup(CLASS_PART));
        let parts = parts.filter(|(_, class)| class.value > 0.0);
        let over = parts.map(|(list, class)| list.value / class.value);
        derived.of(name, "list_over_class", over.map(exact));
    }
    derived
}

/// Figure 16.
pub fn xalan(study: &Study) -> Derived {
    let mut derived = band_table();
    let Some(measured) = study.get("xalan") else { return derived };
    bands(&mut derived, measured);
    let calls = |name| measured.configuration(name).map(|item| item.calls.allocation());
    let spike = measured
        .configuration(BASELINE)
        .and_then(|item| Some(time_below(item, 71)? - time_below(item, 20)?));
    derived.of("xalan", "from_20_to_70", spike.map(exact));
    derived.of("xalan", "list_share", list_share(measured).map(exact));
    let slow = |name| calls(name).map(|c| (c.cycles - c.fast_cycles) as f64);
    let ratio = slow(MALLACC).zip(slow(BASELINE)).map(|(own, base)| own / base);
    derived.of("xalan", "slow_calls", ratio.map(exact));
    derived
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::synthetic::{study, with_latencies};

    #[test]
    fn peaks_are_apart_and_high_enough() {
        assert_eq!(peaks(&[0.0, 10.0, 30.0, 5.0, 20.0, 1.0, 40.0]), [2, 4, 6]);
        // No valley between 30 and 25; 0.5 of 100 is not a peak.
        assert_eq!(peaks(&[30.0, 20.0, 25.0, 1.0, 0.5, 20.0]), [0, 5]);
        assert_eq!(peaks(&[60.0, 0.0, 0.5, 0.0, 39.0]), [0, 4]);
        assert!(peaks(&[]).is_empty() && peaks(&[0.0, 0.0]).is_empty());
    }

    #[test]
    fn the_cost_of_a_miss_is_that_of_the_next_peak_over_the_highest_of_the_fast_ones() {
        // 160 cycles in calls of 8, 1,000 in calls of 20, in two calls of 500 and in one of 5,000.
        let calls = [vec![8; 20], vec![20; 50], vec![500, 500], vec![5000]].concat();
        let derived = pools(&study(vec![with_latencies("perl", &[(BASELINE, calls)])]));
        let values: Vec<f64> = derived.values.iter().map(|v| v.2.unwrap().value).collect();
        assert_eq!(values[0], 4.0);
        // Half octaves: 20 is in the one that begins at 16, and 500 in the one that begins at 362 =
        // 2^8.5.
        assert!((values[1] - 2.0_f64.powf(8.5 - 4.0)).abs() < 1e-9);
        let fast = with_latencies("perl", &[(BASELINE, vec![20; 50])]);
        assert_eq!(pools(&study(vec![fast])).values[1].2, None);
    }

    #[test]
    fn bands_of_a_case_sum_to_all_of_its_time() {
        let calls = [vec![10, 20, 39, 40, 80], vec![150, 90_000]].concat();
        let cases = [(BASELINE, calls.clone()), (MALLACC, calls.clone()), (LIMIT, calls)];
        let derived = xalan(&study(vec![with_latencies("xalan", &cases)]));
        for (label, cells) in &derived.table.rows {
            let shares = cells.iter().take(BANDS.len()).map(|cell| match cell {
                Cell::Number(estimate, _) => estimate.value,
                _ => 0.0,
            });
            assert!((shares.sum::<f64>() - 1.0).abs() < 1e-9, "{label}");
        }
        let slow = derived.values.iter().find(|v| v.1 == "slow_calls").unwrap();
        assert_eq!(slow.2.unwrap().value, 1.0);
    }

    #[test]
    fn xapian_is_described_by_medians_and_parts() {
        let all = |each: u64| vec![each; 10];
        let cases = [
            (BASELINE, all(30)),
            (MALLACC, all(15)),
            (LIMIT, all(13)),
            (CLASS_PART, all(20)),
            (LIST_PART, all(25)),
        ];
        let derived = xapian(&study(vec![with_latencies("xapian-pages", &cases)]));
        let value = |quantity: &str| {
            derived.values.iter().find(|v| v.1 == quantity).unwrap().2.unwrap().value
        };
        assert_eq!(value("from_20_to_40"), 1.0);
        assert_eq!(value("limit_median"), 13.0);
        assert_eq!(value("median_distance"), 2.0);
        // Gains of 30/25 - 1 and 30/20 - 1.
        assert!((value("list_over_class") - 0.2 / 0.5).abs() < 1e-9);
    }
}
