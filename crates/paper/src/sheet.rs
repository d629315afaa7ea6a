//! A figure as data: its table, and the claims about it with their verdicts.

use results::confidence::Estimate;

use crate::causes::{self, Evidence, Explanation};
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
    /// A share in percentage points: 0.06 is 6.
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
    /// The factor and the decimals used in text, and the suffix of the number.
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

    /// A value formatted for people.
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
    /// Nothing was measured, or the cell has no meaning.
    Empty,
}

impl Cell {
    /// A number that may be missing.
    pub fn of(estimate: Option<Estimate>, unit: Unit) -> Self {
        estimate.filter(|e| e.value.is_finite()).map_or(Self::Empty, |e| Self::Number(e, unit))
    }

    /// A number without an interval, which may be missing.
    pub fn exact(value: Option<f64>, unit: Unit) -> Self {
        Self::of(value.map(|value| Estimate { value, half_width: None }), unit)
    }

    /// The cell formatted for people.
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
    /// The heading of the label column.
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

    /// The cell of a row and a column. A row is found by its label or by the first word of the
    /// label: the paper's name of a program follows ours, a mark follows a number.
    pub fn cell(&self, row: &str, column: &str) -> Option<&Cell> {
        let named = |label: &str| {
            label == row || label.strip_prefix(row).is_some_and(|rest| rest.starts_with(' '))
        };
        let index = self.columns.iter().position(|name| name == column)?;
        self.rows.iter().find(|(label, _)| named(label))?.1.get(index)
    }

    /// Adds a row.
    pub fn row(&mut self, label: impl Into<String>, cells: Vec<Cell>) {
        self.rows.push((label.into(), cells));
    }
}

/// The result of a figure's derivation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Derived {
    /// The figure's table.
    pub table: Table,
    /// Measured quantities, each of a program or (with an empty name) of the whole figure. Claims
    /// select theirs by program and quantity.
    pub values: Vec<(&'static str, &'static str, Option<Estimate>)>,
    /// What a reader should know, one sentence each.
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

/// A claim of the paper beside the measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The claim.
    pub claim: &'static Claim,
    /// What was measured.
    pub measured: Option<Estimate>,
    /// The verdict.
    pub verdict: Verdict,
    /// The cause, if it is not reproduced; `None` until the sheet is explained.
    pub cause: Option<Explanation>,
}

/// A figure beside the paper's.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Which figure.
    pub figure: Figure,
    /// Its numbers.
    pub table: Table,
    /// The paper's claims about it.
    pub checks: Vec<Check>,
    /// What a reader should know, one sentence each.
    pub notes: Vec<String>,
}

impl Sheet {
    /// Puts the paper beside a derived figure. `asked` tells which programs were to be measured: a
    /// claim about one of them without a value is shown as not measured, a claim about any other
    /// program is left out.
    pub fn new(figure: Figure, derived: Derived, asked: impl Fn(&str) -> bool) -> Self {
        let mut checks: Vec<Check> = Vec::new();
        for claim in claims::of(figure).filter(|c| c.subject.is_empty() || asked(c.subject)) {
            let found = derived.values.iter().find(|(subject, quantity, _)| {
                (*subject, *quantity) == (claim.subject, claim.quantity)
            });
            let measured = found.and_then(|(.., value)| *value);
            let basis = claim.presupposes.and_then(|quantity| {
                let same = (claim.subject, quantity);
                checks.iter().find(|c| (c.claim.subject, c.claim.quantity) == same)
            });
            let verdict = claim.judge(measured, basis.map(|basis| basis.verdict));
            checks.push(Check { claim, measured, verdict, cause: None });
        }
        Self { figure, table: derived.table, checks, notes: derived.notes }
    }

    /// Attaches a cause to each claim that is not reproduced.
    pub fn explain(&mut self, evidence: &Evidence<'_>) {
        for check in &mut self.checks {
            check.cause = causes::explain(check, evidence);
        }
    }

    /// Claims whose cause is stale.
    pub fn stale(&self) -> impl Iterator<Item = &Check> {
        let moved = |check: &Check| check.cause.as_ref().is_some_and(|c| !c.moved().is_empty());
        self.checks.iter().filter(move |check| moved(check))
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
    fn a_program_that_was_asked_for_and_failed_is_shown_and_another_is_not() {
        assert_eq!(check(&sheet(None, true)).unwrap().verdict, Verdict::NotMeasured);
        assert!(check(&sheet(None, false)).is_none());
    }

    #[test]
    fn a_row_goes_by_its_label_or_by_the_first_word_of_it() {
        let mut table = Table::new("from", &["calls"]);
        let cell = |n: f64| Cell::exact(Some(n), Unit::Count);
        for (label, n) in [("23", 1.0), ("2 peak", 2.0), ("xapian, base", 3.0)] {
            table.row(label, vec![cell(n)]);
        }
        assert_eq!(table.cell("2", "calls"), Some(&cell(2.0)));
        assert_eq!(table.cell("xapian, base", "calls"), Some(&cell(3.0)));
        assert_eq!((table.cell("xapian", "calls"), table.cell("2", "time")), (None, None));
    }

    #[test]
    fn a_p_value_is_judged_only_where_its_speedup_does_not_differ() {
        let p = |speedup: f64| {
            let mut derived = Derived::default();
            derived.of("kv-frees", "speedup", exact(speedup));
            derived.of("kv-frees", "p", exact(0.01));
            let sheet = Sheet::new(Figure::Table2, derived, |name| name == "kv-frees");
            sheet.checks.iter().find(|c| c.claim.quantity == "p").map(|c| c.verdict)
        };
        // The paper's speedup is 0.49 %.
        assert_eq!(p(0.0049), Some(Verdict::Reproduced));
        assert_eq!(p(0.0003), Some(Verdict::NotComparable));
    }

    #[test]
    fn figures_are_written_with_their_unit_and_interval() {
        let estimate = Estimate { value: -0.00001, half_width: Some(0.021) };
        assert_eq!(Unit::Percent.text(estimate), "0.0 ±2.1 %");
        assert_eq!(Unit::Cycles.text(exact(17.96)), "18.0");
        assert_eq!(Cell::exact(Some(f64::NAN), Unit::Ratio), Cell::Empty);
    }
}
