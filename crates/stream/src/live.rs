//! The live stream: shared memory between the feeder inside QEMU and the consumer.
//!
//! ```text
//! producer: threads fill buffers ──full──> consumer copies them into packets
//!               ^────────────free──────────┘
//! ```
//! Memory is bounded by [`layout::BUFFERS`]; a producer without a free buffer sleeps. Neither side
//! can hang forever: while it sleeps, each checks periodically that the other is alive. See
//! `docs/stream.md`.

pub mod futex;
pub mod layout;
pub mod map;
pub mod producer;
mod queue;
pub mod source;
pub mod wire;

pub use producer::Producer;
pub use source::{Fate, LiveCounts, LiveRing, LiveSource, Stopper, Watch};

#[cfg(test)]
mod tests;
