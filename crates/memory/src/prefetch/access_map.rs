//! Access map pattern matching: a map of the lines accessed in each 4 KB page, searched for strides
//! regardless of the order of the accesses (Ishii, Inaba and Hiraki, "Access Map Pattern Matching
//! for Data Cache Prefetch", ICS 2009).
//!
//! An access to line `t` asks for `t + k` when `t - k` and `t - 2k` were accessed, and for `t - k`
//! when `t + k` and `t + 2k` were, the smallest `k` first. Left out of the paper's design: the
//! degree that adapts to the prefetcher's own success, which depends on time.

use crate::params::PrefetchParams;
use crate::translate::PAGE_SHIFT;

/// A page: which of its lines were accessed, and which were asked for. At the smallest line size,
/// 32 bytes, a page has 128 lines.
#[derive(Clone, Copy, Debug)]
struct Map {
    page: u64,
    accessed: u128,
    asked: u128,
}

const EMPTY: Map = Map { page: u64::MAX, accessed: 0, asked: 0 };

/// The maps, direct-mapped: pages with the same low bits share an entry.
#[derive(Clone, Debug)]
pub(crate) struct AccessMap {
    maps: Vec<Map>,
    degree: usize,
    /// Bits of a line number within its page.
    page_bits: u32,
}

impl AccessMap {
    pub(crate) fn new(params: &PrefetchParams, line: u64) -> Self {
        Self {
            maps: vec![EMPTY; params.access_map_pages as usize],
            degree: params.access_map_degree as usize,
            page_bits: PAGE_SHIFT - line.trailing_zeros(),
        }
    }

    /// Observes an access.
    #[inline(never)]
    pub(crate) fn access(&mut self, line: u64, wanted: &mut Vec<u64>) {
        let page = line >> self.page_bits;
        let at = page as usize & (self.maps.len() - 1);
        let map = &mut self.maps[at];
        if map.page != page {
            *map = Map { page, ..EMPTY };
        }
        let lines = 1_i64 << self.page_bits;
        let first = page << self.page_bits;
        let here = (line - first) as i64;
        map.accessed |= 1 << here;
        let is_in = |set: u128, line: i64| (0..lines).contains(&line) && set >> line & 1 != 0;
        let mut left = self.degree;
        for k in 1..lines {
            for k in [k, -k] {
                let next = here + k;
                let known = map.accessed | map.asked;
                let matches = is_in(map.accessed, here - k) && is_in(map.accessed, here - 2 * k);
                if matches && (0..lines).contains(&next) && !is_in(known, next) {
                    map.asked |= 1 << next;
                    wanted.push(first + next as u64);
                    left -= 1;
                    if left == 0 {
                        return;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn asked(prefetcher: &mut AccessMap, line: u64) -> Vec<u64> {
        let mut wanted = Vec::new();
        prefetcher.access(line, &mut wanted);
        wanted
    }

    fn prefetcher(degree: u32) -> AccessMap {
        let params = PrefetchParams { access_map_degree: degree, ..PrefetchParams::default() };
        AccessMap::new(&params, 64)
    }

    #[test]
    fn the_third_line_of_a_stride_asks_for_the_fourth_in_whatever_order_the_others_came() {
        for [a, b] in [[3, 6], [6, 3]] {
            let mut prefetcher = prefetcher(2);
            assert_eq!([asked(&mut prefetcher, a), asked(&mut prefetcher, b)], [[0_u64; 0]; 2]);
            // 9 - 3 and 9 - 6 were accessed: 12. For no other stride were both lines accessed.
            assert_eq!(asked(&mut prefetcher, 9), [12]);
            assert_eq!(asked(&mut prefetcher, 9), [0_u64; 0], "asked for already");
            // 12 - 3 = 9, 12 - 6 = 6; the stride of 6 would need line 0.
            assert_eq!(asked(&mut prefetcher, 12), [15]);
        }
    }

    #[test]
    fn two_strides_through_one_page_are_told_apart() {
        let mut both = prefetcher(4);
        // Up by 4 from 0 and down by 5 from 63, alternately.
        let lines = [0, 63, 4, 58, 8, 53];
        let all: Vec<Vec<u64>> = lines.iter().map(|line| asked(&mut both, *line)).collect();
        assert_eq!(all, [vec![], vec![], vec![], vec![], vec![12], vec![48]]);
    }

    #[test]
    fn of_several_strides_the_smallest_come_first_and_no_more_than_the_degree() {
        let fresh = |degree| {
            let mut prefetcher = prefetcher(degree);
            [10, 12, 13, 14, 15].iter().for_each(|line| drop(asked(&mut prefetcher, *line)));
            asked(&mut prefetcher, 16)
        };
        // From 16: stride 1 (15, 14) -> 17; 2 (14, 12) -> 18; 3 (13, 10) -> 19. Line 16 itself was
        // asked for earlier: by 14 (14, 12) or, when the degree ended there with 15, by 15 (14,
        // 13).
        assert_eq!(fresh(4), [17, 18, 19]);
        assert_eq!(fresh(2), [17, 18]);
        assert_eq!(fresh(1), [17]);
    }

    proptest! {
        #[test]
        fn what_is_asked_for_is_what_the_definition_says(
            lines in prop::collection::vec(0_i64..64, 1..60), degree in 1_u32..5,
        ) {
            let mut prefetcher = prefetcher(degree);
            let (mut accessed, mut known) = (BTreeSet::new(), BTreeSet::new());
            for t in lines {
                accessed.insert(t);
                known.insert(t);
                let mut expected = Vec::new();
                for k in (1..64).flat_map(|k| [k, -k]) {
                    let found = accessed.contains(&(t - k)) && accessed.contains(&(t - 2 * k));
                    let free = (0..64).contains(&(t + k)) && !known.contains(&(t + k));
                    if found && free && expected.len() < degree as usize {
                        known.insert(t + k);
                        expected.push((t + k) as u64);
                    }
                }
                prop_assert_eq!(asked(&mut prefetcher, t as u64), expected);
            }
        }
    }
}
