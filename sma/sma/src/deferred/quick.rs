//! Quick lists: a stack of freed regions per size, including blocks and short runs of blocks,
//! refilled one block at a time.
//!
//! The paper's pools keep three regions of each size below a block in one word of local memory.
//! This one is for processors with caches. Its stacks are deeper, because freed regions are reused
//! later than three requests on; it has larger sizes, so that no branch is needed on the kind of
//! size; and a request that finds its stack empty splits a whole block, because this saves searches
//! and splits whose branches such a processor cannot predict.

use super::{Pool, Size};
use crate::classes::{Classes, PowerOfTwo};
use core::cell::Cell;

/// Kept granule numbers of one size.
///
/// Full words: on some processors, a load that follows a store to the other half of its word waits
/// for that store.
struct Stack<const DEPTH: usize> {
    count: Cell<u32>,
    slots: [Cell<u32>; DEPTH],
}

impl<const DEPTH: usize> Stack<DEPTH> {
    const fn new() -> Self {
        Self { count: Cell::new(0), slots: [const { Cell::new(0) }; DEPTH] }
    }

    #[inline(always)]
    fn pop(&self) -> Option<u32> {
        // An empty stack's count wraps to a number that is not a slot's.
        let top = self.count.get().wrapping_sub(1);
        let granule = self.slots.get(top as usize)?.get();
        self.count.set(top);
        Some(granule)
    }

    #[inline(always)]
    fn push(&self, granule: u32) -> bool {
        let top = self.count.get();
        let Some(slot) = self.slots.get(top as usize) else { return false };
        slot.set(granule);
        self.count.set(top + 1);
        true
    }
}

/// What is left of the last block split for a size: the first region not yet used, and the block's
/// end; equal if nothing is left.
struct Rest {
    next: Cell<u32>,
    end: Cell<u32>,
}

impl Rest {
    const fn new() -> Self {
        Self { next: Cell::new(0), end: Cell::new(0) }
    }

    /// The next `units` of the block.
    #[inline(always)]
    fn cut(&self, units: u32) -> Option<u32> {
        let next = self.next.get();
        (next != self.end.get()).then(|| {
            self.next.set(next + units);
            next
        })
    }

    /// The next aligned power of two of the block: several unused regions at once.
    fn cut_part(&self, per_block: u32) -> Option<(u32, u32)> {
        // The offset in the block is never 0 while anything is left.
        let offset = self.next.get() % per_block;
        let part = offset & offset.wrapping_neg();
        self.cut(part).map(|granule| (granule, part))
    }
}

/// `DEPTH` regions of every size up to `BLOCKS` blocks, and for every power of two below a block
/// the rest of one block. Adds `4 * DEPTH + 4` bytes of state per size, and 8 per size below a
/// block.
///
/// For speed on a processor with caches; [`Lm`](crate::Lm) is the paper's pool. Any kept region can
/// serve a request that would otherwise fail.
pub struct Quick<C: Classes = PowerOfTwo, const DEPTH: usize = 7, const BLOCKS: usize = 4> {
    /// Row `n` holds the sizes above `n` blocks.
    rows: [C::PerSize<Stack<DEPTH>>; BLOCKS],
    rests: C::PerClass<Rest>,
}

impl<C: Classes, const DEPTH: usize, const BLOCKS: usize> Quick<C, DEPTH, BLOCKS> {
    #[inline(always)]
    fn stack(&self, asked: u32, per_block: u32) -> Option<&Stack<DEPTH>> {
        let last = asked - 1;
        let row = self.rows.get((last / per_block) as usize)?;
        row.as_ref().get(C::pool(last % per_block + 1))
    }

    /// The size for a row and an index.
    fn units((row, index): (usize, usize), per_block: u32) -> u32 {
        row as u32 * per_block + C::pool_units(index)
    }

    /// A kept region of a size, or a part of its rest of a block: granule and size.
    #[inline]
    fn leave(&self, (row, index): (usize, usize), per_block: u32) -> Option<(u32, u32)> {
        let waiting = self.rows[row].as_ref()[index].pop();
        if let Some(granule) = waiting {
            return Some((granule, Self::units((row, index), per_block)));
        }
        if row == 0 { self.rests.as_ref().get(index)?.cut_part(per_block) } else { None }
    }

    /// Rows and indices of all sizes, in ascending order.
    fn sizes(&self) -> impl DoubleEndedIterator<Item = (usize, usize)> {
        let all = self.rows[0].as_ref().len();
        (0..BLOCKS * all).map(move |size| (size / all, size % all))
    }
}

impl<C: Classes, const DEPTH: usize, const BLOCKS: usize> Pool for Quick<C, DEPTH, BLOCKS> {
    const REACH: u32 = u32::MAX;
    const BLOCKS: usize = BLOCKS;

    fn new() -> Self {
        const { assert!(BLOCKS > 0, "sizes up to a block at least") };
        Self {
            rows: core::array::from_fn(|_| C::fill_sizes(|_| Stack::new())),
            rests: C::fill(|_| Rest::new()),
        }
    }

    #[inline(always)]
    fn get(&self, size: Size, per_block: u32) -> Option<u32> {
        self.stack(size.asked, per_block)?.pop()
    }

    #[inline(always)]
    fn put(&self, granule: u32, size: Size, per_block: u32, _: impl FnMut(u32, u32)) -> bool {
        self.stack(size.asked, per_block).is_some_and(|stack| stack.push(granule))
    }

    #[inline(always)]
    fn refill(
        &self,
        units: u32,
        per_block: u32,
        block: impl FnOnce() -> Option<u32>,
    ) -> Option<u32> {
        if units >= per_block {
            return None;
        }
        let rest = self.rests.as_ref().get(C::pool(units))?;
        let left = rest.cut(units);
        if left.is_some() {
            return left;
        }
        let first = block()?;
        rest.next.set(first + units);
        rest.end.set(first + per_block);
        Some(first)
    }

    /// The smallest of the sizes of at least `units`, or else the largest one.
    fn release(&self, units: u32, per_block: u32) -> Option<(u32, u32)> {
        let leave = |at| self.leave(at, per_block);
        let suffices = |&at: &(usize, usize)| Self::units(at, per_block) >= units;
        let sufficient = self.sizes().filter(suffices).find_map(leave);
        sufficient.or_else(|| self.sizes().rev().find_map(leave))
    }

    fn drain(&self, least: u32, per_block: u32, mut give: impl FnMut(u32, u32)) -> bool {
        for (row, stacks) in self.rows.iter().enumerate() {
            for (index, stack) in stacks.as_ref().iter().enumerate() {
                let units = Self::units((row, index), per_block);
                if units < least {
                    continue;
                }
                while let Some(granule) = stack.pop() {
                    give(granule, units);
                }
            }
        }
        for (index, rest) in self.rests.as_ref().iter().enumerate() {
            if C::pool_units(index) < least {
                continue;
            }
            while let Some((granule, units)) = rest.cut_part(per_block) {
                give(granule, units);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{Pool, Quick, Size};
    use crate::classes::{Exact, PowerOfTwo};
    use std::vec::Vec;

    #[test]
    fn a_size_keeps_as_many_regions_as_it_is_deep_and_the_last_comes_first() {
        let pool = Quick::<PowerOfTwo, 2, 3>::new();
        let put = |granule, units| {
            pool.put(granule, Size::rounded(units), 16, |_, _| panic!("one leaves"))
        };
        let get = |units| pool.get(Size::rounded(units), 16);
        assert_eq!([put(8, 1), put(9, 1), put(10, 1)], [true, true, false]);
        assert_eq!([get(1), get(1), get(1)], [Some(9), Some(8), None]);
        // Another size, a block, three blocks, and more than three blocks.
        assert_eq!([put(16, 2), put(32, 16), put(64, 48), put(0, 49)], [true, true, true, false]);
        assert_eq!([get(2), get(16), get(48), get(49)], [Some(16), Some(32), Some(64), None]);
    }

    #[test]
    fn what_is_rounded_to_the_same_size_waits_for_each_other() {
        let pool = Quick::<PowerOfTwo, 2, 3>::new();
        // A block and three units are rounded to a block and four; so are a block and four.
        let (three, four) = (Size { asked: 19, units: 20 }, Size::rounded(20));
        assert!(pool.put(64, three, 16, |_, _| ()));
        assert_eq!(pool.get(Size::rounded(24), 16), None);
        assert_eq!(pool.get(four, 16), Some(64));
    }

    #[test]
    fn a_block_serves_as_many_requests_as_it_has_regions_of_the_size() {
        let pool = Quick::<PowerOfTwo>::new();
        let mut blocks = [64, 128].into_iter();
        let got: Vec<u32> = std::iter::from_fn(|| pool.refill(4, 16, || blocks.next())).collect();
        assert_eq!(got, [64, 68, 72, 76, 128, 132, 136, 140]);
        assert_eq!(pool.refill(16, 16, || panic!("a block is not taken apart")), None);
    }

    #[test]
    fn what_is_released_is_what_waited_and_the_rest_of_a_block_goes_in_aligned_parts() {
        let pool = Quick::<Exact>::new();
        assert_eq!(pool.refill(1, 16, || Some(32)), Some(32));
        let fill = || {
            for (granule, units) in [(100, 3), (200, 16), (304, 33)] {
                assert!(pool.put(granule, Size::rounded(units), 16, |_, _| ()));
            }
        };
        fill();
        // From the requested size upwards, then the larger of those below it.
        let all: Vec<_> = std::iter::from_fn(|| pool.release(5, 16)).collect();
        assert_eq!(all, [(200, 16), (304, 33), (100, 3), (33, 1), (34, 2), (36, 4), (40, 8)]);
        fill();
        let mut all = Vec::new();
        pool.drain(16, 16, |granule, units| all.push((granule, units)));
        assert_eq!(all, [(200, 16), (304, 33)]);
        pool.drain(1, 16, |granule, units| all.push((granule, units)));
        assert_eq!(all, [(200, 16), (304, 33), (100, 3)]);
    }
}
