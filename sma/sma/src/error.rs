//! Errors: each case with its value, its rule and, where there is one, its remedy.

use core::fmt;

/// A region or its state cannot make a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InitError {
    /// Less than one block is left after alignment.
    TooSmall {
        /// Usable bytes given.
        bytes: usize,
        /// Bytes needed.
        needed: usize,
    },
    /// Links or handles cannot reach the whole region.
    TooLarge {
        /// Bytes given.
        bytes: usize,
        /// The most this type of heap can manage.
        limit: usize,
    },
    /// The memory for the state is too small.
    StateTooSmall {
        /// Words given.
        words: usize,
        /// Words needed.
        needed: usize,
    },
}

impl fmt::Display for InitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooSmall { bytes, needed } => write!(
                f,
                "region of {bytes} usable bytes: a heap of this kind needs at least {needed}; \
                 give a larger region or choose a smaller block"
            ),
            Self::TooLarge { bytes, limit } => write!(
                f,
                "region of {bytes} bytes: this kind of heap reaches {limit}; use `Long` links, \
                 larger blocks, wider pools or a smaller region"
            ),
            Self::StateTooSmall { words, needed } => {
                write!(f, "state of {words} words: {needed} are needed (see `state_words`)")
            }
        }
    }
}

/// An allocation was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AllocError {
    /// Zero bytes were requested.
    ZeroSize,
    /// The size cannot be rounded up without overflow, or exceeds the region.
    TooLarge {
        /// Bytes requested.
        bytes: usize,
        /// The region's size.
        limit: usize,
    },
    /// The alignment is not a power of two, or is larger than a block or than the region's own.
    Alignment {
        /// The requested alignment in bytes.
        align: usize,
        /// The largest alignment that this heap can provide.
        limit: usize,
    },
    /// No free piece is large enough.
    Exhausted {
        /// Bytes requested, rounded.
        bytes: usize,
    },
}

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroSize => write!(f, "size 0: an allocation has at least one byte"),
            Self::TooLarge { bytes, limit } => {
                write!(f, "size {bytes}: the region has {limit} bytes")
            }
            Self::Alignment { align, limit } => write!(
                f,
                "alignment {align}: must be a power of two up to {limit}; for more, align the \
                 region to its block size"
            ),
            Self::Exhausted { bytes } => {
                write!(f, "no free piece of {bytes} bytes: free something or use a larger region")
            }
        }
    }
}

/// A free was refused. Checked heaps find all of these; unchecked ones only `ZeroSize`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FreeError {
    /// The size given is zero or impossible: larger than the region.
    Size {
        /// Bytes given.
        bytes: usize,
    },
    /// The pointer lies outside the region.
    Foreign {
        /// The address.
        address: usize,
    },
    /// The pointer is not a multiple of the granule.
    Misaligned {
        /// Bytes from the start of the region.
        offset: usize,
        /// The granule.
        granule: usize,
    },
    /// Nothing is allocated there: freed before, or never allocated.
    DoubleFree {
        /// Bytes from the start of the region.
        offset: usize,
    },
    /// The pointer points into an allocation, not to its beginning.
    Interior {
        /// Bytes from the start of the region.
        offset: usize,
    },
    /// The allocation has another size.
    SizeMismatch {
        /// Bytes from the start of the region.
        offset: usize,
        /// Bytes given, rounded.
        bytes: usize,
    },
}

impl fmt::Display for FreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { bytes } => write!(f, "free of size {bytes}: no allocation has this size"),
            Self::Foreign { address } => {
                write!(f, "free of {address:#x}: outside this heap's region")
            }
            Self::Misaligned { offset, granule } => {
                write!(f, "free at offset {offset}: allocations begin at multiples of {granule}")
            }
            Self::DoubleFree { offset } => {
                write!(f, "free at offset {offset}: not allocated, or freed before")
            }
            Self::Interior { offset } => {
                write!(f, "free at offset {offset}: inside an allocation, not its beginning")
            }
            Self::SizeMismatch { offset, bytes } => write!(
                f,
                "free at offset {offset} of {bytes} bytes: the allocation has a different size; \
                 pass the size it was allocated with"
            ),
        }
    }
}

/// `check` found that free memory was written to, or that an unchecked heap was misused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Corruption {
    /// A list of free regions is broken.
    List {
        /// The list's class.
        class: u32,
        /// The granule at which it breaks.
        granule: u32,
    },
    /// A block's tag contradicts the lists or the bitmap.
    Tag {
        /// The block.
        block: u32,
    },
}

impl fmt::Display for Corruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List { class, granule } => {
                write!(f, "free list of class {class} is broken at granule {granule}")?;
            }
            Self::Tag { block } => write!(f, "the tag of block {block} contradicts the lists")?,
        }
        write!(f, ": look for a write after a free, or use a `Checked` heap")
    }
}

impl core::error::Error for InitError {}
impl core::error::Error for AllocError {}
impl core::error::Error for FreeError {}
impl core::error::Error for Corruption {}
