//! Synthetic runs for tests: every malloc call of a configuration takes the same time.

use results::{CallKind, Configuration, Role, Run};

use crate::needs::{BASELINE, LIMIT};
use crate::study::{Measured, Study};
use crate::subject::Subject;

/// Calls that each configuration makes.
pub const CALLS: u64 = 10;

/// A configuration whose malloc calls take these numbers of cycles, in a program with 1,000 other
/// cycles.
pub fn configuration(name: &str, latencies: &[u64]) -> Configuration {
    let role = match name {
        BASELINE => Role::Baseline,
        LIMIT => Role::Limit,
        _ => Role::Candidate,
    };
    let mut item = Configuration {
        name: name.into(),
        machine: "haswell".into(),
        role,
        instructions: 1000,
        ..Configuration::default()
    };
    for latency in latencies {
        item.calls[CallKind::Malloc].record(*latency);
    }
    item.allocator_cycles = latencies.iter().sum();
    item.cycles = 1000 + item.allocator_cycles;
    item
}

/// A program whose configurations' calls take these times.
pub fn with_latencies(subject: &str, items: &[(&str, Vec<u64>)]) -> Measured {
    let configurations = items.iter().map(|(name, all)| configuration(name, all)).collect();
    let run = Run { program: subject.into(), configurations, complete: true, ..Run::default() };
    Measured { subject: Subject::find(subject).unwrap(), run, seeds: Vec::new() }
}

/// A program with [`CALLS`] calls of one length in each configuration.
pub fn measured(subject: &str, calls: &[(String, u64)]) -> Measured {
    let items: Vec<(&str, Vec<u64>)> =
        calls.iter().map(|(name, each)| (name.as_str(), vec![*each; CALLS as usize])).collect();
    with_latencies(subject, &items)
}

/// A study of these programs.
pub fn study(measured: Vec<Measured>) -> Study {
    Study { measured, ..Study::default() }
}
