//! The other line of an aligned pair on a miss (the manual's "spatial prefetcher").

/// Stateless.
#[derive(Clone, Debug)]
pub(crate) struct Adjacent {
    line_shift: u32,
}

impl Adjacent {
    pub(crate) fn new(line: u64) -> Self {
        Self { line_shift: line.trailing_zeros() }
    }

    /// Sees an access; the answer is a line to prefetch. A pair never crosses a page.
    pub(crate) fn access(&self, addr: u64, missed: bool) -> Option<u64> {
        missed.then_some(addr >> self.line_shift ^ 1)
    }
}
