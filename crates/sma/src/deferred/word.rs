//! Three granule numbers in one word: a stack whose top is the lowest slot.

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// A word that holds up to three granule numbers.
///
/// `u32` has slots of 11, 11 and 10 bits and serves regions of up to 2,048 granules (16 kB at
/// 8 B), as the paper's pools do; `u64` has three of 21 bits and serves every region.
pub trait PoolWord: Copy + sealed::Sealed {
    /// No numbers.
    const EMPTY: Self;
    /// Granule numbers end here.
    const REACH: u32;
    /// The word with one number more, unless it is full or the number does not fit.
    fn push(self, granule: u32) -> Option<Self>;
    /// The number on top, and the word without it.
    fn pop(self) -> Option<(u32, Self)>;
}

const SLOT: u32 = 0x7ff;
/// The third slot lacks a bit.
const THIRD: u32 = 0x3ff;

impl PoolWord for u32 {
    const EMPTY: Self = Self::MAX;
    const REACH: u32 = 2048;

    #[inline(always)]
    fn push(self, granule: u32) -> Option<Self> {
        // All ones is an empty slot, so the highest number of a slot cannot be kept in it, and
        // what is in the second slot must fit into the third.
        let second = self >> 11 & SLOT;
        let fits = granule < SLOT && self >> 22 == THIRD && (second < THIRD || second == SLOT);
        fits.then_some(self << 11 | granule)
    }

    #[inline(always)]
    fn pop(self) -> Option<(u32, Self)> {
        let top = self & SLOT;
        if top == SLOT {
            return None;
        }
        let empty = if self >> 22 == THIRD { 0xffe0_0000 } else { 0xffc0_0000 };
        Some((top, self >> 11 | empty))
    }
}

const WIDE: u64 = 0x1f_ffff;

impl PoolWord for u64 {
    const EMPTY: Self = Self::MAX;
    const REACH: u32 = 1 << 20;

    #[inline(always)]
    fn push(self, granule: u32) -> Option<Self> {
        (self >> 42 & WIDE == WIDE).then_some(1 << 63 | self << 21 | Self::from(granule))
    }

    #[inline(always)]
    fn pop(self) -> Option<(u32, Self)> {
        let top = self & WIDE;
        (top != WIDE).then_some((top as u32, self >> 21 | (WIDE << 42 | 1 << 63)))
    }
}

#[cfg(test)]
mod tests {
    use super::PoolWord;
    use std::vec::Vec;

    fn agrees_with_a_stack<W: PoolWord>(top: u32, must_fit: u32) {
        let mut seed = 99u64;
        let (mut word, mut stack) = (W::EMPTY, Vec::new());
        for _ in 0..200_000 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let number = (seed >> 20) as u32 % top;
            if seed & 1 == 0 {
                match word.push(number) {
                    Some(next) => {
                        stack.push(number);
                        word = next;
                        assert!(stack.len() <= 3);
                    }
                    // Refused: full, or a number in the way that a narrow slot cannot hold.
                    None => assert!(
                        stack.len() == 3
                            || number >= must_fit
                            || stack.iter().any(|&n| n >= must_fit)
                    ),
                }
            } else {
                let popped = word.pop().map(|(number, next)| {
                    word = next;
                    number
                });
                assert_eq!(popped, stack.pop());
            }
        }
    }

    #[test]
    fn a_narrow_word_is_a_stack_of_three_below_1023_and_refuses_only_above() {
        agrees_with_a_stack::<u32>(1023, 1023);
        agrees_with_a_stack::<u32>(2048, 1023);
    }

    #[test]
    fn a_wide_word_is_a_stack_of_three_for_every_granule_of_a_megabyte() {
        agrees_with_a_stack::<u64>(1 << 17, 1 << 17);
    }
}
