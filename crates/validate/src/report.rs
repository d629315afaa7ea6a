//! Scores and worst offenders as table, CSV and JSON.

use std::fmt::Write;

use documents::csv::{Csv, number};
use documents::json::pretty;
use documents::{Column, Layout, Table};
use serde::Serialize;

use crate::bhive::RowError;
use crate::category::Category;
use crate::code::{block_def, disassemble};
use crate::score::{Outcome, Score, worst};

/// One of the worst blocks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Offender {
    /// Line in the file.
    pub line: usize,
    /// Machine code.
    pub hex: String,
    /// Instructions.
    pub assembly: Vec<String>,
    /// Kind of work.
    pub category: Category,
    /// Measured cycles per iteration.
    pub measured: f64,
    /// Predicted cycles per iteration.
    pub predicted: f64,
    /// Relative error, signed.
    pub error: f64,
    /// The component of the CPI stack with the most cycles.
    pub bound_by: Option<&'static str>,
}

/// A category with its score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CategoryScore {
    /// Kind of work.
    pub category: Category,
    /// Its statistics.
    #[serde(flatten)]
    pub score: Score,
}

/// The results of a comparison with a file of measurements.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Over all blocks.
    pub all: Score,
    /// By category.
    pub categories: Vec<CategoryScore>,
    /// Largest errors first.
    pub worst: Vec<Offender>,
    /// Rows left out, each with the reason.
    pub left_out: Vec<String>,
}

/// Compares, and lists the `worst_count` largest errors of `only`, or of all categories.
pub fn report(
    outcomes: &[Outcome],
    errors: &[RowError],
    worst_count: usize,
    only: Option<Category>,
) -> Report {
    let kept: Vec<Outcome> = outcomes
        .iter()
        .filter(|o| only.is_none_or(|c| o.prediction.category == c))
        .cloned()
        .collect();
    let categories = Score::by_category(outcomes)
        .into_iter()
        .map(|(category, score)| CategoryScore { category, score })
        .collect();
    Report {
        all: Score::among(outcomes, |_| true),
        categories,
        worst: worst(&kept, worst_count).into_iter().map(offender).collect(),
        left_out: errors.iter().map(RowError::to_string).collect(),
    }
}

fn offender(outcome: &Outcome) -> Offender {
    let Outcome { row, prediction } = outcome;
    Offender {
        line: row.line,
        hex: row.bytes.iter().map(|b| format!("{b:02x}")).collect(),
        assembly: block_def(&row.bytes, 0).map(|d| disassemble(&d)).unwrap_or_default(),
        category: prediction.category,
        measured: row.cycles,
        predicted: prediction.cycles_per_iteration,
        error: outcome.error(),
        bound_by: prediction.bound_by.first().map(|b| b.0),
    }
}

impl Report {
    /// The score of all blocks, then those of the categories.
    fn scores(&self) -> impl Iterator<Item = (&'static str, &Score)> {
        let categories = self.categories.iter().map(|c| (c.category.name(), &c.score));
        [("all", &self.all)].into_iter().chain(categories)
    }

    /// As readable text.
    pub fn table(&self) -> String {
        let right = |name: &str, width: usize| Column::right(name).at_least(width).after(1);
        let mut scores = Table::new([
            Column::left("blocks").at_least(15),
            right("number", 7),
            right("mean", 8),
            right("median", 8),
            right("within 5 %", 11),
            right("tau", 7),
        ]);
        for (name, s) in self.scores() {
            let percent = |v: Option<f64>| v.map_or("-".into(), |v| format!("{:.2} %", 100.0 * v));
            scores.row([
                name.to_owned(),
                s.blocks.to_string(),
                percent(s.mape),
                percent(s.median),
                percent(s.within_5_percent),
                s.tau.map_or("-".into(), |t| format!("{t:.4}")),
            ]);
        }
        let mut out = scores.text(&Layout::PLAIN);
        if !self.worst.is_empty() {
            out.push_str("\nworst\n");
        }
        for w in &self.worst {
            let _ = writeln!(
                out,
                "{:+8.1} %  line {}: predicted {:.2}, measured {:.2} ({}): {}",
                100.0 * w.error,
                w.line,
                w.predicted,
                w.measured,
                w.bound_by.unwrap_or("-"),
                w.assembly.join("; ")
            );
        }
        if !self.left_out.is_empty() {
            let rows = if self.left_out.len() == 1 { "row" } else { "rows" };
            let _ = writeln!(out, "\n{} {rows} left out", self.left_out.len());
        }
        for row in &self.left_out {
            let _ = writeln!(out, "  {row}");
        }
        out
    }

    /// As JSON; undefined values are null.
    pub fn json(&self) -> String {
        pretty(self)
    }

    /// The scores as CSV; undefined values are empty.
    pub fn csv(&self) -> String {
        let mut csv = Csv::new(["category", "blocks", "mape", "median", "within_5_percent", "tau"]);
        for (name, s) in self.scores() {
            let [mape, median, within, tau] =
                [s.mape, s.median, s.within_5_percent, s.tau].map(number);
            csv.line([name, &s.blocks.to_string(), &mape, &median, &within, &tau]);
        }
        csv.text()
    }
}

/// All predictions as CSV, one line per block.
pub fn rows_csv(outcomes: &[Outcome]) -> String {
    let mut csv =
        Csv::new(["line", "hex", "category", "measured", "predicted", "error", "bound_by"]);
    for o in outcomes {
        let w = offender(o);
        csv.line([
            w.line.to_string(),
            w.hex,
            w.category.name().to_owned(),
            w.measured.to_string(),
            w.predicted.to_string(),
            w.error.to_string(),
            w.bound_by.unwrap_or_default().to_owned(),
        ]);
    }
    csv.text()
}
