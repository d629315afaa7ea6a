//! Deferred coalescing (paper, section 4.1): freed regions wait in a pool for the next request of
//! their size instead of being merged and split again.
//!
//! A pool belongs to one core. Over a shared heap every core has its own: `Deferred::new(&heap)`.
//! When the heap below is exhausted, regions of the pool are freed into it, one by one, until the
//! request finds room; regions in *other* cores' pools stay out of reach (at most 360 bytes per
//! core with [`Lm`] and blocks of 128 bytes).

mod cam;
mod lm;
mod quick;
mod word;

pub use cam::Cam;
pub use lm::Lm;
pub use quick::Quick;
pub use word::PoolWord;

use crate::arena::RawArena;
use crate::error::{FreeError, InitError};
use core::ptr::NonNull;

/// The size of a request in units, before and after rounding. All requests that are rounded to the
/// same size count as one size; a lookup by index is faster with the requested size.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// As requested.
    pub asked: u32,
    /// Rounded.
    pub units: u32,
}

impl Size {
    /// A size that is already rounded.
    pub const fn rounded(units: u32) -> Self {
        Self { asked: units, units }
    }
}

/// Where freed regions are kept.
pub trait Pool {
    /// Regions at or beyond this granule number cannot be kept.
    const REACH: u32;
    /// Sizes up to this many blocks are kept.
    const BLOCKS: usize = 1;
    /// An empty pool.
    fn new() -> Self;
    /// Takes a region of this size out.
    fn get(&self, size: Size, per_block: u32) -> Option<u32>;
    /// Keeps a region, or returns false. Evicted regions go to `evict` as granule and size.
    fn put(&self, granule: u32, size: Size, per_block: u32, evict: impl FnMut(u32, u32)) -> bool;
    /// Takes a region that `get` did not have, out of a block supplied by `block`. The block's
    /// other regions are kept.
    fn refill(
        &self,
        units: u32,
        per_block: u32,
        block: impl FnOnce() -> Option<u32>,
    ) -> Option<u32> {
        let _ = (units, per_block, block);
        None
    }
    /// Gives up one region, as granule and size: one that can serve a request of `units`, if there
    /// is one.
    fn release(&self, units: u32, per_block: u32) -> Option<(u32, u32)>;
    /// Gives up at least all regions of `least` units or more, each as granule and size, if that is
    /// faster than calling `release`; false if it is not.
    fn drain(&self, least: u32, per_block: u32, give: impl FnMut(u32, u32)) -> bool {
        let _ = (least, per_block, give);
        false
    }
    /// Bytes of state.
    fn state_bytes(&self) -> usize {
        size_of_val(self)
    }
}

/// A heap behind a pool.
#[derive(Debug)]
pub struct Deferred<A: RawArena, P: Pool = Lm<<A as RawArena>::Classes>> {
    arena: A,
    pool: P,
}

impl<A: RawArena, P: Pool> Deferred<A, P> {
    const PER_BLOCK: u32 = (A::BLOCK / A::GRANULE) as u32;

    /// Puts an empty pool in front of a heap.
    ///
    /// # Errors
    /// A region with more granules than the pool's words can represent; use pools of `u64`.
    pub fn new(arena: A) -> Result<Self, InitError> {
        if arena.granules() > P::REACH {
            return Err(InitError::TooLarge {
                bytes: arena.granules() as usize * A::GRANULE,
                limit: P::REACH as usize * A::GRANULE,
            });
        }
        Ok(Self { arena, pool: P::new() })
    }

    /// The heap below.
    pub fn inner(&self) -> &A {
        &self.arena
    }

    /// Frees all kept regions and returns how many there were.
    pub fn flush(&self) -> usize {
        self.drain(1)
    }

    /// Frees at least the kept regions of this size or more, and returns how many it freed.
    fn drain(&self, least: u32) -> usize {
        let mut count = 0;
        let drained = self.pool.drain(least, Self::PER_BLOCK, |granule, units| {
            // SAFETY: the pool holds what `give` below was handed, each once.
            unsafe { self.arena.give(granule, units) };
            count += 1;
        });
        while !drained && self.release(least).is_some() {
            count += 1;
        }
        count
    }

    /// Frees one kept region and returns its size, or `None` if there is none.
    #[inline(never)]
    fn release(&self, units: u32) -> Option<u32> {
        let (granule, units) = self.pool.release(units, Self::PER_BLOCK)?;
        // SAFETY: as in `drain`.
        unsafe { self.arena.give(granule, units) };
        Some(units)
    }

    #[inline(always)]
    fn size<const ROUNDED: bool>(asked: u32) -> Size {
        if ROUNDED { Size::rounded(asked) } else { Size { asked, units: Self::rounded(asked) } }
    }

    /// Takes a size, already rounded or not.
    #[inline(always)]
    fn take_size<const ROUNDED: bool>(&self, asked: u32) -> Option<u32> {
        let found = self.pool.get(Self::size::<ROUNDED>(asked), Self::PER_BLOCK);
        if found.is_some() { found } else { self.take_below::<ROUNDED>(asked) }
    }

    /// Gives back a size, already rounded or not.
    ///
    /// # Safety
    /// As `give`.
    #[inline(always)]
    unsafe fn give_size<const ROUNDED: bool>(&self, granule: u32, asked: u32) {
        let size = Self::size::<ROUNDED>(asked);
        let kept = self.pool.put(granule, size, Self::PER_BLOCK, |granule, units| {
            // SAFETY: the pool holds what earlier calls were handed, each once.
            unsafe { self.arena.give(granule, units) }
        });
        if !kept {
            // SAFETY: the caller's promise.
            unsafe { self.give_below::<ROUNDED>(granule, asked) }
        }
    }

    /// A request that the pool does not serve: out of line where the fast path is inlined, which
    /// then need not round.
    #[cfg_attr(target_pointer_width = "64", inline(never))]
    #[cfg_attr(not(target_pointer_width = "64"), inline(always))]
    fn take_below<const ROUNDED: bool>(&self, asked: u32) -> Option<u32> {
        let units = Self::size::<ROUNDED>(asked).units;
        let block = || self.arena.take_apart(units);
        let found = self.pool.refill(units, Self::PER_BLOCK, block);
        let found = if found.is_some() { found } else { self.arena.take(units) };
        if found.is_some() { found } else { self.take_back(units) }
    }

    /// A free that the pool does not keep.
    ///
    /// # Safety
    /// As `give`.
    #[cfg_attr(target_pointer_width = "64", inline(never))]
    #[cfg_attr(not(target_pointer_width = "64"), inline(always))]
    unsafe fn give_below<const ROUNDED: bool>(&self, granule: u32, asked: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.arena.give(granule, Self::size::<ROUNDED>(asked).units) }
    }

    /// A request that neither the pool nor the heap serves. Kept regions are freed one by one until
    /// there is room, so that the others stay in the pool. For a block or more, freeing a single
    /// region smaller than the request seldom suffices: then all blocks and runs are freed, or else
    /// everything.
    #[inline(never)]
    fn take_back(&self, units: u32) -> Option<u32> {
        if units > self.arena.granules() {
            return None;
        }
        let mut least = Self::PER_BLOCK;
        loop {
            let freed = self.release(units)?;
            if units >= Self::PER_BLOCK && freed < units {
                self.drain(least);
                least = 1;
            }
            if let Some(granule) = self.arena.take(units) {
                return Some(granule);
            }
        }
    }
}

impl<A: RawArena, P: Pool> Drop for Deferred<A, P> {
    fn drop(&mut self) {
        self.flush();
    }
}

// SAFETY: a region is in the pool, in the heap below, or with the caller.
unsafe impl<A: RawArena, P: Pool> RawArena for Deferred<A, P> {
    const GRANULE: usize = A::GRANULE;
    const BLOCK: usize = A::BLOCK;
    type Classes = A::Classes;
    const SHORT_BYTES: usize = A::BLOCK * P::BLOCKS;

    #[inline(always)]
    fn base(&self) -> NonNull<u8> {
        self.arena.base()
    }

    #[inline(always)]
    fn granules(&self) -> u32 {
        self.arena.granules()
    }

    #[inline(always)]
    fn take(&self, units: u32) -> Option<u32> {
        self.take_size::<true>(units)
    }

    #[inline(always)]
    fn take_asked(&self, asked: u32) -> Option<u32> {
        self.take_size::<false>(asked)
    }

    #[inline(always)]
    unsafe fn give(&self, granule: u32, units: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.give_size::<true>(granule, units) }
    }

    #[inline(always)]
    unsafe fn give_asked(&self, granule: u32, asked: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.give_size::<false>(granule, asked) }
    }

    #[inline]
    fn mark(&self, granule: u32, units: u32) {
        self.arena.mark(granule, units);
    }

    #[inline]
    fn unmark(&self, granule: u32, units: u32) -> Result<(), FreeError> {
        self.arena.unmark(granule, units)
    }

    #[inline(always)]
    fn is_checked(&self) -> bool {
        self.arena.is_checked()
    }

    fn is_start(&self, granule: u32) -> bool {
        self.arena.is_start(granule)
    }

    fn state_bytes(&self) -> usize {
        self.arena.state_bytes() + self.pool.state_bytes()
    }
}
