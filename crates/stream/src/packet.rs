//! Packets and the sources they come from.

use crate::BlockDef;

/// A run of one thread's events, with the code that became known since the packet before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Which guest thread ran: dense, 0 is the first thread of the program.
    pub thread: u32,
    /// Blocks first seen since the previous packet; ids are dense and ascending.
    pub blocks: Vec<BlockDef>,
    /// Event words in program order (see [`crate::event`]). A block's events and a value's or
    /// control's raw words are never split over two packets.
    pub events: Vec<u64>,
}

/// Where packets come from: a running program or a file.
pub trait Source {
    /// Fills `packet` with the next one and returns true; false at the orderly end of the stream.
    /// The buffers of `packet` are reused.
    fn next(&mut self, packet: &mut Packet) -> Result<bool, StreamError>;
}

/// What can be wrong with a stream. Each message says what, the value, the rule and the remedy.
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
    /// The file is not one of ours.
    #[error(
        "{path}: not a Mallacc trace (it starts with {found}, a trace starts with {expected}); record one with: mallacc record -o FILE -- PROG"
    )]
    Foreign {
        /// The file.
        path: String,
        /// Its first bytes, printable.
        found: String,
        /// What a trace starts with.
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
        "{path}: truncated at byte {offset}: {detail}; the recording was cut short, record again"
    )]
    Truncated {
        /// The file.
        path: String,
        /// Where.
        offset: u64,
        /// What was missing.
        detail: String,
    },
    /// A checksum or a structure does not hold.
    #[error("{path}: corrupt at byte {offset}: {detail}; record again")]
    Corrupt {
        /// The file.
        path: String,
        /// Where.
        offset: u64,
        /// What does not hold.
        detail: String,
    },
    /// A trace could not be written to its end.
    #[error(
        "{path}: cannot write: {source}; its first {kept_packets} packets ({kept_words} words) are whole and can be replayed as a truncated trace"
    )]
    Recording {
        /// The file.
        path: String,
        /// Packets in the frames that were written whole.
        kept_packets: u64,
        /// Their words.
        kept_words: u64,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// The live producer broke off or misbehaved.
    #[error("the feeder stopped: {0}")]
    Feeder(String),
}
