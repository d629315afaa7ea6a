//! Scores and worst offenders as table, CSV and JSON.

use std::fmt::Write;

use serde::Serialize;

use crate::bhive::RowError;
use crate::category::Category;
use crate::code::{block_def, disassemble};
use crate::score::{Outcome, Score, worst};

/// One block among the worst.
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
    /// The component of the CPI stack with most cycles.
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

/// What a comparison with a file of measurements says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Over all blocks.
    pub all: Score,
    /// By category.
    pub categories: Vec<CategoryScore>,
    /// Largest errors first.
    pub worst: Vec<Offender>,
    /// Rows left out, each with its reason.
    pub left_out: Vec<String>,
}

/// Compares, listing the `worst_count` largest errors of `only`, or of all categories.
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
    /// For reading.
    pub fn table(&self) -> String {
        let mut out = format!(
            "{:<15} {:>7} {:>8} {:>8} {:>11} {:>7}\n",
            "blocks", "number", "mean", "median", "within 5 %", "tau"
        );
        let mut line = |name: &str, s: &Score| {
            let percent = |v: Option<f64>| v.map_or("-".into(), |v| format!("{:.2} %", 100.0 * v));
            let tau = s.tau.map_or("-".into(), |t| format!("{t:.4}"));
            let _ = writeln!(
                out,
                "{name:<15} {:>7} {:>8} {:>8} {:>11} {tau:>7}",
                s.blocks,
                percent(s.mape),
                percent(s.median),
                percent(s.within_5_percent)
            );
        };
        line("all", &self.all);
        for c in &self.categories {
            line(c.category.name(), &c.score);
        }
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
            let _ = writeln!(out, "\n{} rows left out", self.left_out.len());
        }
        for row in &self.left_out {
            let _ = writeln!(out, "  {row}");
        }
        out
    }

    /// As JSON; what is undefined is null.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// The scores as CSV; what is undefined is empty.
    pub fn csv(&self) -> String {
        let mut out = String::from("category,blocks,mape,median,within_5_percent,tau\n");
        let mut line = |name: &str, s: &Score| {
            let field = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
            let _ = writeln!(
                out,
                "{name},{},{},{},{},{}",
                s.blocks,
                field(s.mape),
                field(s.median),
                field(s.within_5_percent),
                field(s.tau)
            );
        };
        line("all", &self.all);
        for c in &self.categories {
            line(c.category.name(), &c.score);
        }
        out
    }
}

/// All predictions as CSV, a line for each block.
pub fn rows_csv(outcomes: &[Outcome]) -> String {
    let mut out = String::from("line,hex,category,measured,predicted,error,bound_by\n");
    for o in outcomes {
        let w = offender(o);
        let _ = writeln!(
            out,
            "{},{},{},{},{},{},{}",
            w.line,
            w.hex,
            w.category.name(),
            w.measured,
            w.predicted,
            w.error,
            w.bound_by.unwrap_or("")
        );
    }
    out
}
