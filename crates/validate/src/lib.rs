//! The core model against measurements: basic blocks timed on real hardware.
//!
//! ```text
//!   hex ──> code ──> unroll (copies, addresses) ──> uarch::Core ──> Prediction
//!                                                        └─ observer ──> Timeline ──> text, HTML
//!   FILE.csv ──> rows ──> predictions ──> score (MAPE, median, tau, by category) ──> report
//!   chases over sizes ──> uarch::Core ──> hierarchy: cycles/access against measured latencies
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`code`] | machine code from hex; which blocks can be run on their own |
//! | [`blocks`] | steady-state cycles per iteration of an unrolled block |
//! | [`bottleneck`], [`trace`] | the ports that uops issue to, and what bounds a block |
//! | [`unroll`] | copies of a block back to back, with the addresses of their memory accesses |
//! | [`values`] | register and memory values of straight-line code, for the addresses |
//! | [`timeline`], [`html`] | event cycles of every uop |
//! | [`bhive`] | files of measured blocks; predictions for all rows |
//! | [`category`] | what kind of work a block does |
//! | [`score`], [`tau`] | statistics of the error |
//! | [`report`] | the same as table, CSV and JSON |
//! | [`hierarchy`] | caches, TLBs and memory by pointer chases |
//! | [`host`] | microbenchmarks timed on this processor against its machine |

pub mod bhive;
pub mod blocks;
pub mod bottleneck;
pub mod category;
pub mod code;
pub mod hierarchy;
pub mod host;
pub mod html;
pub mod report;
pub mod score;
pub mod tau;
pub mod timeline;
pub mod trace;
pub mod unroll;
pub mod values;

pub use bhive::{Measured, RowError};
pub use blocks::{BlockError, Blocks, Prediction, steady_state};
pub use bottleneck::Analysis;
pub use category::Category;
pub use score::{Outcome, Score};
pub use timeline::Timeline;
