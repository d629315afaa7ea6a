//! Errors as numbers.

use core::ffi::{CStr, c_char, c_int};
use sma::{AllocError, FreeError, InitError};

/// What a function of the library returns; `sma_status` in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// Zero bytes were requested.
    ZeroSize = 1,
    /// More than the region, or a region beyond what this kind of heap reaches.
    TooLarge = 2,
    /// No free piece is large enough.
    Exhausted = 3,
    /// An alignment that the region cannot provide.
    Alignment = 4,
    /// A pointer outside the region.
    Foreign = 5,
    /// Not a multiple of the granule.
    Misaligned = 6,
    /// Nothing is allocated there.
    DoubleFree = 7,
    /// Inside an allocation.
    Interior = 8,
    /// The allocation has another size.
    SizeMismatch = 9,
    /// A size that no allocation has.
    BadSize = 10,
    /// A region without room for a heap.
    TooSmall = 11,
    /// Too few words of state.
    StateTooSmall = 12,
    /// Lists and tags contradict each other.
    Corrupt = 13,
    /// A null pointer where memory was expected.
    Null = 14,
}

const MESSAGES: [&CStr; 15] = [
    c"done",
    c"size 0: an allocation has at least one byte",
    c"size or region too large: see the limits in sma.h",
    c"no free piece of this size: free something or use a larger region",
    c"alignment: a power of two up to the block size and the region's own alignment",
    c"free of a pointer outside this heap's region",
    c"free of a pointer that is not a multiple of the granule",
    c"free of memory that is not allocated: freed before, or never allocated",
    c"free of a pointer into an allocation: pass its beginning",
    c"free with a size other than the allocation's",
    c"free with a size that no allocation has",
    c"region too small: it must hold at least one block, plus the state if that is in place",
    c"state too small: sma_state_words gives the size",
    c"lists and tags contradict each other: look for a write after a free",
    c"null pointer: memory for heap, region and state must be given",
];

impl From<InitError> for Status {
    fn from(error: InitError) -> Self {
        match error {
            InitError::TooLarge { .. } => Self::TooLarge,
            InitError::StateTooSmall { .. } => Self::StateTooSmall,
            _ => Self::TooSmall,
        }
    }
}

impl From<AllocError> for Status {
    fn from(error: AllocError) -> Self {
        match error {
            AllocError::ZeroSize => Self::ZeroSize,
            AllocError::TooLarge { .. } => Self::TooLarge,
            AllocError::Alignment { .. } => Self::Alignment,
            _ => Self::Exhausted,
        }
    }
}

impl From<FreeError> for Status {
    fn from(error: FreeError) -> Self {
        match error {
            FreeError::Foreign { .. } => Self::Foreign,
            FreeError::Misaligned { .. } => Self::Misaligned,
            FreeError::DoubleFree { .. } => Self::DoubleFree,
            FreeError::Interior { .. } => Self::Interior,
            FreeError::SizeMismatch { .. } => Self::SizeMismatch,
            _ => Self::BadSize,
        }
    }
}

/// The sentence of a status.
#[unsafe(no_mangle)]
pub extern "C" fn sma_message(status: c_int) -> *const c_char {
    let message = usize::try_from(status).ok().and_then(|index| MESSAGES.get(index));
    message.unwrap_or(&c"unknown status").as_ptr()
}
