//! Small regions with a lock per class.
//!
//! - A tag's bits of one class change under that class's lock, by atomic operations, because
//!   other classes' bits of the same word change at the same time.
//! - An operation locks the classes it passes through in ascending order and keeps them until it
//!   has changed the tag, once.
//! - Where a tag lies stands still under any one class lock: it moves, or goes, only under all of
//!   them. A full block has no tag and no listed region; whoever frees into it makes a tag under
//!   its class lock and one lock more, the *tag lock*, which comes last in the order.
//! - Between two locks a region belongs to its thread alone and is in no list. It may hold the
//!   block's tag meanwhile; nobody can hand that granule out.
//! - A block may be found full although a thread is about to bring a region back to it. That
//!   thread sees the full bit under its lock and makes the tag anew.

use super::Engine;
use crate::classes::Classes;
use crate::links::{Links, NIL};
use crate::sharing::Sharing;
use crate::tag;
use crate::words::Words;

/// Number of the tag lock, after those of the classes.
const TAG_LOCK: u32 = 4;

impl<const BLOCK: usize, C: Classes, K: Links, S: Sharing> Engine<BLOCK, C, K, S> {
    fn lock_all(&self) {
        for class in 0..Self::CLASSES {
            self.sharing.lock(class);
        }
    }

    fn unlock_all(&self) {
        for class in (0..Self::CLASSES).rev() {
            self.sharing.unlock(class);
        }
    }

    /// Locks the classes outside `low..=high`, which are locked. Those below come out of order, so
    /// they are only tried; without them nothing has changed, and false is returned.
    fn lock_others(&self, low: u32, high: u32) -> bool {
        for class in (0..low).rev() {
            if !self.sharing.try_lock(class) {
                for tried in class + 1..low {
                    self.sharing.unlock(tried);
                }
                return false;
            }
        }
        for class in high + 1..Self::CLASSES {
            self.sharing.lock(class);
        }
        true
    }

    fn unlock(&self, classes: core::ops::RangeInclusive<u32>) {
        for class in classes.rev() {
            self.sharing.unlock(class);
        }
    }

    /// As `take_exclusive`, with the classes from the request's to the found region's locked.
    pub(super) fn take_fine(&self, units: u32) -> Option<u32> {
        let lists = self.lists();
        let want = tag::class_of(units);
        if want == Self::CLASSES {
            return None;
        }
        let mut class = want;
        let granule = loop {
            self.sharing.lock(class);
            let head = lists.head(class);
            if head != NIL {
                break head;
            }
            // Above, without locks first: a region freed just now counts as freed just after.
            if (class + 1..Self::CLASSES).all(|class| lists.head(class) == NIL) {
                self.unlock(want..=class);
                return None;
            }
            class += 1;
        };
        let (block, start) = (granule / Self::UNITS, granule % Self::UNITS);
        let (kept, end) = (start + units, start + (1 << class));
        let held_at = self.position(block);
        if (start..kept).contains(&held_at) {
            if !self.lock_others(want, class) {
                self.unlock(want..=class);
                self.lock_all();
            }
            let found = self.take_exclusive(units);
            self.unlock_all();
            return found;
        }
        lists.pop(class, granule);
        let mut toggles = 1 << tag::bit(Self::UNITS, start, class);
        for (position, piece) in tag::rest(kept, end).filter(|&(_, piece)| piece >= want) {
            toggles |= 1 << tag::bit(Self::UNITS, position, piece);
            lists.push(piece, block * Self::UNITS + position);
        }
        self.region.toggle(self.tag_word(block, held_at), toggles);
        self.unlock(want..=class);
        // Sizes that are no powers of two leave pieces of classes below the request's.
        for (position, piece) in tag::rest(kept, end).filter(|&(_, piece)| piece < want) {
            self.give_fine(block * Self::UNITS + position, piece);
        }
        Some(granule)
    }

    /// Lists the pieces of a block that nobody else knows yet. Their bits may all be set before
    /// the first one is listed: what would merge with a piece overlaps the units that are kept.
    pub(super) fn split_fine(&self, block: u32, units: u32) {
        let bits = tag::rest(units, Self::UNITS)
            .fold(0, |bits, (position, class)| bits | 1 << tag::bit(Self::UNITS, position, class));
        self.set_tag(self.tag_word(block, Self::UNITS - 1), bits);
        for (position, class) in tag::rest(units, Self::UNITS) {
            self.sharing.lock(class);
            self.lists().push(class, block * Self::UNITS + position);
            self.sharing.unlock(class);
        }
    }

    /// As `give_exclusive`, with the classes from the region's to the merged region's locked.
    pub(super) fn give_fine(&self, granule: u32, class: u32) {
        let lists = self.lists();
        let (block, mut position) = (granule / Self::UNITS, granule % Self::UNITS);
        let (lowest, mut class) = (class, class);
        self.sharing.lock(class);
        if self.is_full(block) {
            self.sharing.lock(TAG_LOCK);
            let first = self.is_full(block);
            if first {
                self.make_tag(granule, class);
            }
            self.sharing.unlock(TAG_LOCK);
            if first {
                return self.sharing.unlock(class);
            }
        }
        let held = self.tag_word(block, self.position(block));
        let mut toggles = 0;
        loop {
            let bit = tag::bit(Self::UNITS, position, class);
            let buddy = 1 << (bit ^ 1);
            if self.region.load(held) & buddy == 0 {
                lists.push(class, block * Self::UNITS + position);
                self.region.toggle(held, toggles | 1 << bit);
                return self.unlock(lowest..=class);
            }
            toggles |= buddy;
            lists.unlink(class, block * Self::UNITS + (position ^ (1 << class)));
            position &= !(1 << class);
            class += 1;
            if class == Self::CLASSES {
                // Every region of the block is this thread's: nobody else knows the block.
                self.unlock(lowest..=class - 1);
                return self.bitmap().give_one(block);
            }
            self.sharing.lock(class);
        }
    }
}
