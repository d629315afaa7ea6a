//! Runs made by hand, with round numbers so that what is derived can be derived again in a test.

#![allow(dead_code)]

pub mod machine;

use std::collections::BTreeMap;

use mallacc_results::model::{CallTally, SamplePoint};
use mallacc_results::{CallKind, Configuration, Exit, ParameterValue, Run, Sampling};

use machine::{Cache, Cpi, Machine, MallocCache, Predictor, Tlb, declared};

pub const INSTRUCTIONS: u64 = 1_200_000;
pub const MALLOC_CALLS: u64 = 1_000;
pub const FREE_CALLS: u64 = 980;

/// Latencies of malloc (900 calls, 80 calls, 20 calls) and of free (all 980 calls).
pub struct Latencies {
    pub malloc: [u64; 3],
    pub free: u64,
}

pub const BASELINE: Latencies = Latencies { malloc: [15, 30, 116], free: 10 };
pub const MALLACC_16: Latencies = Latencies { malloc: [12, 24, 110], free: 9 };
pub const MALLACC_32: Latencies = Latencies { malloc: [11, 24, 110], free: 8 };
pub const LIMIT: Latencies = Latencies { malloc: [8, 22, 108], free: 5 };

impl Latencies {
    pub fn malloc_cycles(&self) -> u64 {
        900 * self.malloc[0] + 80 * self.malloc[1] + 20 * self.malloc[2]
    }

    pub fn allocator_cycles(&self) -> u64 {
        self.malloc_cycles() + FREE_CALLS * self.free
    }

    /// The program outside the allocator takes the same in every configuration.
    pub fn cycles(&self) -> u64 {
        1_000_000 - BASELINE.allocator_cycles() + self.allocator_cycles()
    }
}

/// What the machine counts without a malloc cache.
fn machine(latencies: &Latencies) -> Machine {
    let (base, data_cache) = (400_000, 300_000);
    let l1d = Cache {
        accesses: 400_000,
        hits: 388_000,
        misses: 12_000,
        writebacks: 3_000,
        prefetches: 8_000,
        prefetch_hits: 6_000,
        evictions: 9_000,
    };
    let llc = Cache { accesses: 4_000, hits: 3_400, misses: 600, ..Cache::default() };
    let dtlb = Tlb { accesses: 400_000, hits: 399_400, misses: 600 };
    Machine {
        cpi: Some(Cpi { base, data_cache, branches: latencies.cycles() - base - data_cache }),
        caches: vec![("L1D".into(), l1d), ("LLC".into(), llc)],
        tlbs: vec![("DTLB".into(), dtlb)],
        predictor: Some(Predictor {
            conditional: 200_000,
            conditional_mispredicted: 5_000,
            indirect: 9_000,
            indirect_mispredicted: 700,
            returns: 20_000,
            returns_mispredicted: 300,
        }),
        malloc_cache: None,
    }
}

fn configuration(name: &str, accelerator: &str, latencies: &Latencies) -> Configuration {
    let mut item = Configuration {
        name: name.into(),
        machine: "haswell".into(),
        accelerator: accelerator.into(),
        resolved_machine: "name = \"haswell\"\n".into(),
        cycles: latencies.cycles(),
        instructions: INSTRUCTIONS,
        uops: 1_300_000,
        allocator_cycles: latencies.allocator_cycles(),
        size_classes: BTreeMap::from([(2, 500), (3, 300), (5, 100), (9, 60), (12, 40)]),
        requested_sizes: BTreeMap::from([(24, 500), (32, 300), (48, 100), (100, 60), (1_024, 40)]),
        counted: machine(latencies).values(),
        ..Configuration::default()
    };
    for (calls, cycles) in [900, 80, 20].into_iter().zip(latencies.malloc) {
        (0..calls).for_each(|_| item.calls[CallKind::Malloc].record(cycles));
    }
    (0..FREE_CALLS).for_each(|_| item.calls[CallKind::Free].record(latencies.free));
    item
}

fn mallacc(entries: i64, latencies: &Latencies, misses: u64) -> Configuration {
    let counters = MallocCache {
        lookup_hits: 1_000 - misses,
        lookup_misses: misses,
        pop_hits: 1_000 - 2 * misses,
        pop_misses: 2 * misses,
        pushes: FREE_CALLS,
        prefetches: 1_000,
        evictions: misses,
        invalidations: 3,
        flushes: 1,
        blocked_cycles: 1_500,
        invariant_violations: 0,
    };
    Configuration {
        parameters: BTreeMap::from([
            ("entries".into(), ParameterValue::Integer(entries)),
            ("index_mode".into(), ParameterValue::Bool(true)),
        ]),
        counted: Machine { malloc_cache: Some(counters), ..machine(latencies) }.values(),
        area_um2: Some(1_484.0),
        ..configuration(&format!("mallacc-{entries}"), "mallacc", latencies)
    }
}

/// A whole run under four configurations.
pub fn whole() -> Run {
    Run {
        id: Some(7),
        program: "perl".into(),
        args: vec!["words.pl".into(), "a, \"b\"".into()],
        started: 1_234_567_890,
        git_revision: Some("0123abc".into()),
        tool_version: "0.1.0".into(),
        seed: 42,
        deterministic: true,
        host_seconds: 0.125,
        instructions: 1_250_000,
        threads: 1,
        exit: Some(Exit::Code(0)),
        schema: declared(),
        configurations: vec![
            configuration("baseline", "none", &BASELINE),
            mallacc(16, &MALLACC_16, 50),
            mallacc(32, &MALLACC_32, 10),
            configuration("limit", "limit", &LIMIT),
        ],
        complete: true,
        ..Run::default()
    }
}

/// Cycles of the four samples under the baseline and under mallacc; 1,000 instructions each.
pub const SAMPLED_BASE: [u64; 4] = [1_000, 1_200, 800, 1_000];
pub const SAMPLED_MALLACC: [u64; 4] = [980, 1_170, 780, 970];
pub const POPULATION: u64 = 5_000_000_000;

/// A sampled run under two configurations: in each sample 10 calls of malloc, whose cycles are a
/// tenth of all.
pub fn sampled() -> Run {
    let point = |cycles: u64| {
        let mut point = SamplePoint {
            instructions: 1_000,
            cycles,
            allocator_cycles: cycles / 10,
            ..SamplePoint::default()
        };
        point.calls[CallKind::Malloc] = CallTally { calls: 10, cycles: cycles / 10 };
        point
    };
    let item = |name: &str, accelerator: &str, cycles: [u64; 4]| {
        let mut item = Configuration {
            name: name.into(),
            machine: "haswell".into(),
            accelerator: accelerator.into(),
            cycles: cycles.iter().sum(),
            instructions: 4_000,
            allocator_cycles: cycles.iter().sum::<u64>() / 10,
            samples: cycles.into_iter().map(point).collect(),
            ..Configuration::default()
        };
        for cycles in cycles {
            let (each, rest) = (cycles / 10 / 10, cycles / 10 % 10);
            for call in 0..10 {
                item.calls[CallKind::Malloc].record(each + u64::from(call < rest));
            }
        }
        item
    };
    let mut mallacc = item("mallacc-32", "mallacc", SAMPLED_MALLACC);
    mallacc.parameters.insert("entries".into(), ParameterValue::Integer(32));
    Run {
        program: "/usr/bin/python3".into(),
        args: vec!["-c".into(), "pass".into()],
        tool_version: "0.1.0".into(),
        host_seconds: 100.0,
        instructions: POPULATION + 1_000_000,
        threads: 3,
        context_switches: 1_234,
        forked_children: 2,
        execs: 1,
        exit: Some(Exit::Signal(11)),
        warnings: vec!["the program is above the budget of 1 billion instructions.".into()],
        sampling: Some(Sampling {
            period: 1_250_000_000,
            warm: 2_000,
            measure: 1_000,
            samples: 4,
            population: POPULATION,
        }),
        skip: 1_000_000,
        schema: declared(),
        configurations: vec![item("baseline", "none", SAMPLED_BASE), mallacc],
        ..Run::default()
    }
}
