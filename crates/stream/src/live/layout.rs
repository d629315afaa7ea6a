//! Layout of the shared memory between feeder and consumer.
//!
//! ```text
//! Head      counters, the queue of full buffers, the queue of free buffers
//! Buffer 0  BufferHead + BUFFER_WORDS words: a run of one thread's events, or block definitions
//! …
//! ```
//! Each side writes its own counters; a buffer belongs to exactly one side at a time. Buffers
//! travel through two queues, each of which can hold all of them, so no queue ever overflows.

use std::sync::atomic::{AtomicU32, AtomicU64};

/// First word of the shared memory: "MallRing".
pub const RING_MAGIC: u64 = u64::from_le_bytes(*b"MallRing");
/// Changes with any change of this layout; feeder, consumer and `follow_exec.cc` must agree.
pub const RING_VERSION: u32 = 3;
/// Buffers in the ring. 64 buffers of 320 KiB are 20 MiB, which bounds the memory.
pub const BUFFERS: usize = 64;
/// A buffer is full when it holds this many words.
pub const FULL_WORDS: usize = 32 << 10;
/// Words beyond [`FULL_WORDS`], so that a block's events fit without checking each one.
pub const SLACK_WORDS: usize = 8 << 10;
/// Words of a buffer.
pub const BUFFER_WORDS: usize = FULL_WORDS + SLACK_WORDS;

/// What a buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum BufferKind {
    /// Event words of one thread.
    Events = 1,
    /// Definitions of blocks and objects as bytes, see [`crate::live::wire`].
    Blocks = 2,
}

/// Whether a buffer is being filled. The consumer reads it only after the producer has died.
pub mod buffer_state {
    /// Unused, queued, or held by the consumer.
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
    /// Block word of the repeated string instruction that may be in progress, else 0.
    pub rep_word: u64,
    /// End of that instruction's events checked so far.
    pub rep_at: *mut u64,
    /// See [`buffer_state`].
    pub state: AtomicU32,
    /// A [`BufferKind`].
    pub kind: u32,
    /// The guest thread.
    pub thread: u32,
    /// Words (events) or bytes (blocks) in use; valid once published.
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

/// State of the producer.
pub mod ring_state {
    /// No producer has attached yet.
    pub const WAITING: u32 = 0;
    /// A producer is writing.
    pub const ATTACHED: u32 = 1;
    /// The program ended normally and everything is published.
    pub const FINISHED: u32 = 2;
}

/// A queue of buffer numbers: one side puts, the other takes.
#[repr(C, align(64))]
pub struct BufferQueue {
    /// Total number of puts, modulo 2^32. Takers wait on it as a futex.
    pub put: AtomicU32,
    /// Set while the taker sleeps.
    pub sleeping: AtomicU32,
    /// Total number of takes, modulo 2^32; kept here so that the image after an exec can continue.
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
    /// Set by the consumer: stop feeding and let the program continue. `follow_exec.cc` reads it at
    /// byte 20.
    pub detach: AtomicU32,
    /// The consumer's process.
    pub consumer_pid: AtomicU32,
    /// Images that have attached: 1, plus one for each exec that was followed.
    pub images: AtomicU32,
    /// The next block's number.
    pub next_block: AtomicU32,
    /// The next thread's number.
    pub next_thread: AtomicU32,
    /// Words at `next` of prefetch markers that could not be read, see `docs/stream.md`.
    pub unreadable: AtomicU64,
    /// Carriers that lack their operand stores.
    pub broken_markers: AtomicU64,
    /// Set by the consumer before the program starts: files appear never to have been read since
    /// they were last written. See `docs/stream.md`, "Deterministic runs".
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
        let source = include_str!("../../../../guest/src/follow_exec.cc");
        assert!(source.contains(&format!("kRingVersion = {RING_VERSION};")));
    }

    #[test]
    fn the_ring_is_bounded_by_32_mib() {
        assert!(size_of::<Ring>() <= 32 << 20, "{}", size_of::<Ring>());
        assert_eq!(size_of::<Head>() % 4096, 0);
    }
}
