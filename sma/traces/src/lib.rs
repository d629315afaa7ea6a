//! Allocation traces: which thread requested how many bytes and when, and when they were freed.
//!
//! ```text
//! recorder (LD_PRELOAD) ──> raw records in a shared file ──> convert ──> Writer ──> t.amt
//!                            (raw.rs)                      addresses      │
//!                                                          become numbers └──> Reader ──> events
//! ```
//! The recorder writes fixed-size records, because that is fast and leaves nothing unwritten when
//! the program dies. The command then converts them into the compact file, in which an allocation
//! has no address but a number, starting at 0. The file format is described in `docs/amt.md`.

mod codec;
mod convert;
mod error;
mod event;
pub mod raw;
mod reader;
mod writer;

pub use convert::{Converted, convert};
pub use error::TraceError;
pub use event::{Action, Event, Header, Source, Totals};
pub use reader::{Reader, Trace};
pub use writer::Writer;
