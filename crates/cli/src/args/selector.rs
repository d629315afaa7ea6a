//! How a command line names stored runs: by numbers, ranges and labels.

use std::ops::RangeInclusive;

/// Longer labels would not fit a list.
const LABEL_CHARS_MAX: usize = 40;

/// Stored runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// These numbers.
    Numbers(RangeInclusive<i64>),
    /// All runs with this label.
    Label(String),
}

impl Selector {
    /// Reads `7`, `7..12` or a label.
    pub fn parse(text: &str) -> Result<Self, String> {
        if !is_numeric(text) {
            return label(text).map(Self::Label);
        }
        let number = |text: &str| text.trim().parse::<i64>().ok().filter(|number| *number > 0);
        let range = match text.split_once("..") {
            None => number(text).map(|number| number..=number),
            Some((first, last)) => {
                let last = last.strip_prefix('=').unwrap_or(last);
                number(first).zip(number(last)).map(|(first, last)| first..=last)
            }
        };
        let range = range.filter(|range| !range.is_empty());
        let rule = "must be a run's number, a range or a label; try 7 or 7..12";
        range.map(Self::Numbers).ok_or_else(|| format!("{text:?}: {rule}"))
    }
}

/// Whether a text is a number or a range, right or wrong.
fn is_numeric(text: &str) -> bool {
    text.contains("..") || text.trim().parse::<f64>().is_ok()
}

/// Reads a label, which must not look like a number or a range.
pub fn label(text: &str) -> Result<String, String> {
    let fits = !text.trim().is_empty() && text.chars().count() <= LABEL_CHARS_MAX;
    if !fits || is_numeric(text) || text.starts_with('-') || text.contains(char::is_control) {
        return Err(format!(
            "must be 1 to {LABEL_CHARS_MAX} characters, no number and no range; try before"
        ));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_numbers_ranges_or_labels() {
        assert_eq!(Selector::parse("7"), Ok(Selector::Numbers(7..=7)));
        assert_eq!(Selector::parse("7..12"), Ok(Selector::Numbers(7..=12)));
        assert_eq!(Selector::parse("before"), Ok(Selector::Label("before".into())));
        for text in ["0", "-1", "1.5", "9..7", "1..", "..3"] {
            assert!(Selector::parse(text).unwrap_err().contains("try 7"), "{text}");
        }
        for text in ["", " ", "-x", "a\tb", &"x".repeat(41)] {
            assert!(Selector::parse(text).unwrap_err().contains("1 to 40 characters"), "{text}");
        }
        for text in ["7", "7..9", "1e3"] {
            assert!(label(text).is_err(), "{text}");
        }
    }
}
