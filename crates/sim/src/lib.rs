//! Runs one instruction stream through many machines: region of interest, sampling, statistics.
//!
//! ```text
//!   Source ──> align ──> plan ──> Batch ──┬──> worker: Core + accelerator ──> Totals, samples
//!  (packets)   (events   (which mode      ├──> worker …
//!               to slots)  when)          └──> worker …       ──> results::Configuration
//! ```
//!
//! [`align`] converts event words into executions of decoded blocks, once for all machines.
//! [`plan`] decides by instruction count what is skipped, warmed, simulated or measured, so every
//! machine measures the same instructions and comparisons are paired. Each machine runs on its own
//! thread; the channels between them are bounded, so memory does not grow with the program.

pub mod align;
mod balance;
pub mod batch;
mod course;
mod declared;
mod known;
mod measured;
pub mod operations;
pub mod plan;
pub mod runner;
pub mod totals;
pub mod variation;
mod worker;

pub use align::Caller;
pub use batch::{Batch, Item};
pub use declared::declared;
pub use measured::Measured;
pub use operations::Operations;
pub use plan::{Plan, Sample, Seeds};
pub use runner::{ConfigSpec, Outcome, Progress, RunError, StreamFacts, run};
pub use totals::CallerTotals;
