//! Static pools in local memory: one word of three regions per small size.

use super::{Pool, PoolWord, Size};
use crate::classes::{Classes, PowerOfTwo};
use core::cell::Cell;

/// One pool of three regions for every size below a block; adds 4 bytes of state per size (8 with
/// `u64` words, needed above 2,048 granules).
pub struct Lm<C: Classes = PowerOfTwo, W = u32>(C::PerClass<Cell<W>>);

impl<C: Classes, W: PoolWord> Lm<C, W> {
    #[inline(always)]
    fn cell(&self, size: Size, per_block: u32) -> Option<&Cell<W>> {
        let index = if size.asked < per_block { C::pool(size.asked) } else { return None };
        // Sizes rounded to a block are not kept.
        if index < C::pool(per_block) { self.0.as_ref().get(index) } else { None }
    }
}

impl<C: Classes, W: PoolWord> Pool for Lm<C, W> {
    const REACH: u32 = W::REACH;

    fn new() -> Self {
        Self(C::fill(|_| Cell::new(W::EMPTY)))
    }

    #[inline(always)]
    fn get(&self, size: Size, per_block: u32) -> Option<u32> {
        let cell = self.cell(size, per_block)?;
        let (granule, rest) = cell.get().pop()?;
        cell.set(rest);
        Some(granule)
    }

    #[inline(always)]
    fn put(&self, granule: u32, size: Size, per_block: u32, _: impl FnMut(u32, u32)) -> bool {
        let Some(cell) = self.cell(size, per_block) else { return false };
        let Some(word) = cell.get().push(granule) else { return false };
        cell.set(word);
        true
    }

    /// The smallest of the sizes from `units` on, or else the largest one.
    fn release(&self, units: u32, per_block: u32) -> Option<(u32, u32)> {
        let cells = self.0.as_ref();
        let from = if units < per_block { C::pool(units).min(cells.len()) } else { cells.len() };
        (from..cells.len()).chain((0..from).rev()).find_map(|index| {
            let (granule, rest) = cells[index].get().pop()?;
            cells[index].set(rest);
            Some((granule, C::pool_units(index)))
        })
    }
}
