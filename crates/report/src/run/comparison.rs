//! The comparison: speedups as bars, then the table that the terminal also shows.

use results::{CallKind, Run};
use results::{csv, text};

use super::Name;
use super::figures::{bar, calls, kind_name, program};
use super::roles::{Shown, all, main};
use crate::chart::{Axis, Bars, Group, Look, figure, side_by_side};
use crate::data::Format;
use crate::html::{Html, download};
use crate::table::Table;

/// Above this number of configurations only the main ones have bars: a sweep's curve is clearer.
const BARS_MAX: usize = 12;
/// Up to this number of configurations, tables are placed side by side.
const BESIDE_MAX: usize = 5;

/// The section, if there are configurations.
pub fn body(run: &Run, name: &Name) -> Option<Html> {
    if run.configurations.is_empty() {
        return None;
    }
    let mut html = Html::default();
    html.push(side_by_side(charts(run, name)));
    let grid = text::comparison(run);
    // Many columns, or columns with intervals, leave no room for tables side by side.
    if run.configurations.len() <= BESIDE_MAX && run.sampling.is_none() {
        let tables = Html::join(Table::split_grid(&grid).iter().map(Table::titled));
        html.push(Html::element("div", &[("class", "tables beside")], tables));
    } else {
        let table = Table::from_grid("Configurations compared", &grid).bare();
        html.push(Html::element("div", &[("class", "tables")], table));
    }
    let about = "Download CSV: every figure of every configuration";
    let file = name.file("all-figures");
    let link = download(
        "Download every figure as CSV",
        about,
        &file,
        "text/csv",
        &csv::render(run, &run.schema),
    );
    html.push(Html::element("p", &[("class", "tools")], link));
    Some(html)
}

/// The configurations that have bars.
fn shown(run: &Run) -> Vec<Shown<'_>> {
    if run.configurations.len() <= BARS_MAX { all(run) } else { main(run) }
}

fn charts(run: &Run, name: &Name) -> Vec<Html> {
    let mut charts = Vec::new();
    let kinds = run.main_kinds();
    let others: Vec<Shown> = shown(run).into_iter().filter(|s| !s.item.is_baseline()).collect();
    if others.iter().any(|shown| run.baseline_of(shown.item).is_some()) {
        charts.push(figure(&speedups(run, &kinds, &others), &name.file("speedups")));
    }
    if !kinds.is_empty() {
        charts.push(figure(&per_call(run, &kinds), &name.file("cycles-per-call")));
    }
    charts
}

/// Cycles per call of the main kinds, one bar per configuration.
fn per_call(run: &Run, kinds: &[CallKind]) -> Bars {
    let shown = shown(run);
    let group = |kind: &CallKind| Group {
        label: kind_name(*kind),
        bars: shown.iter().map(|s| bar(calls(run, s.item, *kind, "cycles_per_call"))).collect(),
    };
    Bars {
        title: "Cycles per call".into(),
        note: "Mean, from the retirement of a call's first instruction to that of its ret.".into(),
        groups_are: "call".into(),
        axis: Axis::new("cycles per call", Format::Fixed(1)),
        series: shown.iter().map(|s| (s.item.name.clone(), s.look)).collect(),
        groups: kinds.iter().map(group).collect(),
    }
}

/// Speedups over the baseline: of the program, of the allocator, and of the main kinds of call.
fn speedups(run: &Run, kinds: &[CallKind], others: &[Shown]) -> Bars {
    let whole = |label: &str, name: &str| Group {
        label: label.into(),
        bars: others.iter().map(|s| bar(program(run, s.item, name))).collect(),
    };
    let mut groups = vec![whole("program", "speedup"), whole("allocator", "allocator_speedup")];
    groups.extend(kinds.iter().map(|kind| Group {
        label: kind_name(*kind),
        bars: others.iter().map(|s| bar(calls(run, s.item, *kind, "speedup"))).collect(),
    }));
    let series: Vec<(String, Look)> =
        others.iter().map(|s| (s.item.name.clone(), s.look)).collect();
    Bars {
        title: "Speedup over the baseline".into(),
        note: "How much faster the program, the whole allocator and a call of each kind are."
            .into(),
        groups_are: "what".into(),
        axis: Axis::new("speedup", Format::Change(1)),
        series,
        groups,
    }
}
