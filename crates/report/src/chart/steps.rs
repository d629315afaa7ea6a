//! Latency histograms as series: the share of calls in each bin, and the cumulative share.

use results::LatencyHistogram;

use super::line::{Point, Series, Shape};
use super::look::Look;

/// Bins per octave of the distribution; below [`BINS`], one per cycle.
const BINS: u64 = 4;

/// The bin after the one that begins at `low`. Bins are a quarter of an octave wide, in whole
/// cycles; their bounds coincide with bounds of the histogram's buckets, so every count is exact.
fn next(low: u64) -> u64 {
    if low < BINS { low + 1 } else { low.saturating_add((1 << low.ilog2()) / BINS) }
}

/// The share of the calls in each bin: a step at the bin's first cycle. Bins are about 20 % wide,
/// which suits a logarithmic axis.
pub fn distribution(name: &str, look: Look, latency: &LatencyHistogram) -> Series {
    let mut points = Vec::new();
    let (min, max) = (latency.min().unwrap_or(0), latency.max().unwrap_or(0));
    let total = latency.total();
    let mut low = 0;
    let mut point = |x: u64, y: f64| points.push(Point { x: x.max(1) as f64, y, half: None });
    loop {
        let end = next(low);
        if end > min && total > 0 {
            let count = latency.count_between(low, end - 1);
            point(low, count as f64 / total as f64);
        }
        if end > max {
            break;
        }
        low = end;
    }
    if total > 0 {
        point(next(low), 0.0);
    }
    points.dedup_by(|b, a| {
        // Zero cycles share the first position of the axis with one cycle.
        let same = a.x == b.x;
        if same {
            a.y += b.y;
        }
        same
    });
    Series { name: name.into(), look, shape: Shape::Step, points }
}

/// The cumulative share of the calls by latency, at the upper bound of every non-empty bucket,
/// where it is exact.
pub fn cumulative(name: &str, look: Look, latency: &LatencyHistogram) -> Series {
    let total = latency.total() as f64;
    let max = latency.max().unwrap_or(0);
    let mut below = 0_u64;
    let mut points = Vec::new();
    for (bucket, count) in latency.buckets() {
        let (low, high) = LatencyHistogram::bounds(bucket as usize);
        if points.is_empty() {
            points.push(Point { x: low.max(1) as f64, y: 0.0, half: None });
        }
        below = below.saturating_add(count);
        let x = high.min(max).max(1) as f64;
        points.push(Point { x, y: below as f64 / total, half: None });
    }
    Series { name: name.into(), look, shape: Shape::Step, points }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(latencies: &[u64]) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::default();
        latencies.iter().for_each(|cycles| histogram.record(*cycles));
        histogram
    }

    #[test]
    fn bins_lie_on_the_bounds_of_buckets_and_grow_by_a_quarter_octave() {
        let mut low = 0;
        let mut bounds = vec![low];
        while low < 1 << 40 {
            low = next(low);
            bounds.push(low);
            let (first, _) = LatencyHistogram::bounds(LatencyHistogram::bucket_of(low));
            assert_eq!(first, low, "a bucket begins where the bin does");
        }
        assert_eq!(bounds[..13], [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16]);
    }

    #[test]
    fn shares_of_a_distribution_sum_to_one_and_lie_where_the_calls_are() {
        let series = distribution("s", Look::MAIN, &histogram(&[0, 7, 7, 20, 21, 5_000]));
        let sum: f64 = series.points.iter().map(|point| point.y).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        let at = |x: f64| series.points.iter().find(|point| point.x == x).unwrap().y;
        assert_eq!((at(1.0), at(7.0), at(20.0)), (1.0 / 6.0, 2.0 / 6.0, 2.0 / 6.0));
        assert!(series.points.windows(2).all(|pair| pair[0].x < pair[1].x));
        // 5000 lies in 4096 + 0 * 1024 .. 4096 + 1 * 1024.
        assert_eq!(at(4_096.0), 1.0 / 6.0);
    }

    #[test]
    fn the_cumulative_share_is_exact_at_its_points_and_ends_at_one() {
        let series = cumulative("s", Look::MAIN, &histogram(&[10, 10, 12, 40]));
        let points: Vec<_> = series.points.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!(points, [(10.0, 0.0), (10.0, 0.5), (12.0, 0.75), (40.0, 1.0)]);
    }

    #[test]
    fn no_calls_give_no_points() {
        let none = LatencyHistogram::default();
        assert!(distribution("s", Look::MAIN, &none).points.is_empty());
        assert!(cumulative("s", Look::MAIN, &none).points.is_empty());
    }
}
