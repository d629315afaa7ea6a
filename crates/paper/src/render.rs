//! Sheets as plain text, Markdown, JSON and CSV.

mod data;
mod prose;

pub use data::{csv, json};
pub use prose::{markdown, text};

use crate::sheet::{Check, Unit};

/// A claim's measured value, formatted for people.
fn measured(check: &Check) -> String {
    check.measured.map_or("-".into(), |estimate| check.claim.unit.text(estimate))
}

/// What a rule requires, in the claim's unit.
fn asks(check: &Check) -> String {
    let (low, high) = check.claim.rule.bounds();
    let (factor, decimals, suffix) = check.claim.unit.form();
    // Bounds with no more decimals than they need.
    let number = |value: f64| {
        let decimals = if check.claim.unit == Unit::FinePercent { 3 } else { decimals };
        let text = format!("{:.decimals$}", value * factor);
        match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => text,
        }
    };
    match (low.is_finite(), high.is_finite()) {
        (true, true) if low == high => format!("{}{suffix}", number(low)),
        (true, true) => format!("{} to {}{suffix}", number(low), number(high)),
        (true, false) => format!("at least {}{suffix}", number(low)),
        (false, true) => format!("at most {}{suffix}", number(high)),
        (false, false) => "none".to_owned(),
    }
}
