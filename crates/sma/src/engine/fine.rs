//! Small regions with a lock per class.
//!
//! - A tag's bits of one class change under that class's lock, by atomic bit operations, because
//!   other classes' bits of the same word change at the same time.
//! - Where a tag lies (position and full bit) changes under all locks, taken in ascending order
//!   with none held. Under any one lock it stands still.
//! - Between two locks a region belongs to its thread alone: in no list, its bit clear. It may
//!   hold the block's tag meanwhile; nobody can hand that granule out.
//! - A block may be found full although a thread is about to bring a region back to it. That
//!   thread sees the full bit under its lock and makes the tag anew under all of them.

use super::Engine;
use crate::classes::Classes;
use crate::links::{Links, NIL};
use crate::sharing::Sharing;
use crate::tag;
use crate::words::Words;

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

    /// As `take_exclusive`, one class lock at a time where the tag stays where it is.
    pub(super) fn take_fine(&self, units: u32) -> Option<u32> {
        let lists = self.lists();
        for class in tag::class_of(units)..Self::CLASSES {
            if lists.head(class) == NIL {
                // Seen without the lock: a region freed just now counts as freed just after.
                continue;
            }
            self.sharing.lock(class);
            let granule = lists.head(class);
            if granule == NIL {
                self.sharing.unlock(class);
                continue;
            }
            let (block, start) = (granule / Self::UNITS, granule % Self::UNITS);
            let (kept, end) = (start + units, start + (1 << class));
            let held_at = self.position(block);
            if (start..kept).contains(&held_at) {
                self.sharing.unlock(class);
                self.lock_all();
                let found = self.take_exclusive(units);
                self.unlock_all();
                return found;
            }
            lists.pop(class, granule);
            let bit = tag::bit(Self::UNITS, start, class);
            self.region.clear(self.tag_word(block, held_at), 1 << bit);
            self.sharing.unlock(class);
            for (position, class) in tag::rest(kept, end) {
                self.give_fine(block * Self::UNITS + position, class);
            }
            return Some(granule);
        }
        None
    }

    /// As `give_exclusive`, one class lock at a time where the block has a tag.
    pub(super) fn give_fine(&self, granule: u32, class: u32) {
        let lists = self.lists();
        let (block, mut position) = (granule / Self::UNITS, granule % Self::UNITS);
        for class in class..Self::CLASSES {
            self.sharing.lock(class);
            if self.is_full(block) {
                self.sharing.unlock(class);
                self.lock_all();
                self.give_exclusive(block * Self::UNITS + position, class);
                self.unlock_all();
                return;
            }
            let held = self.tag_word(block, self.position(block));
            let bit = tag::bit(Self::UNITS, position, class);
            let buddy = 1 << (bit ^ 1);
            if self.region.load(held) & buddy == 0 {
                lists.push(class, block * Self::UNITS + position);
                self.region.set(held, 1 << bit);
                self.sharing.unlock(class);
                return;
            }
            lists.unlink(class, block * Self::UNITS + (position ^ (1 << class)));
            self.region.clear(held, buddy);
            self.sharing.unlock(class);
            position &= !(1 << class);
        }
        // Every region of the block is this thread's: nobody else knows the block any more.
        self.bitmap().give_one(block);
    }
}
