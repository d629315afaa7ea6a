//! A run as CSV: one row for each configuration, the same columns in every run.
//!
//! Columns are the run's facts, then every declared statistic: a configuration's under its bare
//! name, the others as `malloc.calls`, `cache.L1D.mpki`, `malloc_cache.pop_hits`. A statistic that
//! can have a confidence interval is followed by `<name>_ci95`. Undefined figures and whatever a
//! configuration does not have are empty. Caches and translation buffers other than the usual ones
//! appear in JSON and in the store only.

use documents::csv::line;

use crate::model::{CacheStats, Configuration, MallocCacheStats, Run, TlbStats};
use crate::select::{CallFigures, CallGroup};
use crate::statistics::{
    CACHE, CALLS, CONFIGURATION, Context, Interval, MALLOC_CACHE, Measured, PREDICTOR, Source,
    Statistic, TLB, Value, configuration_context,
};

/// Caches with columns of their own.
pub const CACHES: [&str; 4] = ["L1I", "L1D", "L2", "LLC"];
/// Translation buffers with columns of their own.
pub const TLBS: [&str; 3] = ["ITLB", "DTLB", "STLB"];

/// A run as CSV (RFC 4180, lines ended by a newline), header first.
pub fn render(run: &Run) -> String {
    let mut text = header();
    for configuration in &run.configurations {
        text += &row(run, configuration);
    }
    text
}

/// The header line. Rows of several runs may follow one header.
pub fn header() -> String {
    let empty = Run { configurations: vec![Configuration::default()], ..Run::default() };
    line(cells(&empty, &empty.configurations[0]).into_iter().map(|(name, _)| name))
}

/// The line of one configuration.
pub fn row(run: &Run, configuration: &Configuration) -> String {
    line(cells(run, configuration).into_iter().map(|(_, value)| value))
}

type Cells = Vec<(String, String)>;

fn cells(run: &Run, item: &Configuration) -> Cells {
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
    group(&mut all, "", CONFIGURATION, Some(item), &configuration_context(run, item));
    for calls in CallGroup::all() {
        let figures = CallFigures::of(run, item, calls);
        for statistic in CALLS {
            let value = figures.value(statistic.name);
            push(&mut all, &format!("{}.", calls.name()), statistic, value);
        }
    }
    let instructions = item.instructions;
    for name in CACHES {
        let cache: Option<&CacheStats> = item.caches.iter().find(|cache| cache.name == name);
        group(&mut all, &format!("cache.{name}."), CACHE, cache, &Context::plain(instructions));
    }
    for name in TLBS {
        let tlb: Option<&TlbStats> = item.tlbs.iter().find(|tlb| tlb.name == name);
        group(&mut all, &format!("tlb.{name}."), TLB, tlb, &Context::plain(instructions));
    }
    let plain = Context::plain(instructions);
    group(&mut all, "predictor.", PREDICTOR, Some(&item.predictor), &plain);
    let malloc_cache: Option<&MallocCacheStats> = item.malloc_cache.as_ref();
    group(&mut all, "malloc_cache.", MALLOC_CACHE, malloc_cache, &Context::plain(instructions));
    all
}

fn group<T: Measured>(
    all: &mut Cells,
    prefix: &str,
    slice: &[Statistic<T>],
    item: Option<&T>,
    context: &Context<T>,
) {
    for statistic in slice {
        let value = item.map_or(Value::Undefined, |item| statistic.value(item, context));
        push(all, prefix, statistic, value);
    }
}

fn push<T: Measured>(all: &mut Cells, prefix: &str, statistic: &Statistic<T>, value: Value) {
    let name = format!("{prefix}{}", statistic.name);
    let figure = match value {
        Value::Count(count) => count.to_string(),
        Value::Real(estimate) => estimate.value.to_string(),
        Value::Undefined => String::new(),
    };
    let interval_name = format!("{name}_ci95");
    all.push((name, figure));
    if let Source::Derived { interval: Interval::Ratio(_) | Interval::Speedup(_), .. } =
        statistic.source
    {
        let half = value.half_width().map(|half| half.to_string()).unwrap_or_default();
        all.push((interval_name, half));
    }
}
