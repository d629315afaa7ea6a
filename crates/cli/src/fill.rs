//! From what the simulator measured to what is reported and stored.

use std::collections::BTreeMap;

use results::model::{BASELINE, LIMIT};
use results::{
    CacheStats, Configuration, CpiComponent, Exit, MallocCacheStats, ParameterValue,
    PredictorStats, Sampling, TlbStats,
};
use sim::{ConfigSpec, Outcome, Plan, StreamFacts};
use stream::event::EXIT_SIGNALLED;

/// Counters by name; one that is missing is a defect and noted as such.
struct Named {
    values: BTreeMap<String, u64>,
    missing: Vec<String>,
}

impl Named {
    fn get(&mut self, group: &str, name: &str) -> u64 {
        let key = format!("{group}.{name}");
        match self.values.get(&key) {
            Some(value) => *value,
            None => {
                self.missing.push(key);
                0
            }
        }
    }
}

/// Configuration number `index` of a run as reported, and the names of counters that the simulator
/// did not have.
pub fn configuration(
    spec: &ConfigSpec,
    outcome: &Outcome,
    index: usize,
) -> (Configuration, Vec<String>) {
    let (measured, sampled) = (&outcome.measured[index], outcome.facts.sampled);
    let totals = if sampled { &measured.sampled } else { &measured.whole };
    let mut values = totals.counters.named(&measured.names);
    if values.is_empty() {
        // Nothing was measured: every counter is 0.
        values = measured.names.iter().map(|name| (name.clone(), 0)).collect();
    }
    let mut named = Named { values, missing: Vec::new() };
    let accelerator = match spec.accelerator.model.as_str() {
        "none" => BASELINE,
        "limit" => LIMIT,
        other => other,
    };
    let has_cache = accelerator != BASELINE && accelerator != LIMIT;
    let area = spec.accelerator.build().ok().and_then(|model| model.area());
    let item = Configuration {
        name: spec.name.clone(),
        machine: spec.machine.name.clone(),
        accelerator: accelerator.to_owned(),
        parameters: parameters(spec),
        resolved_machine: spec.machine.resolved(),
        cycles: named.get("core", "cycles"),
        // Elided instructions are the program's all the same: every machine measures as many.
        instructions: named.get("core", "instructions") + named.get("core", "elided"),
        uops: named.get("core", "uops"),
        cpi_stack: cpi_stack(&mut named),
        calls: totals.calls.clone(),
        allocator_cycles: totals.allocator_cycles,
        size_classes: totals.size_classes.clone(),
        requested_sizes: totals.requested_sizes.clone(),
        caches: cache_groups(spec).iter().map(|group| cache(&mut named, group)).collect(),
        tlbs: ["itlb", "dtlb", "stlb"].map(|group| tlb(&mut named, group)).to_vec(),
        predictor: predictor(&mut named),
        malloc_cache: has_cache.then(|| malloc_cache(&mut named, measured.violations)),
        area_um2: area.map(|area| area.total()),
        energy_nj: None,
        samples: if sampled { measured.points.clone() } else { Vec::new() },
    };
    (item, named.missing)
}

fn parameters(spec: &ConfigSpec) -> BTreeMap<String, ParameterValue> {
    let value = |text: &str| match (text, text.parse::<i64>(), text.parse::<f64>()) {
        ("true", ..) => ParameterValue::Bool(true),
        ("false", ..) => ParameterValue::Bool(false),
        (_, Ok(number), _) => ParameterValue::Integer(number),
        (_, _, Ok(number)) => ParameterValue::Real(number),
        _ => ParameterValue::Text(text.trim_matches('"').to_owned()),
    };
    let all = spec.accelerator.parameters();
    all.into_iter().map(|(name, text)| (name, value(&text))).collect()
}

fn cpi_stack(named: &mut Named) -> Vec<CpiComponent> {
    let part = |component: &uarch::Component| {
        let name = component.name();
        CpiComponent { name: name.to_owned(), cycles: named.get("cpi", name) }
    };
    uarch::Component::ALL.iter().map(part).collect()
}

/// The caches of the machine, from the inside out.
fn cache_groups(spec: &ConfigSpec) -> Vec<String> {
    let levels = spec.machine.memory.level.iter().map(|level| level.name.to_lowercase());
    ["l1i", "l1d"].map(str::to_owned).into_iter().chain(levels).collect()
}

fn cache(named: &mut Named, group: &str) -> CacheStats {
    CacheStats {
        name: group.to_uppercase(),
        accesses: named.get(group, "accesses"),
        hits: named.get(group, "hits"),
        misses: named.get(group, "misses"),
        writebacks: named.get(group, "writebacks"),
        prefetches: named.get(group, "prefetches"),
        prefetch_hits: named.get(group, "prefetches_useful"),
    }
}

fn tlb(named: &mut Named, group: &str) -> TlbStats {
    TlbStats {
        name: group.to_uppercase(),
        accesses: named.get(group, "accesses"),
        hits: named.get(group, "hits"),
        misses: named.get(group, "misses"),
    }
}

fn predictor(named: &mut Named) -> PredictorStats {
    let mut both = |name: &str| named.get("indirect_jump", name) + named.get("indirect_call", name);
    let (indirect, indirect_mispredicted) = (both("executed"), both("mispredicted"));
    PredictorStats {
        conditional: named.get("conditional", "executed"),
        conditional_mispredicted: named.get("conditional", "mispredicted"),
        indirect,
        indirect_mispredicted,
        returns: named.get("return", "executed"),
        returns_mispredicted: named.get("return", "mispredicted"),
    }
}

/// `violations` are those of the whole run, measured or not: none may go unnoticed.
fn malloc_cache(named: &mut Named, violations: u64) -> MallocCacheStats {
    let mut get = |name: &str| named.get("malloc_cache", name);
    MallocCacheStats {
        lookup_hits: get("lookup_hits"),
        lookup_misses: get("lookup_misses"),
        pop_hits: get("pop_hits"),
        pop_misses: get("pop_misses"),
        pushes: get("pushes"),
        prefetches: get("prefetches"),
        evictions: get("evictions"),
        invalidations: get("invalidations"),
        flushes: get("flushes"),
        blocked_cycles: get("blocked_cycles"),
        invariant_violations: violations,
    }
}

/// How the run was sampled, if it was.
pub fn sampling(plan: &Plan, facts: &StreamFacts, samples: usize) -> Option<Sampling> {
    facts.sampled.then_some(Sampling {
        period: plan.sample.period,
        warm: plan.sample.warm,
        measure: plan.sample.measure,
        samples: samples as u64,
        population: facts.population,
    })
}

/// How the program ended, from the payload of its exit event.
pub fn exit(payload: u64) -> Exit {
    // Exit codes and signal numbers are small; the mask makes that so for any payload.
    let number = (payload & 0xff) as i32;
    if payload & EXIT_SIGNALLED != 0 { Exit::Signal(number) } else { Exit::Code(number) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::SAMPLE;
    use std::sync::atomic::AtomicBool;
    use stream::{Packet, Source, StreamError};

    #[test]
    fn an_exit_event_is_a_code_or_a_signal() {
        assert_eq!(exit(0), Exit::Code(0));
        assert_eq!(exit(7), Exit::Code(7));
        assert_eq!(exit(EXIT_SIGNALLED | 11), Exit::Signal(11));
    }

    struct Empty;

    impl Source for Empty {
        fn next(&mut self, _packet: &mut Packet) -> Result<bool, StreamError> {
            Ok(false)
        }
    }

    #[test]
    fn every_counter_that_is_reported_exists_in_a_core() {
        let machine = uarch::Machine::find("haswell").unwrap();
        let accelerator = accel::Choice::parse("mallacc").unwrap();
        let spec = ConfigSpec { name: "m".into(), machine, accelerator };
        let plan = Plan { skip: 0, max: None, sample: SAMPLE, budget: None, roi_only: false };
        let stop = AtomicBool::new(false);
        let specs = std::slice::from_ref(&spec);
        let outcome = sim::run(&mut Empty, plan, specs, &stop, &mut ()).unwrap();
        let (item, missing) = configuration(&spec, &outcome, 0);
        assert_eq!(missing, [""; 0]);
        assert_eq!(item.parameters["entries"], ParameterValue::Integer(16));
        assert_eq!((item.cycles, item.caches.len(), item.tlbs.len()), (0, 4, 3));
    }
}
