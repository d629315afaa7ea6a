//! Quick lists: a stack of freed regions per size, blocks included, refilled a block at a time.
//!
//! The paper's pools keep three regions of each size below a block in one word of local memory.
//! This one is for processors with caches: deeper, because what is freed comes back later than
//! three requests; with blocks, because then one test of the size leads to the pool; and a request
//! that finds its stack empty takes a whole block apart, because the searches and splits that it
//! saves are what such a processor cannot predict.

use super::Pool;
use crate::classes::{Classes, PowerOfTwo};
use core::cell::Cell;

/// Granule numbers that wait, and what is left of the block taken apart last.
///
/// Whole words: a load that follows a store to the other half of its word waits for that store on
/// some processors.
struct Stack<const DEPTH: usize> {
    count: Cell<u32>,
    slots: [Cell<u32>; DEPTH],
    /// The first region not yet used of the block, and the block's end; equal if there is none.
    next: Cell<u32>,
    end: Cell<u32>,
}

impl<const DEPTH: usize> Stack<DEPTH> {
    const fn new() -> Self {
        Self {
            count: Cell::new(0),
            slots: [const { Cell::new(0) }; DEPTH],
            next: Cell::new(0),
            end: Cell::new(0),
        }
    }

    #[inline(always)]
    fn pop(&self) -> Option<u32> {
        // An empty stack's count wraps to a number that no slot has.
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

    /// The next `units` of the block.
    #[inline(always)]
    fn cut(&self, units: u32) -> Option<u32> {
        let next = self.next.get();
        (next != self.end.get()).then(|| {
            self.next.set(next + units);
            next
        })
    }

    /// The next aligned power of two of the block: several regions that were not used, at once.
    fn cut_part(&self, per_block: u32) -> Option<(u32, u32)> {
        // The offset in the block is not 0 while anything is left.
        let offset = self.next.get() % per_block;
        let part = offset & offset.wrapping_neg();
        self.cut(part).map(|granule| (granule, part))
    }
}

/// `DEPTH` regions of every size up to a block, and of every power of two below it the rest of a
/// block; adds `4 * DEPTH + 12` bytes of state per size.
///
/// For speed on a processor with caches; [`Lm`](crate::Lm) is what the paper has. At most
/// `DEPTH + 1` blocks' worth of a size waits. All of it serves any request that would else fail.
pub struct Quick<C: Classes = PowerOfTwo, const DEPTH: usize = 7>(C::PerSize<Stack<DEPTH>>);

impl<C: Classes, const DEPTH: usize> Pool for Quick<C, DEPTH> {
    const REACH: u32 = u32::MAX;

    fn new() -> Self {
        Self(C::fill_sizes(|_| Stack::new()))
    }

    #[inline(always)]
    fn get(&self, units: u32, per_block: u32) -> Option<u32> {
        if units > per_block {
            return None;
        }
        self.0.as_ref().get(C::pool(units))?.pop()
    }

    #[inline(always)]
    fn put(&self, granule: u32, units: u32, per_block: u32, _: impl FnMut(u32, u32)) -> bool {
        units <= per_block
            && self.0.as_ref().get(C::pool(units)).is_some_and(|stack| stack.push(granule))
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
        let stack = self.0.as_ref().get(C::pool(units))?;
        let left = stack.cut(units);
        if left.is_some() {
            return left;
        }
        let first = block()?;
        stack.next.set(first + units);
        stack.end.set(first + per_block);
        Some(first)
    }

    /// The least of the sizes from `units` on, or else the largest one.
    fn release(&self, units: u32, per_block: u32) -> Option<(u32, u32)> {
        let stacks = self.0.as_ref();
        let all = stacks.len();
        let from = if units <= per_block { C::pool(units).min(all) } else { all };
        (from..all).chain((0..from).rev()).find_map(|index| {
            let waiting = stacks[index].pop().map(|granule| (granule, C::pool_units(index)));
            waiting.or_else(|| stacks[index].cut_part(per_block))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Pool, Quick};
    use crate::classes::{Exact, PowerOfTwo};
    use std::vec::Vec;

    #[test]
    fn a_size_keeps_as_many_regions_as_it_is_deep_and_the_last_comes_first() {
        let pool = Quick::<PowerOfTwo, 2>::new();
        let put = |granule, units| pool.put(granule, units, 16, |_, _| panic!("nothing leaves"));
        assert_eq!([put(8, 1), put(9, 1), put(10, 1)], [true, true, false]);
        // Another size, a block, and more than a block.
        assert_eq!([put(16, 2), put(32, 16), put(64, 32)], [true, true, false]);
        assert_eq!([pool.get(1, 16), pool.get(1, 16), pool.get(1, 16)], [Some(9), Some(8), None]);
        assert_eq!(
            [pool.get(2, 16), pool.get(16, 16), pool.get(32, 16)],
            [Some(16), Some(32), None]
        );
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
        assert!(pool.put(100, 3, 16, |_, _| ()));
        assert!(pool.put(200, 16, 16, |_, _| ()));
        // From the size asked for upwards, then the larger of those below.
        let all: Vec<_> = std::iter::from_fn(|| pool.release(5, 16)).collect();
        assert_eq!(all, [(200, 16), (100, 3), (33, 1), (34, 2), (36, 4), (40, 8)]);
    }
}
