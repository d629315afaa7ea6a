//! Counters and the latency histogram, compared with sorted lists.

use mallacc_results::model::{EXACT_CYCLES, FAST_CALL_CYCLES, SUB_BUCKETS};
use mallacc_results::{CallKind, CallStats, LatencyHistogram, PerKind};
use proptest::prelude::*;

fn latency() -> impl Strategy<Value = u64> {
    prop_oneof![0..40_u64, 0..300_u64, 200..5_000_u64, any::<u64>().prop_map(|x| x >> 8)]
}

fn recorded(latencies: &[u64]) -> CallStats {
    let mut stats = CallStats::default();
    latencies.iter().for_each(|cycles| stats.record(*cycles));
    stats
}

/// The nearest rank of `percent` % in a sorted list.
fn nearest_rank(sorted: &[u64], percent: u64) -> u64 {
    let rank = (percent as usize * sorted.len()).div_ceil(100).max(1);
    sorted[rank - 1]
}

proptest! {
    #[test]
    fn percentiles_are_those_of_a_sorted_list_within_the_stated_error(
        mut latencies in prop::collection::vec(latency(), 1..400)
    ) {
        let histogram = recorded(&latencies).latency;
        latencies.sort_unstable();
        for percent in [0, 1, 5, 25, 50, 75, 90, 95, 99, 100] {
            let exact = nearest_rank(&latencies, percent);
            let shown = histogram.percentile(percent as f64).unwrap();
            if exact < EXACT_CYCLES {
                prop_assert_eq!(shown, exact);
            } else {
                let error = shown.abs_diff(exact) as f64 / exact as f64;
                prop_assert!(error <= 0.5 / SUB_BUCKETS as f64, "{} for {}", shown, exact);
            }
        }
        prop_assert_eq!(histogram.min(), latencies.first().copied());
        prop_assert_eq!(histogram.max(), latencies.last().copied());
        prop_assert_eq!(histogram.total(), latencies.len() as u64);
    }

    #[test]
    fn every_value_lies_within_its_bucket_and_buckets_do_not_overlap(value in any::<u64>()) {
        let bucket = LatencyHistogram::bucket_of(value);
        let (low, high) = LatencyHistogram::bounds(bucket);
        prop_assert!(low <= value && value <= high);
        prop_assert_eq!(LatencyHistogram::bucket_of(low), bucket);
        prop_assert_eq!(LatencyHistogram::bucket_of(high), bucket);
        if value >= EXACT_CYCLES {
            // 16 buckets per octave: a bucket is a sixteenth of the octave's first value.
            prop_assert_eq!(high - low + 1, (1 << value.ilog2()) / SUB_BUCKETS);
        }
    }

    #[test]
    fn merging_counts_the_same_as_recording_everything_in_one(
        first in prop::collection::vec(latency(), 0..50),
        second in prop::collection::vec(latency(), 0..50)
    ) {
        let mut merged = recorded(&first);
        merged.merge(&recorded(&second));
        let both = recorded(&[first, second].concat());
        prop_assert_eq!(merged, both);
    }

    #[test]
    fn sums_and_fast_calls_are_those_of_the_list(
        latencies in prop::collection::vec(latency(), 0..99)
    ) {
        let stats = recorded(&latencies);
        let fast: Vec<u64> =
            latencies.iter().copied().filter(|cycles| *cycles < FAST_CALL_CYCLES).collect();
        prop_assert_eq!(stats.calls, latencies.len() as u64);
        prop_assert_eq!(stats.cycles, latencies.iter().sum::<u64>());
        prop_assert_eq!(stats.fast_calls, fast.len() as u64);
        prop_assert_eq!(stats.fast_cycles, fast.iter().sum::<u64>());
    }
}

#[test]
fn buckets_follow_each_other_without_a_gap_up_to_the_largest_value() {
    let mut next = 0_u64;
    for bucket in 0..LatencyHistogram::BUCKETS {
        let (low, high) = LatencyHistogram::bounds(bucket);
        assert_eq!(low, next, "bucket {bucket}");
        if bucket + 1 == LatencyHistogram::BUCKETS {
            assert_eq!(high, u64::MAX);
        } else {
            next = high + 1;
        }
    }
}

#[test]
fn a_histogram_of_nothing_has_no_percentiles() {
    let histogram = LatencyHistogram::default();
    assert_eq!((histogram.percentile(50.0), histogram.min(), histogram.max()), (None, None, None));
}

#[test]
fn a_call_of_99_cycles_is_fast_and_one_of_100_is_not() {
    let stats = recorded(&[99, 100]);
    assert_eq!((stats.fast_calls, stats.fast_cycles), (1, 99));
}

#[test]
fn the_two_sums_hold_every_kind_exactly_once() {
    let mut calls: PerKind<CallStats> = PerKind::default();
    for (index, kind) in CallKind::ALL.into_iter().enumerate() {
        calls[kind].record(1 << index);
    }
    let (allocation, deallocation) = (calls.allocation(), calls.deallocation());
    assert_eq!(allocation.calls + deallocation.calls, CallKind::ALL.len() as u64);
    assert_eq!(allocation.cycles + deallocation.cycles, (1 << CallKind::ALL.len()) - 1);
    // Codes 1, 5 and 6 are free, delete and sized delete.
    assert_eq!(deallocation.cycles, (1 << 1) + (1 << 5) + (1 << 6));
}

#[test]
fn kinds_of_calls_are_in_the_order_of_their_codes() {
    for (code, kind) in CallKind::ALL.into_iter().enumerate() {
        assert_eq!(kind as usize, code);
    }
}

#[test]
fn a_consistent_run_contradicts_itself_in_nothing() {
    for run in [fixtures::whole(), fixtures::sampled()] {
        assert_eq!(run.contradictions(), Vec::<String>::new());
    }
}

#[test]
fn samples_of_other_instructions_are_named() {
    let mut run = fixtures::sampled();
    run.configurations[1].samples[2].instructions += 1;
    run.configurations[1].instructions += 1;
    let wanted = ["mallacc-32: its samples cover other instructions than those of baseline"];
    assert_eq!(run.contradictions(), wanted);
}

#[test]
fn every_sum_that_does_not_add_up_is_named() {
    let mut run = fixtures::whole();
    let item = &mut run.configurations[0];
    let mut add = |path: &str, name: &str| {
        let value = item.counted.get(path, name).unwrap() + 1;
        item.counted.set(path, name, value);
    };
    add("cpi", "base");
    add("cache.L1D", "misses");
    add("tlb.DTLB", "hits");
    item.calls[CallKind::Free].calls += 1;
    let found = run.contradictions();
    let wanted = [
        "baseline: cycles in the CPI stack are 1000001, must be 1000000",
        "baseline: L1D hits and misses are 400001, must be 400000",
        "baseline: DTLB hits and misses are 400001, must be 400000",
        "baseline: free calls in the histogram are 980, must be 981",
    ];
    assert_eq!(found, wanted);
}
