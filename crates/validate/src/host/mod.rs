//! The processor that runs this, as a second opinion on the model.
//!
//! ```text
//!   program's output ──> samples ──> calibration ──> cycles per step ──> median, interval, spread
//!   /proc/cpuinfo ──> family ──> machine ──> simulated cycles per step ──────────┐
//!                                                                      comparison ──> report
//! ```
//!
//! Nothing here reads a clock: the programs time themselves with the time-stamp counter and print
//! ticks; see `guest/micro/timing.h`. The counter ticks at a rate of its own, so a chain of
//! dependent additions beside each sample says how many ticks a core cycle has.
//!
//! | module | what it knows |
//! |---|---|
//! | [`sample`] | what a timed program prints; ticks to cycles; which samples to leave out |
//! | [`spread`] | median, its interval, the spread |
//! | [`family`] | which machine describes this processor |
//! | [`report`] | native against simulated as text, CSV and JSON |

pub mod family;
pub mod report;
pub mod sample;
pub mod spread;

pub use family::Family;
pub use report::{Comparison, Report};
pub use sample::{Kept, Sample, Timed};
pub use spread::Spread;
