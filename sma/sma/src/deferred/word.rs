//! Three granule numbers in one word: a stack whose top is the lowest slot. Slots hold the number
//! plus one, so that an empty one is zero and the stack moves by simple shifts.

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// A word that holds up to three granule numbers.
///
/// `u32` has slots of 11, 11 and 10 bits and serves regions of up to 2,048 granules (16 kB at 8 B),
/// as in the paper's pools; `u64` has three of 21 bits and serves every region.
pub trait PoolWord: Copy + sealed::Sealed {
    /// No numbers.
    const EMPTY: Self;
    /// Granule numbers must be below this.
    const REACH: u32;
    /// The word with one more number, unless it is full or the number does not fit.
    fn push(self, granule: u32) -> Option<Self>;
    /// The number on top, and the word without it.
    fn pop(self) -> Option<(u32, Self)>;
}

const SLOT: u32 = 0x7ff;

impl PoolWord for u32 {
    const EMPTY: Self = 0;
    const REACH: u32 = 2048;

    #[inline(always)]
    fn push(self, granule: u32) -> Option<Self> {
        // The third slot must be empty. It is one bit narrower, so the number that moves there from
        // the second must not use that bit.
        (granule < SLOT && self >> 21 == 0).then_some(self << 11 | (granule + 1))
    }

    #[inline(always)]
    fn pop(self) -> Option<(u32, Self)> {
        let top = self & SLOT;
        (top != 0).then(|| (top - 1, self >> 11))
    }
}

const WIDE: u64 = 0x1f_ffff;

impl PoolWord for u64 {
    const EMPTY: Self = 0;
    const REACH: u32 = 1 << 20;

    #[inline(always)]
    fn push(self, granule: u32) -> Option<Self> {
        (self >> 42 == 0).then_some(self << 21 | Self::from(granule + 1))
    }

    #[inline(always)]
    fn pop(self) -> Option<(u32, Self)> {
        let top = self & WIDE;
        (top != 0).then(|| (top as u32 - 1, self >> 21))
    }
}

#[cfg(test)]
mod tests {
    use super::PoolWord;
    use std::vec::Vec;

    fn agrees_with_a_stack<W: PoolWord>(top: u32, must_fit: u32) {
        let mut seed = 99u64;
        let (mut word, mut stack) = (W::EMPTY, Vec::new());
        for _ in 0..crate::rounds(200_000) {
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
                    // Refused: full, or an existing number does not fit into the narrow slot.
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
