//! The secondary sections of the full view.

use std::collections::BTreeMap;

use stats::{Kind, Meaning, Schema};

use super::grid::{Grid, shorten};
use super::histogram::histogram;
use super::{Style, number};
use crate::figures::{GroupFigures, Placed, groups_of, meaning};
use crate::model::{CallKind, Configuration, Run};
use crate::statistics::{CONFIGURATION, Unit, Value, configuration_context, find};

/// Number of size classes and requested sizes that are listed.
const SIZES_SHOWN: usize = 8;

/// Letters of a place; the page and JSON have it whole.
const PLACE_LETTERS: usize = 34;

/// All sections that are not empty.
pub fn sections(run: &Run, style: &Style) -> Vec<String> {
    let mut all = stacks(run, style);
    all.extend(misses(run, style));
    all.extend(kinds(run, style));
    all.extend(sizes(run, style));
    all.extend(call_sites(run, style));
    all.extend(energy(run, style));
    all.extend(latencies(run, style));
    all
}

fn names(run: &Run) -> impl Iterator<Item = &str> {
    run.configurations.iter().map(|item| item.name.as_str())
}

/// Groups whose counters sum to a whole: each counter per instruction.
fn stacks(run: &Run, style: &Style) -> Vec<String> {
    let (schema, items) = (run.groups(), figures(run));
    let mut texts = Vec::new();
    for kind in schema.kinds().iter().filter(|kind| kind.head.whole.is_some()) {
        for group in present(&schema, kind, &items) {
            let mut grid = Grid::new(names(run));
            let unit = kind.figures.first().map_or("count", |part| part.unit.name());
            grid.heading(format!("{}: {unit} per instruction by cause", titled(&group)));
            let mut row = |label: &str, of: &dyn Fn(&GroupFigures) -> Option<u64>| {
                let cells = items.iter().zip(&run.configurations).map(|(figures, item)| {
                    let share = of(figures).and_then(|cycles| item.per_instruction(cycles));
                    share.map_or(number::UNDEFINED.into(), |share| number::fixed(share, 4))
                });
                grid.row(format!("  {label}"), cells);
            };
            for figure in &kind.figures {
                row(&figure.name, &|figures| match figures.value(&group.path, &figure.name) {
                    Value::Count(count) => Some(count),
                    _ => None,
                });
            }
            row("sum", &|figures| figures.whole(kind, &group.path));
            texts.push(grid.render(style));
        }
    }
    texts
}

/// Misses of everything that can miss, and the hit rates that have a label.
fn misses(run: &Run, style: &Style) -> Option<String> {
    let (schema, items) = (run.groups(), figures(run));
    let mut grid = Grid::new(names(run));
    let mut empty = true;
    let headings =
        [(Meaning::MissRate, "misses per 1,000 instructions"), (Meaning::HitRate, "hit rates")];
    for (wanted, heading) in headings {
        let mut rates = meaning(&schema, wanted);
        // Every hit rate is the complement of a miss rate but those that have a label.
        rates.retain(|(_, group, figure)| {
            let counted = items.iter().any(|item| item.has(&group.path));
            counted && (wanted == Meaning::MissRate || figure.label.is_some())
        });
        if rates.is_empty() {
            continue;
        }
        empty = false;
        grid.heading(heading);
        for (label, group, figure) in &rates {
            let value = |item: &GroupFigures| item.value(&group.path, &figure.name);
            let cells = items.iter().map(|item| number::value(value(item), figure.unit));
            grid.row(format!("  {label}"), cells);
        }
    }
    (!empty).then(|| grid.render(style))
}

/// A table per kind of group, with a column for each configuration that has such a group.
fn kinds(run: &Run, style: &Style) -> Vec<String> {
    let (schema, items) = (run.groups(), figures(run));
    let mut texts = Vec::new();
    for kind in schema.kinds().iter().filter(|kind| kind.head.whole.is_none()) {
        let groups = present(&schema, kind, &items);
        let has = |item: &GroupFigures| groups.iter().any(|group| item.has(&group.path));
        let with: Vec<_> =
            items.iter().zip(&run.configurations).filter(|(figures, _)| has(figures)).collect();
        if with.is_empty() {
            continue;
        }
        let mut grid = Grid::new(with.iter().map(|(_, item)| item.name.as_str()));
        grid.heading(kind.head.title.as_str());
        for group in &groups {
            for figure in &kind.figures {
                let known = |(figures, _): &&(&GroupFigures, _)| figures.knows(&group.path, figure);
                if with.iter().filter(known).count() == 0 {
                    continue;
                }
                let space = if group.name.is_empty() { "" } else { " " };
                let label = format!("  {}{space}{}", group.name, figure.name.replace('_', " "));
                let value = |item: &GroupFigures| item.value(&group.path, &figure.name);
                let cells = with.iter().map(|(item, _)| number::value(value(item), figure.unit));
                grid.row(label, cells);
            }
        }
        texts.push(grid.render(style));
    }
    texts
}

fn figures(run: &Run) -> Vec<GroupFigures<'_>> {
    run.configurations.iter().map(|item| GroupFigures::of(run, item)).collect()
}

/// The groups of a kind that any configuration has.
fn present<'a>(schema: &'a Schema, kind: &'a Kind, items: &'a [GroupFigures]) -> Vec<Placed<'a>> {
    groups_of(schema, kind).filter(|group| items.iter().any(|i| i.has(&group.path))).collect()
}

/// The title of a group's kind, with the group's name if it has one.
fn titled(group: &Placed<'_>) -> String {
    let title = &group.kind.head.title;
    if group.name.is_empty() { title.clone() } else { format!("{title} of {}", group.name) }
}

/// The requested sizes. They are the program's own, so one column is enough.
fn sizes(run: &Run, style: &Style) -> Option<String> {
    let item = run.configurations.iter().find(|item| !item.size_classes.is_empty())?;
    let mut grid = Grid::new(["allocations", "share"]);
    grid.heading("size classes, the most frequent first");
    most_frequent(&mut grid, &item.size_classes, |class| match item.class_bytes.get(&class) {
        Some(bytes) => format!("class {class} ({} bytes)", number::count(*bytes)),
        None => format!("class {class}"),
    });
    if !item.requested_sizes.is_empty() {
        grid.heading("requested bytes, the most frequent first");
        most_frequent(&mut grid, &item.requested_sizes, number::count);
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

fn most_frequent(grid: &mut Grid, counts: &BTreeMap<u64, u64>, label: impl Fn(u64) -> String) {
    let total = counts.values().copied().fold(0, u64::saturating_add);
    let mut sorted: Vec<(u64, u64)> = counts.iter().map(|(size, count)| (*size, *count)).collect();
    sorted.sort_by_key(|(size, count)| (std::cmp::Reverse(*count), *size));
    let (shown, rest) = sorted.split_at(sorted.len().min(SIZES_SHOWN));
    for (size, count) in shown {
        grid.row(
            format!("  {}", label(*size)),
            [number::count(*count), number::share(*count, total)],
        );
    }
    if !rest.is_empty() {
        let count = rest.iter().map(|(_, count)| *count).fold(0, u64::saturating_add);
        let others = if rest.len() == 1 { "other" } else { "others" };
        let label = format!("  {} {others}", rest.len());
        grid.row(label, [number::count(count), number::share(count, total)]);
    }
}

/// Where the program calls the allocator, under the first configuration.
fn call_sites(run: &Run, style: &Style) -> Option<String> {
    let item = run.configurations.iter().find(|item| !item.call_sites.is_empty())?;
    let mut grid = Grid::new(["calls", "bytes", "cycles", "share"]);
    grid.heading(format!("call sites by allocator cycles, {}", item.name));
    for site in &item.call_sites {
        let place = site.place.as_deref().unwrap_or("all others");
        grid.row(
            format!("  {}", shorten(place, PLACE_LETTERS, style)),
            [
                number::count(site.calls),
                number::count(site.bytes),
                number::count(site.cycles),
                number::share(site.cycles, item.allocator_cycles),
            ],
        );
    }
    Some(grid.render(style))
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

/// Latency histograms of the main kind, for the headline configuration and its baseline.
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
