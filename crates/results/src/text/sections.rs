//! The secondary sections of the full view.

use std::collections::BTreeMap;

use super::grid::Grid;
use super::histogram::histogram;
use super::{Style, number};
use crate::model::{CallKind, Configuration, Run};
use crate::statistics::{
    CACHE, CONFIGURATION, Context, MALLOC_CACHE, Measured, PREDICTOR, Statistic, TLB, Unit, Value,
    configuration_context, find,
};

/// How many size classes and requested sizes are listed.
const SIZES_SHOWN: usize = 8;

/// All sections that have something to show.
pub fn sections(run: &Run, style: &Style) -> Vec<String> {
    let all = [
        cpi_stack(run, style),
        misses(run, style),
        malloc_cache(run, style),
        sizes(run, style),
        energy(run, style),
    ];
    all.into_iter().flatten().chain(latencies(run, style)).collect()
}

fn names(run: &Run) -> impl Iterator<Item = &str> {
    run.configurations.iter().map(|item| item.name.as_str())
}

/// Every name that `of` finds in any configuration, in order of first appearance.
fn union<'a>(run: &'a Run, of: impl Fn(&'a Configuration) -> Vec<&'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    for name in run.configurations.iter().flat_map(of) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

fn cpi_stack(run: &Run, style: &Style) -> Option<String> {
    let causes = union(run, |item| item.cpi_stack.iter().map(|p| p.name.as_str()).collect());
    if causes.is_empty() {
        return None;
    }
    let mut grid = Grid::new(names(run));
    grid.heading("CPI stack: cycles per instruction by cause");
    let per_instruction = |cycles: Option<u64>, item: &Configuration| {
        let share = cycles.and_then(|cycles| item.per_instruction(cycles));
        share.map_or(number::UNDEFINED.into(), |share| number::fixed(share, 4))
    };
    for cause in causes {
        let cells = run.configurations.iter().map(|item| {
            let part = item.cpi_stack.iter().find(|part| part.name == cause);
            per_instruction(part.map(|part| part.cycles), item)
        });
        grid.row(format!("  {cause}"), cells);
    }
    let totals = run.configurations.iter().map(|item| per_instruction(Some(item.cycles), item));
    grid.row("  sum", totals);
    Some(grid.render(style))
}

fn misses(run: &Run, style: &Style) -> Option<String> {
    let caches = union(run, |item| item.caches.iter().map(|c| c.name.as_str()).collect());
    let tlbs = union(run, |item| item.tlbs.iter().map(|t| t.name.as_str()).collect());
    if caches.is_empty() && tlbs.is_empty() {
        return None;
    }
    let mut grid = Grid::new(names(run));
    grid.heading("misses per 1,000 instructions");
    for name in caches {
        let cells = run.configurations.iter().map(|item| {
            let cache = item.caches.iter().find(|cache| cache.name == name);
            plain(CACHE, "mpki", cache, item)
        });
        grid.row(format!("  {name}"), cells);
    }
    for name in tlbs {
        let cells = run.configurations.iter().map(|item| {
            let tlb = item.tlbs.iter().find(|tlb| tlb.name == name);
            plain(TLB, "mpki", tlb, item)
        });
        grid.row(format!("  {name}"), cells);
    }
    let predicted = |name: &'static str| {
        run.configurations
            .iter()
            .map(move |item| plain(PREDICTOR, name, Some(&item.predictor), item))
    };
    grid.row("  branches", predicted("mpki"));
    grid.row("  directions right", predicted("accuracy"));
    Some(grid.render(style))
}

fn malloc_cache(run: &Run, style: &Style) -> Option<String> {
    let with: Vec<&Configuration> =
        run.configurations.iter().filter(|item| item.malloc_cache.is_some()).collect();
    if with.is_empty() {
        return None;
    }
    let mut grid = Grid::new(with.iter().map(|item| item.name.as_str()));
    grid.heading("malloc cache");
    for statistic in MALLOC_CACHE {
        let cells = with
            .iter()
            .map(|item| plain(MALLOC_CACHE, statistic.name, item.malloc_cache.as_ref(), item));
        grid.row(format!("  {}", statistic.name.replace('_', " ")), cells);
    }
    Some(grid.render(style))
}

/// The sizes that the program asks for. They are the program's own, so one column says it.
fn sizes(run: &Run, style: &Style) -> Option<String> {
    let item = run.configurations.iter().find(|item| !item.size_classes.is_empty())?;
    let mut grid = Grid::new(["allocations", "share"]);
    grid.heading("size classes, the most frequent first");
    most_frequent(&mut grid, "  class ", &item.size_classes);
    if !item.requested_sizes.is_empty() {
        grid.heading("requested bytes, the most frequent first");
        most_frequent(&mut grid, "  ", &item.requested_sizes);
    }
    let mut text = grid.render(style);
    let context = configuration_context(run, item);
    let needed = |name| {
        let value = find(CONFIGURATION, name).map(|found| found.value(item, &context));
        number::value(value.unwrap_or(Value::Undefined), Unit::Classes)
    };
    text += &format!(
        "Size classes needed for 50 / 90 / 99 % of the allocations: {} / {} / {}.\n",
        needed("size_classes_50"),
        needed("size_classes_90"),
        needed("size_classes_99")
    );
    Some(text)
}

fn most_frequent(grid: &mut Grid, prefix: &str, counts: &BTreeMap<u64, u64>) {
    let total = counts.values().copied().fold(0, u64::saturating_add);
    let mut sorted: Vec<(u64, u64)> = counts.iter().map(|(size, count)| (*size, *count)).collect();
    sorted.sort_by_key(|(size, count)| (std::cmp::Reverse(*count), *size));
    let (shown, rest) = sorted.split_at(sorted.len().min(SIZES_SHOWN));
    for (size, count) in shown {
        let label = format!("{prefix}{}", number::count(*size));
        grid.row(label, [number::count(*count), number::share(*count, total)]);
    }
    if !rest.is_empty() {
        let count = rest.iter().map(|(_, count)| *count).fold(0, u64::saturating_add);
        let label = format!("  {} others", rest.len());
        grid.row(label, [number::count(count), number::share(count, total)]);
    }
}

fn energy(run: &Run, style: &Style) -> Option<String> {
    let stated = |item: &&Configuration| item.energy_nj.is_some();
    let with: Vec<&Configuration> = run.configurations.iter().filter(stated).collect();
    if with.is_empty() {
        return None;
    }
    let mut grid = Grid::new(with.iter().map(|item| item.name.as_str()));
    grid.heading("energy of the accelerator");
    let figure = |value: Option<f64>| value.map_or(number::UNDEFINED.into(), number::scaled);
    grid.row("  energy, nJ", with.iter().map(|item| figure(item.energy_nj)));
    Some(grid.render(style))
}

/// Latency histograms of the main kind: of the headline's configuration and its baseline.
fn latencies(run: &Run, style: &Style) -> Vec<String> {
    let Some(kind): Option<CallKind> = run.main_kind() else { return Vec::new() };
    let chosen = run.headline_configuration();
    let base = chosen.and_then(|item| run.baseline_of(item)).or(run.configurations.first());
    let draw = |item: &Configuration| {
        let title = format!("cycles per {} call, {}", kind.name(), item.name);
        histogram(&title, &item.calls[kind].latency, style)
    };
    base.into_iter().chain(chosen).filter_map(draw).collect()
}

/// A statistic that needs no baseline and no samples; undefined without an item.
fn plain<T: Measured>(
    slice: &'static [Statistic<T>],
    name: &str,
    item: Option<&T>,
    configuration: &Configuration,
) -> String {
    let (Some(statistic), Some(item)) = (find(slice, name), item) else {
        return number::UNDEFINED.into();
    };
    let context = Context::plain(configuration.instructions);
    number::value(statistic.value(item, &context), statistic.unit)
}
