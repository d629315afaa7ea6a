//! A latency histogram that is exact for fast allocator calls and always small.
//!
//! Every latency up to 255 cycles has its own bucket. Above that, each octave `[2^k, 2^(k+1))` is
//! divided into 16 buckets of equal width. A value is read back as the middle of its bucket, which
//! is at most 1/32 (3.2 %) away from the value itself. Mean and extremes come from exact counters.

use serde::{Deserialize, Serialize};

/// Latencies below this many cycles are kept exactly.
pub const EXACT_CYCLES: u64 = 256;
/// Buckets in each octave from [`EXACT_CYCLES`] on.
pub const SUB_BUCKETS: u64 = 16;

/// log2 of [`EXACT_CYCLES`], the first octave that is divided into buckets.
const FIRST_OCTAVE: u64 = EXACT_CYCLES.trailing_zeros() as u64;
/// log2 of [`SUB_BUCKETS`].
const SUB_BITS: u64 = SUB_BUCKETS.trailing_zeros() as u64;

/// How often each latency occurred.
///
/// Serialised as `{min, max, buckets: [[bucket, count], …]}` without the empty buckets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Sparse", into = "Sparse")]
pub struct LatencyHistogram {
    /// Counts by bucket, up to the largest non-empty bucket.
    counts: Vec<u64>,
    total: u64,
    min: u64,
    max: u64,
}

/// The serialised form.
#[derive(Clone, Serialize, Deserialize)]
struct Sparse {
    min: u64,
    max: u64,
    buckets: Vec<(u32, u64)>,
}

impl LatencyHistogram {
    /// The number of buckets that cover all 64-bit values.
    pub const BUCKETS: usize = (EXACT_CYCLES + (64 - FIRST_OCTAVE) * SUB_BUCKETS) as usize;

    /// The bucket a latency falls into.
    #[inline]
    pub fn bucket_of(cycles: u64) -> usize {
        if cycles < EXACT_CYCLES {
            return cycles as usize;
        }
        let octave = u64::from(cycles.ilog2());
        let sub = (cycles >> (octave - SUB_BITS)) - SUB_BUCKETS;
        (EXACT_CYCLES + (octave - FIRST_OCTAVE) * SUB_BUCKETS + sub) as usize
    }

    /// The smallest and the largest latency of a bucket. Larger bucket numbers count as the last
    /// one.
    pub fn bounds(bucket: usize) -> (u64, u64) {
        let bucket = bucket.min(Self::BUCKETS - 1) as u64;
        if bucket < EXACT_CYCLES {
            return (bucket, bucket);
        }
        let above = bucket - EXACT_CYCLES;
        let shift = FIRST_OCTAVE - SUB_BITS + above / SUB_BUCKETS;
        let low = (SUB_BUCKETS + above % SUB_BUCKETS) << shift;
        (low, low + ((1 << shift) - 1))
    }

    /// Counts one call.
    #[inline]
    pub fn record(&mut self, cycles: u64) {
        self.add(Self::bucket_of(cycles), 1);
        if self.total == 1 {
            (self.min, self.max) = (cycles, cycles);
        }
        self.min = self.min.min(cycles);
        self.max = self.max.max(cycles);
    }

    /// Rebuilds a histogram from its extremes and its buckets' counts.
    pub fn from_parts(min: u64, max: u64, buckets: impl IntoIterator<Item = (u32, u64)>) -> Self {
        let mut histogram = Self { min: min.min(max), max: max.max(min), ..Self::default() };
        for (bucket, count) in buckets {
            histogram.add((bucket as usize).min(Self::BUCKETS - 1), count);
        }
        histogram
    }

    /// Adds another histogram's counts to this one.
    pub fn merge(&mut self, other: &Self) {
        if other.total == 0 {
            return;
        }
        if self.total == 0 {
            self.clone_from(other);
            return;
        }
        for (bucket, count) in other.buckets() {
            self.add(bucket as usize, count);
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The number of calls counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The smallest latency seen.
    pub fn min(&self) -> Option<u64> {
        (self.total > 0).then_some(self.min)
    }

    /// The largest latency seen.
    pub fn max(&self) -> Option<u64> {
        (self.total > 0).then_some(self.max)
    }

    /// The non-empty buckets with their counts, in increasing order.
    pub fn buckets(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let used = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        used.map(|(bucket, count)| (bucket as u32, *count))
    }

    /// Calls with a latency of `low..=high` cycles, counting whole buckets whose lower bound lies
    /// inside.
    pub fn count_between(&self, low: u64, high: u64) -> u64 {
        let inside = |bucket: u32| (low..=high).contains(&Self::bounds(bucket as usize).0);
        self.buckets()
            .filter(|(bucket, _)| inside(*bucket))
            .map(|(_, count)| count)
            .fold(0, u64::saturating_add)
    }

    /// The latency that `percent` % of the calls do not exceed (nearest rank: the smallest value
    /// with at least `percent` % of the calls at or below it). Exact below [`EXACT_CYCLES`], the
    /// middle of the bucket above that.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        if self.total == 0 {
            return None;
        }
        let rank = (percent / 100.0 * self.total as f64).ceil() as u64;
        let rank = rank.clamp(1, self.total);
        let mut below = 0_u64;
        for (bucket, count) in self.buckets() {
            below = below.saturating_add(count);
            if below >= rank {
                let (low, high) = Self::bounds(bucket as usize);
                return Some((low + (high - low) / 2).clamp(self.min, self.max));
            }
        }
        Some(self.max)
    }

    fn add(&mut self, bucket: usize, count: u64) {
        if bucket >= self.counts.len() && count > 0 {
            self.counts.resize(bucket + 1, 0);
        }
        if count > 0 {
            self.counts[bucket] = self.counts[bucket].saturating_add(count);
            self.total = self.total.saturating_add(count);
        }
    }
}

impl From<Sparse> for LatencyHistogram {
    fn from(sparse: Sparse) -> Self {
        Self::from_parts(sparse.min, sparse.max, sparse.buckets)
    }
}

impl From<LatencyHistogram> for Sparse {
    fn from(histogram: LatencyHistogram) -> Self {
        Self { min: histogram.min, max: histogram.max, buckets: histogram.buckets().collect() }
    }
}
