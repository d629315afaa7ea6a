//! Checked builds: two bits per granule, where allocations start and where they end.

use crate::words::Words;

/// Why a free does not match the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// Nothing is allocated there.
    Free,
    /// The granule is inside an allocation.
    Interior,
    /// An allocation of another size starts there.
    Size,
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Checked {}
    impl Sealed for super::Unchecked {}
}

/// Whether frees are checked.
pub trait Guard: sealed::Sealed {
    /// True if they are.
    const CHECKED: bool;
}

/// Every wrong free is refused with an error. Costs 2 bits of state per granule.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checked;

/// Frees must be correct; that is the caller's duty. No state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unchecked;

impl Guard for Checked {
    const CHECKED: bool = true;
}

impl Guard for Unchecked {
    const CHECKED: bool = false;
}

/// Words needed for one bit per granule.
pub const fn map_words(granules: u32) -> u32 {
    granules.div_ceil(32)
}

/// The record of a heap with `granules`, beginning at word `first` of its state.
pub struct Record<'a, W> {
    words: &'a W,
    starts: u32,
    granules: u32,
}

impl<'a, W: Words> Record<'a, W> {
    pub const fn new(words: &'a W, first: u32, granules: u32) -> Self {
        Self { words, starts: first, granules }
    }

    /// Word of a granule's start bit.
    fn start(&self, granule: u32) -> u32 {
        self.starts + granule / 32
    }

    /// Word of a granule's end bit.
    fn end(&self, granule: u32) -> u32 {
        self.starts + map_words(self.granules) + granule / 32
    }

    /// Clears the record.
    pub fn reset(&self) {
        for word in 0..2 * map_words(self.granules) {
            self.words.store(self.starts + word, 0);
        }
    }

    /// Records an allocation.
    pub fn mark(&self, granule: u32, units: u32) {
        let last = granule + units - 1;
        self.words.set(self.end(last), 1 << (last % 32));
        self.words.set(self.start(granule), 1 << (granule % 32));
    }

    /// Removes an allocation, or says why there is none. If two cores try, one of them wins.
    pub fn unmark(&self, granule: u32, units: u32) -> Result<(), Misfit> {
        if !self.starts_at(granule) {
            return Err(if self.is_inside(granule) { Misfit::Interior } else { Misfit::Free });
        }
        let last = granule + units - 1;
        if last >= self.granules || self.first_end(granule, last) != Some(last) {
            return Err(Misfit::Size);
        }
        let bit = 1 << (granule % 32);
        if self.words.clear(self.start(granule), bit) & bit == 0 {
            return Err(Misfit::Free);
        }
        self.words.clear(self.end(last), 1 << (last % 32));
        Ok(())
    }

    /// Whether an allocation starts at the granule.
    pub fn starts_at(&self, granule: u32) -> bool {
        self.words.load(self.start(granule)) >> (granule % 32) & 1 == 1
    }

    fn ends_at(&self, granule: u32) -> bool {
        self.words.load(self.end(granule)) >> (granule % 32) & 1 == 1
    }

    /// The first end bit in `from..=to`.
    fn first_end(&self, from: u32, to: u32) -> Option<u32> {
        let mut word = self.words.load(self.end(from)) & (u32::MAX << (from % 32));
        let mut base = from - from % 32;
        loop {
            if word != 0 {
                let found = base + word.trailing_zeros();
                return (found <= to).then_some(found);
            }
            base += 32;
            if base > to {
                return None;
            }
            word = self.words.load(self.end(base));
        }
    }

    /// Whether the nearest mark before the granule is a start. Only errors incur this walk.
    fn is_inside(&self, granule: u32) -> bool {
        for before in (0..granule).rev() {
            if self.ends_at(before) {
                return false;
            }
            if self.starts_at(before) {
                return true;
            }
        }
        false
    }
}
