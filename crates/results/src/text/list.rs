//! The list of a store's runs.

use documents::{Column, Layout, Table};

use super::cautions::stated;
use super::grid::shorten;
use super::{Style, number};
use crate::model::{Exit, Run};
use crate::select::{CallFigures, CallGroup};
use crate::statistics::{Value, configuration_statistic};

const COLUMNS: usize = 8;

/// What `mallacc list` prints: one line for each run.
pub fn list(runs: &[Run], style: &Style) -> String {
    if runs.is_empty() {
        return "No runs yet: make one with `mallacc run -- PROGRAM`.\n".into();
    }
    let rows: Vec<[String; COLUMNS]> = runs.iter().map(row).collect();
    // Figures are aligned right, words left.
    let columns = [
        Column::right("run"),
        Column::left("started (UTC)"),
        Column::right("instr."),
        Column::right("program"),
        Column::right("alloc."),
        Column::right("malloc"),
        Column::left("state"),
        Column::left("command"),
    ];
    let mut table = Table::new(columns);
    let before: usize = (0..COLUMNS - 1)
        .map(|at| {
            let cells = rows.iter().map(|row| row[at].chars().count());
            cells.chain([table.columns()[at].name().chars().count()]).max().unwrap_or(0) + 2
        })
        .sum();
    let room = style.width.saturating_sub(before).max(10);
    for mut row in rows {
        row[COLUMNS - 1] = shorten(&row[COLUMNS - 1], room, style);
        table.row(row);
    }
    let mut text = table.text(&Layout { width: usize::MAX, ..style.layout() });
    text += "Speedups by the accelerator that a run is about; alloc.: the whole allocator.\n";
    if runs.iter().any(|run| stated(run).is_none()) {
        text += "Without a speedup (-): `mallacc show RUN` says why.\n";
    }
    style.finish(text)
}

fn row(run: &Run) -> [String; COLUMNS] {
    let chosen = stated(run);
    let malloc = match (chosen, run.main_kind()) {
        (Some(item), Some(kind)) => {
            CallFigures::of(run, item, CallGroup::Kind(kind)).value("speedup")
        }
        _ => Value::Undefined,
    };
    let whole =
        |name| chosen.map_or(Value::Undefined, |item| configuration_statistic(run, item, name));
    let speedup = |value: Value| number::change(value.without_interval());
    let state = match (run.exit, run.complete) {
        (Some(Exit::Signal(signal)), _) => format!("signal {signal}"),
        _ if run.is_invalid() => "invalid".into(),
        _ if run.unmeasured.is_some() => "unmeasured".into(),
        (_, false) => "incomplete".into(),
        (Some(Exit::Code(code)), true) if code != 0 => format!("exit {code}"),
        (_, true) if run.sampling.is_some() => "sampled".into(),
        (_, true) => "whole".into(),
    };
    [
        run.id.map_or(number::UNDEFINED.into(), |id| id.to_string()),
        number::date(run.started),
        number::scaled(run.instructions as f64),
        speedup(whole("speedup")),
        speedup(whole("allocator_speedup")),
        speedup(malloc),
        state,
        run.labelled_command(),
    ]
}
