//! Allocation traces: who asked for how many bytes when, and when they were given back.
//!
//! ```text
//! recorder (LD_PRELOAD) ──> raw records in a shared file ──> convert ──> Writer ──> t.amt
//!                            (raw.rs)                      addresses      │
//!                                                          become numbers └──> Reader ──> events
//! ```
//! The recorder writes fixed records, because that is quick and leaves nothing behind when the
//! program dies. The command turns them into the compact file afterwards. In it an allocation has
//! no address but a number: the first is 0. The file is described in `docs/amt.md`.

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
