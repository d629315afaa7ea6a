//! A figure as data: its table, and the claims about it with their verdicts.

use results::confidence::Estimate;

use crate::causes;
use crate::claims::{self, Claim};
use crate::figure::Figure;
use crate::verdict::Verdict;

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A share or a relative change: 0.25 in data, 25 % in text.
    Percent,
    /// The same with two decimals, for changes below a percent.
    FinePercent,
    /// A share in percentage points, 0.06 being 6.
    Points,
    /// Cycles.
    Cycles,
    /// A whole number of something.
    Count,
    /// A ratio.
    Ratio,
    /// A probability.
    Probability,
}

impl Unit {
    /// The factor and the decimals in text, and what follows the number.
    pub fn form(self) -> (f64, usize, &'static str) {
        match self {
            Self::Percent => (100.0, 1, " %"),
            Self::FinePercent => (100.0, 2, " %"),
            Self::Points => (100.0, 1, " points"),
            Self::Cycles => (1.0, 1, ""),
            Self::Count => (1.0, 0, ""),
            Self::Ratio => (1.0, 2, ""),
            Self::Probability => (1.0, 3, ""),
        }
    }

    /// A value as people read it.
    pub fn text(self, estimate: Estimate) -> String {
        let (factor, decimals, suffix) = self.form();
        let value = estimate.value * factor;
        // No "-0.0".
        let value = if value.abs() < 0.5 * 0.1_f64.powi(decimals as i32) { 0.0 } else { value };
        let interval = estimate.half_width.map(|half| format!(" ±{:.decimals$}", half * factor));
        format!("{value:.decimals$}{}{suffix}", interval.unwrap_or_default())
    }
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number.
    Number(Estimate, Unit),
    /// Nothing was measured, or it has no meaning.
    Empty,
}

impl Cell {
    /// A number that may be missing.
    pub fn of(estimate: Option<Estimate>, unit: Unit) -> Self {
        estimate.filter(|e| e.value.is_finite()).map_or(Self::Empty, |e| Self::Number(e, unit))
    }

    /// A number without an interval that may be missing.
    pub fn exact(value: Option<f64>, unit: Unit) -> Self {
        Self::of(value.map(|value| Estimate { value, half_width: None }), unit)
    }

    /// As people read it.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(estimate, unit) => unit.text(*estimate),
            Self::Empty => "-".into(),
        }
    }
}

/// A table: a column of labels and columns of cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What the labels are.
    pub corner: &'static str,
    /// The columns' names.
    pub columns: Vec<String>,
    /// Label and cells of each row.
    pub rows: Vec<(String, Vec<Cell>)>,
}

impl Table {
    /// An empty table.
    pub fn new(corner: &'static str, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        Self { corner, columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, label: impl Into<String>, cells: Vec<Cell>) {
        self.rows.push((label.into(), cells));
    }
}

/// What the derivation of a figure brings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Derived {
    /// The figure.
    pub table: Table,
    /// Measured quantities, each of a program or (with no name) of the whole figure. Claims pick
    /// theirs by program and quantity.
    pub values: Vec<(&'static str, &'static str, Option<Estimate>)>,
    /// What a reader should know, a sentence each.
    pub notes: Vec<String>,
}

impl Derived {
    /// Adds a quantity of a program.
    pub fn of(
        &mut self,
        subject: &'static str,
        quantity: &'static str,
        value: impl Into<Option<Estimate>>,
    ) {
        self.values.push((subject, quantity, value.into()));
    }

    /// Adds a quantity of the whole figure, without an interval.
    pub fn overall(&mut self, quantity: &'static str, value: Option<f64>) {
        self.values.push(("", quantity, value.map(exact)));
    }
}

/// A value without an interval.
pub fn exact(value: f64) -> Estimate {
    Estimate { value, half_width: None }
}

/// A claim of the paper beside what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The claim.
    pub claim: &'static Claim,
    /// What was measured.
    pub measured: Option<Estimate>,
    /// What comes of it.
    pub verdict: Verdict,
    /// Why, if it differs.
    pub cause: Option<&'static str>,
}

/// A figure beside the paper's.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Which.
    pub figure: Figure,
    /// Its numbers.
    pub table: Table,
    /// The paper's claims about it.
    pub checks: Vec<Check>,
    /// What a reader should know, a sentence each.
    pub notes: Vec<String>,
}

impl Sheet {
    /// Puts the paper beside a derived figure. `asked` says which programs were to be measured: a
    /// claim about one of them that has no value is shown as not measured, one about another
    /// program is left out.
    pub fn new(figure: Figure, derived: Derived, asked: impl Fn(&str) -> bool) -> Self {
        let mut checks = Vec::new();
        for claim in claims::of(figure).filter(|c| c.subject.is_empty() || asked(c.subject)) {
            let found = derived.values.iter().find(|(subject, quantity, _)| {
                (*subject, *quantity) == (claim.subject, claim.quantity)
            });
            let measured = found.and_then(|(.., value)| *value);
            let verdict = claim.rule.judge(measured);
            let cause = (verdict != Verdict::Reproduced).then(|| causes::of(claim, verdict));
            checks.push(Check { claim, measured, verdict, cause });
        }
        Self { figure, table: derived.table, checks, notes: derived.notes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(value: Option<f64>, asked: bool) -> Sheet {
        let mut derived = Derived::default();
        if let Some(value) = value {
            derived.of("tp_small", "inflection", exact(value));
        }
        Sheet::new(Figure::Fig17, derived, |name| asked && name == "tp_small")
    }

    fn check(sheet: &Sheet) -> Option<&Check> {
        sheet.checks.iter().find(|c| c.claim.quantity == "inflection")
    }

    #[test]
    fn a_claim_that_holds_needs_no_cause_and_one_that_does_not_has_one() {
        let (holds, differs) = (sheet(Some(4.0), true), sheet(Some(6.0), true));
        let (holds, differs) = (check(&holds).unwrap(), check(&differs).unwrap());
        assert_eq!((holds.verdict, holds.cause), (Verdict::Reproduced, None));
        assert_eq!(differs.verdict, Verdict::Differs);
        assert!(!differs.cause.unwrap().is_empty());
    }

    #[test]
    fn a_program_that_was_asked_for_and_failed_is_shown_and_another_is_not() {
        assert_eq!(check(&sheet(None, true)).unwrap().verdict, Verdict::NotMeasured);
        assert!(check(&sheet(None, false)).is_none());
    }

    #[test]
    fn figures_are_written_with_their_unit_and_interval() {
        let estimate = Estimate { value: -0.00001, half_width: Some(0.021) };
        assert_eq!(Unit::Percent.text(estimate), "0.0 ±2.1 %");
        assert_eq!(Unit::Cycles.text(exact(17.96)), "18.0");
        assert_eq!(Cell::exact(Some(f64::NAN), Unit::Ratio), Cell::Empty);
    }
}
