//! Figures in readable form.

use crate::confidence::Estimate;
use crate::statistics::{Unit, Value};

/// Stands for an undefined figure.
pub const UNDEFINED: &str = "-";

/// A count with thousands separators: `1,234,567`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with what is counted: `1 sample`, `2 samples`.
pub fn counted(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// A large figure to three significant digits: `1.23 G`.
pub fn scaled(value: f64) -> String {
    for (factor, prefix) in [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")] {
        // 999.5 of the next smaller unit would be rounded to 1000 of it.
        if value.abs() >= 0.9995 * factor {
            let figure = value / factor;
            let decimals = if figure < 9.995 { 2 } else { usize::from(figure < 99.95) };
            return format!("{figure:.decimals$} {prefix}");
        }
    }
    format!("{value:.0}")
}

/// A count in full up to nine digits, to three significant digits above.
pub fn short_count(value: u64) -> String {
    if value < 1_000_000_000 { count(value) } else { scaled(value as f64) }
}

/// A statistic's value in its unit, with its interval if it has one.
pub fn value(value: Value, unit: Unit) -> String {
    let estimate = match value {
        Value::Undefined => return UNDEFINED.into(),
        Value::Count(number) => return short_count(number),
        Value::Real(estimate) => estimate,
    };
    let (factor, suffix) = if unit == Unit::Fraction { (100.0, " %") } else { (1.0, "") };
    let decimals = match unit {
        Unit::Fraction | Unit::CyclesPerCall | Unit::Seconds | Unit::MillionPerSecond => 1,
        Unit::PerThousandInstructions => 2,
        Unit::InstructionsPerCycle => 3,
        _ => 0,
    };
    format!("{}{suffix}", Shown::of(estimate.scaled(factor), decimals))
}

/// A relative change with its sign: `+34.1 %`.
pub fn change(change: Value) -> String {
    match change {
        Value::Real(estimate) => {
            format!("{} %", Shown::of(estimate.scaled(100.0), 1).signed())
        }
        _ => value(change, Unit::Fraction),
    }
}

/// Decimals that a figure may have beyond the usual ones.
const MORE_DECIMALS: usize = 2;
/// Half intervals below this are none: rounding of figures that are the same for every seed.
const HALF_MIN: f64 = 1e-9;

/// A figure and half its interval, with equally many decimals: the usual number, or up to two more
/// where the interval needs them to be more than 0. `±0` says that nothing varied, `±<0.1` that
/// the interval is narrower than even these decimals show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The figure.
    pub figure: String,
    /// Its interval, with `±`.
    pub interval: Option<String>,
}

impl Shown {
    /// An estimate with usually this many decimals.
    pub fn of(estimate: Estimate, usual: usize) -> Self {
        let Some(half) = estimate.half_width else {
            return Self { figure: fixed(estimate.value, usual), interval: None };
        };
        let shown = |decimals| Some((decimals, format!("±{half:.decimals$}")));
        let mut all = (usual..=usual + MORE_DECIMALS).filter_map(shown);
        let (decimals, interval) = match all.find(|(_, text)| has_digits(text)) {
            _ if half < HALF_MIN => (usual, "±0".to_owned()),
            Some(shown) => shown,
            None => (usual, format!("±<{:.usual$}", 0.1_f64.powi(usual as i32))),
        };
        Self { figure: fixed(estimate.value, decimals), interval: Some(interval) }
    }

    /// With a plus sign before a figure above 0; one that rounds to 0 has none.
    #[must_use]
    pub fn signed(mut self) -> Self {
        if has_digits(&self.figure) && !self.figure.starts_with('-') {
            self.figure.insert(0, '+');
        }
        self
    }
}

/// Whether more than zeroes are shown.
fn has_digits(text: &str) -> bool {
    text.contains(|digit| ('1'..='9').contains(&digit))
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.figure)?;
        self.interval.iter().try_for_each(|interval| write!(f, " {interval}"))
    }
}

/// A share of a whole, undefined if the whole is 0.
pub fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return UNDEFINED.into();
    }
    format!("{:.1} %", 100.0 * part as f64 / whole as f64)
}

/// A figure with this number of decimals; a negative zero loses its sign.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
        _ => text,
    }
}

/// A time as `2026-11-21 20:03` UTC. Converts days to a date by counting whole years and months.
pub fn date(seconds: i64) -> String {
    let (mut days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // The Gregorian calendar repeats every 146,097 days, that is every 400 years.
    let mut year = 1970 + 400 * days.div_euclid(146_097);
    days = days.rem_euclid(146_097);
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    while days >= 365 + i64::from(leap(year)) {
        days -= 365 + i64::from(leap(year));
        year += 1;
    }
    let february = 28 + i64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!("{year:04}-{month:02}-{:02} {hour:02}:{minute:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_by_threes() {
        let expected = [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")];
        for (number, text) in expected {
            assert_eq!(count(number), text);
        }
        assert_eq!(short_count(999_999_999), "999,999,999");
        assert_eq!(short_count(1_000_000_000), "1.00 G");
    }

    #[test]
    fn large_figures_keep_three_digits_and_never_print_a_thousand_of_a_unit() {
        let expected = [
            (12.0, "12"),
            (999.4, "999"),
            (999.6, "1.00 k"),
            (1_234.0, "1.23 k"),
            (12_340.0, "12.3 k"),
            (123_400.0, "123 k"),
            (999_600.0, "1.00 M"),
            (2.5e9, "2.50 G"),
            (9.996e9, "10.0 G"),
            (7e15, "7000 T"),
        ];
        for (figure, text) in expected {
            assert_eq!(scaled(figure), text, "{figure}");
        }
    }

    #[test]
    fn undefined_figures_print_a_dash() {
        assert_eq!(value(Value::Undefined, Unit::Fraction), "-");
        assert_eq!(change(Value::Undefined), "-");
        assert_eq!(share(3, 0), "-");
    }

    #[test]
    fn changes_carry_a_sign_unless_they_round_to_nothing() {
        let shown = |value, half_width| change(Value::Real(Estimate { value, half_width }));
        assert_eq!(shown(0.341, None), "+34.1 %");
        assert_eq!(shown(-0.02, None), "-2.0 %");
        assert_eq!(shown(-0.0001, None), "0.0 %");
        assert_eq!(shown(0.0, None), "0.0 %");
        assert_eq!(shown(0.341, Some(0.02)), "+34.1 ±2.0 %");
    }

    #[test]
    fn an_interval_that_would_round_to_nothing_gets_up_to_two_more_decimals() {
        let shown = |value, half, usual| {
            Shown::of(Estimate { value, half_width: Some(half) }, usual).to_string()
        };
        // Half a unit of the last decimal is what rounds up to 1.
        assert_eq!(shown(0.6231, 0.05, 1), "0.6 ±0.1");
        assert_eq!(shown(0.6231, 0.0499, 1), "0.62 ±0.05");
        assert_eq!(shown(0.6231, 0.005, 1), "0.62 ±0.01");
        assert_eq!(shown(0.6231, 0.0049, 1), "0.623 ±0.005");
        assert_eq!(shown(0.6231, 0.00049, 1), "0.6 ±<0.1");
        assert_eq!(shown(1.47, 0.0004, 3), "1.4700 ±0.0004");
        assert_eq!(shown(28.2, 0.4, 0), "28.2 ±0.4");
        assert_eq!(shown(28.2, 0.004, 0), "28 ±<1");
        // Nothing varied, up to the rounding of a sum.
        assert_eq!(shown(25.0, 0.0, 1), "25.0 ±0");
        assert_eq!(shown(25.0, 1e-14, 1), "25.0 ±0");
    }

    #[test]
    fn a_figure_has_the_sign_of_what_is_shown() {
        let shown = |value, half| change(Value::Real(Estimate { value, half_width: Some(half) }));
        assert_eq!(shown(0.0004, 0.0004), "+0.04 ±0.04 %");
        assert_eq!(shown(0.0004, 0.001), "0.0 ±0.1 %");
        assert_eq!(shown(-0.0004, 0.0004), "-0.04 ±0.04 %");
        assert_eq!(shown(-0.0004, 0.001), "0.0 ±0.1 %");
    }

    #[test]
    fn dates_equal_well_known_moments() {
        let expected = [
            (0, "1970-01-01 00:00"),
            (951_782_400, "2000-02-29 00:00"),
            (951_868_799, "2000-02-29 23:59"),
            (1_000_000_000, "2001-09-09 01:46"),
            (1_234_567_890, "2009-02-13 23:31"),
            (2_147_483_647, "2038-01-19 03:14"),
            (4_107_542_400, "2100-03-01 00:00"),
            (-1, "1969-12-31 23:59"),
        ];
        for (seconds, text) in expected {
            assert_eq!(date(seconds), text);
        }
    }
}
