//! For programs: JSON with everything, CSV with one line per number and claim.

use documents::csv::{Csv, number};
use documents::json::pretty;
use serde_json::{Value, json};

use super::asks;
use crate::causes::Explanation;
use crate::sheet::{Cell, Sheet};

/// Sheets as one JSON document with a sentence on the machine. Shares are fractions of 1, missing
/// values null.
pub fn json(machine: &str, sheets: &[Sheet]) -> String {
    let figures: Vec<Value> = sheets.iter().map(sheet).collect();
    pretty(&json!({ "machine": machine, "figures": figures }))
}

fn sheet(sheet: &Sheet) -> Value {
    let rows: Vec<Value> = sheet
        .table
        .rows
        .iter()
        .map(|(label, cells)| {
            json!({ "label": label, "cells": cells.iter().map(cell).collect::<Vec<_>>() })
        })
        .collect();
    let claims: Vec<Value> = sheet
        .checks
        .iter()
        .map(|check| {
            let claim = check.claim;
            json!({
                "subject": Some(claim.subject).filter(|name| !name.is_empty()),
                "quantity": claim.quantity,
                "claim": claim.what,
                "paper": claim.paper,
                "source": claim.source,
                "rule": asks(check),
                "reason": claim.reason,
                "measured": check.measured.map(|estimate| estimate.value),
                "half_width": check.measured.and_then(|estimate| estimate.half_width),
                "verdict": check.verdict.name(),
                "cause": check.cause.as_ref().map(Explanation::to_string),
                "cause_established": check.cause.as_ref().and_then(Explanation::date),
                "cause_stale": check.cause.as_ref().is_some_and(|c| !c.moved().is_empty()),
            })
        })
        .collect();
    json!({
        "figure": sheet.figure.name(),
        "title": sheet.figure.title(),
        "definition": sheet.figure.definition(),
        "corner": sheet.table.corner,
        "columns": sheet.table.columns,
        "rows": rows,
        "claims": claims,
        "notes": sheet.notes,
    })
}

fn cell(cell: &Cell) -> Value {
    match cell {
        Cell::Text(text) => json!(text),
        Cell::Number(estimate, _) => {
            json!({ "value": estimate.value, "half_width": estimate.half_width })
        }
        Cell::Empty => Value::Null,
    }
}

/// Sheets as lines of figure, row, column, value and half width, with the paper's value and the
/// verdict for claims.
pub fn csv(sheets: &[Sheet]) -> String {
    let mut csv = Csv::new(["figure", "row", "column", "value", "half_width", "paper", "verdict"]);
    for sheet in sheets {
        let figure = sheet.figure.name();
        for (label, cells) in &sheet.table.rows {
            for (column, cell) in sheet.table.columns.iter().zip(cells) {
                let (value, half) = match cell {
                    Cell::Text(text) => (text.clone(), String::new()),
                    Cell::Number(estimate, _) => {
                        (number(Some(estimate.value)), number(estimate.half_width))
                    }
                    Cell::Empty => continue,
                };
                csv.line([figure, label, column, &value, &half, "", ""]);
            }
        }
        for check in &sheet.checks {
            let value = number(check.measured.map(|estimate| estimate.value));
            let half = number(check.measured.and_then(|estimate| estimate.half_width));
            let claim = check.claim;
            let verdict = check.verdict.name();
            csv.line([figure, claim.subject, claim.what, &value, &half, claim.paper, verdict]);
        }
    }
    csv.text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Figure;
    use crate::sheet::{Derived, Table, Unit, exact};

    fn sheets() -> [Sheet; 1] {
        let mut table = Table::new("entries", &["tp, small"]);
        table.row("4", vec![Cell::exact(Some(0.25), Unit::Percent)]);
        let mut derived = Derived { table, ..Derived::default() };
        derived.of("tp_small", "inflection", exact(4.0));
        [Sheet::new(Figure::Fig17, derived, |name| name == "tp_small")]
    }

    #[test]
    fn json_holds_the_numbers_the_paper_and_the_verdict() {
        let document: Value = serde_json::from_str(&json("Machine x: y.", &sheets())).unwrap();
        assert_eq!(document["machine"], "Machine x: y.");
        let figure = &document["figures"][0];
        assert_eq!(figure["figure"], "fig17");
        assert_eq!(figure["rows"][0]["cells"][0]["value"], 0.25);
        let claims = figure["claims"].as_array().unwrap();
        let claim = claims.iter().find(|claim| claim["quantity"] == "inflection").unwrap();
        assert_eq!((&claim["paper"], &claim["verdict"]), (&json!("4"), &json!("reproduced")));
        assert_eq!(claim["cause"], Value::Null);
    }

    #[test]
    fn csv_quotes_what_holds_a_comma() {
        let text = csv(&sheets());
        assert!(text.contains("fig17,4,\"tp, small\",0.25,,,\n"), "{text}");
        assert!(
            text.contains("fig17,tp_small,entries at the inflection,4,,4,reproduced\n"),
            "{text}"
        );
    }
}
