//! Small regions with a lock per class.
//!
//! - A tag's bits of one class change under that class's lock, by atomic operations, because
//!   other classes' bits of the same word change at the same time.
//! - An operation locks the classes it passes through in ascending order and keeps them until it
//!   has changed the tag, once.
//! - The place of a tag is stable under any one class lock: it moves or disappears only under all
//!   of them. A full block has no tag and no listed region; a thread that frees into it creates a
//!   tag under its class lock and one more lock, the *tag lock*, which comes last in the order.
//! - Between two locks a region belongs to its thread alone and is in no list. It may hold the
//!   block's tag meanwhile; that granule cannot be handed out.
//! - A block may be found full although a thread is about to return a region to it. That thread
//!   sees the full bit under its lock and creates the tag anew.

use super::Engine;
use crate::classes::Classes;
use crate::links::{Links, NIL};
use crate::sharing::Sharing;
use crate::tag;
use crate::words::Words;

/// Index of the tag lock, after those of the classes.
const TAG_LOCK: u32 = 4;

impl<const BLOCK: usize, C: Classes, K: Links, S: Sharing> Engine<BLOCK, C, K, S> {
    fn lock_head(&self, class: u32) -> u32 {
        self.sharing.lock_head(&self.state, class)
    }

    fn unlock_head(&self, class: u32, head: u32) {
        self.sharing.unlock_head(&self.state, class, head);
    }

    /// Locks the classes outside `low..=high`, which are already locked. Those below come out of
    /// order, so they are only tried; if one cannot be locked, nothing has changed and false is
    /// returned.
    fn lock_others(&self, low: u32, high: u32, heads: &mut [u32; 4]) -> bool {
        for class in (0..low).rev() {
            match self.sharing.try_lock_head(&self.state, class) {
                Some(head) => heads[class as usize & 3] = head,
                None => {
                    for tried in class + 1..low {
                        self.unlock_head(tried, heads[tried as usize & 3]);
                    }
                    return false;
                }
            }
        }
        for class in high + 1..Self::CLASSES {
            heads[class as usize & 3] = self.lock_head(class);
        }
        true
    }

    /// Unlocks classes and stores their new heads.
    fn unlock(&self, classes: core::ops::RangeInclusive<u32>, heads: &[u32; 4]) {
        for class in classes.rev() {
            self.unlock_head(class, heads[class as usize & 3]);
        }
    }

    /// As `take_exclusive`, with the classes from the request's to the found region's locked.
    pub(super) fn take_fine(&self, units: u32) -> Option<u32> {
        let lists = self.lists();
        let want = tag::class_of(units);
        if want == Self::CLASSES {
            return None;
        }
        let (mut class, mut heads) = (want, [NIL; 4]);
        let granule = loop {
            let head = self.lock_head(class);
            heads[class as usize & 3] = head;
            if head != NIL {
                break head;
            }
            // Above, first without locks: a region freed right now counts as freed just afterwards.
            if (class + 1..Self::CLASSES).all(|class| lists.head(class) == NIL) {
                self.unlock(want..=class, &heads);
                return None;
            }
            class += 1;
        };
        let held_at = self.position(granule / Self::UNITS);
        if held_at.wrapping_sub(granule % Self::UNITS) >= units {
            return Some(self.take_region(granule, units, want..=class, held_at, &mut heads));
        }
        let all = 0..=Self::CLASSES - 1;
        // The granule with the tag is handed out.
        if self.lock_others(want, class, &mut heads) {
            return Some(self.take_region(granule, units, all, held_at, &mut heads));
        }
        self.unlock(want..=class, &heads);
        for class in 0..Self::CLASSES {
            heads[class as usize & 3] = self.lock_head(class);
        }
        let Some(class) = (want..Self::CLASSES).find(|&c| heads[c as usize & 3] != NIL) else {
            self.unlock(all, &heads);
            return None;
        };
        let granule = heads[class as usize & 3];
        let held_at = self.position(granule / Self::UNITS);
        Some(self.take_region(granule, units, all, held_at, &mut heads))
    }

    /// Takes the front of the region at the head of its class's list, and unlocks the locked
    /// classes. Unless all are locked, the tag must lie elsewhere.
    fn take_region(
        &self,
        granule: u32,
        units: u32,
        locked: core::ops::RangeInclusive<u32>,
        held_at: u32,
        heads: &mut [u32; 4],
    ) -> u32 {
        let lists = self.lists();
        let (block, start) = (granule / Self::UNITS, granule % Self::UNITS);
        let class = heads.iter().position(|&head| head == granule).unwrap_or(0) as u32;
        let (kept, end) = (start + units, start + (1 << class));
        let held = self.tag_word(block, held_at);
        heads[class as usize & 3] = lists.pop_from(granule);
        let mut toggles = 1 << tag::bit(Self::UNITS, start, class);
        let rest = || tag::rest(Self::UNITS, granule + units, granule + (1 << class), false);
        for (node, piece, bit) in rest().filter(|(_, piece, _)| locked.contains(piece)) {
            toggles |= 1 << bit;
            let head = &mut heads[piece as usize & 3];
            *head = lists.push_to(*head, node);
        }
        if (start..kept).contains(&held_at) {
            self.move_tag(block, self.tag(held) ^ toggles, kept, end);
        } else {
            self.region.toggle(held, toggles);
        }
        self.unlock(locked.clone(), heads);
        // Sizes that are not powers of two leave pieces in classes below the request's.
        for (node, piece, _) in rest().filter(|(_, piece, _)| !locked.contains(piece)) {
            self.give_fine(node, piece);
        }
        granule
    }

    /// Lists the pieces of a block that is not visible to others yet. Their bits may all be set
    /// before the first one is listed: what would merge with a piece overlaps the units that are
    /// kept.
    pub(super) fn split_fine(&self, block: u32, units: u32) {
        let first = block * Self::UNITS;
        let rest = || tag::rest(Self::UNITS, first + units, first + Self::UNITS, false);
        let bits = rest().fold(0, |bits, (_, _, bit)| bits | 1 << bit);
        self.set_tag(self.tag_word(block, Self::UNITS - 1), bits);
        for (node, class, _) in rest() {
            let head = self.lock_head(class);
            let head = self.lists().push_to(head, node);
            self.unlock_head(class, head);
        }
    }

    /// As `give_exclusive`, with the classes from the region's to the merged region's locked.
    pub(super) fn give_fine(&self, granule: u32, class: u32) {
        let lists = self.lists();
        let (block, mut position) = (granule / Self::UNITS, granule % Self::UNITS);
        let (lowest, mut class, mut heads) = (class, class, [NIL; 4]);
        let mut head = self.lock_head(class);
        if self.is_full(block) {
            self.sharing.lock(TAG_LOCK);
            let first = self.is_full(block);
            if first {
                self.make_tag(granule, class);
                head = lists.push_to(head, granule);
                self.clear_full(block);
            }
            self.sharing.unlock(TAG_LOCK);
            if first {
                return self.unlock_head(class, head);
            }
        }
        let held = self.tag_word(block, self.position(block));
        let mut toggles = 0;
        loop {
            let bit = tag::bit(Self::UNITS, position, class);
            let buddy = 1 << (bit ^ 1);
            if self.region.load(held) & buddy == 0 {
                head = lists.push_to(head, block * Self::UNITS + position);
                heads[class as usize & 3] = head;
                self.region.toggle(held, toggles | 1 << bit);
                return self.unlock(lowest..=class, &heads);
            }
            toggles |= buddy;
            let other = block * Self::UNITS + (position ^ (1 << class));
            heads[class as usize & 3] = lists.unlink_from(head, other);
            position &= !(1 << class);
            class += 1;
            if class == Self::CLASSES {
                // Every region of the block belongs to this thread: nobody else can see the block.
                self.unlock(lowest..=class - 1, &heads);
                return self.bitmap().give_one(block);
            }
            head = self.lock_head(class);
        }
    }
}
