//! The paper's significance test: a one-sided two-sample Student's t-test (section 6.3).
//!
//! The paper keeps a program if the hypothesis "it became slower" is rejected with a probability of
//! error below 5 %. With `n` runs of the baseline (times `a_i`) and `m` of the accelerated machine
//! (times `b_i`), assuming equal variances as in Student's test:
//!
//! ```text
//! s^2 = (sum (a_i - mean a)^2 + sum (b_i - mean b)^2) / (n + m - 2)
//! t   = (mean a - mean b) / (s * sqrt(1/n + 1/m))
//! p   = P(T > t), T with n + m - 2 degrees of freedom
//! ```

use results::confidence::{Estimate, LEVEL, cumulative, two_sided};

/// A test's outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Test {
    /// The statistic; positive if the second sample is smaller.
    pub t: f64,
    /// Degrees of freedom.
    pub degrees: usize,
    /// Probability of a difference at least this large if there were no real one.
    pub p: f64,
}

/// Tests whether `new` is smaller than `base`; `None` with fewer than two values in either, or when
/// neither varies.
pub fn smaller(base: &[f64], new: &[f64]) -> Option<Test> {
    if base.len() < 2 || new.len() < 2 {
        return None;
    }
    let degrees = base.len() + new.len() - 2;
    let variance = (squares(base) + squares(new)) / degrees as f64;
    let error = (variance * (1.0 / base.len() as f64 + 1.0 / new.len() as f64)).sqrt();
    if error == 0.0 {
        return None;
    }
    let t = (mean(base) - mean(new)) / error;
    Some(Test { t, degrees, p: upper_tail(t, degrees) })
}

/// `P(T > t)`.
pub fn upper_tail(t: f64, degrees: usize) -> f64 {
    let outside = 1.0 - cumulative(t.abs(), degrees);
    if t >= 0.0 { outside / 2.0 } else { 1.0 - outside / 2.0 }
}

/// Mean and 95 % interval of independently drawn values.
pub fn interval(values: &[f64]) -> Option<Estimate> {
    let n = values.len();
    let half_width =
        (n >= 2).then(|| two_sided(LEVEL, n - 1) * deviation(values) / (n as f64).sqrt());
    (n > 0).then(|| Estimate { value: mean(values), half_width })
}

/// The sample standard deviation; 0 for fewer than two values.
pub fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 { 0.0 } else { (squares(values) / (values.len() - 1) as f64).sqrt() }
}

/// The arithmetic mean.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_equals_the_printed_table() {
        // Critical values of the one-sided test from any printed table (for example NIST's
        // e-Handbook of Statistical Methods, 1.3.6.7.2), to three digits.
        for (degrees, p, t) in [
            (1, 0.05, 6.314),
            (4, 0.05, 2.132),
            (8, 0.05, 1.860),
            (8, 0.01, 2.896),
            (10, 0.025, 2.228),
            (18, 0.001, 3.610),
            (30, 0.10, 1.310),
        ] {
            let actual = upper_tail(t, degrees);
            assert!((actual - p).abs() < 0.002 * p + 1e-5, "{degrees} {p}: {actual}");
            assert!((upper_tail(-t, degrees) - (1.0 - p)).abs() < 1e-3);
        }
        assert!((upper_tail(0.0, 7) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_test_worked_out_by_hand() {
        // Means 12 and 10, squares 2 and 2, variance 4 / 4 = 1, error sqrt(2/3).
        let test = smaller(&[11.0, 12.0, 13.0], &[9.0, 10.0, 11.0]).unwrap();
        assert!((test.t - 2.0 / (2.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(test.degrees, 4);
        // With four degrees P(T > t) = 1/2 - (3/8) s (2/..): the table brackets it.
        assert!(test.p > 0.025 && test.p < 0.05, "{}", test.p);
        let other = smaller(&[9.0, 10.0, 11.0], &[11.0, 12.0, 13.0]).unwrap();
        assert!((test.p + other.p - 1.0).abs() < 1e-12);
    }

    #[test]
    fn too_few_or_constant_values_have_no_test() {
        assert_eq!(smaller(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(smaller(&[2.0, 2.0], &[1.0, 1.0]), None);
        assert_eq!(interval(&[]), None);
        assert_eq!(interval(&[3.0]).unwrap().half_width, None);
    }

    #[test]
    fn pairing_finds_what_the_variation_of_runs_hides() {
        // Each run is 1 % faster, but runs differ by 30 %.
        let base = [100.0, 130.0, 70.0, 110.0, 90.0];
        let new = base.map(|time| time * 0.99);
        assert!(smaller(&base, &new).unwrap().p > 0.4);
        let speedups: Vec<f64> = base.iter().zip(&new).map(|(b, n)| b / n - 1.0).collect();
        let paired = interval(&speedups).unwrap();
        assert!(!paired.covers(0.0) && (paired.value - 1.0 / 99.0).abs() < 1e-12);
    }
}
