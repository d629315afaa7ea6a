//! Prints every counter of every configuration for a recorded stream, reported or not, as lines
//! `configuration counter value`. `tools/cycles.py` compares these across revisions.
//!
//! ```text
//! cargo run --release -p mallacc-sim --example counters -- \
//!     TRACE MACHINE PERIOD:WARM:MEASURE|whole NAME=ACCELERATOR[:KEY=VALUE,…] …
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use accel::Choice;
use mallacc_sim::{ConfigSpec, Plan, Sample, Seeds};
use stats::Values;
use stream::file::FileSource;
use uarch::Machine;

const NOT_SAMPLED: Sample = Sample { period: 2_000_000, warm: 60_000, measure: 40_000 };

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [trace, machine, sample, configurations @ ..] = arguments.as_slice() else {
        return Err("usage: counters TRACE MACHINE SAMPLE|whole NAME=ACCELERATOR …".into());
    };
    let machine = Machine::find(machine)?;
    let specs = configurations
        .iter()
        .map(|text| {
            let (name, accelerator) = text.split_once('=').ok_or("must be NAME=ACCELERATOR")?;
            let accelerator = Choice::parse(accelerator)?;
            Ok(ConfigSpec::new(name, machine.clone(), accelerator))
        })
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    let (sample, budget) = match sample.as_str() {
        "whole" => (NOT_SAMPLED, None),
        grid => (Sample::parse(grid)?, Some(0)),
    };
    let plan = Plan { skip: 0, max: None, sample, budget, roi_only: false, seeds: Seeds::ONE };
    let mut source = FileSource::open(Path::new(trace))?;
    let outcome = mallacc_sim::run(&mut source, plan, &specs, &AtomicBool::new(false), &mut ())?;
    for (spec, measured) in specs.iter().zip(&outcome.measured) {
        let totals = if budget.is_some() { &measured.sampled } else { &measured.whole };
        for (name, value) in compared(&measured.values(totals)) {
            println!("{} {name} {value}", spec.name);
        }
        for (kind, calls) in totals.calls.iter().filter(|(_, calls)| calls.calls > 0) {
            println!("{} calls.{} {} {}", spec.name, kind.name(), calls.calls, calls.cycles);
            for (bucket, count) in calls.latency.buckets() {
                println!("{} latency.{}.{bucket} {count}", spec.name, kind.name());
            }
        }
        println!("{} abandoned {}", spec.name, measured.abandoned_calls);
    }
    Ok(())
}

/// Counters under the names used for comparison since the first revision, whatever the declarations
/// call them. A new counter keeps its own name.
fn compared(values: &Values) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    // A configuration without a malloc cache has always been listed with the zeroes of an idle one.
    for name in MALLOC_CACHE {
        all.insert(format!("malloc_cache.{name}"), 0);
    }
    for (path, group) in values.iter() {
        let path = match path.split_once('.') {
            Some(("cache" | "tlb", name)) => name.to_lowercase(),
            Some(("branch", name)) => name.to_owned(),
            _ => path.to_owned(),
        };
        for (name, value) in group {
            let name = match (path.as_str(), name.as_str()) {
                ("core", "instructions") => "program_instructions",
                ("core", "retired") => "instructions",
                (_, "prefetch_hits") => "prefetches_useful",
                (_, name) => name,
            };
            all.insert(format!("{path}.{name}"), *value);
        }
    }
    all
}

/// Counters of the malloc cache.
const MALLOC_CACHE: [&str; 11] = [
    "lookup_hits",
    "lookup_misses",
    "pop_hits",
    "pop_misses",
    "pushes",
    "prefetches",
    "evictions",
    "invalidations",
    "flushes",
    "blocked_cycles",
    "invariant_violations",
];
