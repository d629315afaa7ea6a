//! What one machine counted for the instruction stream.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use stats::Values;

use super::calls::{CallStats, CallTally, PerKind};
use super::samples::{Phase, SamplePoint};

/// What a configuration is in its run: what reports say about it, and whether they do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// No hardware help: what the others of its machine are compared with.
    Baseline,
    /// The accelerator that the run is about: the one that was asked for first.
    Subject,
    /// Another accelerator.
    #[default]
    Candidate,
    /// Part of an accelerator or of a limit study. Tables show it; no headline is about it.
    Part,
    /// The accelerated steps at no cost, all of them.
    Limit,
    /// Whole allocator calls at no cost.
    Bound,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 6] =
        [Self::Baseline, Self::Subject, Self::Candidate, Self::Part, Self::Limit, Self::Bound];

    /// Its name in documents and in the store.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Subject => "subject",
            Self::Candidate => "candidate",
            Self::Part => "part",
            Self::Limit => "limit",
            Self::Bound => "bound",
        }
    }
}

/// The counters of one machine. In a sampled run they cover the measured intervals only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// The name in tables; unique within a run.
    pub name: String,
    /// The machine file's name.
    pub machine: String,
    /// The accelerator's name.
    pub accelerator: String,
    /// What it is in its run.
    pub role: Role,
    /// The accelerator's parameters.
    pub parameters: BTreeMap<String, ParameterValue>,
    /// The machine with every default filled in, as TOML.
    pub resolved_machine: String,
    /// Cycles measured.
    pub cycles: u64,
    /// Instructions measured.
    pub instructions: u64,
    /// Uops executed, unfused, including injected ones.
    pub uops: u64,
    /// Allocator calls by kind.
    pub calls: PerKind<CallStats>,
    /// Cycles inside allocator calls.
    pub allocator_cycles: u64,
    /// Allocations by size class.
    pub size_classes: BTreeMap<u64, u64>,
    /// Bytes of a block of each of these classes, where the allocator's markers say it.
    pub class_bytes: BTreeMap<u64, u64>,
    /// Allocations by requested size in bytes.
    pub requested_sizes: BTreeMap<u64, u64>,
    /// Where the program calls the allocator: the places that pay most under the run's first
    /// configuration, then all others as one. Empty if it is not known.
    pub call_sites: Vec<CallSite>,
    /// What the models counted, group by group; [`Run::schema`](super::Run::schema) declares its
    /// meaning.
    pub counted: Values,
    /// Area of the accelerator in square micrometres, if its model states one.
    pub area_um2: Option<f64>,
    /// Smallest area of its synthesised RTL at 28 nm in square micrometres, if it was synthesised.
    pub area_rtl_um2_min: Option<f64>,
    /// Its largest area.
    pub area_rtl_um2_max: Option<f64>,
    /// Energy spent in the accelerator in nanojoules, if its model states one.
    pub energy_nj: Option<f64>,
    /// The measured intervals of a sampled run; empty otherwise.
    pub samples: Vec<SamplePoint>,
    /// The phases of a run that was not sampled, in order.
    pub phases: Vec<Phase>,
    /// The sums of the run's replicates: first this configuration's own, then those of the same
    /// stream, or of further executions, with other seeds. Empty if there was only one. Replicate
    /// `i` of every configuration has the same seed, so comparisons are paired.
    pub replicates: Vec<SamplePoint>,
}

/// A place in the program from which the allocator is called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSite {
    /// The function and the file that it is in, or an address in the file; `None`: all places that
    /// are not listed.
    pub place: Option<String>,
    /// Calls that ended inside the measured part of the run.
    pub calls: u64,
    /// Bytes that they requested.
    pub bytes: u64,
    /// Their cycles.
    pub cycles: u64,
}

/// The value of an accelerator's parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs)]
pub enum ParameterValue {
    Bool(bool),
    Integer(i64),
    Real(f64),
    Text(String),
}

impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{}", if *value { "on" } else { "off" }),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Real(value) => write!(f, "{value}"),
            Self::Text(value) => write!(f, "{value}"),
        }
    }
}

impl Configuration {
    /// Its course: the phases, or the samples of a sampled run, joined to at most `most` parts.
    pub fn course(&self, most: usize) -> Vec<Phase> {
        let parts: Vec<Phase> = match self.phases.is_empty() {
            true => self.samples.iter().map(Phase::from).collect(),
            false => self.phases.clone(),
        };
        let each = parts.len().div_ceil(most.max(1)).max(1);
        parts.chunks(each).map(|parts| parts.iter().copied().sum()).collect()
    }

    /// Its sums, as a point.
    pub fn point(&self) -> SamplePoint {
        let mut point = SamplePoint {
            instructions: self.instructions,
            cycles: self.cycles,
            allocator_cycles: self.allocator_cycles,
            ..SamplePoint::default()
        };
        for (kind, calls) in self.calls.iter() {
            point.calls[kind] = CallTally { calls: calls.calls, cycles: calls.cycles };
        }
        point
    }
}
