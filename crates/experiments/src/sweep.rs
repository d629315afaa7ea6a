//! Sizes of the malloc cache to sweep over.

/// Above this many sizes, a range without a step uses steps of 2, as the paper's sweep does.
const SINGLE_STEPS_MAX: u64 = 16;
/// More configurations than this would neither fit a table nor finish in a morning.
const SIZES_MAX: usize = 64;

/// Numbers of entries, increasing and unique.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entries(pub Vec<u64>);

impl Entries {
    /// Reads `16`, `4,8,16`, `2..32` or `2..32:6`, or several of them separated by commas.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut sizes = Vec::new();
        for part in text.split(',') {
            sizes.extend(range(part).ok_or_else(|| {
                format!(
                    "{text:?}: must be whole numbers of entries or ranges of them; try 16, 4,8,16 \
                     or 2..32"
                )
            })?);
        }
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.len() > SIZES_MAX {
            let count = sizes.len();
            return Err(format!("{text:?}: {count} sizes, at most {SIZES_MAX}; try 2..32"));
        }
        Ok(Self(sizes))
    }
}

/// The sizes of `A`, `A..B` or `A..B:STEP`.
fn range(text: &str) -> Option<Vec<u64>> {
    let number = |text: &str| text.trim().parse::<u64>().ok().filter(|n| (1..=1 << 16).contains(n));
    let Some((low, rest)) = text.split_once("..") else { return Some(vec![number(text)?]) };
    let (high, step) = match rest.split_once(':') {
        Some((high, step)) => (number(high)?, Some(number(step)?)),
        None => (number(rest)?, None),
    };
    let low = number(low)?;
    if low > high {
        return None;
    }
    let step = step.unwrap_or(if high - low >= SINGLE_STEPS_MAX { 2 } else { 1 });
    Some((low..=high).step_by(usize::try_from(step).ok()?).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_ranges_are_read() {
        let sizes = |text: &str| Entries::parse(text).unwrap().0;
        assert_eq!(sizes("16"), [16]);
        assert_eq!(sizes("16,4,4"), [4, 16]);
        assert_eq!(sizes("2..5"), [2, 3, 4, 5]);
        assert_eq!(sizes("2..32"), (1..=16).map(|n| 2 * n).collect::<Vec<_>>());
        assert_eq!(sizes("2..20:6,32"), [2, 8, 14, 20, 32]);
    }

    #[test]
    fn what_is_no_size_is_refused_with_an_example() {
        for text in ["", "x", "0", "8..2", "2..", "..4", "1..9:0", "1..4000:1"] {
            assert!(Entries::parse(text).unwrap_err().contains("try"), "{text}");
        }
    }
}
