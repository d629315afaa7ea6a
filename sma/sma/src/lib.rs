//! A scratch-pad heap with a few dozen bytes of state.
//!
//! The Scratch-Pad Memory Allocator of McIlroy, Dickman and Sventek (ISMM 2008): a bitmap of
//! blocks, free lists of small regions with packed links, and coalesce tags hidden in free memory.
//! 4 kB need 40 bytes of state, every operation is bounded, and nothing is stored with an
//! allocation. `no_std`, no dependencies; Rust 1.88 or later.
//!
//! ```
//! use sma::{Arena, Heap, Region};
//!
//! let mut memory = Region::<4096>::new();
//! let heap: Heap<'_, 128> = Heap::in_place(&mut memory)?;
//! let message = heap.alloc(20)?;
//! unsafe { message.write_bytes(b'!', 20) };
//! let matrix = heap.alloc(1000)?;
//! unsafe {
//!     heap.free(message, 20)?;
//!     heap.free(matrix, 1000)?;
//! }
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # Choosing
//!
//! | question | answer |
//! |---|---|
//! | Who uses it? | one core: [`Heap`]; several: [`Fine`], or [`Coarse`] if locks are expensive |
//! | Who remembers sizes? | you: [`Arena::free`]; the address: [`Tagged`]; a header: [`Headed`] |
//! | Which sizes? | [`PowerOfTwo`] as in the paper; [`ThreeQuarters`], [`Exact`] waste less |
//! | Are frees checked? | [`Checked`]: 2 bits per granule; [`Unchecked`]: your duty |
//! | Are sizes repeated? | put a [`Deferred`] pool before the heap: [`Lm`], [`Cam`] or [`Quick`] |
//! | Above 512 kB? | [`Long`] links, or blocks of 256 bytes and more |
//! | Several memories? | [`Hierarchy`] |
//! | `Box`, `Vec`, ...? | [`Global`], or `In` with the feature `allocator-api2` |
//!
//! # What is checked
//!
//! Zero sizes, sizes beyond the region and exhausted memory are errors always. A [`Checked`] heap
//! also refuses every free that does not fit an allocation exactly, names the reason
//! ([`FreeError`]) and stays as it was. In an [`Unchecked`] heap a wrong free is undefined
//! behaviour, as in C. Writing to memory after freeing it is undefined behaviour in both;
//! [`Heap::check`] often finds it.
//!
//! # Alignment
//!
//! Allocations are aligned to the granule, `max(8, BLOCK / 16)` bytes, counted from the start of
//! the region, which is moved up to a multiple of 8; [`Region`] is memory that begins at one.
//! [`Arena::alloc_aligned`] gives more, up to
//! the block size, if the region itself is aligned to it.
//!
//! # Concurrency
//!
//! Blocks are lock-free; lists and tags are protected by [`RawLock`]s of your choice. While another
//! core is inside an operation, a request may fail that would succeed just before or after it.
#![no_std]

#[cfg(any(test, doctest))]
extern crate std;

/// Rounds of a unit test: one in two hundred under Miri, which is a thousand times slower.
#[cfg(test)]
const fn rounds(all: u32) -> u32 {
    if cfg!(miri) { all / 200 } else { all }
}

mod adapter;
mod arena;
mod bitmap;
mod classes;
mod deferred;
mod engine;
mod error;
mod geometry;
mod guard;
mod headed;
mod heap;
mod hierarchy;
mod links;
#[cfg(target_has_atomic = "8")]
mod lock;
mod metered;
mod probe;
mod region;
mod sharing;
mod tag;
mod tagged;
mod words;

pub use adapter::Global;
#[cfg(feature = "allocator-api2")]
pub use adapter::In;
pub use arena::{Arena, RawArena};
pub use classes::{Classes, Exact, PowerOfTwo, ThreeQuarters};
pub use deferred::{Cam, Deferred, Lm, Pool, PoolWord, Quick, Size};
pub use engine::Survey;
pub use error::{AllocError, Corruption, FreeError, InitError};
pub use geometry::{BLOCK_BYTES_MAX, BLOCK_BYTES_MIN, GRANULE_BYTES_MIN, REGION_BYTES_MAX};
pub use guard::{Checked, Guard, Unchecked};
pub use headed::{HEADER_BYTES, Headed};
#[cfg(target_has_atomic = "32")]
pub use heap::{Coarse, Fine};
pub use heap::{Heap, state_words};
pub use hierarchy::{Hierarchy, Hint, Level};
pub use links::{Links, Long, Short};
#[cfg(target_has_atomic = "8")]
pub use lock::{Padded, RawLock, SpinLock};
pub use metered::{Metered, Waste};
pub use probe::{Access, Blind, Counter, Probe, Space, Watched};
pub use region::Region;
#[cfg(target_has_atomic = "32")]
pub use sharing::{CoarseLock, FineLocks, HeadLocks};
pub use sharing::{Local, Sharing};
pub use tagged::{Handle, OFFSET_BITS, Tagged};
