//! The sizes that a heap hands out.
//!
//! Only the last, partial block of a request is rounded. The paper allows powers of two; since a
//! region may be trimmed to any number of units (see [`crate::engine`]), the finer rules need no
//! more state and lower the internal fragmentation, the largest cause of waste in Figure 11.

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::PowerOfTwo {}
    impl Sealed for super::ThreeQuarters {}
    impl Sealed for super::Exact {}
}

/// A rule for rounding sizes, in units.
pub trait Classes: sealed::Sealed {
    /// Deferred pools, one per small size.
    #[doc(hidden)]
    type PerClass<T>: AsRef<[T]>;
    /// All pools, each made by `make`.
    #[doc(hidden)]
    fn fill<T>(make: impl FnMut(usize) -> T) -> Self::PerClass<T>;
    /// As `PerClass`, plus one for a block.
    #[doc(hidden)]
    type PerSize<T>: AsRef<[T]>;
    /// All of them, each made by `make`.
    #[doc(hidden)]
    fn fill_sizes<T>(make: impl FnMut(usize) -> T) -> Self::PerSize<T>;
    /// The pool of a size of up to 16 units, rounded or not; that of 16 units is the last.
    #[doc(hidden)]
    fn pool(units: u32) -> usize;
    /// The rounded size of pool `index`, the inverse of `pool`.
    #[doc(hidden)]
    fn pool_units(index: usize) -> u32;
    /// True if every size below a block is a power of two, so that it is freed in one piece.
    #[doc(hidden)]
    const SINGLE: bool;
    /// Rounds units, at least one and at most a block, up to a size of this rule.
    fn round_tail(tail: u32) -> u32;

    /// Rounds a request in units.
    #[inline(always)]
    fn round(units: u32, per_block: u32) -> u32 {
        let last = units - 1;
        last / per_block * per_block + Self::round_tail(last % per_block + 1)
    }
}

/// Powers of two: the paper's rule.
#[derive(Clone, Copy, Debug, Default)]
pub struct PowerOfTwo;

/// Powers of two and three quarters of them: at most one more region per operation; at most a third
/// of a request is lost, against a half under the paper's rule.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreeQuarters;

/// Every multiple of the granule: only the rest of the last granule is lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exact;

impl Classes for PowerOfTwo {
    const SINGLE: bool = true;

    type PerClass<T> = [T; 4];

    #[inline(always)]
    fn fill<T>(make: impl FnMut(usize) -> T) -> [T; 4] {
        core::array::from_fn(make)
    }

    type PerSize<T> = [T; 5];

    #[inline(always)]
    fn fill_sizes<T>(make: impl FnMut(usize) -> T) -> [T; 5] {
        core::array::from_fn(make)
    }

    #[inline(always)]
    fn pool(units: u32) -> usize {
        crate::tag::class_of_tail(units) as usize
    }

    #[inline(always)]
    fn pool_units(index: usize) -> u32 {
        1 << index
    }

    #[inline(always)]
    fn round_tail(tail: u32) -> u32 {
        1 << crate::tag::class_of_tail(tail)
    }
}

impl Classes for ThreeQuarters {
    const SINGLE: bool = false;

    /// 1, 2, 3, 4, 6, 8 and 12 units.
    type PerClass<T> = [T; 7];

    #[inline(always)]
    fn fill<T>(make: impl FnMut(usize) -> T) -> [T; 7] {
        core::array::from_fn(make)
    }

    type PerSize<T> = [T; 8];

    #[inline(always)]
    fn fill_sizes<T>(make: impl FnMut(usize) -> T) -> [T; 8] {
        core::array::from_fn(make)
    }

    #[inline(always)]
    fn pool(units: u32) -> usize {
        const POOLS: [u8; 16] = [0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7];
        usize::from(POOLS[(units - 1) as usize % 16])
    }

    #[inline(always)]
    fn pool_units(index: usize) -> u32 {
        [1, 2, 3, 4, 6, 8, 12, 16][index]
    }

    #[inline(always)]
    fn round_tail(tail: u32) -> u32 {
        let whole = tail.next_power_of_two();
        let three = whole / 4 * 3;
        if tail <= three { three } else { whole }
    }
}

impl Classes for Exact {
    const SINGLE: bool = false;

    type PerClass<T> = [T; 15];

    #[inline(always)]
    fn fill<T>(make: impl FnMut(usize) -> T) -> [T; 15] {
        core::array::from_fn(make)
    }

    type PerSize<T> = [T; 16];

    #[inline(always)]
    fn fill_sizes<T>(make: impl FnMut(usize) -> T) -> [T; 16] {
        core::array::from_fn(make)
    }

    #[inline(always)]
    fn pool(units: u32) -> usize {
        units as usize - 1
    }

    #[inline(always)]
    fn pool_units(index: usize) -> u32 {
        index as u32 + 1
    }

    #[inline(always)]
    fn round_tail(tail: u32) -> u32 {
        tail
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes<C: Classes>() -> std::vec::Vec<u32> {
        let mut all: std::vec::Vec<u32> = (1..16).map(|u| C::round(u, 16)).collect();
        all.dedup();
        all
    }

    #[test]
    fn each_rule_hands_out_the_sizes_it_names() {
        assert_eq!(sizes::<PowerOfTwo>(), [1, 2, 4, 8, 16]);
        assert_eq!(sizes::<ThreeQuarters>(), [1, 2, 3, 4, 6, 8, 12, 16]);
        assert_eq!(sizes::<Exact>(), (1..16).collect::<std::vec::Vec<_>>());
    }

    #[test]
    fn only_the_partial_block_is_rounded() {
        assert_eq!(PowerOfTwo::round(16 * 5 + 3, 16), 16 * 5 + 4);
        assert_eq!(PowerOfTwo::round(16 * 5 + 9, 16), 16 * 6);
        assert_eq!(ThreeQuarters::round(16 * 5 + 9, 16), 16 * 5 + 12);
        assert_eq!(Exact::round(16 * 5 + 9, 16), 16 * 5 + 9);
        assert_eq!(PowerOfTwo::round(32, 16), 32);
    }

    #[test]
    fn every_small_size_has_a_pool_of_its_own() {
        fn distinct<C: Classes>() {
            let pools = C::fill(|_| 0u8).as_ref().len();
            let small: std::vec::Vec<u32> = sizes::<C>().into_iter().filter(|&u| u < 16).collect();
            let used: std::collections::BTreeSet<usize> =
                small.iter().map(|&u| C::pool(u)).collect();
            assert_eq!(used.len(), small.len());
            assert_eq!(pools, small.len());
            for units in small {
                assert_eq!(C::pool_units(C::pool(units)), units);
            }
        }
        distinct::<PowerOfTwo>();
        distinct::<ThreeQuarters>();
        distinct::<Exact>();
    }
}
