//! The allocator proper, in units and granule numbers, without pointers.
//!
//! A request of `units` is `units / block` whole blocks and a tail. Blocks come from the bitmap, a
//! tail (or a small request, which is a tail without blocks) from the small regions. When a region
//! is taken, its front is kept and the rest is given back in aligned powers of two, so a region may
//! have any number of units; when it is freed, the aligned powers of two that it consists of are
//! given back. The tag of the block describes every such layout.
//!
//! - `exclusive`: small regions with exclusive access to lists and tags: one core, or behind one
//!   lock, or behind all class locks.
//! - `fine`: small regions with one lock per class.

mod exclusive;
#[cfg(all(test, loom))]
mod explore;
#[cfg(target_has_atomic = "32")]
mod fine;
mod inspect;

pub use inspect::Survey;

use crate::bitmap::Bitmap;
use crate::classes::Classes;
use crate::geometry::Geometry;
use crate::links::{Links, Lists, NIL};
use crate::sharing::Sharing;
use crate::tag;
use crate::words::Words;
use core::marker::PhantomData;

/// A heap over two arrays of words.
pub struct Engine<const BLOCK: usize, C, K, S: Sharing> {
    region: S::Words,
    state: S::Words,
    blocks: u32,
    sharing: S,
    rules: PhantomData<(C, K)>,
}

impl<const BLOCK: usize, C: Classes, K: Links, S: Sharing> Engine<BLOCK, C, K, S> {
    const UNITS: u32 = Geometry::<BLOCK>::UNITS;
    const CLASSES: u32 = Geometry::<BLOCK>::CLASSES;

    /// Takes over the `blocks` blocks of `region` and resets the state.
    pub fn new(region: S::Words, state: S::Words, blocks: u32) -> Self {
        let () = Geometry::<BLOCK>::VALID;
        let engine = Self { region, state, blocks, sharing: S::new(), rules: PhantomData };
        for word in 0..Geometry::<BLOCK>::state_words(blocks) {
            engine.state.store(word, if word < Self::CLASSES { NIL } else { 0 });
        }
        engine.bitmap().fill();
        engine
    }

    /// Blocks under management.
    #[inline(always)]
    pub const fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Bytes of state that the locks add.
    pub const fn lock_bytes(&self) -> usize {
        size_of::<S>()
    }

    /// The state's words, checks included.
    #[inline(always)]
    pub const fn state(&self) -> &S::Words {
        &self.state
    }

    #[inline(always)]
    fn bitmap(&self) -> Bitmap<'_, S::Words> {
        Bitmap::new(&self.state, Geometry::<BLOCK>::BITMAP, Geometry::<BLOCK>::ROW, self.blocks)
    }

    #[inline(always)]
    fn lists(&self) -> Lists<'_, S::Words, K> {
        Lists::new(&self.region, &self.state, Geometry::<BLOCK>::GRANULE_WORDS, S::BUSY)
    }

    /// Allocates `units`, already rounded; returns the first granule.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline)]
    pub fn take(&self, units: u32) -> Option<u32> {
        if units < Self::UNITS {
            self.take_small(units)
        } else if units == Self::UNITS {
            self.take_one().map(|block| block * Self::UNITS)
        } else {
            self.take_blocks(units)
        }
    }

    /// Allocates any number of units, rounded or not, starting at a block.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub fn take_blocks(&self, units: u32) -> Option<u32> {
        let (blocks, tail) = (units / Self::UNITS, units % Self::UNITS);
        let run = blocks + u32::from(tail != 0);
        let first = match self.blocks {
            _ if run == 1 => self.take_one(),
            // A small processor uses one search for all.
            #[cfg(target_pointer_width = "64")]
            _ if run <= 32 => self.bitmap().take_short(run),
            0..=32 => self.bitmap().take_from_word(run),
            _ => self.take_run(run),
        }?;
        if tail != 0 {
            self.split_block(first + blocks, tail);
        }
        Some(first * Self::UNITS)
    }

    #[inline(never)]
    fn take_one(&self) -> Option<u32> {
        self.bitmap().take_one()
    }

    #[inline(never)]
    fn take_run(&self, blocks: u32) -> Option<u32> {
        self.bitmap().take(blocks)
    }

    /// Takes a block and marks it as split with nothing free in it, so that its aligned powers of
    /// two can be freed one by one.
    pub fn take_apart(&self) -> Option<u32> {
        let block = self.take_one()?;
        self.set_full(block);
        Some(block * Self::UNITS)
    }

    /// Frees what `take(units)` returned.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline)]
    pub fn give(&self, granule: u32, units: u32) {
        if units < Self::UNITS {
            self.give_small(granule, units);
        } else if units == Self::UNITS {
            self.bitmap().give_one(granule / Self::UNITS);
        } else {
            self.give_blocks(granule, units);
        }
    }

    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    fn give_blocks(&self, granule: u32, units: u32) {
        let (blocks, tail) = (units / Self::UNITS, units % Self::UNITS);
        self.bitmap().give(granule / Self::UNITS, blocks);
        if tail != 0 {
            self.give_small(granule + blocks * Self::UNITS, tail);
        }
    }

    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline)]
    fn take_small(&self, units: u32) -> Option<u32> {
        if S::FINE {
            return self.take_small_fine(units);
        }
        self.sharing.enter();
        let found = self.take_exclusive(units);
        self.sharing.leave();
        found
    }

    #[inline(never)]
    fn take_small_fine(&self, units: u32) -> Option<u32> {
        self.take_fine(units).or_else(|| {
            // No free region is large enough: split a block.
            let block = self.take_one()?;
            self.split_block(block, units);
            Some(block * Self::UNITS)
        })
    }

    /// Keeps the first `units` of a block that is not visible to others yet and gives back the
    /// rest.
    #[inline(never)]
    fn split_block(&self, block: u32, units: u32) {
        // A block becomes free by merging, and merging does not happen in a full one.
        debug_assert!(!self.is_full(block));
        if S::FINE {
            self.set_position(block, Self::UNITS - 1);
            self.split_fine(block, units);
        } else {
            self.sharing.enter();
            self.start_block::<false>(block, units);
            self.sharing.leave();
        }
    }

    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    fn give_small(&self, granule: u32, units: u32) {
        if !S::FINE {
            self.sharing.enter();
        }
        if C::SINGLE {
            self.give_one(granule, units.trailing_zeros());
        } else {
            for (position, class) in tag::parts(granule % Self::UNITS, units) {
                self.give_one((granule & !(Self::UNITS - 1)) | position, class);
            }
        }
        if !S::FINE {
            self.sharing.leave();
        }
    }

    #[inline(always)]
    fn give_one(&self, granule: u32, class: u32) {
        if S::FINE {
            self.give_fine(granule, class);
        } else {
            self.give_exclusive(granule, class);
        }
    }

    /// Whether a split block has nothing free, and so no tag.
    #[inline(always)]
    fn is_full(&self, block: u32) -> bool {
        self.state.load_acquire(Geometry::<BLOCK>::full(block)) >> (block % 32) & 1 == 1
    }

    #[inline(always)]
    fn set_full(&self, block: u32) {
        self.state.raise(Geometry::<BLOCK>::full(block), 1 << (block % 32));
    }

    #[inline(always)]
    fn clear_full(&self, block: u32) {
        self.state.lower(Geometry::<BLOCK>::full(block), 1 << (block % 32));
    }

    /// The unit whose second word holds the block's tag.
    #[inline(always)]
    fn position(&self, block: u32) -> u32 {
        let (word, shift) = Geometry::<BLOCK>::position(block);
        self.state.load(word) >> shift & (Self::UNITS - 1)
    }

    /// Records where the tag is. The caller has all locks, or the block is not visible to others.
    #[inline(always)]
    fn set_position(&self, block: u32, position: u32) {
        let (word, shift) = Geometry::<BLOCK>::position(block);
        self.state.update(word, (Self::UNITS - 1) << shift, position << shift);
    }

    /// The region word that holds the tag at a unit.
    #[inline(always)]
    fn tag_word(&self, block: u32, position: u32) -> u32 {
        (block * Self::UNITS + position) * Geometry::<BLOCK>::GRANULE_WORDS + 1
    }

    #[inline(always)]
    fn tag(&self, word: u32) -> u32 {
        self.region.load(word) & !K::SPARE
    }

    /// Writes a whole tag but preserves the bits owned by links.
    #[inline(always)]
    fn set_tag(&self, word: u32, tag: u32) {
        let links = if K::SPARE == 0 { 0 } else { self.region.load(word) & K::SPARE };
        self.region.store(word, tag | links);
    }
}
