//! One stream through the same machine with several seeds.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use crate::program::Program;
use accel::Choice;
use mallacc_sim::{ConfigSpec, Measured, Outcome, Plan, Sample, Seeds, run};
use results::SamplePoint;
use uarch::Machine;

const ROUNDS: u64 = 2_000;
/// Instructions of a round; `conformance.rs` counts them.
const INSTRUCTIONS: u64 = ROUNDS * 33;

fn plan(seeds: Seeds) -> Plan {
    let sample = Sample { period: 10_000, warm: 1_000, measure: 1_000 };
    Plan { skip: 0, max: None, sample, budget: None, roi_only: false, seeds }
}

fn specs() -> Vec<ConfigSpec> {
    let spec = |name| ConfigSpec::new(name, Machine::default(), Choice::parse(name).unwrap());
    vec![spec("none"), spec("mallacc")]
}

fn simulate(plan: Plan, specs: &[ConfigSpec]) -> Outcome {
    let stop = AtomicBool::new(false);
    let outcome = run(&mut Program::new().packets(ROUNDS, 8), plan, specs, &stop, &mut ()).unwrap();
    assert_eq!(outcome.facts.instructions, INSTRUCTIONS);
    outcome
}

fn counters(measured: &Measured) -> BTreeMap<String, u64> {
    let values = measured.values(&measured.whole);
    let named = |(path, values): (&str, &[(String, u64)])| -> Vec<_> {
        values.iter().map(|(name, value)| (format!("{path}.{name}"), *value)).collect()
    };
    values.iter().flat_map(named).collect()
}

fn replicates(outcome: &Outcome) -> Vec<Vec<SamplePoint>> {
    let sampled = outcome.facts.sampled;
    outcome.measured.iter().map(|one| one.configuration(sampled).replicates).collect()
}

#[test]
fn further_seeds_leave_the_machine_as_described_alone() {
    let once = simulate(plan(Seeds::ONE), &specs());
    let thrice = simulate(plan(Seeds { count: 3, up_to: None }), &specs());
    for (once, thrice) in once.measured.iter().zip(&thrice.measured) {
        assert_eq!(counters(once), counters(thrice));
    }
    assert_eq!((once.facts.seeds, thrice.facts.seeds), (1, 3));
    assert!(replicates(&once).iter().all(Vec::is_empty));
}

#[test]
fn each_replicate_is_the_machine_with_its_seed_alone() {
    let specs = specs();
    let together = simulate(plan(Seeds { count: 3, up_to: None }), &specs);
    for seed in 1..3 {
        let alone: Vec<ConfigSpec> = specs.iter().map(|spec| spec.with_seed(seed)).collect();
        let alone = simulate(plan(Seeds::ONE), &alone);
        for (together, alone) in together.measured.iter().zip(&alone.measured) {
            assert_eq!(counters(&together.replicates[seed as usize - 1]), counters(alone));
        }
    }
}

#[test]
fn seeds_change_cycles_and_nothing_that_was_executed() {
    let outcome = simulate(plan(Seeds { count: 4, up_to: None }), &specs());
    for (measured, points) in outcome.measured.iter().zip(replicates(&outcome)) {
        assert_eq!(points.len(), 4);
        assert_eq!(points[0], measured.configuration(false).point(), "the first is itself");
        for point in &points[1..] {
            assert_eq!(point.instructions, points[0].instructions);
            for (kind, tally) in point.calls.iter() {
                assert_eq!(tally.calls, points[0].calls[kind].calls);
            }
            // Every line of the program comes from DRAM once, at another time in each.
            assert_ne!(point.cycles, points[0].cycles);
        }
    }
}

#[test]
fn seeds_are_given_up_where_the_program_is_longer_than_they_were_meant_for() {
    let seeds = |up_to| Seeds { count: 2, up_to };
    for (plan, kept) in [
        (plan(seeds(Some(INSTRUCTIONS))), true),
        (plan(seeds(Some(INSTRUCTIONS - 1))), false),
        (Plan { budget: Some(0), ..plan(seeds(Some(INSTRUCTIONS))) }, false),
        (Plan { budget: Some(0), ..plan(seeds(None)) }, true),
    ] {
        let outcome = simulate(plan, &specs());
        assert_eq!(outcome.facts.seeds, if kept { 2 } else { 1 });
        let points = replicates(&outcome);
        assert!(points.iter().all(|points| points.len() == if kept { 2 } else { 0 }), "{plan:?}");
        if outcome.facts.sampled && kept {
            // Only what the samples measured counts.
            let measured: u64 = outcome.measured[0].points.iter().map(|p| p.instructions).sum();
            assert_eq!(points[0][0].instructions, measured);
        }
    }
}
