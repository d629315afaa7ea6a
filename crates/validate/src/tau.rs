//! Kendall's rank correlation.

/// Kendall's tau-b of paired values in O(n log n) (W. R. Knight, "A computer method for calculating
/// Kendall's tau with ungrouped data", J. Am. Stat. Assoc. 61, 1966): concordant minus discordant
/// pairs, divided by the geometric mean of the numbers of pairs that are not tied on each side.
/// `None` with fewer than two pairs or if one side is entirely tied.
pub fn kendall_tau(pairs: &[(f64, f64)]) -> Option<f64> {
    let n = pairs.len() as u64;
    let mut sorted = pairs.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let all = pairs_among(n);
    let tied_x = tied(&sorted, |a, b| a.0 == b.0);
    let tied_both = tied(&sorted, |a, b| a == b);
    let mut second: Vec<f64> = sorted.iter().map(|p| p.1).collect();
    let swaps = sort_counting(&mut second);
    let tied_y = tied(&second, |a, b| a == b);
    let concordant_minus_discordant =
        all as f64 - tied_x as f64 - tied_y as f64 + tied_both as f64 - 2.0 * swaps as f64;
    let scale = ((all - tied_x) as f64 * (all - tied_y) as f64).sqrt();
    (scale > 0.0).then(|| concordant_minus_discordant / scale)
}

fn pairs_among(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}

/// Number of pairs of equal values in a sorted list.
fn tied<T>(sorted: &[T], same: impl Fn(&T, &T) -> bool) -> u64 {
    sorted.chunk_by(same).map(|run| pairs_among(run.len() as u64)).sum()
}

/// Merge sort; returns how many pairs were out of order.
fn sort_counting(values: &mut [f64]) -> u64 {
    let mut buffer = values.to_vec();
    let mut swaps = 0;
    let mut width = 1;
    while width < values.len() {
        for start in (0..values.len()).step_by(2 * width) {
            let middle = (start + width).min(values.len());
            let end = (start + 2 * width).min(values.len());
            swaps += merge(&values[start..middle], &values[middle..end], &mut buffer[start..end]);
        }
        values.copy_from_slice(&buffer);
        width *= 2;
    }
    swaps
}

fn merge(left: &[f64], right: &[f64], out: &mut [f64]) -> u64 {
    let (mut i, mut j, mut swaps) = (0, 0, 0);
    for place in out {
        if j == right.len() || i < left.len() && left[i] <= right[j] {
            *place = left[i];
            i += 1;
        } else {
            *place = right[j];
            j += 1;
            swaps += (left.len() - i) as u64;
        }
    }
    swaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn order_kept_is_1_and_order_reversed_is_minus_1() {
        let up: Vec<(f64, f64)> = (0..7).map(|i| (f64::from(i), f64::from(i * i))).collect();
        assert_eq!(kendall_tau(&up), Some(1.0));
        let down: Vec<(f64, f64)> = up.iter().map(|&(x, y)| (x, -y)).collect();
        assert_eq!(kendall_tau(&down), Some(-1.0));
    }

    #[test]
    fn one_swapped_pair_of_three_leaves_a_third() {
        // Pairs (1,2) and (1,3) in order, (2,3) not: (2 - 1) / 3.
        let pairs = [(1.0, 1.0), (2.0, 3.0), (3.0, 2.0)];
        assert_eq!(kendall_tau(&pairs), Some(1.0 / 3.0));
    }

    #[test]
    fn nothing_to_compare_has_no_tau() {
        assert_eq!(kendall_tau(&[]), None);
        assert_eq!(kendall_tau(&[(1.0, 2.0)]), None);
        assert_eq!(kendall_tau(&[(1.0, 2.0), (1.0, 3.0)]), None, "first side all ties");
    }

    /// Computed from the definition, pair by pair.
    fn by_definition(pairs: &[(f64, f64)]) -> Option<f64> {
        let (mut sum, mut x, mut y) = (0.0, 0.0, 0.0);
        for (i, a) in pairs.iter().enumerate() {
            for b in &pairs[..i] {
                let dx = (a.0 - b.0).partial_cmp(&0.0)? as i8;
                let dy = (a.1 - b.1).partial_cmp(&0.0)? as i8;
                sum += f64::from(dx * dy);
                x += f64::from(dx.abs());
                y += f64::from(dy.abs());
            }
        }
        (x * y > 0.0).then(|| sum / (f64::sqrt(x) * f64::sqrt(y)))
    }

    proptest! {
        #[test]
        fn the_fast_way_agrees_with_the_definition(
            list in prop::collection::vec((0u8..12, 0u8..12), 0..60)
        ) {
            let pairs: Vec<(f64, f64)> =
                list.iter().map(|&(x, y)| (f64::from(x), f64::from(y))).collect();
            match (kendall_tau(&pairs), by_definition(&pairs)) {
                (Some(fast), Some(slow)) => prop_assert!((fast - slow).abs() < 1e-12),
                (fast, slow) => prop_assert_eq!(fast, slow),
            }
        }
    }
}
