//! The coalesce tag: which regions of a block are free, as a heap-shaped binary tree in one word
//! (paper, Figure 3).
//!
//! For a block of 16 units the bits 16..32 stand for the 16 single units, 8..16 for the pairs, and
//! so on; bit 1 is the whole block.

/// The smallest class with regions of at least `units`: the logarithm, rounded up.
#[inline(always)]
pub const fn class_of(units: u32) -> u32 {
    log2(2 * units - 1)
}

/// `class_of` for 1 to 16 units. Some 64-bit processors need eight micro-operations to find the
/// highest set bit, so there the answers are in a table.
#[inline(always)]
pub const fn class_of_tail(units: u32) -> u32 {
    const CLASSES: [u8; 16] = [0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4];
    if cfg!(target_pointer_width = "64") {
        CLASSES[(units - 1) as usize % 16] as u32
    } else {
        class_of(units)
    }
}

/// The number of the highest set bit; 0 for 0, so that no case panics.
#[inline(always)]
pub const fn log2(number: u32) -> u32 {
    31 - (number | 1).leading_zeros()
}

/// The bit number of the region of `class` at unit `position`.
#[inline(always)]
pub const fn bit(units: u32, position: u32, class: u32) -> u32 {
    (units | position) >> class
}

/// The last unit of the region that bit `bit` stands for.
#[inline(always)]
pub const fn last_unit(units: u32, bit: u32) -> u32 {
    let class = units.trailing_zeros() - log2(bit);
    (((bit + 1) << class) - 1) & (units - 1)
}

/// The aligned powers of two that fill granules `from..to` of a block of `units`, where `to` is a
/// multiple of a power of two above `to - from`: what a split leaves behind (Listing 4, for any
/// `from`). Yields granule, class and bit number.
///
/// A piece's bit is odd, since it is a right child; the next piece is the nearest ancestor of the
/// bit's successor that is also one: the successor's parent itself if a power of two was kept.
#[inline(always)]
pub fn rest(units: u32, from: u32, to: u32, power: bool) -> impl Iterator<Item = Piece> {
    let (mut at, mut class) = (from, from.trailing_zeros());
    let (mut size, mut bit) = (1 << (class & 31), bit(units, from % units, class & 31));
    core::iter::from_fn(move || {
        if at == to {
            return None;
        }
        while !power && bit & 1 == 0 {
            (bit, class, size) = (bit >> 1, class + 1, size << 1);
        }
        let piece = (at, class, bit);
        at += size;
        (bit, class, size) = ((bit >> 1) + 1, class + 1, size << 1);
        Some(piece)
    })
}

/// First granule, class and bit number of a region.
pub type Piece = (u32, u32, u32);

/// The aligned powers of two that make up units `from..from + len`, where `from` is a multiple of a
/// power of two of at least `len`: what a free gives back. Yields position and class.
#[inline(always)]
pub fn parts(from: u32, len: u32) -> impl Iterator<Item = (u32, u32)> {
    let (mut at, mut left) = (from, len);
    core::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let (position, class) = (at, log2(left));
        at += 1 << class;
        left -= 1 << class;
        Some((position, class))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn a_sixteen_unit_block_uses_thirty_bits_one_per_possible_region() {
        let mut seen = 0u32;
        for class in 0..4 {
            for position in (0..16).step_by(1 << class) {
                let bit = bit(16, position, class);
                assert_eq!(seen >> bit & 1, 0, "no two regions share a bit");
                seen |= 1 << bit;
                assert_eq!(last_unit(16, bit), position + (1 << class) - 1);
            }
        }
        assert_eq!(seen, !3);
    }

    #[test]
    fn a_buddys_bit_is_the_bit_xor_one_and_the_parents_is_half() {
        for class in 0..3 {
            for position in (0..16).step_by(1 << class) {
                let own = bit(16, position, class);
                assert_eq!(bit(16, position ^ (1 << class), class), own ^ 1);
                assert_eq!(bit(16, position & !(1 << class), class + 1), own >> 1);
            }
        }
    }

    #[test]
    fn rest_and_parts_tile_the_region_with_aligned_pieces() {
        for size in [1u32, 2, 4, 8, 16] {
            for start in (0..16).step_by(size as usize) {
                for keep in 1..=size {
                    let left =
                        rest(16, 32 + start + keep, 32 + start + size, keep.is_power_of_two());
                    let left = left.map(|(granule, class, number)| {
                        assert_eq!(number, bit(16, granule - 32, class));
                        (granule - 32, class)
                    });
                    let all: Vec<(u32, u32)> = parts(start, keep).chain(left).collect();
                    let mut at = start;
                    for (position, class) in all {
                        assert_eq!(position, at);
                        assert_eq!(position % (1 << class), 0);
                        at += 1 << class;
                    }
                    assert_eq!(at, start + size);
                }
            }
        }
    }
}
