//! Declared statistics, tables, JSON, CSV and the SQLite store.
//!
//! Plain data in, text or a database out. The simulator fills a [`Run`]; nothing in here knows how
//! its counters came about. The model holds **counters only**: every ratio (IPC, cycles per call,
//! MPKI, speedups, hit rates) is derived when it is shown, so a stored run can never disagree with
//! itself.
//!
//! - [`model`]: what is measured. [`CallStats::record`] is the hot path: one call per allocator
//!   call.
//! - [`statistics`]: every statistic, declared once; `docs/statistics.md` is generated from it.
//! - [`confidence`]: 95 % intervals for the ratios of a sampled run.
//! - [`store`]: the SQLite file; `docs/schema.md` is generated from it.
//! - [`text`], [`json`], [`csv`]: what people and programs read.

mod compare;
pub mod confidence;
mod coverage;
pub mod csv;
pub mod json;
pub mod model;
mod select;
pub mod statistics;
pub mod store;
pub mod text;

pub use coverage::ClassCoverage;
pub use model::{
    CacheStats, CallKind, CallStats, CallTally, Configuration, CpiComponent, Exit,
    LatencyHistogram, MallocCacheStats, ParameterValue, PerKind, PredictorStats, Run, SamplePoint,
    Sampling, TlbStats,
};
pub use select::{CallFigures, CallGroup};
