//! Statistics of predictions against measurements.

use crate::bhive::Measured;
use crate::blocks::Prediction;
use crate::category::Category;
use crate::tau::kendall_tau;

/// A measured block with its prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The measurement.
    pub row: Measured,
    /// The model's prediction.
    pub prediction: Prediction,
}

impl Outcome {
    /// Relative to the measurement, signed: 0.1 means ten per cent too slow.
    pub fn error(&self) -> f64 {
        (self.prediction.cycles_per_iteration - self.row.cycles) / self.row.cycles
    }
}

/// Error statistics over a set of blocks. Undefined values are `None`.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Score {
    /// Number of blocks.
    pub blocks: usize,
    /// Mean absolute error relative to the measurement (1 = 100 %).
    pub mape: Option<f64>,
    /// Median of the absolute relative error.
    pub median: Option<f64>,
    /// Share of blocks with an error of at most 5 %.
    pub within_5_percent: Option<f64>,
    /// Kendall's tau-b between predictions and measurements.
    pub tau: Option<f64>,
}

/// Errors up to this count as hits: 5 %.
const HIT: f64 = 0.05;

impl Score {
    /// Of pairs of predicted and measured cycles, all above 0.
    pub fn of(pairs: &[(f64, f64)]) -> Self {
        let mut errors: Vec<f64> = pairs.iter().map(|(p, m)| (p - m).abs() / m).collect();
        errors.sort_by(f64::total_cmp);
        let n = errors.len();
        let share = |sum: f64| (n > 0).then(|| sum / n as f64);
        Self {
            blocks: n,
            mape: share(errors.iter().sum()),
            median: (n > 0).then(|| f64::midpoint(errors[(n - 1) / 2], errors[n / 2])),
            within_5_percent: share(errors.partition_point(|e| *e <= HIT) as f64),
            tau: kendall_tau(pairs),
        }
    }

    /// Of all outcomes that a filter accepts.
    pub fn among(outcomes: &[Outcome], keep: impl Fn(&Outcome) -> bool) -> Self {
        let pairs: Vec<(f64, f64)> = outcomes
            .iter()
            .filter(|o| keep(o))
            .map(|o| (o.prediction.cycles_per_iteration, o.row.cycles))
            .collect();
        Self::of(&pairs)
    }

    /// One per category, in the order of the categories.
    pub fn by_category(outcomes: &[Outcome]) -> Vec<(Category, Self)> {
        let score = |c| (c, Self::among(outcomes, |o| o.prediction.category == c));
        Category::ALL.into_iter().map(score).collect()
    }
}

/// The `n` outcomes with the largest errors, worst first.
pub fn worst(outcomes: &[Outcome], n: usize) -> Vec<&Outcome> {
    let mut list: Vec<&Outcome> = outcomes.iter().collect();
    let order = |a: &&Outcome, b: &&Outcome| {
        b.error().abs().total_cmp(&a.error().abs()).then(a.row.line.cmp(&b.row.line))
    };
    list.sort_by(order);
    list.truncate(n);
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_median_and_share_follow_from_the_errors() {
        // Errors: 0, 0.04 (hit), 0.10, 0.50. Mean 0.64 / 4, median (0.04 + 0.10) / 2, hits 2 of 4.
        let score = Score::of(&[(1.0, 1.0), (1.04, 1.0), (1.8, 2.0), (6.0, 4.0)]);
        let near = |value: Option<f64>, expected: f64| (value.unwrap() - expected).abs() < 1e-12;
        assert!(near(score.mape, 0.16) && near(score.median, 0.07));
        assert!(near(score.within_5_percent, 0.5));
        // All pairs in order but (1.0, 1.0) and (1.04, 1.0), tied in the measurement: 5 of 6 pairs
        // agree; tau-b = 5 / sqrt(6 * 5).
        assert!(near(score.tau, 5.0 / f64::sqrt(30.0)));
    }

    #[test]
    fn nothing_has_no_statistics() {
        let score = Score::of(&[]);
        assert_eq!((score.blocks, score.mape, score.median, score.tau), (0, None, None, None));
    }

    #[test]
    fn an_odd_number_has_the_middle_error_as_median() {
        let score = Score::of(&[(1.5, 1.0), (1.0, 1.0), (1.25, 1.0)]);
        assert_eq!(score.median, Some(0.25));
    }
}
