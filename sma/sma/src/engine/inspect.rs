//! Inspects a heap at rest: what is free, and whether lists, tags and bitmap agree.

use super::Engine;
use crate::classes::Classes;
use crate::error::Corruption;
use crate::geometry::Geometry;
use crate::links::{Links, NIL};
use crate::sharing::Sharing;
use crate::tag;

/// What is free in a heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Free whole blocks.
    pub free_blocks: u32,
    /// The longest run of free blocks.
    pub longest_run_blocks: u32,
    /// Free small regions per class, smallest first; unused classes are 0.
    pub free_regions: [u32; 4],
    /// Bytes of a block.
    pub block_bytes: u32,
    /// Bytes of the smallest region.
    pub granule_bytes: u32,
}

impl Survey {
    /// All free bytes.
    pub fn free_bytes(&self) -> u32 {
        let small: u32 =
            self.free_regions.iter().enumerate().map(|(c, n)| n * (self.granule_bytes << c)).sum();
        self.free_blocks * self.block_bytes + small
    }

    /// Bytes of the largest free piece.
    pub fn largest_bytes(&self) -> u32 {
        if self.free_blocks > 0 {
            return self.longest_run_blocks * self.block_bytes;
        }
        let class = self.free_regions.iter().rposition(|&n| n > 0);
        class.map_or(0, |c| self.granule_bytes << c)
    }
}

impl<const BLOCK: usize, C: Classes, K: Links, S: Sharing> Engine<BLOCK, C, K, S> {
    /// Counts what is free. The heap must be at rest.
    pub fn survey(&self) -> Survey {
        let (free_blocks, longest_run_blocks) = self.bitmap().survey();
        let mut free_regions = [0; 4];
        for class in 0..Self::CLASSES {
            let mut node = self.lists().head(class);
            while node != NIL {
                free_regions[class as usize] += 1;
                let next = self.lists().next(node);
                node = if next == node { NIL } else { next };
            }
        }
        Survey {
            free_blocks,
            longest_run_blocks,
            free_regions,
            block_bytes: BLOCK as u32,
            granule_bytes: Geometry::<BLOCK>::GRANULE as u32,
        }
    }

    /// Walks lists and tags. The heap must be at rest.
    pub fn check(&self) -> Result<(), Corruption> {
        let granules = self.blocks * Self::UNITS;
        for class in 0..Self::CLASSES {
            let (mut node, mut before, mut steps) = (self.lists().head(class), None, 0);
            while node != NIL {
                if node >= granules || node % (1 << class) != 0 || steps > granules >> class {
                    return Err(Corruption::List { class, granule: node });
                }
                let (previous, next) = (self.lists().previous(node), self.lists().next(node));
                if previous != before.unwrap_or(node) {
                    return Err(Corruption::List { class, granule: node });
                }
                self.check_region(node, class)?;
                steps += 1;
                before = Some(node);
                node = if next == node { NIL } else { next };
            }
        }
        Ok(())
    }

    /// Checks a listed region: its block is split, its bit is set, its buddy is not free, and every
    /// other bit of its block's tag also names a listed region.
    fn check_region(&self, node: u32, class: u32) -> Result<(), Corruption> {
        let (block, position) = (node / Self::UNITS, node % Self::UNITS);
        let wrong = Corruption::Tag { block };
        if self.bitmap().is_free(block) || self.is_full(block) {
            return Err(wrong);
        }
        let held_at = self.position(block);
        let tag = self.tag(self.tag_word(block, held_at));
        if tag & 1 << tag::bit(Self::UNITS, position, class) == 0 {
            return Err(wrong);
        }
        let (mut covered, mut bits) = (0u32, tag);
        while bits != 0 {
            let bit = bits.trailing_zeros();
            bits &= bits - 1;
            if bit >= 2 * Self::UNITS || tag & 1 << (bit ^ 1) != 0 {
                return Err(wrong);
            }
            let class = Self::CLASSES - bit.ilog2();
            let last = tag::last_unit(Self::UNITS, bit);
            let first = last + 1 - (1 << class);
            let units = ((2u32 << (last - first)) - 1) << first;
            if covered & units != 0 || !self.is_listed(block * Self::UNITS + first, class) {
                return Err(wrong);
            }
            covered |= units;
        }
        if covered >> held_at & 1 == 0 {
            return Err(wrong);
        }
        Ok(())
    }

    /// Whether a neighbour or the head leads to the node.
    fn is_listed(&self, node: u32, class: u32) -> bool {
        let previous = self.lists().previous(node);
        if previous == node {
            return self.lists().head(class) == node;
        }
        previous < self.blocks * Self::UNITS && self.lists().next(previous) == node
    }
}
