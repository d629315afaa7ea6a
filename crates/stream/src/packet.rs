//! Packets and the sources they come from.

use crate::{BlockDef, ObjectDef};

/// Consecutive events of one thread, and the code that is new since the previous packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// The guest thread that ran: dense, 0 is the program's first thread.
    pub thread: u32,
    /// Files found mapped since the previous packet, each before the blocks that it holds for.
    pub objects: Vec<ObjectDef>,
    /// Blocks first seen since the previous packet; ids are dense and ascending.
    pub blocks: Vec<BlockDef>,
    /// Event words in program order (see [`crate::event`]). A packet boundary never separates a
    /// block's events, or the raw words of a value or control event.
    pub events: Vec<u64>,
}

impl Packet {
    /// Empties it and keeps its buffers.
    pub fn clear(&mut self) {
        self.objects.clear();
        self.blocks.clear();
        self.events.clear();
    }
}

/// Where packets come from: a running program or a file.
pub trait Source {
    /// Fills `packet` with the next one and returns true; returns false at the normal end of the
    /// stream. The buffers of `packet` are reused.
    fn next(&mut self, packet: &mut Packet) -> Result<bool, StreamError>;
}

/// What can be wrong with a stream. Each message gives what, value, rule and remedy.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The operating system refused to read or write.
    #[error("{what} {path}: {source}")]
    Io {
        /// What was being done, for example `cannot read`.
        what: &'static str,
        /// The file.
        path: String,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// The file is not a recording.
    #[error(
        "{path}: not a Mallacc trace (it starts with {found}, a trace starts with {expected}); record one with: mallacc record -o FILE -- PROG"
    )]
    Foreign {
        /// The file.
        path: String,
        /// Its first bytes, printable.
        found: String,
        /// What a recording starts with.
        expected: String,
    },
    /// The file was written by a newer version.
    #[error(
        "{path}: trace format {found}, this program reads up to {supported}; use a newer mallacc or record again"
    )]
    Newer {
        /// The file.
        path: String,
        /// Its version.
        found: u32,
        /// The highest version read here.
        supported: u32,
    },
    /// The file ends before its end mark.
    #[error(
        "{path}: truncated at byte {offset}: {detail}; use what is there with --allow-truncated, or record again"
    )]
    Truncated {
        /// The file.
        path: String,
        /// Offset.
        offset: u64,
        /// What was missing.
        detail: String,
    },
    /// A checksum or a structural rule is violated.
    #[error("{path}: corrupt at byte {offset}: {detail}; record again")]
    Corrupt {
        /// The file.
        path: String,
        /// Where.
        offset: u64,
        /// What is wrong.
        detail: String,
    },
    /// A recording could not be completed.
    #[error(
        "{path}: cannot write: {source}; its first {kept_packets} packets ({kept_words} words) are whole and can be replayed as a truncated trace"
    )]
    Recording {
        /// The file.
        path: String,
        /// Packets in the frames that were written completely.
        kept_packets: u64,
        /// Their words.
        kept_words: u64,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// The live producer stopped or misbehaved.
    #[error("the feeder stopped: {0}")]
    Feeder(String),
}
