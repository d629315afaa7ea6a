//! A table of recently freed sizes, small or large, with LRU replacement.
//!
//! The paper's processor has a content-addressable memory of 16 words for this; here the same 16
//! words are 8 keys and 8 words of three regions each, and the lookup is a loop.

use super::{Pool, PoolWord, Size};
use core::cell::Cell;

const ENTRIES: usize = 8;

/// Eight sizes of three regions each; adds 64 bytes of state (96 with `u64` words).
pub struct Cam<W = u32> {
    /// Size in units in the low 28 bits (0: empty), age in the high 4 (0: most recently used).
    keys: [Cell<u32>; ENTRIES],
    words: [Cell<W>; ENTRIES],
}

const SIZE: u32 = (1 << 28) - 1;

impl<W: PoolWord> Cam<W> {
    /// The key of an entry; every index is in bounds, so nothing here can panic.
    #[inline]
    fn key(&self, entry: usize) -> &Cell<u32> {
        &self.keys[entry % ENTRIES]
    }

    #[inline]
    fn word(&self, entry: usize) -> &Cell<W> {
        &self.words[entry % ENTRIES]
    }

    #[inline]
    fn find(&self, units: u32) -> Option<usize> {
        self.keys.iter().position(|key| key.get() & SIZE == units)
    }

    #[inline]
    fn age(&self, entry: usize) -> u32 {
        self.key(entry).get() >> 28
    }

    /// Makes an entry the most recently used: those younger than it age by one.
    #[inline]
    fn touch(&self, entry: usize, units: u32) {
        let age = self.age(entry);
        for key in &self.keys {
            let value = key.get();
            if value >> 28 < age {
                key.set(value + (1 << 28));
            }
        }
        self.key(entry).set(units);
    }

    fn oldest(&self) -> usize {
        (0..ENTRIES).max_by_key(|&entry| self.age(entry)).unwrap_or(0)
    }

    fn empty(&self, entry: usize, evict: &mut impl FnMut(u32, u32)) {
        let units = self.key(entry).get() & SIZE;
        while let Some((granule, rest)) = self.word(entry).get().pop() {
            self.word(entry).set(rest);
            evict(granule, units);
        }
    }
}

impl<W: PoolWord> Pool for Cam<W> {
    const REACH: u32 = W::REACH;

    fn new() -> Self {
        Self {
            keys: core::array::from_fn(|age| Cell::new((age as u32) << 28)),
            words: core::array::from_fn(|_| Cell::new(W::EMPTY)),
        }
    }

    #[inline]
    fn get(&self, size: Size, _: u32) -> Option<u32> {
        let units = size.units;
        let entry = self.find(units)?;
        self.touch(entry, units);
        let (granule, rest) = self.word(entry).get().pop()?;
        self.word(entry).set(rest);
        Some(granule)
    }

    #[inline]
    fn put(&self, granule: u32, size: Size, _: u32, mut evict: impl FnMut(u32, u32)) -> bool {
        let units = size.units;
        let entry = self.find(units).unwrap_or_else(|| {
            let oldest = self.oldest();
            self.empty(oldest, &mut evict);
            oldest
        });
        self.touch(entry, units);
        let Some(word) = self.word(entry).get().push(granule) else { return false };
        self.word(entry).set(word);
        true
    }

    /// The least recently used of the sizes of at least `units`, or else of all.
    fn release(&self, units: u32, _: u32) -> Option<(u32, u32)> {
        let size = |entry: usize| self.key(entry).get() & SIZE;
        let waiting = (0..ENTRIES).filter(|&entry| self.word(entry).get().pop().is_some());
        let entry = waiting.max_by_key(|&entry| (size(entry) >= units, self.age(entry)))?;
        let (granule, rest) = self.word(entry).get().pop()?;
        self.word(entry).set(rest);
        Some((granule, size(entry)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Cam, ENTRIES, Pool, Size};
    use std::vec::Vec;

    #[test]
    fn the_ninth_size_evicts_the_least_recently_used_one() {
        let cam = Cam::<u32>::new();
        let mut out = Vec::new();
        for size in 1..=ENTRIES as u32 {
            assert!(cam.put(size * 10, Size::rounded(size), 16, |g, u| out.push((g, u))));
        }
        assert!(out.is_empty());
        // Size 1 is the oldest until it is requested; then size 2 is.
        assert_eq!(cam.get(Size::rounded(1), 16), Some(10));
        assert!(cam.put(900, Size::rounded(99), 16, |g, u| out.push((g, u))));
        assert_eq!(out, [(20, 2)]);
        assert!(cam.put(901, Size::rounded(98), 16, |g, u| out.push((g, u))));
        assert_eq!(out, [(20, 2), (30, 3)]);
    }

    #[test]
    fn a_size_keeps_three_regions_and_large_sizes_count_too() {
        let cam = Cam::<u32>::new();
        for granule in [160, 320, 480] {
            assert!(cam.put(granule, Size::rounded(160), 16, |_, _| panic!("nothing is old")));
        }
        assert!(!cam.put(640, Size::rounded(160), 16, |_, _| panic!("nothing is old")));
        assert_eq!(
            [cam.get(Size::rounded(160), 16), cam.get(Size::rounded(160), 16)],
            [Some(480), Some(320)]
        );
    }

    #[test]
    fn the_table_is_64_bytes() {
        // 16 words of 4 bytes, as counted in the paper's Table 1.
        assert_eq!(Cam::<u32>::new().state_bytes(), 64);
    }
}
