//! The processor that runs the simulator, as a second reference for the model.
//!
//! ```text
//!   program's output ──> samples ──> calibration ──> cycles per step ──> median, interval, spread
//!   /proc/cpuinfo ──> family ──> machine ──> simulated cycles per step ──────────┐
//!                                                                      comparison ──> report
//! ```
//!
//! Nothing here reads a clock: the programs time themselves with the time-stamp counter and print
//! ticks; see `guest/micro/timing.h`. The counter has its own rate, so a chain of dependent
//! additions before and after each sample shows how many ticks a core cycle takes.
//!
//! | module | contents |
//! |---|---|
//! | [`sample`] | output of a timed program; ticks to cycles; samples to leave out |
//! | [`spread`] | median, its interval, the spread |
//! | [`family`] | the machine that describes this processor |
//! | [`report`] | native against simulated as text, CSV and JSON |

pub mod family;
pub mod report;
pub mod sample;
pub mod spread;

pub use family::Family;
pub use report::{Comparison, Report};
pub use sample::{Kept, Sample, Timed};
pub use spread::Spread;
