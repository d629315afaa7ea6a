//! The differences between two runs as documents.

use documents::csv::Csv;
use documents::json::with_short_lists;
use documents::{Column, Table};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;

use super::{Change, Difference, FigureDifference, Verdict};
use crate::model::Run;
use crate::statistics::{Unit, Value};
use crate::text::{Style, number, wrap};

/// The version of the JSON; increases when a field changes its meaning or is removed.
const VERSION: u32 = 1;

impl Difference<'_> {
    /// For people: what changed, then the figures; with `detail` those of every part of the
    /// machine.
    pub fn text(&self, detail: bool, style: &Style) -> String {
        let names = [title(self.a), title(self.b)];
        let mut text = String::new();
        for (name, run) in names.iter().zip([self.a, self.b]) {
            let line = format!("{name}: {}, {}", number::date(run.started), run.command());
            let _ = writeln!(text, "{}", wrap(&line, style.width, "  "));
        }
        for note in &self.notes {
            let _ = writeln!(text, "{}", wrap(note, style.width, "  "));
        }
        for (only, name) in [(&self.only_a, &names[0]), (&self.only_b, &names[1])] {
            if !only.is_empty() {
                let line = format!("Only {name} has: {}.", only.join(", "));
                let _ = writeln!(text, "{}", wrap(&line, style.width, "  "));
            }
        }
        text.push('\n');
        text += &self.settings(&names, style);
        for pair in &self.pairs {
            let columns = ["difference", ""].map(str::to_owned);
            let figures = names.clone().into_iter().chain(columns).map(Column::right);
            let first = Column::left(pair.name.clone());
            let mut table = Table::new(std::iter::once(first).chain(figures));
            for figure in pair.figures.iter().filter(|figure| detail || figure.is_main) {
                table.row(row(figure));
            }
            let _ = writeln!(text, "\n{}", table.text(&style.layout()).trim_end());
        }
        if !self.pairs.is_empty() {
            text.push('\n');
            let note = "A difference is significant if it exceeds the 95 % intervals of both runs \
                        taken together. Without an interval it is exact for these two runs and \
                        says nothing about others.";
            let _ = writeln!(text, "{}", wrap(note, style.width, ""));
        }
        style.finish(text)
    }

    fn settings(&self, names: &[String; 2], style: &Style) -> String {
        let mut table = Table::new(["changed", &names[0], &names[1]].map(Column::left));
        let mut add = |prefix: &str, changes: &[Change]| {
            for Change { name, a, b } in changes {
                table.row([format!("{prefix}{name}"), a.clone(), b.clone()]);
            }
        };
        add("", &self.changed);
        for pair in &self.pairs {
            add(&format!("{}: ", pair.name), &pair.changed);
        }
        if table.rows().is_empty() {
            return "Program, options, machines and accelerators are the same.\n".into();
        }
        table.text(&style.layout())
    }

    /// For programs: everything.
    pub fn json(&self) -> String {
        let changes = |changes: &[Change]| -> Json {
            changes.iter().map(|c| json!({ "name": c.name, "a": c.a, "b": c.b })).collect()
        };
        let run = |run: &Run| {
            json!({
                "id": run.id, "label": run.label, "program": run.program, "args": run.args,
                "started": run.started, "instructions": run.instructions,
            })
        };
        let pairs = self.pairs.iter().map(|pair| {
            json!({
                "name": pair.name,
                "changed": changes(&pair.changed),
                "figures": pair.figures.iter().map(figure_json).collect::<Vec<_>>(),
            })
        });
        with_short_lists(&json!({
            "format_version": VERSION,
            "a": run(self.a),
            "b": run(self.b),
            "notes": self.notes,
            "changed": changes(&self.changed),
            "only_a": self.only_a,
            "only_b": self.only_b,
            "configurations": pairs.collect::<Vec<_>>(),
        }))
    }

    /// For spreadsheets: a line for each figure.
    pub fn csv(&self) -> String {
        let mut csv = Csv::new([
            "configuration",
            "figure",
            "unit",
            "a",
            "a_ci95",
            "b",
            "b_ci95",
            "difference",
            "relative",
            "verdict",
        ]);
        let number = |value: Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
        for pair in &self.pairs {
            for figure in &pair.figures {
                csv.line([
                    pair.name.clone(),
                    figure.name.clone(),
                    figure.unit.name().to_owned(),
                    number(figure.a.figure()),
                    number(figure.a.half_width()),
                    number(figure.b.figure()),
                    number(figure.b.half_width()),
                    number(figure.difference()),
                    number(figure.relative()),
                    figure.verdict().name().to_owned(),
                ]);
            }
        }
        csv.text()
    }
}

/// `run 3`, or its label.
fn title(run: &Run) -> String {
    let number = run.id.map_or("run".to_owned(), |id| format!("run {id}"));
    run.label.as_ref().map_or(number.clone(), |label| format!("{number} ({label})"))
}

fn row(figure: &FigureDifference) -> [String; 5] {
    let value = |value: Value| number::value(value, figure.unit);
    let verdict = match figure.verdict() {
        Verdict::NoInterval => "",
        verdict => verdict.name(),
    };
    let name = figure.name.replace(['_', '.'], " ");
    [name, value(figure.a), value(figure.b), difference(figure), verdict.to_owned()]
}

/// The difference in points of a percentage, or else as a share of the first figure.
fn difference(figure: &FigureDifference) -> String {
    let signed = |value: f64, unit: &str| {
        let text = number::fixed(value, 1);
        let sign = if value > 0.0 && text != "0.0" { "+" } else { "" };
        format!("{sign}{text} {unit}")
    };
    match (figure.difference(), figure.relative()) {
        (Some(difference), _) if figure.unit == Unit::Fraction => {
            signed(100.0 * difference, "points")
        }
        (_, Some(relative)) => signed(100.0 * relative, "%"),
        (Some(0.0), None) => signed(0.0, "%"),
        _ => number::UNDEFINED.into(),
    }
}

fn figure_json(figure: &FigureDifference) -> Json {
    json!({
        "name": figure.name,
        "unit": figure.unit.name(),
        "a": figure.a.figure(),
        "a_ci95": figure.a.half_width(),
        "b": figure.b.figure(),
        "b_ci95": figure.b.half_width(),
        "difference": figure.difference(),
        "relative": figure.relative(),
        "verdict": figure.verdict().name(),
    })
}
