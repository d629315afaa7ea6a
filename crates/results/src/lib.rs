//! A run and its figures: tables, JSON, CSV and the SQLite store.
//!
//! Plain data in, text or a database out. The simulator fills a [`Run`]; nothing here depends on
//! how its counters came about. The model holds **counters only**: every ratio (IPC, cycles per
//! call, MPKI, speedups, hit rates) is derived when it is shown, so a stored run can never
//! contradict itself.
//!
//! - [`model`]: what is measured. [`CallStats::record`] is the hot path: one call per allocator
//!   call.
//! - [`statistics`]: what is derived for a run, a configuration and its calls, declared once.
//! - [`GroupFigures`]: what the models counted. They declare it themselves, in groups; everything
//!   here walks [`Run::schema`] and is independent of the individual groups.
//! - [`confidence`]: 95 % intervals for the ratios of a sampled run.
//! - [`difference`]: what differs between two runs.
//! - [`store`]: the SQLite file; `docs/schema.md` is generated from it.
//! - [`text`], [`json`], [`csv`]: output for people and programs.

mod compare;
pub mod confidence;
mod coverage;
pub mod csv;
pub mod difference;
mod figures;
pub mod json;
pub mod model;
mod select;
pub mod statistics;
pub mod store;
pub mod text;

pub use compare::Fault;
pub use coverage::ClassCoverage;
pub use figures::{GroupFigures, Placed, groups_of, meaning, placed};
pub use model::{
    CallKind, CallSite, CallStats, CallTally, Configuration, Exit, LatencyHistogram, MarkerCounts,
    ParameterValue, PerKind, Phase, Role, Run, SamplePoint, Sampling,
};
pub use select::{CallFigures, CallGroup};
