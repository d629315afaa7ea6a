//! Small regions when lists and tags belong to the caller alone: Listings 3 to 5, corrected.

use super::Engine;
use crate::classes::Classes;
use crate::links::{Links, NIL};
use crate::sharing::Sharing;
use crate::tag;

impl<const BLOCK: usize, C: Classes, K: Links, S: Sharing> Engine<BLOCK, C, K, S> {
    /// Takes the front of the smallest free region of at least `units`: best fit by class, last
    /// freed first within one.
    #[inline]
    pub(super) fn take_exclusive(&self, units: u32) -> Option<u32> {
        let lists = self.lists();
        let mut class = tag::class_of(units);
        let granule = loop {
            if class == Self::CLASSES {
                return None;
            }
            let head = lists.head(class);
            if head != NIL {
                break head;
            }
            class += 1;
        };
        lists.pop(class, granule);

        let (block, start) = (granule / Self::UNITS, granule % Self::UNITS);
        let (kept, end) = (start + units, start + (1 << class));
        let held_at = self.position(block);
        let held = self.tag_word(block, held_at);
        let others = self.tag(held) & !(1 << tag::bit(Self::UNITS, start, class));
        let tag = others | self.push_rest(block, kept, end);
        if held_at.wrapping_sub(start) < units {
            self.move_tag(block, tag, kept, end);
        } else {
            self.set_tag(held, tag);
        }
        Some(granule)
    }

    /// Finds a new place for the tag of a block, because units up to `kept` of a region that ends
    /// at `end` are handed out with it. Out of line: it is rare, and the road around it short.
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

    /// Puts units `from..to` of a block into the lists and returns their tag bits. No piece has a
    /// free buddy: each one's buddy overlaps the units before `from`, which are in use.
    #[inline]
    pub(super) fn push_rest(&self, block: u32, from: u32, to: u32) -> u32 {
        let mut bits = 0;
        for (position, class) in tag::rest(from, to) {
            bits |= 1 << tag::bit(Self::UNITS, position, class);
            self.lists().push(class, block * Self::UNITS + position);
        }
        bits
    }

    /// Frees one region of a class and merges it with its buddies.
    #[inline]
    pub(super) fn give_exclusive(&self, granule: u32, class: u32) {
        let lists = self.lists();
        let (block, mut position) = (granule / Self::UNITS, granule % Self::UNITS);
        let mut class = class;
        if self.is_full(block) {
            self.make_tag(granule, class);
            lists.push(class, granule);
            return self.clear_full(block);
        }
        let held = self.tag_word(block, self.position(block));
        let mut tag = self.tag(held);
        loop {
            let bit = tag::bit(Self::UNITS, position, class);
            let buddy = 1 << (bit ^ 1);
            if tag & buddy == 0 {
                // The list first: with long links it may write to the tag's word.
                lists.push(class, block * Self::UNITS + position);
                self.set_tag(held, tag | 1 << bit);
                return;
            }
            tag &= !buddy;
            lists.unlink(class, block * Self::UNITS + (position ^ (1 << class)));
            position &= !(1 << class);
            class += 1;
            if class == Self::CLASSES {
                self.bitmap().give_one(block);
                return;
            }
        }
    }

    /// Makes the tag anew, at the end of the first region that is freed into a full block. The
    /// caller lists the region and then clears the full bit, which publishes both.
    #[inline(never)]
    pub(super) fn make_tag(&self, granule: u32, class: u32) {
        let (block, position) = (granule / Self::UNITS, granule % Self::UNITS);
        let at = position + (1 << class) - 1;
        self.set_position(block, at);
        self.set_tag(self.tag_word(block, at), 1 << tag::bit(Self::UNITS, position, class));
    }
}
