//! The obligations of every accelerator in the registry, and the guarantees of the runner.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use crate::program::Program;
use accel::{Choice, registry};
use mallacc_sim::{ConfigSpec, Measured, Outcome, Plan, Sample, Seeds, run};
use results::Phase;
use stats::Values;
use stream::Source;
use uarch::Machine;

const GRID: Sample = Sample { period: 10_000, warm: 1_000, measure: 1_000 };
const WHOLE: Plan =
    Plan { skip: 0, max: None, sample: GRID, budget: None, roi_only: false, seeds: Seeds::ONE };

fn spec(name: &str, accelerator: Choice) -> ConfigSpec {
    ConfigSpec::new(name, Machine::default(), accelerator)
}

fn simulate(source: &mut dyn Source, plan: Plan, specs: &[ConfigSpec]) -> Outcome {
    let stop = AtomicBool::new(false);
    let outcome = run(source, plan, specs, &stop, &mut ()).unwrap();
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    outcome
}

fn counters(outcome: &Outcome, index: usize) -> BTreeMap<String, u64> {
    let measured = &outcome.measured[index];
    by_name(&measured.values(&measured.whole))
}

/// Values under `path.name`.
fn by_name(values: &Values) -> BTreeMap<String, u64> {
    let named = |(path, values): (&str, &[(String, u64)])| -> Vec<_> {
        values.iter().map(|(name, value)| (format!("{path}.{name}"), *value)).collect()
    };
    values.iter().flat_map(named).collect()
}

fn choices() -> Vec<ConfigSpec> {
    let texts = [
        "none",
        "mallacc:entries=2",
        "mallacc:entries=32",
        "mallacc:list=off,sampling=off",
        "mallacc:size_class=off,sampling=off",
        "mallacc:size_class=off,list=off",
        "mallacc:index=off",
        "limit",
    ];
    texts.iter().map(|text| spec(text, Choice::parse(text).unwrap())).collect()
}

#[test]
fn a_disabled_accelerator_equals_the_baseline_cycle_for_cycle() {
    let mut specs = vec![spec("baseline", Choice::parse("none").unwrap())];
    for model in registry() {
        let mut off = Choice::of(*model);
        for (key, value) in model.disabled().as_table().unwrap() {
            off = off.with(key, value.clone());
        }
        specs.push(spec(&format!("{}, off", model.name()), off));
    }
    let outcome = simulate(&mut Program::new().packets(3_000, 8), WHOLE, &specs);
    let baseline = counters(&outcome, 0);
    assert!(baseline["core.cycles"] > 0);
    for (index, spec) in specs.iter().enumerate().skip(1) {
        let mut other = counters(&outcome, index);
        // The baseline has none of the accelerator's own groups.
        other.retain(|name, _| baseline.contains_key(name));
        assert_eq!(other, baseline, "{}", spec.name);
    }
}

#[test]
fn no_pop_breaks_the_invariant_and_a_wrong_object_is_noticed() {
    let specs = choices();
    let outcome = simulate(&mut Program::new().packets(3_000, 8), WHOLE, &specs);
    for (measured, spec) in outcome.measured.iter().zip(&specs) {
        assert_eq!(measured.checks.failed, 0, "{}", spec.name);
    }
    let hits = counters(&outcome, 2)["malloc_cache.pop_hits"];
    assert!(hits > 1_000, "{hits} hits: the check has something to check");
    let mut lying = Program::new();
    lying.lie_at = Some(2_000);
    let outcome = simulate(&mut lying.packets(3_000, 8), WHOLE, &specs[2..3]);
    assert_eq!(outcome.measured[0].checks.failed, 1);
}

#[test]
fn the_limit_is_at_least_as_fast_as_every_other_configuration() {
    let specs = choices();
    for classes in [1, 4, 8] {
        let outcome = simulate(&mut Program::new().packets(2_000, classes), WHOLE, &specs);
        let cycles: Vec<u64> =
            (0..specs.len()).map(|i| counters(&outcome, i)["core.cycles"]).collect();
        let limit = *cycles.last().unwrap();
        assert!(cycles.iter().all(|&c| c >= limit), "{classes} classes: {cycles:?}");
    }
}

#[test]
fn every_statistic_adds_up() {
    let specs = choices();
    let rounds = 2_000;
    let outcome = simulate(&mut Program::new().packets(rounds, 8), WHOLE, &specs);
    for (index, spec) in specs.iter().enumerate() {
        let all = counters(&outcome, index);
        let sum: u64 = all.iter().filter(|(k, _)| k.starts_with("cpi.")).map(|(_, v)| v).sum();
        assert_eq!(sum, all["core.cycles"], "{}: the CPI stack sums to the cycles", spec.name);
        let caches = ["L1I", "L1D", "L2", "LLC"].map(|name| format!("cache.{name}"));
        let tlbs = ["ITLB", "DTLB", "STLB"].map(|name| format!("tlb.{name}"));
        for path in caches.into_iter().chain(tlbs) {
            let of = |what: &str| all[&format!("{path}.{what}")];
            assert_eq!(of("hits") + of("misses"), of("accesses"), "{} {path}", spec.name);
        }
        let calls = &outcome.measured[index].whole.calls;
        let total: u64 = calls.iter().map(|(_, c)| c.calls).sum();
        assert_eq!(total, 2 * rounds, "{}: calls in = calls out", spec.name);
        assert_eq!(outcome.measured[index].abandoned_calls, 0);
        let sizes: u64 = outcome.measured[index].whole.size_classes.values().sum();
        assert_eq!(sizes, rounds, "{}: one class for each allocation", spec.name);
    }
    // call; malloc's lea … je and mov … ret; mov and call; free; work.
    let per_round = 1 + 11 + 3 + 2 + 4 + 12;
    assert_eq!(outcome.facts.instructions, rounds * per_round);
    assert_eq!(counters(&outcome, 0)["core.retired"], rounds * per_round);
}

#[test]
fn the_phases_of_a_run_are_the_whole_of_it() {
    let specs = choices();
    for plan in [WHOLE, Plan { skip: 30_000, ..WHOLE }, Plan { max: Some(70_000), ..WHOLE }] {
        // 33 instructions a round: about 160,000, so 6 to 8 phases of 20,000.
        let outcome = simulate(&mut Program::new().packets(5_000, 8), plan, &specs);
        let lengths = |measured: &Measured| -> Vec<u64> {
            measured.phases.iter().map(|phase| phase.instructions).collect()
        };
        let expected = lengths(&outcome.measured[0]);
        let (last, others) = expected.split_last().unwrap();
        let full = |length: &u64| (20_000..20_100).contains(length);
        assert!(others.iter().all(full) && *last < 20_100, "{expected:?}");
        for measured in &outcome.measured {
            assert_eq!(lengths(measured), expected);
            let item = measured.configuration(false);
            let sum: Phase = item.phases.iter().copied().sum();
            assert_eq!((sum.cycles, sum.allocator_cycles), (item.cycles, item.allocator_cycles));
            assert_eq!(sum.instructions, outcome.facts.population);
        }
    }
}

#[test]
fn the_same_stream_gives_the_same_cycles_alone_or_with_others() {
    let specs = choices();
    let packets = Program::new().packets(2_000, 8);
    let together = simulate(&mut packets.clone(), WHOLE, &specs);
    for (index, spec) in specs.iter().enumerate() {
        let alone = simulate(&mut packets.clone(), WHOLE, std::slice::from_ref(spec));
        assert_eq!(counters(&together, index), counters(&alone, 0), "{}", spec.name);
    }
}

#[test]
fn samples_of_all_configurations_cover_the_same_instructions() {
    let specs = choices();
    let plan = Plan { budget: Some(0), ..WHOLE };
    let outcome = simulate(&mut Program::new().packets(6_000, 8), plan, &specs);
    assert!(outcome.facts.sampled);
    let lengths = |i: usize| -> Vec<u64> {
        outcome.measured[i].points.iter().map(|p| p.instructions).collect()
    };
    let expected = outcome.facts.population / GRID.period;
    assert_eq!(lengths(0).len() as u64, expected);
    for index in 1..specs.len() {
        assert_eq!(lengths(index), lengths(0));
    }
    for measured in &outcome.measured {
        let cycles: u64 = measured.points.iter().map(|p| p.cycles).sum();
        assert_eq!(cycles, by_name(&measured.values(&measured.sampled))["core.cycles"]);
        assert_eq!(measured.checks.failed, 0, "warming keeps the malloc cache true");
    }
}

#[test]
fn a_sampled_estimate_lies_near_the_whole_run() {
    let specs = &choices()[..1];
    let packets = Program::new().packets(20_000, 8);
    // Without the cold start, which systematic sampling meets at most once.
    let warm = Plan { skip: 50_000, ..WHOLE };
    let whole = simulate(&mut packets.clone(), warm, specs);
    let sampled = simulate(&mut packets.clone(), Plan { budget: Some(0), ..warm }, specs);
    let cpi = |cycles: u64, instructions: u64| cycles as f64 / instructions as f64;
    let true_cpi = cpi(counters(&whole, 0)["core.cycles"], whole.facts.population);
    let points = &sampled.measured[0].points;
    let estimate =
        cpi(points.iter().map(|p| p.cycles).sum(), points.iter().map(|p| p.instructions).sum());
    let error = (estimate / true_cpi - 1.0).abs();
    assert!(error < 0.02, "whole {true_cpi}, sampled {estimate}");
}

#[test]
fn a_maximum_stops_the_run_and_a_stream_that_lies_about_its_blocks_is_refused() {
    let plan = Plan { max: Some(5_000), ..WHOLE };
    let outcome = simulate(&mut Program::new().packets(3_000, 8), plan, &choices()[..1]);
    assert!(outcome.facts.stopped_early);
    assert!((5_000..5_100).contains(&outcome.facts.population));
    let mut packets = Program::new().packets(10, 8);
    packets.0[0].events.push(stream::event::block(99));
    let stop = AtomicBool::new(false);
    let specs = &choices()[..1];
    let outcome = run(&mut packets, WHOLE, specs, &stop, &mut ()).unwrap();
    assert!(outcome.error.unwrap().to_string().contains("never described"));
    assert!(counters(&Outcome { error: None, ..outcome }, 0)["core.cycles"] > 0, "kept");
}
