//! Names of code: which function of which file an address of a stream belongs to.
//!
//! ```text
//! stream::Objects ──────────────┐ the object that held a block
//! Packet::blocks ─ address, code┴──> Names ──> Place: function, file, address in the file
//!                                      └ reads symbols of the file, when first asked about it
//! ```
//! The file is read when a report is written, which may be long after the program ran. A name is
//! given only if the file still holds the code that was executed; otherwise the place is an address
//! in the file, as for code without symbols.

mod elf;
mod names;

pub use names::{Names, Place};
