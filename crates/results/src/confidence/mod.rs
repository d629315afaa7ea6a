//! The uncertainty of a run's figures: 95 % confidence intervals for ratios.
//!
//! # Samples
//! A sample is one measured interval. Every mean this crate reports is a ratio of two sums over
//! the samples (cycles by calls, instructions by cycles), so the ratio estimator is used and not
//! the mean of ratios: with `n` samples `(y_i, x_i)`,
//!
//! ```text
//! R   = sum y_i / sum x_i
//! d_i = (y_i - R x_i) / mean(x)
//! s^2 = sum d_i^2 / (n - 1)
//! R ± t(0.975, n - 1) * s / sqrt(n)
//! ```
//!
//! (W. G. Cochran, *Sampling Techniques*, 3rd ed., Wiley 1977, chapter 6, without the finite
//! population correction, which would only narrow the interval.) A comparison of two configurations
//! is the ratio of two such ratios, `Q = R_base / R_new`. Both executed the same instructions, so
//! the deviations are taken sample by sample, which cancels what the samples have in common; by the
//! delta method
//!
//! ```text
//! d_i = Q * (d_base_i / R_base - d_new_i / R_new)
//! Q ± t(0.975, n - 1) * s / sqrt(n)
//! ```
//!
//! Samples are taken systematically and treated as if drawn at random, as in R. Wunderlich et al.,
//! *SMARTS: Accelerating Microarchitecture Simulation via Rigorous Statistical Sampling*, ISCA
//! 2003; a program that is periodic at the sampling period is outside this assumption.
//!
//! # Seeds
//! Where a stack, pages and DRAM cycles happen to lie moves figures as well, and no sample shows
//! it. Replicates simulate (or execute) the program again with other seeds; each gives a figure
//! `r_i`, comparisons paired by seed. The mean of many runs lies in `mean(r) ± t(0.975, n - 1) s /
//! sqrt(n)`. Reports show the figure of the first seed, `r_0`, because all counters are its own;
//! its interval is the smallest around `r_0` that contains the mean's, together with the samples':
//!
//! ```text
//! r_0 ± (|r_0 - mean(r)| + sqrt((t s / sqrt(n))^2 + samples^2))
//! ```

mod student;

pub use student::{cumulative, two_sided};

/// The confidence level of every interval.
pub const LEVEL: f64 = 0.95;

/// A figure with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Half the width of its confidence interval at [`LEVEL`]; `None` with fewer than two samples.
    pub half_width: Option<f64>,
}

impl Estimate {
    /// The estimate of a multiple of the figure.
    pub fn scaled(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            half_width: self.half_width.map(|half| half * factor.abs()),
        }
    }

    /// Whether the interval contains `value`, so that the figure does not differ significantly from
    /// it.
    pub fn covers(self, value: f64) -> bool {
        self.half_width.is_some_and(|half| (self.value - value).abs() <= half)
    }
}

/// Estimates `sum y / sum x` over samples `(y, x)`; `None` if the `x` sum to 0.
pub fn ratio(samples: &[(u64, u64)]) -> Option<Estimate> {
    let (value, deviations) = linearised(samples)?;
    Some(Estimate { value, half_width: half_width(&deviations) })
}

/// Half the width of the interval around the first of the seeds' figures, given that of the
/// samples; `None` if neither seeds nor samples leave an interval.
pub fn around_first(seeds: &[f64], samples: Option<f64>) -> Option<f64> {
    let (Some(first), true) = (seeds.first(), seeds.len() > 1) else { return samples };
    let mean = seeds.iter().sum::<f64>() / seeds.len() as f64;
    let deviations: Vec<f64> = seeds.iter().map(|figure| figure - mean).collect();
    let of_seeds = half_width(&deviations)?;
    Some((first - mean).abs() + of_seeds.hypot(samples.unwrap_or(0.0)))
}

/// Estimates the ratio of the ratio over `base` to the ratio over `new`, paired by sample; `None`
/// if a denominator is 0 or the samples are not aligned.
pub fn relative(base: &[(u64, u64)], new: &[(u64, u64)]) -> Option<Estimate> {
    if base.len() != new.len() {
        return None;
    }
    let (base_ratio, base_deviations) = linearised(base)?;
    let (new_ratio, new_deviations) = linearised(new)?;
    if new_ratio == 0.0 {
        return None;
    }
    let value = base_ratio / new_ratio;
    // value / base_ratio is 1 / new_ratio, which is also defined where base_ratio is 0.
    let paired: Vec<f64> = base_deviations
        .iter()
        .zip(&new_deviations)
        .map(|(base, new)| (base - value * new) / new_ratio)
        .collect();
    Some(Estimate { value, half_width: half_width(&paired) })
}

/// The ratio of the sums, and each sample's linearised deviation from it.
fn linearised(samples: &[(u64, u64)]) -> Option<(f64, Vec<f64>)> {
    let sum = |part: fn(&(u64, u64)) -> u64| samples.iter().map(part).map(|v| v as f64).sum();
    let (y, x): (f64, f64) = (sum(|s| s.0), sum(|s| s.1));
    if x == 0.0 {
        return None;
    }
    let value = y / x;
    let mean = x / samples.len() as f64;
    let deviation = |&(y, x): &(u64, u64)| (y as f64 - value * x as f64) / mean;
    Some((value, samples.iter().map(deviation).collect()))
}

/// Half the width of the interval, from the samples' deviations, whose mean is 0 by construction.
fn half_width(deviations: &[f64]) -> Option<f64> {
    let n = deviations.len();
    if n < 2 {
        return None;
    }
    let squares: f64 = deviations.iter().map(|d| d * d).sum();
    let deviation = (squares / (n - 1) as f64).sqrt();
    Some(two_sided(LEVEL, n - 1) * deviation / (n as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
    }

    #[test]
    fn with_equal_denominators_the_ratio_interval_is_that_of_a_mean() {
        // y/x = 1, 2, 3, 4, 5: mean 3, variance 10 / 4, so t(0.975, 4) * sqrt(2.5 / 5).
        let samples = [(10, 10), (20, 10), (30, 10), (40, 10), (50, 10)];
        let estimate = ratio(&samples).unwrap();
        assert!(close(estimate.value, 3.0));
        // 2.776445 is t(0.975, 4) in any printed table.
        let expected = 2.776_445_105 * (2.5_f64 / 5.0).sqrt();
        assert!((estimate.half_width.unwrap() - expected).abs() < 1e-6);
    }

    #[test]
    fn two_samples_give_the_interval_worked_out_by_hand() {
        // R = 40 / 20 = 2; d = (10 - 2*6, 30 - 2*14) / 10 = (-0.2, 0.2); s = sqrt(0.08 / 1);
        // t(0.975, 1) = tan(0.475 pi); half = t * s / sqrt(2) = t * 0.2.
        let estimate = ratio(&[(10, 6), (30, 14)]).unwrap();
        assert!(close(estimate.value, 2.0));
        let t = (0.475 * std::f64::consts::PI).tan();
        assert!((estimate.half_width.unwrap() - 0.2 * t).abs() < 1e-9);
    }

    #[test]
    fn the_interval_of_seeds_contains_that_of_their_mean() {
        // Mean 12, s = sqrt((4 + 0 + 4) / 2) = 2; t(0.975, 2) = 4.302653 in any printed table.
        let half = 4.302_652_73 * 2.0 / 3.0_f64.sqrt();
        let from_10 = around_first(&[10.0, 12.0, 14.0], None).unwrap();
        assert!((from_10 - (2.0 + half)).abs() < 1e-6, "|10 - 12| + {half}: {from_10}");
        let from_12 = around_first(&[12.0, 10.0, 14.0], None).unwrap();
        assert!((from_12 - half).abs() < 1e-6);
        // Samples of 3 on top: sqrt(half^2 + 9).
        let both = around_first(&[12.0, 10.0, 14.0], Some(3.0)).unwrap();
        assert!((both - (half * half + 9.0).sqrt()).abs() < 1e-6);
    }

    #[test]
    fn one_seed_leaves_the_interval_of_the_samples() {
        assert_eq!(around_first(&[], None), None);
        assert_eq!(around_first(&[5.0], None), None);
        assert_eq!(around_first(&[5.0], Some(0.5)), Some(0.5));
        assert_eq!(around_first(&[5.0, 5.0, 5.0], None), Some(0.0));
    }

    #[test]
    fn samples_that_agree_leave_no_uncertainty() {
        let estimate = ratio(&[(30, 10), (60, 20), (9, 3)]).unwrap();
        assert_eq!(estimate.value, 3.0);
        assert_eq!(estimate.half_width, Some(0.0));
    }

    #[test]
    fn one_sample_has_a_value_and_no_interval_and_none_has_neither() {
        assert_eq!(ratio(&[(3, 2)]), Some(Estimate { value: 1.5, half_width: None }));
        assert_eq!(ratio(&[]), None);
        assert_eq!(ratio(&[(3, 0), (4, 0)]), None);
        assert_eq!(relative(&[(3, 1)], &[(0, 1)]), None);
        assert_eq!(relative(&[(3, 1), (1, 1)], &[(1, 1)]), None);
    }

    #[test]
    fn pairing_removes_what_the_samples_have_in_common() {
        // Every sample is 25 % slower in base, although the samples themselves differ a
        // hundredfold.
        let new = [(100, 10), (4_000, 10), (40, 10), (8_000, 10)];
        let base = new.map(|(y, x)| (y * 5 / 4, x));
        let estimate = relative(&base, &new).unwrap();
        assert!(close(estimate.value, 1.25));
        assert!(estimate.half_width.unwrap() < 1e-9);
        assert!(ratio(&base).unwrap().half_width.unwrap() > 100.0);
    }

    /// Student's coverage, checked by drawing many runs from a known population.
    #[test]
    fn about_95_of_100_intervals_contain_the_population_ratio() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let runs = 4_000;
        let covered = (0..runs)
            .filter(|_| {
                // x uniform in 500..1500, y = 2 x + noise uniform in -300..300: the ratio is 2.
                let samples: Vec<(u64, u64)> = (0..20)
                    .map(|_| {
                        let x = 500 + draw() % 1_001;
                        (2 * x + draw() % 601 - 300, x)
                    })
                    .collect();
                ratio(&samples).unwrap().covers(2.0)
            })
            .count();
        // Binomial standard error: sqrt(0.95 * 0.05 / 4000) = 0.34 %; four of them.
        let share = covered as f64 / f64::from(runs);
        assert!((share - 0.95).abs() < 4.0 * 0.0035, "{share}");
    }

    proptest! {
        #[test]
        fn with_the_same_denominators_a_comparison_is_one_ratio_estimate(
            rows in prop::collection::vec((1_u64..10_000, 1_u64..10_000, 1_u64..50), 2..40)
        ) {
            let base: Vec<_> = rows.iter().map(|r| (r.0, r.2)).collect();
            let new: Vec<_> = rows.iter().map(|r| (r.1, r.2)).collect();
            let direct: Vec<_> = rows.iter().map(|r| (r.0, r.1)).collect();
            let paired = relative(&base, &new).unwrap();
            let single = ratio(&direct).unwrap();
            prop_assert!(close(paired.value, single.value));
            // Equal where the denominators are the same in both; the x_i terms cancel exactly.
            prop_assert!(close(paired.half_width.unwrap(), single.half_width.unwrap()));
        }

        #[test]
        fn an_interval_scales_with_its_figure(
            rows in prop::collection::vec((1_u64..10_000, 1_u64..10_000), 2..40), k in 1_u64..100
        ) {
            let scaled: Vec<_> = rows.iter().map(|&(y, x)| (y * k, x)).collect();
            let expected = ratio(&rows).unwrap().scaled(k as f64);
            let actual = ratio(&scaled).unwrap();
            prop_assert!(close(actual.value, expected.value));
            prop_assert!(close(actual.half_width.unwrap(), expected.half_width.unwrap()));
        }
    }
}
