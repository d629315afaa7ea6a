//! What the recorder writes while the program runs: a file in shared memory, so that nothing is
//! lost however the process ends.
//!
//! ```text
//! page 0   RawHeader
//! page 1…  records of 32 bytes, in the order in which they were taken
//! ```
//! An allocation's record is taken after the allocator has returned, a free's before the allocator
//! is called. So when an address is reused, its new allocation has a later record than its free.

use std::sync::atomic::{AtomicU32, AtomicU64};

/// The environment variable that names the raw file to the recorder.
pub const VARIABLE: &str = "MALLACC_RECORD_MALLOCS";
/// The first word of the file: "MALLRAW1" as a little-endian number.
pub const MAGIC: u64 = u64::from_le_bytes(*b"MALLRAW1");
/// Where the records begin.
pub const RECORDS_OFFSET: usize = 4096;
/// Bytes of a record.
pub const RECORD_BYTES: usize = 32;

/// The first page.
#[repr(C)]
#[derive(Debug, Default)]
pub struct RawHeader {
    /// [`MAGIC`].
    pub magic: AtomicU64,
    /// The recorded process; 0 until it has claimed the file.
    pub pid: AtomicU32,
    /// Processes that found the file claimed by another process.
    pub children: AtomicU32,
    /// The next record.
    pub next: AtomicU64,
    /// Records for which the file system has reserved room.
    pub ready: AtomicU64,
    /// Events without a record.
    pub lost: AtomicU64,
    /// Allocations that failed.
    pub failed: AtomicU64,
}

/// Kinds of records. Empty records are 0.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `malloc`: address, bytes.
    Malloc = 1,
    /// `calloc`: address, bytes.
    Calloc = 2,
    /// Aligned: address, bytes; the alignment's logarithm in the key.
    Aligned = 3,
    /// `free`: address.
    Free = 4,
    /// `realloc` is about to give this address back.
    ReallocBegin = 5,
    /// … and returned this one (0: it failed, and the old one stays live) with this many bytes.
    ReallocEnd = 6,
    /// The process begins, possibly again after executing another program.
    Start = 7,
}

impl Kind {
    /// All kinds in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::Malloc,
        Self::Calloc,
        Self::Aligned,
        Self::Free,
        Self::ReallocBegin,
        Self::ReallocEnd,
        Self::Start,
    ];
}

/// One record. The key is written last.
#[repr(C)]
#[derive(Debug)]
pub struct Record {
    /// Nanoseconds of the monotonic clock.
    pub time_ns: AtomicU64,
    /// See [`Kind`].
    pub address: AtomicU64,
    /// See [`Kind`].
    pub bytes: AtomicU64,
    /// Kind, alignment and thread: [`key`].
    pub key: AtomicU64,
}

const _: () =
    assert!(size_of::<Record>() == RECORD_BYTES && size_of::<RawHeader>() <= RECORDS_OFFSET);

/// Kind in bits 0 to 7, the alignment's logarithm in bits 8 to 15, the thread in the upper half.
pub const fn key(kind: Kind, align_log: u8, thread: u32) -> u64 {
    kind as u64 | (align_log as u64) << 8 | (thread as u64) << 32
}

/// A record's contents, as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Nanoseconds of the monotonic clock.
    pub time_ns: u64,
    /// See [`Kind`].
    pub address: u64,
    /// See [`Kind`].
    pub bytes: u64,
    /// [`key`].
    pub key: u64,
}

impl Entry {
    /// From the bytes of a record.
    pub fn from_bytes(bytes: &[u8; RECORD_BYTES]) -> Self {
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(word)
        };
        Self { time_ns: word(0), address: word(8), bytes: word(16), key: word(24) }
    }

    /// Its kind; `None` if the record was never finished.
    pub fn kind(&self) -> Option<Kind> {
        Kind::ALL.into_iter().find(|&kind| kind as u64 == self.key & 0xff)
    }

    /// The alignment's logarithm.
    pub fn align_log(&self) -> u8 {
        (self.key >> 8) as u8
    }

    /// The thread's number in the system.
    pub fn thread(&self) -> u32 {
        (self.key >> 32) as u32
    }
}
