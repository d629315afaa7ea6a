//! How the shared memory between feeder and consumer is laid out.
//!
//! ```text
//! Head      counters, the queue of full buffers, the queue of free buffers
//! Buffer 0  BufferHead + BUFFER_WORDS words: a run of one thread's events, or block definitions
//! …
//! ```
//! Each side writes its own counters; a buffer belongs to exactly one side at a time. Buffers
//! travel through two queues that can hold all of them, so no queue is ever full.

use std::sync::atomic::{AtomicU32, AtomicU64};

/// First word of the shared memory: "MallRing".
pub const RING_MAGIC: u64 = u64::from_le_bytes(*b"MallRing");
/// Changes with any change of this layout; feeder and consumer must agree.
pub const RING_VERSION: u32 = 2;
/// Buffers in the ring. 64 buffers of 320 KiB are 20 MiB: the bound on memory.
pub const BUFFERS: usize = 64;
/// A buffer is full when it holds this many words.
pub const FULL_WORDS: usize = 32 << 10;
/// Words beyond [`FULL_WORDS`], so that a block's events fit without a check for each of them.
pub const SLACK_WORDS: usize = 8 << 10;
/// Words of a buffer.
pub const BUFFER_WORDS: usize = FULL_WORDS + SLACK_WORDS;

/// What a buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum BufferKind {
    /// Event words of one thread.
    Events = 1,
    /// Block definitions as bytes, see [`crate::live::wire`].
    Blocks = 2,
}

/// Whether a buffer is being filled. The consumer looks at it only after the producer died.
pub mod buffer_state {
    /// Not in use, in a queue, or with the consumer.
    pub const IDLE: u32 = 0;
    /// The producer is filling it.
    pub const ACTIVE: u32 = 1;
}

/// The start of each buffer. `cursor`, `limit` and `base` are addresses in the producer.
#[repr(C, align(64))]
pub struct BufferHead {
    /// Where the next word goes.
    pub cursor: *mut u64,
    /// The buffer is full when `cursor` reaches it.
    pub limit: *mut u64,
    /// The buffer's first word.
    pub base: *mut u64,
    /// The block word of the repeated string instruction that may be going on, else 0.
    pub rep_word: u64,
    /// Up to where the events of that instruction were checked.
    pub rep_at: *mut u64,
    /// See [`buffer_state`].
    pub state: AtomicU32,
    /// A [`BufferKind`].
    pub kind: u32,
    /// The guest thread.
    pub thread: u32,
    /// Used words (events) or bytes (blocks); valid once published.
    pub len: u32,
}

/// A buffer: its head and its words.
#[repr(C, align(64))]
pub struct Buffer {
    /// Bookkeeping.
    pub head: BufferHead,
    /// Contents.
    pub words: [u64; BUFFER_WORDS],
}

/// Life of the producer.
pub mod ring_state {
    /// No producer has attached yet.
    pub const WAITING: u32 = 0;
    /// A producer writes.
    pub const ATTACHED: u32 = 1;
    /// The program ended in an orderly way and everything is published.
    pub const FINISHED: u32 = 2;
}

/// A queue of buffer numbers: one side puts, the other takes.
#[repr(C, align(64))]
pub struct BufferQueue {
    /// How many were ever put, modulo 2^32. A futex: takers wait on it.
    pub put: AtomicU32,
    /// Set while the taker sleeps.
    pub sleeping: AtomicU32,
    /// How many were ever taken, modulo 2^32; kept here so that a new image can go on.
    pub taken: AtomicU32,
    /// The numbers.
    pub items: [AtomicU32; BUFFERS],
}

/// The start of the shared memory.
#[repr(C, align(4096))]
pub struct Head {
    /// [`RING_MAGIC`].
    pub magic: AtomicU64,
    /// [`RING_VERSION`].
    pub version: AtomicU32,
    /// See [`ring_state`].
    pub state: AtomicU32,
    /// The traced process; 0 until a producer attaches. `follow_exec.cc` reads it at byte 16.
    pub producer_pid: AtomicU32,
    /// Set by the consumer: stop feeding, let the program run on. `follow_exec.cc` reads it at
    /// byte 20.
    pub detach: AtomicU32,
    /// The process that reads.
    pub consumer_pid: AtomicU32,
    /// How many images have attached: 1, and one more for each exec that was followed.
    pub images: AtomicU32,
    /// The next block's number.
    pub next_block: AtomicU32,
    /// The next thread's number.
    pub next_thread: AtomicU32,
    /// Second words of a prefetch marker that could not be read, see `docs/stream.md`.
    pub unreadable: AtomicU64,
    /// Carriers whose operand stores do not follow.
    pub broken_markers: AtomicU64,
    /// Set by the consumer before the program starts: files look as if nobody had read them since
    /// they were written. See `docs/stream.md`, "Deterministic runs".
    pub hide_access_times: AtomicU32,
    /// Full buffers, producer to consumer.
    pub full: BufferQueue,
    /// Empty buffers, consumer to producer.
    pub free: BufferQueue,
}

/// The whole shared memory.
#[repr(C)]
pub struct Ring {
    /// Counters and queues.
    pub head: Head,
    /// The buffers.
    pub buffers: [Buffer; BUFFERS],
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    #[test]
    fn the_guest_library_finds_pid_and_detach_where_its_source_says() {
        assert_eq!(offset_of!(Head, producer_pid), 16);
        assert_eq!(offset_of!(Head, detach), 20);
    }

    #[test]
    fn the_ring_is_bounded_by_32_mib() {
        assert!(size_of::<Ring>() <= 32 << 20, "{}", size_of::<Ring>());
        assert_eq!(size_of::<Head>() % 4096, 0);
    }
}
