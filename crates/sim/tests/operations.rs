//! The operations of a stream, replayed on the pure malloc cache, and the same cache inside a
//! simulated core: two paths from the same markers to the same hits.

use std::sync::atomic::AtomicBool;

use crate::program::Program;
use accel::Choice;
use mallacc_sim::{ConfigSpec, Operations, Plan, Sample, Seeds, run};
use mcache::ops::{Effect, Op, Replay};
use mcache::{Config, MallocCache, Pop};
use uarch::Machine;

#[test]
fn a_replay_of_the_operations_hits_exactly_where_the_simulated_cache_hits() {
    let (rounds, entries) = (2_000, 4);
    let packets = Program::new().packets(rounds, 8);
    let mut replay = Replay::new(MallocCache::new(Config::with_entries(entries)).unwrap());
    let (mut lookups, mut pops, mut wrong) = (0, 0, 0);
    let count = Operations::read(&mut packets.clone(), |op| {
        match replay.op(op) {
            Effect::Lookup(true) => lookups += 1,
            Effect::Pop(Pop::Hit { .. }) => pops += 1,
            Effect::WrongPop { .. } => wrong += 1,
            _ => {}
        }
        true
    });
    // Lookup, update, sample, pop, pop end, prefetch, push.
    assert_eq!(count.unwrap(), rounds * 7);
    let spec = ConfigSpec::new(
        "mallacc",
        Machine::default(),
        Choice::parse(&format!("mallacc:entries={entries}")).unwrap(),
    );
    let sample = Sample { period: 10_000, warm: 1_000, measure: 1_000 };
    let plan =
        Plan { skip: 0, max: None, sample, budget: None, roi_only: false, seeds: Seeds::ONE };
    let stop = AtomicBool::new(false);
    let outcome = run(&mut packets.clone(), plan, &[spec], &stop, &mut ()).unwrap();
    let measured = &outcome.measured[0];
    let simulated = measured.values(&measured.whole);
    assert_eq!(Some(lookups), simulated.get("malloc_cache", "lookup_hits"));
    assert_eq!(Some(pops), simulated.get("malloc_cache", "pop_hits"));
    assert_eq!((wrong, measured.checks.failed), (0, 0));
    assert!(lookups > 100 && pops > 100 && lookups < rounds, "both hits and misses");
}

#[test]
fn reading_stops_when_the_sink_has_enough() {
    let mut seen = Vec::new();
    let count = Operations::read(&mut Program::new().packets(100, 8), |op| {
        seen.push(op);
        seen.len() < 3
    });
    assert_eq!(count.unwrap(), 3);
    assert!(matches!(seen[..], [Op::Lookup { .. }, Op::Update { .. }, Op::Sample { .. }]));
}
