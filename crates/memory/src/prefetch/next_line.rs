//! The next line: after two accesses to ascending neighbouring lines (the manual's "DCU
//! prefetcher"), or on every miss.

use crate::translate::PAGE_SHIFT;

/// The last line accessed.
#[derive(Clone, Debug)]
pub(crate) struct NextLine {
    last: u64,
    line_shift: u32,
}

impl NextLine {
    pub(crate) fn new(line: u64) -> Self {
        Self { last: u64::MAX - 1, line_shift: line.trailing_zeros() }
    }

    /// Observes an access and returns a line to prefetch, of the same 4 KB page.
    #[inline(always)]
    pub(crate) fn load(&mut self, line: u64) -> Option<u64> {
        let ascending = line == self.last + 1;
        self.last = line;
        let same_page = (line ^ (line + 1)) >> (PAGE_SHIFT - self.line_shift) == 0;
        (ascending && same_page).then_some(line + 1)
    }
}

/// Stateless.
#[derive(Clone, Debug)]
pub(crate) struct NextOnMiss {
    line_shift: u32,
}

impl NextOnMiss {
    pub(crate) fn new(line: u64) -> Self {
        Self { line_shift: line.trailing_zeros() }
    }

    /// Observes an access and returns a line to prefetch, of the same 4 KB page.
    pub(crate) fn access(&self, line: u64, missed: bool) -> Option<u64> {
        let next = line.wrapping_add(1);
        let same_page = (line ^ next) >> (PAGE_SHIFT - self.line_shift) == 0;
        (missed && same_page).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ascending_lines_ask_for_the_third_and_never_beyond_the_page() {
        let mut prefetcher = NextLine::new(64);
        let asked: Vec<_> = (60..66).map(|line| prefetcher.load(line)).collect();
        // A page has 64 lines of 64 bytes: line 64 is the first of the next page.
        assert_eq!(asked, [None, Some(62), Some(63), None, Some(65), Some(66)]);
    }

    #[test]
    fn repeated_and_descending_lines_ask_for_nothing() {
        let mut prefetcher = NextLine::new(64);
        assert!([9, 9, 8, 7, 7].iter().all(|line| prefetcher.load(*line).is_none()));
    }
}
