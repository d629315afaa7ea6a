//! Doubly linked lists of free regions, both links of a node packed into one word (paper, section
//! 4.2).
//!
//! A link is a granule number. A node's own number marks the end of a list, so no value is lost as
//! a null: 16 bits reach 65,536 granules.

use crate::words::Words;

/// An empty list's head.
pub const NIL: u32 = BUSY - 1;
/// The lock bit of a head, in heaps whose heads are locks.
pub const BUSY: u32 = 1 << 31;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Short {}
    impl Sealed for super::Long {}
}

/// The width of links.
pub trait Links: sealed::Sealed {
    /// Bits of a link.
    const BITS: u32;
    /// The bits of a granule's second word that belong to links and not to a tag.
    const SPARE: u32;
}

/// 16-bit links: regions up to 65,536 granules (512 kB with granules of 8 bytes).
#[derive(Clone, Copy, Debug, Default)]
pub struct Short;

/// 17-bit links, with the topmost bits in the two bits of the second word that no tag uses: regions
/// up to 1 MB at every block size, at the cost of two more accesses per link.
#[derive(Clone, Copy, Debug, Default)]
pub struct Long;

impl Links for Short {
    const BITS: u32 = 16;
    const SPARE: u32 = 0;
}

impl Links for Long {
    const BITS: u32 = 17;
    const SPARE: u32 = 3;
}

/// The lists over `region`, heads in words `0..classes` of `state`, `stride` words per granule.
pub struct Lists<'a, W, K> {
    region: &'a W,
    state: &'a W,
    stride: u32,
    /// `BUSY` if heads are locks; any code that writes a head here has locked it.
    busy: u32,
    links: core::marker::PhantomData<K>,
}

impl<'a, W: Words, K: Links> Lists<'a, W, K> {
    #[inline(always)]
    pub const fn new(region: &'a W, state: &'a W, stride: u32, busy: u32) -> Self {
        Self { region, state, stride, busy, links: core::marker::PhantomData }
    }

    /// The first node of a class, or [`NIL`].
    #[inline(always)]
    pub fn head(&self, class: u32) -> u32 {
        self.state.load(class) & !self.busy
    }

    #[inline(always)]
    fn set_head(&self, class: u32, head: u32) {
        self.state.store(class, head | self.busy);
    }

    /// The next node; the node itself at the end.
    #[inline(always)]
    pub fn next(&self, node: u32) -> u32 {
        let low = self.region.load_half(node * self.stride, false);
        if K::SPARE == 0 { low } else { low | (self.spare(node) & 1) << 16 }
    }

    /// The previous node; the node itself at the front.
    #[inline(always)]
    pub fn previous(&self, node: u32) -> u32 {
        let low = self.region.load_half(node * self.stride, true);
        if K::SPARE == 0 { low } else { low | (self.spare(node) & 2) << 15 }
    }

    #[inline(always)]
    fn set_links(&self, node: u32, previous: u32, next: u32) {
        // 16-bit links need no mask.
        let low = if K::SPARE == 0 { next } else { next & 0xffff };
        self.region.store(node * self.stride, previous << 16 | low);
        if K::SPARE != 0 {
            self.set_spare(node, (previous >> 16) << 1 | next >> 16, 3);
        }
    }

    #[inline(always)]
    fn set_previous(&self, node: u32, previous: u32) {
        self.region.store_half(node * self.stride, true, previous);
        if K::SPARE != 0 {
            self.set_spare(node, (previous >> 16) << 1, 2);
        }
    }

    #[inline(always)]
    fn set_next(&self, node: u32, next: u32) {
        self.region.store_half(node * self.stride, false, next);
        if K::SPARE != 0 {
            self.set_spare(node, next >> 16, 1);
        }
    }

    #[inline(always)]
    fn spare(&self, node: u32) -> u32 {
        self.region.load(node * self.stride + 1)
    }

    /// Writes the `of` bits of the second word; the rest may be a tag that others change.
    #[inline(always)]
    fn set_spare(&self, node: u32, bits: u32, of: u32) {
        let word = node * self.stride + 1;
        self.region.update(word, of & !bits, bits);
    }

    /// Inserts a node before a head; the node becomes the new head.
    ///
    /// There is no branch on whether a node follows it: if none does, its own link is written
    /// twice. The same holds below; which neighbours exist is hard to predict.
    #[inline(always)]
    pub fn push_to(&self, head: u32, node: u32) -> u32 {
        let next = if head == NIL { node } else { head };
        self.set_links(node, node, next);
        self.set_previous(next, node);
        node
    }

    /// Removes the first node, which is `node`; returns the new head.
    #[inline(always)]
    pub fn pop_from(&self, node: u32) -> u32 {
        let next = self.next(node);
        self.set_previous(next, next);
        if next == node { NIL } else { next }
    }

    /// Removes a node that is not the first.
    #[inline(always)]
    fn unlink_inner(&self, node: u32, previous: u32) {
        let next = self.next(node);
        self.set_next(previous, if next == node { previous } else { next });
        self.set_previous(next, previous);
    }

    /// Removes a node, wherever it is; returns the new head.
    #[inline(always)]
    pub fn unlink_from(&self, head: u32, node: u32) -> u32 {
        if head == node {
            return self.pop_from(node);
        }
        self.unlink_inner(node, self.previous(node));
        head
    }

    /// Makes a node the only one of a class.
    #[inline(always)]
    pub fn start(&self, class: u32, node: u32) {
        self.set_links(node, node, node);
        self.set_head(class, node);
    }

    /// `push_to` the list of a class.
    #[inline(always)]
    pub fn push(&self, class: u32, node: u32) {
        self.set_head(class, self.push_to(self.head(class), node));
    }

    /// `pop_from` the list of a class.
    #[inline(always)]
    pub fn pop(&self, class: u32, node: u32) {
        self.set_head(class, self.pop_from(node));
    }

    /// Removes a node from the list of a class. The node tells whether it is the first, so the head
    /// is not read.
    #[inline(always)]
    pub fn unlink(&self, class: u32, node: u32) {
        let previous = self.previous(node);
        if W::NEAR {
            return self.unlink_near(class, node, previous);
        }
        if previous == node {
            self.pop(class, node);
        } else {
            self.unlink_inner(node, previous);
        }
    }

    /// `unlink` without branches: a write to a missing neighbour goes to the node itself, or
    /// changes nothing.
    #[inline(always)]
    fn unlink_near(&self, class: u32, node: u32, previous: u32) {
        let (next, head) = (self.next(node), self.head(class));
        let (first, last) = (previous == node, next == node);
        self.set_next(previous, if last { previous } else { next });
        self.set_previous(next, if first { next } else { previous });
        let after = if last { NIL } else { next };
        self.set_head(class, if first { after } else { head });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Space;
    use crate::words::{FromPointer, Plain};
    use core::ptr::NonNull;
    use std::collections::VecDeque;
    use std::vec;

    fn agrees_with_a_deque<K: Links>(granules: u32) {
        let mut region = vec![0u32; granules as usize * 2];
        let mut state = vec![NIL; 2];
        // SAFETY: both vectors outlive the lists and are touched through them only.
        let (words, heads) = unsafe {
            (
                Plain::from_pointer(NonNull::new(region.as_mut_ptr()).unwrap(), Space::Region),
                Plain::from_pointer(NonNull::new(state.as_mut_ptr()).unwrap(), Space::State),
            )
        };
        let lists = Lists::<_, K>::new(&words, &heads, 2, 0);
        let mut model: [VecDeque<u32>; 2] = Default::default();
        let mut seed = 0x1234_5678u64;
        for _ in 0..crate::rounds(20_000) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let class = (seed >> 40 & 1) as usize;
            // Both ends of the range of numbers, so that every bit of a link is used.
            let node =
                if seed >> 41 & 1 == 0 { seed as u32 % 8 } else { granules - 1 - seed as u32 % 8 };
            if let Some(at) = model[class].iter().position(|&n| n == node) {
                if at == 0 && seed >> 42 & 1 == 0 {
                    lists.pop(class as u32, node);
                } else {
                    lists.unlink(class as u32, node);
                }
                model[class].remove(at);
            } else if !model[1 - class].contains(&node) {
                lists.push(class as u32, node);
                model[class].push_front(node);
            }
            for (class, deque) in model.iter().enumerate() {
                assert_eq!(lists.head(class as u32), deque.front().copied().unwrap_or(NIL));
                for (i, &n) in deque.iter().enumerate() {
                    let previous = if i == 0 { n } else { deque[i - 1] };
                    let next = deque.get(i + 1).copied().unwrap_or(n);
                    assert_eq!((lists.previous(n), lists.next(n)), (previous, next));
                }
            }
        }
    }

    #[test]
    fn short_links_agree_with_a_deque_up_to_the_last_16_bit_number() {
        agrees_with_a_deque::<Short>(1 << Short::BITS);
    }

    #[test]
    fn long_links_agree_with_a_deque_up_to_the_last_17_bit_number() {
        agrees_with_a_deque::<Long>(1 << Long::BITS);
    }

    #[test]
    fn long_links_leave_the_tag_bits_of_the_second_word_alone() {
        let mut region = vec![0xffff_fffcu32; 1 << 18];
        let mut state = vec![NIL; 1];
        // SAFETY: both vectors outlive the lists and are touched through them only.
        let (words, heads) = unsafe {
            (
                Plain::from_pointer(NonNull::new(region.as_mut_ptr()).unwrap(), Space::Region),
                Plain::from_pointer(NonNull::new(state.as_mut_ptr()).unwrap(), Space::State),
            )
        };
        let lists = Lists::<_, Long>::new(&words, &heads, 2, 0);
        for node in [0, 70_000, 131_071, 65_535] {
            lists.push(0, node);
        }
        lists.unlink(0, 131_071);
        for node in [0, 70_000, 131_071, 65_535] {
            assert_eq!(words.load(node * 2 + 1) & !3, 0xffff_fffc);
        }
    }
}
