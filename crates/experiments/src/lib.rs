//! Experiments: what the command measures, from the plan to the document.
//!
//! Nothing here prints, reads the command line or ends the process. Progress, warnings and requests
//! to end early pass through a [`Monitor`]; an error is a [`Failure`] with its [`Class`], from
//! which the command derives an exit status.
//!
//! Dependencies between modules go in one direction; a test asserts that there is no cycle:
//!
//! ```text
//! arguments (the command) ──> plan of an experiment ──> run ────────────────> documents
//!                             plan, sweep, configs       session: a stream      report of each
//!                             target, workload, micro    run: a program         experiment
//!                             error, monitor             record, replay, host
//!                                                        measure, sma_cycles
//! ```
//!
//! - The plan: [`plan`] says which machines and how much of the program, [`configs`] and [`sweep`]
//!   turn it into configurations, [`target`], [`workload`] and [`micro`] name the program.
//! - The run: [`session`] simulates a stream and stores it, [`run`] a program that executes,
//!   [`replay`] a recording; [`record`] and [`mallocs`] make recordings.
//! - Experiments of several runs: [`benchmarks`] (the microbenchmarks), [`figures`] (the paper's),
//!   [`sma_study`] (scratch-pads), [`host`], [`blocks`] (which [`assemble`] makes of text) and
//!   [`hierarchy`] (measured hardware).
//! - [`marker_check`] follows a stream without a machine.
//! - [`input`] reads what they need: recordings, machine files and lists, from files or stdin.
//! - [`unmeasured`] says why a run has no allocator calls.
//! - [`catalogue`] and [`hardware`] run nothing: they describe machines, accelerators and areas.

pub mod assemble;
pub mod benchmarks;
pub mod blocks;
mod call_sites;
pub mod catalogue;
mod companion;
pub mod configs;
pub mod error;
pub mod figures;
mod fill;
pub mod hardware;
pub mod hierarchy;
pub mod host;
pub mod input;
pub mod mallocs;
pub mod marker_check;
mod measure;
pub mod micro;
pub mod monitor;
pub mod plan;
pub mod record;
pub mod replay;
pub mod rerun;
pub mod run;
mod scratch;
pub mod session;

mod sma_cycles;
pub mod sma_study;
pub mod sweep;
pub mod target;
pub mod unmeasured;
pub mod workload;

pub use error::{Class, Ending, Failure};
pub use monitor::{Monitor, Progress};
pub use params::near;
