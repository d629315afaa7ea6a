//! Which pages the program has touched.

/// Pages of a region: its bitmap fills one cache line.
const REGION_PAGES: u64 = 512;
const EMPTY: u64 = u64::MAX;

/// A set of page numbers: an open-addressed table of 2 MB regions, with one bit per page.
///
/// It is asked only when a translation is in no TLB, and remembers the last region it found.
#[derive(Clone, Debug)]
pub(crate) struct Pages {
    regions: Vec<u64>,
    bits: Vec<[u64; 8]>,
    used: usize,
    last: usize,
}

impl Pages {
    pub(crate) fn new() -> Self {
        let start = 64;
        Self { regions: vec![EMPTY; start], bits: vec![[0; 8]; start], used: 0, last: 0 }
    }

    /// The slot of a region, or the empty slot where it belongs.
    fn place(&self, region: u64) -> usize {
        let mask = self.regions.len() - 1;
        // Multiplying by the golden ratio spreads neighbouring regions (Knuth 6.4).
        let mut at = (region.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.regions[at] != region && self.regions[at] != EMPTY {
            at = (at + 1) & mask;
        }
        at
    }

    /// Records a touch of `page`; true if it is the first.
    pub(crate) fn touch(&mut self, page: u64) -> bool {
        let region = page / REGION_PAGES;
        if self.regions[self.last] != region {
            self.last = self.place_or_add(region);
        }
        let word = &mut self.bits[self.last][(page % REGION_PAGES / 64) as usize];
        let bit = 1 << (page % 64);
        let first = *word & bit == 0;
        *word |= bit;
        first
    }

    /// True if `page` was touched.
    pub(crate) fn contains(&self, page: u64) -> bool {
        let at = self.place(page / REGION_PAGES);
        self.regions[at] != EMPTY
            && self.bits[at][(page % REGION_PAGES / 64) as usize] & (1 << (page % 64)) != 0
    }

    fn place_or_add(&mut self, region: u64) -> usize {
        let at = self.place(region);
        if self.regions[at] == region {
            return at;
        }
        if (self.used + 1) * 2 > self.regions.len() {
            self.grow();
            return self.place_or_add(region);
        }
        self.used += 1;
        self.regions[at] = region;
        at
    }

    fn grow(&mut self) {
        let size = self.regions.len() * 2;
        let regions = std::mem::replace(&mut self.regions, vec![EMPTY; size]);
        let bits = std::mem::replace(&mut self.bits, vec![[0; 8]; size]);
        for (region, bits) in regions.into_iter().zip(bits) {
            if region != EMPTY {
                let at = self.place(region);
                self.regions[at] = region;
                self.bits[at] = bits;
            }
        }
        self.last = 0;
    }

    /// Forgets the pages from `first` up to but not including `end`.
    pub(crate) fn forget(&mut self, first: u64, end: u64) {
        if first >= end {
            return;
        }
        let regions = first / REGION_PAGES..=(end - 1) / REGION_PAGES;
        if regions.end() - regions.start() > self.regions.len() as u64 {
            // The range is wider than the table: walk the table instead.
            for at in 0..self.regions.len() {
                if regions.contains(&self.regions[at]) {
                    clear(&mut self.bits[at], self.regions[at] * REGION_PAGES, first, end);
                }
            }
            return;
        }
        for region in regions {
            let at = self.place(region);
            if self.regions[at] == region {
                clear(&mut self.bits[at], region * REGION_PAGES, first, end);
            }
        }
    }
}

/// Clears the bits of pages `first..end` in the region that begins at page `base`.
fn clear(bits: &mut [u64; 8], base: u64, first: u64, end: u64) {
    let from = first.max(base) - base;
    let to = end.min(base + REGION_PAGES) - base;
    for page in from..to {
        bits[(page / 64) as usize] &= !(1 << (page % 64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        #[test]
        fn the_set_equals_a_hash_set(
            steps in prop::collection::vec(
                (0_u8..8, 0_u64..400, 0_u64..3_000, 0_u64..5), 1..600),
        ) {
            let mut pages = Pages::new();
            let mut set = HashSet::new();
            for (what, region, page, wide) in steps {
                let page = region * 0x1_2345 + page;
                if what == 0 {
                    let end = page + 10_u64.pow(wide as u32 * 2);
                    pages.forget(page, end);
                    set.retain(|p| *p < page || *p >= end);
                } else {
                    prop_assert_eq!(pages.contains(page), set.contains(&page));
                    prop_assert_eq!(pages.touch(page), set.insert(page));
                    prop_assert!(pages.contains(page));
                }
            }
        }
    }
}
