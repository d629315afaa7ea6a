//! The table that compares configurations: statistics down, configurations across.

use super::grid::Grid;
use super::number;
use crate::confidence::Estimate;
use crate::figures::{GroupFigures, groups_of};
use crate::model::{Configuration, Run};
use crate::select::{CallFigures, CallGroup};
use crate::statistics::{CALLS, CONFIGURATION, Unit, Value, configuration_context, find};

/// The comparison table of a run.
pub fn grid(run: &Run) -> Grid {
    let mut grid = Grid::new(run.configurations.iter().map(|item| item.name.as_str()));
    program(&mut grid, run);
    allocator(&mut grid, run);
    for group in CallGroup::all().filter(|group| matches!(group, CallGroup::Kind(_))) {
        calls(&mut grid, run, group);
    }
    groups(&mut grid, run);
    area(&mut grid, run);
    grid
}

fn program(grid: &mut Grid, run: &Run) {
    grid.heading("program");
    match &run.sampling {
        None => grid.row("  cycles", each(run, |item| number::short_count(item.cycles))),
        Some(sampling) => {
            grid.row("  cycles, whole run", each(run, |item| whole_run(item, sampling.population)));
            grid.row("  cycles, measured", each(run, |item| number::short_count(item.cycles)));
        }
    }
    figure(grid, run, "  IPC", "ipc");
    figure(grid, run, "  speedup", "speedup");
}

/// The estimate for the whole run, with a relative interval because the number is large.
fn whole_run(item: &Configuration, population: u64) -> String {
    let Some(estimate) = item.whole_run_cycles(population) else {
        return number::UNDEFINED.into();
    };
    let relative = |half: f64| Estimate { value: 0.0, half_width: Some(100.0 * half) };
    let interval = estimate.half_width.filter(|_| estimate.value > 0.0);
    let interval = interval
        .and_then(|half| number::Shown::of(relative(half / estimate.value), 1).interval)
        .map(|interval| format!(" {interval} %"));
    number::scaled(estimate.value) + &interval.unwrap_or_default()
}

fn allocator(grid: &mut Grid, run: &Run) {
    if run.configurations.iter().all(|item| item.allocator_cycles == 0) {
        return;
    }
    grid.heading("allocator");
    figure(grid, run, "  share of cycles", "allocator_share");
    figure(grid, run, "  speedup", "allocator_speedup");
    figure(grid, run, "  size classes that serve 90 %", "size_classes_90");
}

fn calls(grid: &mut Grid, run: &Run, group: CallGroup) {
    let figures: Vec<CallFigures> =
        run.configurations.iter().map(|item| CallFigures::of(run, item, group)).collect();
    if figures.iter().all(|figures| figures.stats().calls == 0) {
        return;
    }
    grid.heading(group.name());
    let unit = |name| find(CALLS, name).map_or(Unit::Count, |statistic| statistic.unit);
    for (label, name) in [
        ("  calls", "calls"),
        ("  cycles per call", "cycles_per_call"),
        ("  p50", "p50"),
        ("  p95", "p95"),
        ("  p99", "p99"),
        ("  under 100 cycles", "fast_share"),
        ("  speedup", "speedup"),
    ] {
        let cells = figures
            .iter()
            .zip(&run.configurations)
            .map(|(figures, item)| cell(item, name, figures.value(name), unit(name)));
        grid.row(label, cells);
    }
}

/// The estimated area and that of the synthesised RTL, for the same technology.
fn area(grid: &mut Grid, run: &Run) {
    type Stated = fn(&Configuration) -> Option<f64>;
    let rows: [(&str, Stated); 3] = [
        ("  estimate", |item| item.area_um2),
        ("  RTL, low end", |item| item.area_rtl_um2_min),
        ("  RTL, high end", |item| item.area_rtl_um2_max),
    ];
    let stated = |of: Stated| run.configurations.iter().any(|item| of(item).is_some());
    if rows.iter().any(|(_, of)| stated(*of)) {
        grid.heading("area, um^2 at 28 nm");
    }
    for (label, of) in rows.into_iter().filter(|(_, of)| stated(*of)) {
        let whole = |area: f64| number::count(area.round() as u64);
        grid.row(label, each(run, |item| of(item).map_or(number::UNDEFINED.into(), whole)));
    }
}

/// The figures that groups declare for this table, under the title of their kind.
fn groups(grid: &mut Grid, run: &Run) {
    let schema = run.groups();
    let items: Vec<GroupFigures> =
        run.configurations.iter().map(|item| GroupFigures::of(run, item)).collect();
    for kind in schema.kinds() {
        let figures: Vec<_> = kind
            .figures
            .iter()
            .filter_map(|figure| Some((figure, figure.summary.as_ref()?)))
            .collect();
        let groups: Vec<_> = groups_of(&schema, kind)
            .filter(|group| items.iter().any(|item| item.has(&group.path)))
            .collect();
        if figures.is_empty() || groups.is_empty() {
            continue;
        }
        grid.heading(kind.head.title.as_str());
        for group in &groups {
            for (figure, label) in &figures {
                let name = if group.name.is_empty() { "" } else { " " };
                let label = format!("  {}{name}{label}", group.name);
                let value = |item: &GroupFigures| item.value(&group.path, &figure.name);
                let cells = items.iter().map(|item| number::value(value(item), figure.unit));
                grid.row(label, cells);
            }
        }
    }
}

/// A row of a configuration's statistic.
fn figure(grid: &mut Grid, run: &Run, label: &str, name: &str) {
    let Some(statistic) = find(CONFIGURATION, name) else { return };
    let cells = run.configurations.iter().map(|item| {
        let value = statistic.value(item, &configuration_context(run, item));
        cell(item, name, value, statistic.unit)
    });
    grid.row(label, cells);
}

/// A cell. A baseline has no speedup, and a change has a sign.
fn cell(item: &Configuration, name: &str, value: Value, unit: Unit) -> String {
    match (name.ends_with("speedup"), item.is_baseline()) {
        (true, true) => number::UNDEFINED.into(),
        (true, false) => number::change(value),
        (false, _) => number::value(value, unit),
    }
}

fn each(run: &Run, cell: impl Fn(&Configuration) -> String) -> Vec<String> {
    run.configurations.iter().map(cell).collect()
}
