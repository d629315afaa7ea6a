//! What one machine made of the instruction stream.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::calls::{CallStats, PerKind};
use super::samples::SamplePoint;

/// The name of the accelerator that every other one is compared with.
pub const BASELINE: &str = "none";
/// The name of the accelerator that bounds what any other could gain.
pub const LIMIT: &str = "limit";

/// The counters of one machine. In a sampled run they cover the measured intervals only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// The name in tables; unique within a run.
    pub name: String,
    /// The machine file's name.
    pub machine: String,
    /// The accelerator's name; [`BASELINE`] and [`LIMIT`] have a meaning here.
    pub accelerator: String,
    /// The accelerator's parameters.
    pub parameters: BTreeMap<String, ParameterValue>,
    /// The machine with every default filled in, as TOML.
    pub resolved_machine: String,
    /// Cycles measured.
    pub cycles: u64,
    /// Instructions measured.
    pub instructions: u64,
    /// Uops executed, unfused, injected ones included.
    pub uops: u64,
    /// Where the cycles went; the components sum exactly to `cycles`.
    pub cpi_stack: Vec<CpiComponent>,
    /// Allocator calls by kind.
    pub calls: PerKind<CallStats>,
    /// Cycles inside allocator calls.
    pub allocator_cycles: u64,
    /// Allocations by size class.
    pub size_classes: BTreeMap<u64, u64>,
    /// Allocations by requested size in bytes.
    pub requested_sizes: BTreeMap<u64, u64>,
    /// Caches, nearest to the core first.
    pub caches: Vec<CacheStats>,
    /// Translation buffers, nearest to the core first.
    pub tlbs: Vec<TlbStats>,
    /// Branches and their prediction.
    pub predictor: PredictorStats,
    /// The malloc cache, for accelerators that have one.
    pub malloc_cache: Option<MallocCacheStats>,
    /// Area of the accelerator in square micrometres, if its model states one.
    pub area_um2: Option<f64>,
    /// Smallest area of its synthesised RTL at 28 nm in square micrometres, if it was synthesised.
    pub area_rtl_um2_min: Option<f64>,
    /// The largest.
    pub area_rtl_um2_max: Option<f64>,
    /// Energy spent in the accelerator in nanojoules, if its model states one.
    pub energy_nj: Option<f64>,
    /// The measured intervals of a sampled run; empty otherwise.
    pub samples: Vec<SamplePoint>,
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

/// Cycles that one cause accounts for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpiComponent {
    /// The cause.
    pub name: String,
    /// Its cycles.
    pub cycles: u64,
}

/// One cache. Demand accesses only; prefetches are counted apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheStats {
    /// `L1I`, `L1D`, `L2`, `LLC`, …
    pub name: String,
    /// Demand accesses.
    pub accesses: u64,
    /// Demand accesses that found their line.
    pub hits: u64,
    /// Demand accesses that did not.
    pub misses: u64,
    /// Dirty lines written to the next level.
    pub writebacks: u64,
    /// Lines that prefetchers asked for.
    pub prefetches: u64,
    /// Prefetched lines that a demand access then used.
    pub prefetch_hits: u64,
}

/// One translation buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlbStats {
    /// `ITLB`, `DTLB`, `STLB`, …
    pub name: String,
    /// Translations asked for.
    pub accesses: u64,
    /// Found.
    pub hits: u64,
    /// Not found.
    pub misses: u64,
}

/// Branches by kind and their wrong predictions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictorStats {
    /// Conditional branches.
    pub conditional: u64,
    /// Of them, predicted in the wrong direction.
    pub conditional_mispredicted: u64,
    /// Indirect jumps and calls.
    pub indirect: u64,
    /// Of them, predicted to the wrong target.
    pub indirect_mispredicted: u64,
    /// Returns.
    pub returns: u64,
    /// Of them, predicted to the wrong target.
    pub returns_mispredicted: u64,
}

/// The malloc cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MallocCacheStats {
    /// Size-class lookups that found their class.
    pub lookup_hits: u64,
    /// Size-class lookups that did not.
    pub lookup_misses: u64,
    /// Pops that found Head and Next.
    pub pop_hits: u64,
    /// Pops that did not.
    pub pop_misses: u64,
    /// Pushes.
    pub pushes: u64,
    /// Next-object prefetches.
    pub prefetches: u64,
    /// Entries that made room for another class.
    pub evictions: u64,
    /// Entries whose list values were dropped because the list changed on a slow path.
    pub invalidations: u64,
    /// Times the whole cache was emptied.
    pub flushes: u64,
    /// Cycles that list instructions waited for an entry's outstanding prefetch.
    pub blocked_cycles: u64,
    /// Pops whose cached Head or Next differed from the true ones. Anything but 0 is a fault of the
    /// model or of the allocator's markers.
    pub invariant_violations: u64,
}
