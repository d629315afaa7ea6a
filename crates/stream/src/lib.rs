//! The instruction stream: blocks, memory addresses, marker values, thread and system-call events.
//!
//! This is the contract between whatever executes a program and whatever models it. Nothing here
//! depends on QEMU or on cycles.
//!
//! ```text
//!   feeder ──> Packet ──> Packet ──> …      live (shared memory) or from a file
//!              ├ objects: files that code comes from (address, path)
//!              ├ blocks: code seen for the first time (address, bytes)
//!              └ events: u64 words of one guest thread, in program order
//! ```
//!
//! A [`Packet`] holds consecutive [`event`] words of one thread, and the static [`BlockDef`]s and
//! [`ObjectDef`]s that are new since the previous packet. Packets follow the order in which threads
//! ran, as far as it is known: a thread's packet ends at a system call that may block.

pub mod block;
pub mod event;
pub mod file;
pub mod live;
pub mod marker;
pub mod object;
pub mod packet;

pub use block::BlockDef;
pub use marker::{CallKind, MarkerOp};
pub use object::{ObjectDef, Objects};
pub use packet::{Packet, Source, StreamError};
