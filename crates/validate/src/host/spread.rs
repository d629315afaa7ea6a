//! Median, its interval and the spread of a set of samples.

use serde::Serialize;

/// Two-sided 95 % quantile of the normal distribution, which approximates the binomial one.
const NORMAL_95: f64 = 1.96;

/// Statistics of the samples of one quantity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Median.
    pub median: f64,
    /// 95 % interval of the median, from the order of the samples alone: the number of samples
    /// below the true median is binomial, so the interval runs between the ranks n/2 ± 1.96 √n/2.
    /// With few samples it covers all of them.
    pub low: f64,
    /// Its other end.
    pub high: f64,
    /// Middle half of the samples (quartile to quartile) relative to the median.
    pub spread: f64,
}

impl Spread {
    /// Of finite samples; `None` if there are none.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        if n == 0 {
            return None;
        }
        let median = f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]);
        let half = NORMAL_95 * (n as f64).sqrt() / 2.0;
        let rank = (n as f64 / 2.0 - half).floor().max(0.0) as usize;
        let quarter = n / 4;
        let spread = (sorted[n - 1 - quarter] - sorted[quarter]) / median;
        Some(Self { median, low: sorted[rank], high: sorted[n - 1 - rank], spread })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_runs_between_the_binomial_ranks() {
        // 100 samples 1..=100: ranks 50 - 9.8 = 40.2, so the 41st from either end.
        let samples: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        let spread = Spread::of(&samples).unwrap();
        assert_eq!((spread.median, spread.low, spread.high), (50.5, 41.0, 60.0));
        // Quartiles: the 26th and the 75th.
        assert!((spread.spread - (75.0 - 26.0) / 50.5).abs() < 1e-12);
    }

    #[test]
    fn few_samples_have_all_of_themselves_as_interval_and_none_have_nothing() {
        let spread = Spread::of(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!((spread.low, spread.median, spread.high), (1.0, 2.0, 3.0));
        assert_eq!(Spread::of(&[]), None);
        let one = Spread::of(&[5.0]).unwrap();
        assert_eq!((one.low, one.high, one.spread), (5.0, 5.0, 0.0));
    }
}
