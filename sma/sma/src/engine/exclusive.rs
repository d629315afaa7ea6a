//! Small regions when the caller has exclusive access to lists and tags: Listings 3 to 5,
//! corrected.

use super::Engine;
use crate::classes::Classes;
use crate::links::{Links, NIL};
use crate::sharing::Sharing;
use crate::tag;

impl<const BLOCK: usize, C: Classes, K: Links, S: Sharing> Engine<BLOCK, C, K, S> {
    /// Takes the front of the smallest free region of at least `units`: best fit by class, last
    /// freed first within a class. A region of exactly that size is the fast path; the rest is out
    /// of line.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline)]
    pub(super) fn take_exclusive(&self, units: u32) -> Option<u32> {
        let lists = self.lists();
        let mut class = if C::SINGLE { units.trailing_zeros() } else { tag::class_of(units) };
        if C::SINGLE || units.is_power_of_two() {
            let granule = lists.head(class);
            if granule != NIL {
                lists.pop(class, granule);
                self.hand_out(granule, units, class, 0);
                return Some(granule);
            }
            class += 1;
        }
        self.take_larger(units, class)
    }

    /// Takes the front of a region of `class` or above.
    #[cfg_attr(target_pointer_width = "64", inline(never))]
    #[cfg_attr(not(target_pointer_width = "64"), inline)]
    fn take_larger(&self, units: u32, mut class: u32) -> Option<u32> {
        while class < Self::CLASSES {
            let granule = self.lists().head(class);
            if granule != NIL {
                return Some(self.take_split(granule, class, units));
            }
            class += 1;
        }
        self.take_block(units)
    }

    /// Takes the front of a larger region, which is at the head of its class's list.
    #[inline]
    fn take_split(&self, granule: u32, class: u32, units: u32) -> u32 {
        self.lists().pop(class, granule);
        let pieces = self.push_rest::<true>(granule, units, class);
        self.hand_out(granule, units, class, pieces);
        granule
    }

    #[inline]
    fn take_block(&self, units: u32) -> Option<u32> {
        let block = self.bitmap().take_one()?;
        self.start_block::<true>(block, units);
        Some(block * Self::UNITS)
    }

    /// Removes from the tag the bit of a region of `class`, whose first `units` are handed out, and
    /// adds those of its `pieces`.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline)]
    fn hand_out(&self, granule: u32, units: u32, class: u32, pieces: u32) {
        let (block, start) = (granule / Self::UNITS, granule % Self::UNITS);
        let held_at = self.position(block);
        let held = self.tag_word(block, held_at);
        let tag = self.tag(held) & !(1 << tag::bit(Self::UNITS, start, class)) | pieces;
        if held_at.wrapping_sub(start) < units {
            self.move_tag(block, tag, start + units, start + (1 << class));
        } else {
            self.set_tag(held, tag);
        }
    }

    /// Keeps the first `units` of a block that is not visible to others yet. `POWER` as below.
    #[inline]
    pub(super) fn start_block<const POWER: bool>(&self, block: u32, units: u32) {
        let last = Self::UNITS - 1;
        self.set_position(block, last);
        let tag = self.push_rest::<POWER>(block * Self::UNITS, units, Self::CLASSES);
        self.set_tag(self.tag_word(block, last), tag);
    }

    /// Finds a new place for a block's tag, because it lies in units being handed out: those up to
    /// `kept` of a region that ends at `end`. Out of line: it is rare, and the path around it is
    /// short.
    #[inline(never)]
    pub(super) fn move_tag(&self, block: u32, tag: u32, kept: u32, end: u32) {
        if tag == 0 {
            return self.set_full(block);
        }
        // The end of the rest, or of the largest free region (the lowest bit): fronts are taken
        // first.
        let at =
            if kept < end { end - 1 } else { tag::last_unit(Self::UNITS, tag.trailing_zeros()) };
        self.set_position(block, at);
        self.set_tag(self.tag_word(block, at), tag);
    }

    /// Lists what follows the first `units` of a region and returns the tag bits. No piece has a
    /// free buddy: each one's buddy overlaps units that are in use. `POWER` says that a power of
    /// two is kept and that the lists from its class on were found empty: then there is one piece
    /// in each of these classes, the right half of what is left.
    #[inline]
    fn push_rest<const POWER: bool>(&self, granule: u32, units: u32, top: u32) -> u32 {
        let (lists, mut bits) = (self.lists(), 0);
        if POWER && C::SINGLE {
            let (mut class, mut size) = (top, 1 << top);
            let mut bit = tag::bit(Self::UNITS, granule % Self::UNITS, top);
            while size > units {
                (class, size, bit) = (class - 1, size >> 1, bit << 1);
                lists.start(class, granule + size);
                bits |= 2 << bit;
            }
            return bits;
        }
        let (from, to) = (granule + units, granule + (1 << top));
        for (granule, class, bit) in tag::rest(Self::UNITS, from, to, false) {
            bits |= 1 << bit;
            lists.push(class, granule);
        }
        bits
    }

    /// Frees one region of a class and merges it with its buddies, out of line if any buddy is
    /// free.
    #[inline]
    pub(super) fn give_exclusive(&self, granule: u32, class: u32) {
        let block = granule / Self::UNITS;
        if self.is_full(block) {
            return self.give_to_full(granule, class);
        }
        let held = self.tag_word(block, self.position(block));
        let (tag, bit) = (self.tag(held), tag::bit(Self::UNITS, granule % Self::UNITS, class));
        if tag >> (bit ^ 1) & 1 != 0 {
            return self.merge(granule, class, held);
        }
        // The list first: with long links it may write to the tag's word.
        self.lists().push(class, granule);
        self.set_tag(held, tag | 1 << bit);
    }

    /// Frees the first region of a full block.
    #[inline(never)]
    fn give_to_full(&self, granule: u32, class: u32) {
        self.make_tag(granule, class);
        self.lists().push(class, granule);
        self.clear_full(granule / Self::UNITS);
    }

    /// Frees a region that has a free buddy, into the block whose tag is in the word `held`.
    #[inline(never)]
    fn merge(&self, granule: u32, class: u32, held: u32) {
        let (lists, mut tag) = (self.lists(), self.tag(held));
        let (mut granule, mut class, mut size) = (granule, class, 1 << class);
        let mut bit = tag::bit(Self::UNITS, granule % Self::UNITS, class);
        while tag >> (bit ^ 1) & 1 != 0 {
            tag &= !(1 << (bit ^ 1));
            lists.unlink(class, granule ^ size);
            granule &= !size;
            (bit, class, size) = (bit >> 1, class + 1, size << 1);
            // The root of the tree: the block.
            if bit == 1 {
                return self.bitmap().give_one(granule / Self::UNITS);
            }
        }
        lists.push(class, granule);
        self.set_tag(held, tag | 1 << bit);
    }

    /// Creates the tag anew, at the end of the first region freed into a full block. The caller
    /// lists the region and then clears the full bit, which publishes both.
    #[inline]
    pub(super) fn make_tag(&self, granule: u32, class: u32) {
        let (block, position) = (granule / Self::UNITS, granule % Self::UNITS);
        let at = position + (1 << class) - 1;
        self.set_position(block, at);
        self.set_tag(self.tag_word(block, at), 1 << tag::bit(Self::UNITS, position, class));
    }
}
