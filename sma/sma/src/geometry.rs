//! What follows from the block size: granule, units per block, classes, and the layout of the state
//! in words.
//!
//! A block has at most 16 units, so that one 32-bit tag describes it (paper, section 3.2.3) and a
//! 4-bit position locates the tag. Larger blocks therefore have larger granules.

/// The smallest and the largest block size in bytes.
pub const BLOCK_BYTES_MIN: usize = 32;
/// See [`BLOCK_BYTES_MIN`].
pub const BLOCK_BYTES_MAX: usize = 1024;
/// The largest region: the 20 address bits that a [`Handle`](crate::Handle) keeps.
pub const REGION_BYTES_MAX: usize = 1 << 20;
/// The smallest granule: one word of links and one word of tag.
pub const GRANULE_BYTES_MIN: usize = 8;

/// Constants of one block size.
pub struct Geometry<const BLOCK: usize>;

impl<const BLOCK: usize> Geometry<BLOCK> {
    /// Fails to compile for a block size outside the rules.
    pub const VALID: () = assert!(
        BLOCK.is_power_of_two() && BLOCK >= BLOCK_BYTES_MIN && BLOCK <= BLOCK_BYTES_MAX,
        "BLOCK must be a power of two from 32 to 1024"
    );
    /// Bytes of the smallest region.
    pub const GRANULE: usize =
        if BLOCK / 16 > GRANULE_BYTES_MIN { BLOCK / 16 } else { GRANULE_BYTES_MIN };
    /// Words per granule.
    pub const GRANULE_WORDS: u32 = (Self::GRANULE / 4) as u32;
    /// Units per block: 4, 8 or 16.
    pub const UNITS: u32 = (BLOCK / Self::GRANULE) as u32;
    /// Small classes: 2, 3 or 4.
    pub const CLASSES: u32 = Self::UNITS.trailing_zeros();
    /// Bits of a tag position, rounded up to a power of two so that none straddles a word.
    pub const POSITION_BITS: u32 = Self::CLASSES.next_power_of_two();

    /// Words per row, which covers 32 blocks. A row holds their part of the free-block bitmap, then
    /// their full bits, then their tag positions, so that no offset depends on the region's size.
    pub const ROW: u32 = 2 + Self::POSITION_BITS;

    /// Rows for this many blocks.
    pub const fn rows(blocks: u32) -> u32 {
        blocks.div_ceil(32)
    }

    /// The bitmap's word in row 0; the list heads come before it.
    pub const BITMAP: u32 = Self::CLASSES;

    /// The word of a block's full bit, which is bit `block % 32`.
    #[inline(always)]
    pub const fn full(block: u32) -> u32 {
        Self::BITMAP + block / 32 * Self::ROW + 1
    }

    /// Word and shift of a block's tag position.
    #[inline(always)]
    pub const fn position(block: u32) -> (u32, u32) {
        let per_word = 32 / Self::POSITION_BITS;
        let word = Self::BITMAP + block / 32 * Self::ROW + 2 + block % 32 / per_word;
        (word, block % per_word * Self::POSITION_BITS)
    }

    /// Words of the whole state without checks.
    pub const fn state_words(blocks: u32) -> u32 {
        Self::CLASSES + Self::rows(blocks) * Self::ROW
    }
}

#[cfg(test)]
mod tests {
    use super::Geometry;

    #[test]
    fn a_block_never_has_more_than_sixteen_units_nor_a_granule_under_two_words() {
        fn row<const B: usize>() -> (usize, u32, u32, u32) {
            let () = Geometry::<B>::VALID;
            (
                Geometry::<B>::GRANULE,
                Geometry::<B>::UNITS,
                Geometry::<B>::CLASSES,
                Geometry::<B>::POSITION_BITS,
            )
        }
        // granule = max(8, block / 16); classes = log2(units); positions hold 0..units.
        let rows = [row::<32>(), row::<64>(), row::<128>(), row::<256>(), row::<1024>()];
        for (block, (granule, units, classes, bits)) in
            [32usize, 64, 128, 256, 1024].into_iter().zip(rows)
        {
            assert_eq!(granule, (block / 16).max(8));
            assert_eq!(units as usize * granule, block);
            assert_eq!(1 << classes, units);
            assert!(1u32 << bits >= units && bits.is_power_of_two());
        }
    }

    #[test]
    fn no_two_fields_of_the_state_share_a_bit() {
        fn fields<const B: usize>() {
            let blocks = 70;
            let mut used = std::vec![0u32; Geometry::<B>::state_words(blocks) as usize];
            let mut claim = |word: u32, bits: u32| {
                assert_eq!(used[word as usize] & bits, 0);
                used[word as usize] |= bits;
            };
            (0..Geometry::<B>::CLASSES).for_each(|class| claim(class, u32::MAX));
            for block in 0..blocks {
                let bit = 1 << (block % 32);
                claim(Geometry::<B>::BITMAP + block / 32 * Geometry::<B>::ROW, bit);
                claim(Geometry::<B>::full(block), bit);
                let (word, shift) = Geometry::<B>::position(block);
                claim(word, (Geometry::<B>::UNITS - 1) << shift);
            }
        }
        fields::<32>();
        fields::<64>();
        fields::<128>();
        fields::<1024>();
    }

    #[test]
    fn the_state_is_the_papers_40_and_112_bytes() {
        // Tables 1 and 2: 4 heads + bitmap + (full bit and 4-bit position) per block.
        for (blocks, bytes) in [(32u32, 40u32), (128, 112)] {
            let derived = 4 * 4 + blocks / 8 + blocks * (1 + 4) / 8;
            assert_eq!(derived, bytes);
            assert_eq!(Geometry::<128>::state_words(blocks) * 4, bytes);
        }
    }
}
