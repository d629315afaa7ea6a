//! The result of each operation.

use core::fmt;

/// Result of a lookup hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Size class of the request.
    pub class: u8,
    /// Bytes that a block of the class holds; never fewer than requested.
    pub alloc_size: u32,
}

/// Result of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Updated {
    /// What happened to the class's entry.
    pub kind: Update,
    /// The class whose entry was replaced: the least recently used one.
    pub evicted: Option<u8>,
    /// How many entries of other classes were dropped because their ranges overlapped.
    pub overlaps: u8,
}

/// What an update did to its class's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// A new entry.
    Inserted,
    /// The class had an entry; its lower bound dropped to the request.
    Widened,
    /// The class had an entry whose range held the request.
    Unchanged,
    /// The class had an entry with another block size: the entry starts anew, its list part
    /// dropped.
    Replaced,
    /// The operands violate the contract: the class's entry, if any, is dropped.
    Rejected(Violation),
}

/// Result of a pop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pop {
    /// Both were known: the popped object and the list's new head.
    Hit {
        /// First object of the list, handed to the caller.
        head: u64,
        /// The one after it, now the list's head.
        next: u64,
    },
    /// Software pops; whatever the entry held is dropped.
    Miss,
    /// The class's prefetch is outstanding: repeat later. Nothing changed.
    Wait,
}

/// Result of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Push {
    /// The object is now Head, and the former Head is Next.
    Done,
    /// The class has no entry: nothing to record.
    Absent,
    /// The class's prefetch is outstanding: repeat later. Nothing changed.
    Wait,
    /// The operands violate the contract: the entry's list part is dropped.
    Rejected(Violation),
}

/// Which pointer a prefetch is for. It depends on the preceding pop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// After a pop **miss**: the word at the popped object is the list's new head.
    Head,
    /// After a pop **hit**: the word at the new head is the object after it.
    Next,
}

/// Names an outstanding prefetch: the number of its entry, as on the memory port of the RTL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(pub u8);

/// Result of asking for a prefetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issue {
    /// Load the word and hand it to `prefetch_return`; until then the class is blocked.
    Issued(Ticket),
    /// The class has no entry; no load.
    Absent,
    /// The pointer is already known, the address is not the cached Head (for [`Fill::Next`]), or it
    /// is null or too wide; no load.
    Ignored,
    /// The entry's earlier prefetch is outstanding: repeat later. Nothing changed.
    Wait,
}

/// What a returning prefetch did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    /// It became Head.
    Head,
    /// It became Next.
    Next,
    /// It was null, too wide, or Head itself: the class is unblocked, but nothing is filled.
    Nothing,
    /// The entry was invalidated, evicted or squashed meanwhile, or no such prefetch was
    /// outstanding.
    Ignored,
}

/// A kind of operation that a core may have to squash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speculative {
    /// A push or a pop: the list part is dropped.
    List,
    /// A prefetch: cancelled if outstanding, otherwise what it filled is dropped.
    Prefetch,
    /// An update: the entry is dropped.
    Update,
}

/// A promise that software broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// Class above 255.
    Class,
    /// Requested or block size above 2^20 - 1, or its range key does not fit.
    Size,
    /// A block smaller than the request.
    SmallBlock,
    /// With the class index on, a block size inside an index step: sizes above it would match.
    Misaligned,
    /// Push of a null pointer.
    Null,
    /// Push of a pointer wider than the cache holds.
    WidePointer,
    /// Push of the cached Head: the object is already on the list.
    PushOfHead,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Class => "size class above 255",
            Self::Size => "size too large for the malloc cache",
            Self::SmallBlock => "block smaller than the request",
            Self::Misaligned => "block size not a multiple of its index step",
            Self::Null => "push of a null pointer",
            Self::WidePointer => "pointer wider than the malloc cache holds",
            Self::PushOfHead => "push of the object that is the list's head already",
        })
    }
}
