//! The other line of an aligned pair on a miss (the manual's "spatial prefetcher").

/// Stateless.
#[derive(Clone, Debug)]
pub(crate) struct Adjacent;

impl Adjacent {
    /// Observes an access and returns a line to prefetch. A pair never crosses a page.
    pub(crate) fn access(&self, line: u64, missed: bool) -> Option<u64> {
        missed.then_some(line ^ 1)
    }
}
