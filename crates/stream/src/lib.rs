//! The instruction stream: blocks, memory addresses, marker values, thread and system-call events.
//!
//! This is the contract between whatever executes a program and whatever models it. Nothing here
//! knows QEMU, and nothing here knows cycles.
//!
//! ```text
//!   feeder ──> Packet ──> Packet ──> …      live (shared memory) or from a file
//!              ├ blocks: code seen for the first time (address, bytes)
//!              └ events: u64 words of one guest thread, in program order
//! ```
//!
//! A [`Packet`] holds a run of one thread's [`event`] words, and the static [`BlockDef`]s that
//! became known since the packet before. Packets are in the order in which the threads ran, as far
//! as that order is known: a thread's packet is closed when it makes a system call that may block.

pub mod block;
pub mod event;
pub mod file;
pub mod live;
pub mod marker;
pub mod packet;

pub use block::BlockDef;
pub use marker::{CallKind, MarkerOp};
pub use packet::{Packet, Source, StreamError};
