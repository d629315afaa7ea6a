//! The contents of a trace.

/// The function that allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// `malloc`, and through it `operator new`.
    Malloc,
    /// `calloc`: zeroed memory was requested.
    Calloc,
    /// `posix_memalign` and similar functions, with the binary logarithm of the alignment.
    Aligned(u8),
}

/// What happened. Allocations, reallocations included, are numbered from 0 in the order of the
/// file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The next number was allocated.
    Alloc {
        /// Bytes requested; 0 is allowed.
        bytes: u64,
        /// The function that allocated.
        source: Source,
    },
    /// An allocation was freed.
    Free {
        /// Its number.
        id: u64,
    },
    /// An allocation was resized and became the next number.
    Realloc {
        /// Its old number.
        id: u64,
        /// Bytes requested.
        bytes: u64,
    },
    /// The process executed another program: everything live is gone.
    Exec,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Nanoseconds since the first event. Those of different threads may be out of order by as much
    /// time as an event takes.
    pub time_ns: u64,
    /// The thread, numbered from 0 in the order of appearance.
    pub thread: u32,
    /// What happened.
    pub action: Action,
}

/// What was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The program and its arguments.
    pub command: Vec<String>,
}

/// Sums over a trace. The last six come from the recorder and are 0 in a trace that was cut short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Events.
    pub events: u64,
    /// Allocations, reallocations included.
    pub allocations: u64,
    /// Frees.
    pub frees: u64,
    /// Reallocations of something live.
    pub reallocations: u64,
    /// Threads seen.
    pub threads: u64,
    /// Most requested bytes live at a time.
    pub peak_bytes: u64,
    /// Failed allocations; they are not events.
    pub failed: u64,
    /// Frees of memory that was not seen allocated; they are not events.
    pub strangers: u64,
    /// Frees that were missed, inferred from an address being allocated again; they are events.
    pub implied: u64,
    /// Events for which there was no room.
    pub lost: u64,
    /// Events that a thread had begun to write when the process ended.
    pub torn: u64,
    /// Other processes that the program started and that are not in the trace.
    pub children: u64,
}

/// Totals as words of the file, in the order of the fields named, and back.
macro_rules! words {
    ($($field:ident),*) => {
        impl Totals {
            pub(crate) fn to_words(self) -> [u64; 12] {
                [$(self.$field),*]
            }

            pub(crate) fn from_words([$($field),*]: [u64; 12]) -> Self {
                Self { $($field),* }
            }
        }
    };
}

words! {
    events, allocations, frees, reallocations, threads, peak_bytes,
    failed, strangers, implied, lost, torn, children
}
