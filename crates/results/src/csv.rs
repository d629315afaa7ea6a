//! A run as CSV: one row for each configuration, the same columns in every run.
//!
//! Columns are the run's facts, then every statistic of a configuration under its bare name, then
//! those of its calls (`malloc.calls`), then every figure of the groups that a schema declares
//! (`cache.L1D.mpki`, `malloc_cache.pop_hits`). The caller provides the schema: with the schema of
//! everything that a tool can count, all its runs have the same columns. Figures are in the order
//! of the editions of their declarations, so that no column moves when a figure is added. A
//! statistic that can have a confidence interval is followed by `<name>_ci95`. Figures that are
//! undefined or that a configuration does not have are empty. Groups that only one run has, such as
//! additional caches of its machine, are in JSON and in the store.

use documents::csv::line;
use stats::Schema;

use crate::figures::{GroupFigures, placed};
use crate::model::{Configuration, Run};
use crate::select::{CallFigures, CallGroup};
use crate::statistics::{
    CALLS, CONFIGURATION, Interval, Measured, Source, Statistic, Value, configuration_context,
};

/// A run as CSV (RFC 4180, lines ended by a newline), header first, with the columns of `schema`.
pub fn render(run: &Run, schema: &Schema) -> String {
    let mut text = header(schema);
    for configuration in &run.configurations {
        text += &row(run, configuration, schema);
    }
    text
}

/// The header line. Rows of several runs may follow one header.
pub fn header(schema: &Schema) -> String {
    let empty = Run { configurations: vec![Configuration::default()], ..Run::default() };
    line(cells(&empty, &empty.configurations[0], schema).into_iter().map(|(name, _)| name))
}

/// The line of one configuration.
pub fn row(run: &Run, configuration: &Configuration, schema: &Schema) -> String {
    line(cells(run, configuration, schema).into_iter().map(|(_, value)| value))
}

type Cells = Vec<(String, String)>;

fn cells(run: &Run, item: &Configuration, schema: &Schema) -> Cells {
    let text = |name: &str, value: String| (name.to_owned(), value);
    let parameters: Vec<String> =
        item.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut all = vec![
        text("run", run.id.map(|id| id.to_string()).unwrap_or_default()),
        text("program", run.program.clone()),
        text("args", run.args.join(" ")),
        text("started", run.started.to_string()),
        text("complete", run.complete.to_string()),
        text("sampled", run.sampling.is_some().to_string()),
        text("program_instructions", run.instructions.to_string()),
        text("configuration", item.name.clone()),
        text("machine", item.machine.clone()),
        text("accelerator", item.accelerator.clone()),
        text("parameters", parameters.join(" ")),
    ];
    let context = configuration_context(run, item);
    for statistic in CONFIGURATION {
        push(&mut all, "", statistic, statistic.value(item, &context));
    }
    for calls in CallGroup::all() {
        let figures = CallFigures::of(run, item, calls);
        for statistic in CALLS {
            let value = figures.value(statistic.name);
            push(&mut all, &format!("{}.", calls.name()), statistic, value);
        }
    }
    groups(&mut all, run, item, schema);
    all
}

/// The figures of the groups, in the order of editions.
fn groups(all: &mut Cells, run: &Run, item: &Configuration, schema: &Schema) {
    let figures = GroupFigures::of(run, item);
    let mut columns: Vec<(u32, String, String)> = Vec::new();
    for group in placed(&schema.summed()) {
        for figure in &group.kind.figures {
            let value = shown(figures.value(&group.path, &figure.name));
            let name = format!("{}.{}", group.path, figure.name);
            columns.push((group.kind.since(figure), name, value));
        }
    }
    columns.sort_by_key(|(since, ..)| *since);
    all.extend(columns.into_iter().map(|(_, name, value)| (name, value)));
}

fn push<T: Measured>(all: &mut Cells, prefix: &str, statistic: &Statistic<T>, value: Value) {
    let name = format!("{prefix}{}", statistic.name);
    let interval_name = format!("{name}_ci95");
    all.push((name, shown(value)));
    if let Source::Derived { interval: Interval::Ratio(_) | Interval::Speedup(_), .. } =
        statistic.source
    {
        let half = value.half_width().map(|half| half.to_string()).unwrap_or_default();
        all.push((interval_name, half));
    }
}

fn shown(value: Value) -> String {
    match value {
        Value::Count(count) => count.to_string(),
        Value::Real(estimate) => estimate.value.to_string(),
        Value::Undefined => String::new(),
    }
}
