//! Checks that an allocator's markers keep the rules of `docs/markers.md`.
//!
//! ```text
//! Packet ──> Checker: executions of blocks, with their memory accesses and marker values
//!              ├ frames, calls   begins, ends and returns, from the stack addresses of call and ret
//!              ├ regions         what opens closes
//!              ├ lists           a shadow of each free list, as its marked pops and pushes leave it
//!              └ memory          the blocks that the program holds
//!                                        └──> Report: counts, findings with their places in code
//! ```
//! No core model is involved, and nothing is guessed: where the stream does not say enough (which
//! block a `realloc` gave back, in what order two threads ran), a check is left out rather than
//! made on a supposition.

mod calls;
mod checker;
mod code;
mod finding;
mod frames;
mod lists;
mod memory;
mod regions;

pub use calls::{Call, Calls, Returned};
pub use checker::Checker;
pub use code::Spot;
pub use finding::{Counts, Finding, Findings, Kind, Report};
pub use frames::{Frame, Frames};
