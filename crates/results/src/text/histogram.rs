//! A latency histogram drawn in characters.

use super::grid::pad_left;
use super::{Style, number};
use crate::model::LatencyHistogram;

/// Rows of equal width that cover the bulk of the calls.
const BULK_ROWS: u64 = 16;
/// The share of the calls that counts as the bulk; the tail is shown by octave.
const BULK_PERCENT: f64 = 95.0;
/// Columns reserved for the figures to the left of a bar.
const BAR_MARGIN: usize = 40;

/// The histogram under a title; `None` if there were no calls.
pub fn histogram(title: &str, latency: &LatencyHistogram, style: &Style) -> Option<String> {
    let bins = bins(latency)?;
    let counts: Vec<u64> =
        bins.iter().map(|&(low, high)| latency.count_between(low, high)).collect();
    let most = counts.iter().copied().max().unwrap_or(0);
    let label = |&(low, high): &(u64, u64)| {
        if low == high {
            number::count(low)
        } else {
            format!("{}..{}", number::count(low), number::count(high))
        }
    };
    let labels: Vec<String> = bins.iter().map(label).collect();
    let widest = |texts: &[String]| texts.iter().map(|t| t.chars().count()).max().unwrap_or(0);
    let figures: Vec<String> = counts.iter().map(|count| number::count(*count)).collect();
    let (label_width, figure_width) = (widest(&labels), widest(&figures));
    let bar_width = style.width.max(2 * BAR_MARGIN) - BAR_MARGIN;
    let mut text = style.bold(title) + "\n";
    for (index, count) in counts.iter().enumerate() {
        match gap(&counts, index) {
            Gap::None => {}
            Gap::First => {
                let dots = if style.unicode { "⋮" } else { ":" };
                text += &format!("  {}\n", pad_left(dots, label_width));
                continue;
            }
            Gap::Rest => continue,
        }
        let (label, figure) = (&labels[index], &figures[index]);
        let share = pad_left(&number::share(*count, latency.total()), 8);
        let bar = bar(*count, most, bar_width, style.unicode);
        let (label, figure) = (pad_left(label, label_width), pad_left(figure, figure_width));
        let line = format!("  {label}  {figure} {share}  {bar}");
        text += line.trim_end();
        text.push('\n');
    }
    Some(text)
}

/// Minimum number of consecutive empty rows that are replaced by one mark.
const GAP_ROWS: usize = 3;

/// Whether a row is in a gap.
enum Gap {
    None,
    First,
    Rest,
}

fn gap(counts: &[u64], index: usize) -> Gap {
    let before = counts[..index].iter().rev().take_while(|count| **count == 0).count();
    let from = counts[index..].iter().take_while(|count| **count == 0).count();
    match (before, from) {
        (_, 0) => Gap::None,
        _ if before + from < GAP_ROWS => Gap::None,
        (0, _) => Gap::First,
        _ => Gap::Rest,
    }
}

/// The ranges of the rows: the bulk of the calls in equal steps, then octaves up to the largest.
/// The ranges are disjoint and cover all calls.
fn bins(latency: &LatencyHistogram) -> Option<Vec<(u64, u64)>> {
    let (min, max) = (latency.min()?, latency.max()?);
    let bulk = latency.percentile(BULK_PERCENT)?;
    // Buckets count by their lower bound, which may be below the minimum for the first one.
    let (lowest, _) = LatencyHistogram::bounds(LatencyHistogram::bucket_of(min));
    let step = (bulk - lowest + 1).div_ceil(BULK_ROWS);
    let mut bins = Vec::new();
    let mut low = lowest;
    while low <= max {
        let high =
            if low <= bulk { low.saturating_add(step - 1) } else { low.saturating_mul(2) - 1 };
        bins.push((low, high.min(max)));
        let Some(next) = high.checked_add(1) else { break };
        low = next;
    }
    Some(bins)
}

/// A bar for `count / most` of `width` characters, with a resolution of an eighth in Unicode. Any
/// count above zero is visible.
fn bar(count: u64, most: u64, width: usize, unicode: bool) -> String {
    if count == 0 || most == 0 {
        return String::new();
    }
    let eighths = (8.0 * width as f64 * count as f64 / most as f64).round() as usize;
    if !unicode {
        return "#".repeat((eighths / 8).max(1));
    }
    let partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = eighths.max(1);
    "█".repeat(eighths / 8) + partial[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_disjoint_rise_and_hold_every_call(
            latencies in prop::collection::vec(prop_oneof![0..300_u64, 0..1_u64 << 40], 1..200)
        ) {
            let mut latency = LatencyHistogram::default();
            latencies.iter().for_each(|cycles| latency.record(*cycles));
            let bins = bins(&latency).unwrap();
            prop_assert!(bins.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0));
            prop_assert!(bins.iter().all(|(low, high)| low <= high));
            let shown: u64 =
                bins.iter().map(|&(low, high)| latency.count_between(low, high)).sum();
            prop_assert_eq!(shown, latencies.len() as u64);
            prop_assert!(bins.len() <= BULK_ROWS as usize + 1 + 64);
        }
    }

    #[test]
    fn the_longest_bar_has_the_full_width_and_none_above_zero_is_invisible() {
        assert_eq!(bar(7, 7, 10, true), "█".repeat(10));
        assert_eq!(bar(7, 7, 10, false), "#".repeat(10));
        assert_eq!(bar(1, 1_000_000, 10, true), "▏");
        assert_eq!(bar(1, 1_000_000, 10, false), "#");
        assert_eq!(bar(0, 7, 10, true), "");
        // 3/8 of 10 characters are 3.75: three full ones and six eighths.
        assert_eq!(bar(3, 8, 10, true), "███▊");
    }
}
