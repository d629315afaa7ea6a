//! Global branch history and its folds.
//!
//! Each tagged table hashes a number of the latest history bits down to the width of an index and
//! of a tag. A fold is the exclusive or of the history cut into pieces of that width. It is updated
//! bit by bit: rotated by one, with the bit that enters and the bit that leaves.

/// The most tables: the folds of one kind fill one 128-bit register.
pub(crate) const TABLES_MAX: usize = 8;
/// The longest history.
pub(crate) const HISTORY_BITS: u32 = 256;

/// Folds to one width, one per table.
#[derive(Clone, Debug)]
struct Folds {
    value: [u16; TABLES_MAX],
    /// The position of the leaving bit in each fold.
    leaving: [u16; TABLES_MAX],
    width: u32,
}

impl Folds {
    fn new(width: u32, lengths: &[u32; TABLES_MAX]) -> Self {
        let leaving = lengths.map(|length| 1 << (length % width));
        Self { value: [0; TABLES_MAX], leaving, width }
    }

    /// `leaves` is all ones for a table whose oldest bit was set.
    #[inline]
    fn push(&mut self, bit: u16, leaves: &[u16; TABLES_MAX]) {
        let mask = (1_u16 << self.width) - 1;
        let tables = self.value.iter_mut().zip(&self.leaving).zip(leaves);
        for ((value, leaving), leaves) in tables {
            let shifted = (*value << 1 | bit) ^ (leaves & leaving);
            *value = (shifted ^ shifted >> self.width) & mask;
        }
    }
}

/// The history.
#[derive(Clone, Debug)]
pub(crate) struct History {
    /// A ring of bits, each all ones or zero, so that a fold can mask with it. It has one element
    /// per value of a byte, so that byte arithmetic wraps round as the ring does.
    bits: [u16; HISTORY_BITS as usize],
    /// The position of the newest bit; older ones follow.
    newest: u8,
    /// The age at which a bit leaves each table's history when another enters.
    oldest: [u8; TABLES_MAX],
    index: Folds,
    tag: Folds,
}

impl History {
    /// An empty history for tables of these lengths (1 to [`HISTORY_BITS`]), folded to these widths
    /// (at most 15 bits).
    pub(crate) fn new(lengths: &[u32], index_bits: u32, tag_bits: u32) -> Self {
        let mut all = [1; TABLES_MAX];
        all[..lengths.len()].copy_from_slice(lengths);
        let (index, tag) = (Folds::new(index_bits, &all), Folds::new(tag_bits, &all));
        let oldest = all.map(|length| (length - 1) as u8);
        Self { bits: [0; HISTORY_BITS as usize], newest: 0, oldest, index, tag }
    }

    /// Shifts in a new bit.
    #[inline]
    pub(crate) fn push(&mut self, bit: bool) {
        let leaves = self.oldest.map(|age| self.bits[usize::from(self.newest.wrapping_add(age))]);
        self.index.push(u16::from(bit), &leaves);
        self.tag.push(u16::from(bit), &leaves);
        self.newest = self.newest.wrapping_sub(1);
        self.bits[usize::from(self.newest)] = u16::from(bit).wrapping_neg();
    }

    /// The folds to index width.
    #[inline]
    pub(crate) fn index(&self) -> &[u16; TABLES_MAX] {
        &self.index.value
    }

    /// The folds to tag width.
    #[inline]
    pub(crate) fn tag(&self) -> &[u16; TABLES_MAX] {
        &self.tag.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The fold by its definition: bit number `age` (0 is the newest) goes to `age % width`.
    fn folded(history: &[bool], length: u32, width: u32) -> u16 {
        let newest = history.iter().rev().take(length as usize).enumerate();
        newest.fold(0, |fold, (age, bit)| fold ^ u16::from(*bit) << (age as u32 % width))
    }

    proptest! {
        #[test]
        fn the_folds_kept_up_bit_by_bit_equal_folds_of_the_whole_history(
            lengths in prop::collection::vec(1..=HISTORY_BITS, 1..=TABLES_MAX),
            index_bits in 2_u32..=15, tag_bits in 2_u32..=15,
            bits in prop::collection::vec(any::<bool>(), 1..600),
        ) {
            let mut history = History::new(&lengths, index_bits, tag_bits);
            for n in 0..bits.len() {
                history.push(bits[n]);
                for (table, length) in lengths.iter().enumerate() {
                    let so_far = &bits[..=n];
                    prop_assert_eq!(history.index()[table], folded(so_far, *length, index_bits));
                    prop_assert_eq!(history.tag()[table], folded(so_far, *length, tag_bits));
                }
            }
        }
    }
}
