//! Tables as text, Markdown, CSV and JSON.

use crate::table::{Cell, Table};
use documents::csv::{Csv, number};
use documents::json::pretty;
use documents::{Column, Layout};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A cell formatted for people: value, spread, the paper's value in brackets.
fn shown(cell: &Cell, decimals: usize) -> String {
    let mut text = cell.value.map_or("-".into(), |value| format!("{value:.decimals$}"));
    if let Some(spread) = cell.spread {
        let _ = write!(text, " ±{spread:.decimals$}");
    }
    if let Some(paper) = cell.paper {
        let _ = write!(text, " [{paper}]");
    }
    text
}

/// The table, with labels aligned left and numbers aligned right.
fn grid(table: &Table) -> documents::Table {
    let figures = table.columns.iter().map(Column::right);
    // Indented below its title.
    let labels = Column::left(table.unit).after(2);
    let mut grid = documents::Table::new([labels].into_iter().chain(figures));
    for row in &table.rows {
        let cells = row.cells.iter().map(|cell| shown(cell, table.decimals));
        grid.row([row.name.clone()].into_iter().chain(cells));
    }
    grid
}

/// For a terminal. The paper's numbers are in brackets.
pub fn text(tables: &[Table]) -> String {
    let mut out = String::new();
    for table in tables {
        let _ = writeln!(out, "{}", table.title);
        out += &grid(table).text(&Layout::PLAIN);
        for note in &table.notes {
            let _ = writeln!(out, "  {note}");
        }
        out.push('\n');
    }
    out
}

/// For documents.
pub fn markdown(tables: &[Table]) -> String {
    let mut out = String::new();
    for table in tables {
        let _ = writeln!(out, "### {}\n", table.title);
        out += &grid(table).markdown();
        for note in &table.notes {
            let _ = writeln!(out, "\n{note}");
        }
        out.push('\n');
    }
    out
}

/// For spreadsheets: one line per number.
pub fn csv(tables: &[Table]) -> String {
    let mut csv = Csv::new(["table", "row", "column", "value", "spread", "paper"]);
    for table in tables {
        for row in &table.rows {
            for (column, cell) in table.columns.iter().zip(&row.cells) {
                let [value, spread, paper] = [cell.value, cell.spread, cell.paper].map(number);
                csv.line([table.id, &row.name, column, &value, &spread, &paper]);
            }
        }
    }
    csv.text()
}

/// For programs.
pub fn json(tables: &[Table]) -> String {
    let cell =
        |cell: &Cell| json!({ "value": cell.value, "spread": cell.spread, "paper": cell.paper });
    let tables: Vec<Value> = tables
        .iter()
        .map(|table| {
            let rows: Vec<Value> = table
                .rows
                .iter()
                .map(|row| {
                    let cells = table.columns.iter().cloned().zip(row.cells.iter().map(cell));
                    let cells: serde_json::Map<String, Value> = cells.collect();
                    json!({ "name": row.name, "cells": cells })
                })
                .collect();
            json!({
                "table": table.id, "title": table.title, "unit": table.unit,
                "rows": rows, "notes": table.notes,
            })
        })
        .collect();
    pretty(&json!({ "tables": tables }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<Table> {
        let mut table = Table {
            id: "fig0",
            title: "A figure".into(),
            unit: "%",
            decimals: 1,
            columns: vec!["one".into(), "two, too".into()],
            rows: Vec::new(),
            notes: vec!["A note.".into()],
        };
        let spread = Cell { value: Some(1.25), spread: Some(0.5), paper: Some(40.0) };
        table.row("gcc", vec![spread, Cell::default()]);
        vec![table]
    }

    #[test]
    fn every_form_has_value_spread_and_the_papers_number() {
        let tables = sample();
        assert!(text(&tables).contains("gcc  1.2 ±0.5 [40]         -\n"), "{}", text(&tables));
        assert!(markdown(&tables).contains("|---|---:|---:|\n| gcc | 1.2 ±0.5 [40] | - |\n"));
        let lines = "fig0,gcc,one,1.25,0.5,40\nfig0,gcc,\"two, too\",,,\n";
        assert!(csv(&tables).ends_with(lines), "{}", csv(&tables));
        let value: Value = serde_json::from_str(&json(&tables)).unwrap();
        let cell = &value["tables"][0]["rows"][0]["cells"]["one"];
        assert_eq!((cell["value"].as_f64(), cell["paper"].as_f64()), (Some(1.25), Some(40.0)));
    }
}
