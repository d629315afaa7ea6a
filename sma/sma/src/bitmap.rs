//! The free-block bitmap: address-ordered first fit with the skip-ahead search of Listings 1 and
//! 2, for any number of words, and the lock-free update of Listing 6.
//!
//! Bit `i` of the map is bit `i % 32` of word `i / 32`; set means free. Bits beyond the last
//! block stay clear.

use crate::words::Words;

/// Bits `from..to` of one word, `0 <= from < to <= 32`.
#[inline(always)]
const fn mask(from: u32, to: u32) -> u32 {
    (u32::MAX >> (32 - (to - from))) << from
}

/// The lowest run of `1 <= len <= 32` set bits of one word: Listings 1 and 2 as printed, with their
/// errors corrected.
#[inline(always)]
fn first_fit_word(word: u32, len: u32) -> Option<u32> {
    let want = mask(0, len);
    let (mut word, mut start) = (word, 0);
    while word != 0 {
        let free = word & want;
        if free == want {
            return Some(start);
        }
        // Past the attempt's last used bit; if that is its last bit, to the next free one.
        let skip = if free >> (len - 1) == 0 {
            let rest = word & !want;
            if rest == 0 {
                return None;
            }
            rest.trailing_zeros()
        } else {
            32 - (want & !free).leading_zeros()
        };
        word >>= skip;
        start += skip;
    }
    None
}

/// The bits at which runs of `2 <= len <= 32` set bits begin. The loop holds the starts of runs of
/// `done` bits and doubles `done` as long as there are any.
#[cfg(target_pointer_width = "64")]
#[inline(always)]
fn runs(map: u64, len: u32) -> u64 {
    let (mut map, mut done) = (map & map >> 1, 2);
    while done < len && map != 0 {
        let step = done.min(len - done);
        map &= map >> step;
        done += step;
    }
    map
}

/// A run of bits split at word boundaries: each word's number and its part of the run.
#[inline(always)]
fn pieces(start: u32, len: u32) -> impl Iterator<Item = (u32, u32)> {
    let end = start + len;
    (start / 32..end.div_ceil(32)).map(move |word| {
        let base = word * 32;
        (word, mask(start.saturating_sub(base), (end - base).min(32)))
    })
}

/// The map of `bits` blocks whose words are `first`, `first + stride`, ... of `words`.
pub struct Bitmap<'a, W> {
    words: &'a W,
    first: u32,
    stride: u32,
    bits: u32,
}

impl<'a, W: Words> Bitmap<'a, W> {
    #[inline(always)]
    pub const fn new(words: &'a W, first: u32, stride: u32, bits: u32) -> Self {
        Self { words, first, stride, bits }
    }

    #[inline(always)]
    fn at(&self, row: u32) -> u32 {
        self.first + row * self.stride
    }

    #[inline(always)]
    fn word(&self, row: u32) -> u32 {
        self.words.load(self.at(row))
    }

    /// Marks all blocks free.
    pub fn fill(&self) {
        for (word, want) in pieces(0, self.bits) {
            self.words.store(self.at(word), want);
        }
    }

    /// Whether block `bit` is free.
    pub fn is_free(&self, bit: u32) -> bool {
        self.word(bit / 32) >> (bit % 32) & 1 == 1
    }

    /// The lowest run of `len` free blocks, `len >= 1`.
    ///
    /// A failed attempt at `start` is not repeated one bit further: the next attempt begins after
    /// the last used block of this one or, if that block was the attempt's last, at the next free
    /// block. Bits in `start..known` are known to be free and not read again.
    #[inline]
    pub fn first_fit(&self, len: u32) -> Option<u32> {
        let mut cursor = Cursor { map: self, row: 0, word: self.word(0) };
        let mut start = cursor.first_set(0)?;
        let mut known = start + 1;
        loop {
            let end = start.checked_add(len)?;
            if end > self.bits {
                return None;
            }
            match cursor.last_clear(known, end) {
                None => return Some(start),
                Some(used) if used + 1 == end => {
                    start = cursor.first_set(end)?;
                    known = start + 1;
                }
                Some(used) => {
                    start = used + 1;
                    known = end;
                }
            }
        }
    }

    /// Claims bits of one row; if another core was faster, gives back what it got and returns
    /// false.
    #[inline]
    fn claim_row(&self, row: u32, want: u32) -> bool {
        let got = self.words.clear(self.at(row), want) & want;
        if got != want && got != 0 {
            // Only what this core took itself; otherwise another core's blocks would become free.
            self.words.set(self.at(row), got);
        }
        got == want
    }

    /// Claims the blocks of one attempt, word by word in ascending order; if another core was
    /// faster, gives everything back and returns false.
    #[cfg_attr(target_pointer_width = "64", inline(never))]
    fn claim(&self, start: u32, len: u32) -> bool {
        for (row, want) in pieces(start, len) {
            if !self.claim_row(row, want) {
                for (before, want) in pieces(start, len).take_while(|&(r, _)| r < row) {
                    self.words.set(self.at(before), want);
                }
                return false;
            }
        }
        true
    }

    /// Allocates the lowest run of `len` blocks.
    #[inline]
    pub fn take(&self, len: u32) -> Option<u32> {
        loop {
            let start = self.first_fit(len)?;
            if self.claim(start, len) {
                return Some(start);
            }
        }
    }

    /// `take` of 2 to 32 blocks: words are read in order, each once, and all runs within two
    /// neighbouring words are found at once.
    #[cfg(target_pointer_width = "64")]
    #[inline(always)]
    pub fn take_short(&self, len: u32) -> Option<u32> {
        let rows = self.bits.div_ceil(32);
        let (mut row, mut low) = (0, u64::from(self.word(0)));
        loop {
            let high = if row + 1 < rows { u64::from(self.word(row + 1)) } else { 0 };
            let starts = runs(low | high << 32, len) as u32;
            if starts != 0 {
                let start = row * 32 + starts.trailing_zeros();
                if self.claim_short(start, len) {
                    return Some(start);
                }
                // Another core was faster: restart.
                (row, low) = (0, u64::from(self.word(0)));
                continue;
            }
            row += 1;
            if row == rows {
                return None;
            }
            low = high;
        }
    }

    /// `claim` of a run in one word or, out of line, in two.
    #[cfg(target_pointer_width = "64")]
    #[inline(always)]
    fn claim_short(&self, start: u32, len: u32) -> bool {
        if start % 32 + len <= 32 {
            return self.claim_row(start / 32, mask(start % 32, start % 32 + len));
        }
        self.claim(start, len)
    }

    /// `take` from a map of a single word.
    #[inline]
    pub fn take_from_word(&self, len: u32) -> Option<u32> {
        if len > self.bits {
            return None;
        }
        loop {
            let start = first_fit_word(self.word(0), len)?;
            if self.claim_row(0, mask(start, start + len)) {
                return Some(start);
            }
        }
    }

    /// Allocates the lowest free block: `take(1)` without its loop over runs.
    #[inline]
    pub fn take_one(&self) -> Option<u32> {
        let mut row = 0;
        while row * 32 < self.bits {
            let word = self.word(row);
            if word == 0 {
                row += 1;
                continue;
            }
            let bit = word.trailing_zeros();
            if self.words.clear(self.at(row), 1 << bit) >> bit & 1 == 1 {
                return Some(row * 32 + bit);
            }
        }
        None
    }

    /// Frees one block.
    #[inline(always)]
    pub fn give_one(&self, block: u32) {
        self.words.raise(self.at(block / 32), 1 << (block % 32));
    }

    /// Frees a run; it coalesces with its neighbours automatically.
    #[inline]
    pub fn give(&self, start: u32, len: u32) {
        if start % 32 + len <= 32 {
            self.words.raise(self.at(start / 32), mask(start % 32, start % 32 + len));
            return;
        }
        for (word, want) in pieces(start, len) {
            self.words.raise(self.at(word), want);
        }
    }

    /// The number of free blocks, and the longest run of them.
    pub fn survey(&self) -> (u32, u32) {
        let (mut free, mut run, mut longest) = (0, 0, 0);
        for bit in 0..self.bits {
            run = if self.is_free(bit) { run + 1 } else { 0 };
            free += u32::from(run > 0);
            longest = longest.max(run);
        }
        (free, longest)
    }
}

/// A search's view of the map: the last word read stays in a register, so no word is read more than
/// three times (when a window first ends in it, when a later window's backward scan begins there,
/// and when one ends there).
struct Cursor<'a, 'b, W> {
    map: &'a Bitmap<'b, W>,
    row: u32,
    word: u32,
}

impl<W: Words> Cursor<'_, '_, W> {
    #[inline(always)]
    fn read(&mut self, row: u32) -> u32 {
        if row != self.row {
            self.row = row;
            self.word = self.map.word(row);
        }
        self.word
    }

    /// The first set bit at or after `from`.
    #[inline]
    fn first_set(&mut self, from: u32) -> Option<u32> {
        if from >= self.map.bits {
            return None;
        }
        let rows = self.map.bits.div_ceil(32);
        let mut row = from / 32;
        let mut word = self.read(row) & (u32::MAX << (from % 32));
        while word == 0 {
            row += 1;
            if row == rows {
                return None;
            }
            word = self.read(row);
        }
        Some(row * 32 + word.trailing_zeros())
    }

    /// The last clear bit in `from..to`, searched backwards from the end.
    #[inline]
    fn last_clear(&mut self, from: u32, to: u32) -> Option<u32> {
        if from >= to {
            return None;
        }
        let (low, mut row) = (from / 32, (to - 1) / 32);
        let mut used = !self.read(row) & mask(0, to - row * 32);
        loop {
            if row == low {
                used &= u32::MAX << (from % 32);
            }
            if used != 0 {
                return Some(row * 32 + 31 - used.leading_zeros());
            }
            if row == low {
                return None;
            }
            row -= 1;
            used = !self.read(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::{Cell, RefCell};
    use std::vec::Vec;

    /// Words, and how often each was read.
    struct Vector(RefCell<Vec<u32>>, RefCell<Vec<u32>>);

    impl Vector {
        fn new(words: Vec<u32>) -> Self {
            let reads = words.iter().map(|_| 0).collect();
            Self(RefCell::new(words), RefCell::new(reads))
        }
    }

    impl Words for Vector {
        fn load(&self, index: u32) -> u32 {
            self.1.borrow_mut()[index as usize] += 1;
            self.0.borrow()[index as usize]
        }
        fn store(&self, index: u32, value: u32) {
            self.0.borrow_mut()[index as usize] = value;
        }
        fn set(&self, index: u32, bits: u32) -> u32 {
            let before = self.load(index);
            self.store(index, before | bits);
            before
        }
        fn clear(&self, index: u32, bits: u32) -> u32 {
            let before = self.load(index);
            self.store(index, before & !bits);
            before
        }
    }

    fn naive(words: &[u32], bits: u32, len: u32) -> Option<u32> {
        let free = |i: u32| words[i as usize / 32] >> (i % 32) & 1 == 1;
        (0..(bits + 1).saturating_sub(len)).find(|&s| (s..s + len).all(free))
    }

    fn random(seed: &mut u64) -> u32 {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        (*seed >> 16) as u32
    }

    #[test]
    fn every_sixteen_bit_map_and_every_length_agrees_with_naive_first_fit() {
        // Every map; under Miri every 331st, which is odd and so reaches all bits.
        for map in (0..=u32::from(u16::MAX)).step_by(if cfg!(miri) { 331 } else { 1 }) {
            let words = Vector::new([map].to_vec());
            for len in 1..=17 {
                let found = Bitmap::new(&words, 0, 1, 16).first_fit(len);
                assert_eq!(found, naive(&[map], 16, len), "map {map:#06x} length {len}");
                assert_eq!(first_fit_word(map, len), found, "map {map:#06x} length {len}");
            }
        }
    }

    #[test]
    fn random_maps_of_many_words_agree_with_naive_first_fit() {
        let mut seed = 0x5eed_0003;
        for round in 0..crate::rounds(20_000) {
            let rows = 1 + round % 9;
            let bits = rows * 32 - random(&mut seed) % 32;
            // Densities from sparse to nearly full, so that long runs cross several words.
            let words: Vec<u32> = (0..rows)
                .map(|row| {
                    let mut fold = |n| (0..n).fold(0, |a, _| a | random(&mut seed));
                    let word = match round % 4 {
                        0 => !(fold(1) & fold(1)),
                        1 => fold(5),
                        2 => u32::MAX.wrapping_shl(fold(1) % 32),
                        _ => fold(1),
                    };
                    if row + 1 == rows { word & mask(0, bits - row * 32) } else { word }
                })
                .collect();
            let vector = Vector::new(words.clone());
            for len in [1, 2, 3, 5, 8, 31, 32, 33, 40, 64, 65, 100, bits, bits + 1] {
                let found = Bitmap::new(&vector, 0, 1, bits).first_fit(len);
                assert_eq!(found, naive(&words, bits, len), "{words:x?} bits {bits} length {len}");
            }
        }
    }

    #[test]
    fn no_search_reads_a_word_more_than_three_times() {
        let (mut seed, mut most) = (7, 0);
        for _ in 0..crate::rounds(20_000) {
            let rows = 16;
            let dense = |seed: &mut _| (0..5).fold(0, |a, _| a | random(seed));
            let words = Vector::new((0..rows).map(|_| dense(&mut seed)).collect());
            for len in [1, 2, 4, 9, 33, 70] {
                words.1.borrow_mut().fill(0);
                let _ = Bitmap::new(&words, 0, 1, rows * 32).first_fit(len);
                most = most.max(words.1.borrow().iter().copied().max().unwrap());
            }
        }
        assert!(most <= 3, "{most} reads");
    }

    #[test]
    fn taking_and_giving_back_restores_the_map_and_claims_no_foreign_bit() {
        let words = Vector::new([u32::MAX; 4].to_vec());
        let map = Bitmap::new(&words, 0, 1, 128);
        let runs: Vec<(u32, u32)> =
            [3, 30, 33, 1, 40, 21].into_iter().map(|n| (map.take(n).unwrap(), n)).collect();
        // First fit into an empty map: each run begins where the previous one ended.
        let mut next = 0;
        for &(start, len) in &runs {
            assert_eq!(start, next);
            next += len;
        }
        assert_eq!(next, 128);
        assert_eq!(map.take(1), None);
        for &(start, len) in &runs {
            map.give(start, len);
        }
        assert_eq!(*words.0.borrow(), [u32::MAX; 4]);
        assert_eq!(map.survey(), (128, 128));
    }

    /// Words in which another core takes one bit just before the second word is claimed.
    struct Rival(Vector, Cell<bool>);

    impl Words for Rival {
        fn load(&self, index: u32) -> u32 {
            self.0.load(index)
        }
        fn store(&self, index: u32, value: u32) {
            self.0.store(index, value);
        }
        fn set(&self, index: u32, bits: u32) -> u32 {
            self.0.set(index, bits)
        }
        fn clear(&self, index: u32, bits: u32) -> u32 {
            if index == 1 && !self.1.replace(true) {
                self.0.clear(1, 1 << 2);
            }
            self.0.clear(index, bits)
        }
    }

    #[test]
    fn a_lost_race_gives_back_exactly_what_was_taken_and_tries_again() {
        let words =
            Rival(Vector::new([u32::MAX << 28, u32::MAX, u32::MAX].to_vec()), Cell::new(false));
        // The run of 10 would begin at 28; the rival takes 34 meanwhile, so it begins at 35.
        assert_eq!(Bitmap::new(&words, 0, 1, 96).take(10), Some(35));
        let rest = words.0.0.borrow();
        assert_eq!(rest[0], u32::MAX << 28, "the first word was given back");
        assert_eq!(rest[1], !(1 << 2) & !mask(3, 13), "only the rival's bit and the run are gone");
    }
}
