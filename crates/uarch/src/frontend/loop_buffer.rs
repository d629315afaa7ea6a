//! The loop buffer: short loops stream from the decoded-uop queue without being fetched again.

/// Iterations after which a loop is locked down ([AF]: a few).
const ITERATIONS_TO_LOCK: u32 = 3;

/// Detects short loops from taken branches.
#[derive(Default)]
pub struct LoopBuffer {
    limit: u64,
    branch: u64,
    /// Fused uops delivered when the branch was last taken.
    delivered: u64,
    iterations: u32,
}

impl LoopBuffer {
    /// For loops of up to `limit` fused uops; 0 turns it off.
    pub fn new(limit: u32) -> Self {
        Self { limit: u64::from(limit), ..Self::default() }
    }

    /// A branch at `addr` was taken to `target` after this many delivered fused uops; the flag says
    /// whether all since the last one came from the uop cache. Returns whether the loop now
    /// streams.
    #[inline]
    pub fn taken(&mut self, addr: u64, target: u64, delivered: u64, cached: bool) -> bool {
        let length = delivered - self.delivered;
        let same = addr == self.branch && target <= addr && length <= self.limit && cached;
        self.iterations = if same { self.iterations + 1 } else { 0 };
        self.branch = addr;
        self.delivered = delivered;
        self.iterations >= ITERATIONS_TO_LOCK
    }

    /// The loop ended or the pipeline was redirected.
    pub fn leave(&mut self) {
        self.iterations = 0;
        self.branch = 0;
    }
}
