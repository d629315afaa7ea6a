//! Measured data: a run, its configurations, and their counters. No ratios, no text.

mod calls;
mod configuration;
mod histogram;
mod run;
mod samples;

pub use calls::{CallKind, CallStats, CallTally, FAST_CALL_CYCLES, PerKind};
pub use configuration::{CallSite, Configuration, ParameterValue, Role};
pub use histogram::{EXACT_CYCLES, LatencyHistogram, SUB_BUCKETS};
pub use run::{Exit, MarkerCounts, Run, Sampling};
pub use samples::{Phase, SamplePoint};
