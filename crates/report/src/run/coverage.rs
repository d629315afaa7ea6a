//! How few size classes serve the program, which is what a malloc cache with few entries exploits.

use std::collections::BTreeMap;

use results::statistics::Unit;
use results::text::number;
use results::{Configuration, ParameterValue, Run};

use super::Name;
use super::figures::program;
use crate::chart::{Axis, Bar, Bars, Guide, LineChart, Look, Series, figure, side_by_side};
use crate::data::Format;
use crate::html::Html;

/// Number of sizes listed.
const SIZES_SHOWN: usize = 12;
/// Number of malloc cache sizes marked.
const GUIDES_MAX: usize = 4;

/// The section, if there were allocations. They are the program's own and the same for every
/// configuration, so any one of them is shown.
pub fn body(run: &Run, name: &Name) -> Option<Html> {
    let item = run.configurations.iter().find(|item| !item.size_classes.is_empty())?;
    let needed = |name| number::value(program(run, item, name), Unit::Classes);
    let sentence = format!(
        "Size classes needed, of {3}: {0} for half of the allocations, {1} for 90 %, {2} for 99 %.",
        needed("size_classes_50"),
        needed("size_classes_90"),
        needed("size_classes_99"),
        item.size_classes.len()
    );
    let mut html = Html::prose("p", &[], &sentence);
    let mut figures = vec![figure(&coverage(run, item), &name.file("class-coverage"))];
    if !item.requested_sizes.is_empty() {
        figures.push(figure(&sizes(&item.requested_sizes), &name.file("requested-sizes")));
    }
    html.push(side_by_side(figures));
    Some(html)
}

fn coverage(run: &Run, item: &Configuration) -> LineChart {
    let classes = item.class_coverage();
    let total = classes.last().map_or(1, |class| class.covered).max(1) as f64;
    let points = classes.iter().enumerate();
    let points = points.map(|(index, class)| (index as f64 + 1.0, class.covered as f64 / total));
    let points = std::iter::once((0.0, 0.0)).chain(points);
    let count = classes.len() as f64;
    let mut sizes = entries(run);
    sizes.retain(|entries| *entries as f64 <= count.max(8.0));
    if sizes.len() > GUIDES_MAX {
        // Of a sweep, only sizes that hardware would have.
        sizes.retain(|entries| entries.count_ones() == 1);
    }
    let first = sizes.len().saturating_sub(GUIDES_MAX);
    let guide = |entries: &i64| Guide {
        label: format!("{entries} entries"),
        at: *entries as f64,
        across: false,
    };
    LineChart {
        title: "Allocations served by the most used size classes".into(),
        note: "Classes in order of use, the most used first. A malloc cache holds \
               one class in each entry; vertical lines mark its sizes."
            .into(),
        x: Axis::new("size classes", Format::Count).from(0.0).to(count.max(8.0)),
        y: Axis::new("share of allocations", Format::Percent(1)).from(0.0).to(1.0),
        series: vec![Series::line("share of allocations", Look::MAIN, points)],
        guides: sizes[first..].iter().map(guide).collect(),
    }
}

/// Sizes of the run's malloc caches, in increasing order.
fn entries(run: &Run) -> Vec<i64> {
    let mut all: Vec<i64> = run
        .configurations
        .iter()
        .filter_map(|item| match item.parameters.get("entries") {
            Some(ParameterValue::Integer(entries)) => Some(*entries),
            _ => None,
        })
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn sizes(requested: &BTreeMap<u64, u64>) -> Bars {
    let total = requested.values().copied().fold(0, u64::saturating_add).max(1) as f64;
    let mut sorted: Vec<(u64, u64)> = requested.iter().map(|(s, c)| (*s, *c)).collect();
    sorted.sort_by_key(|(size, count)| (std::cmp::Reverse(*count), *size));
    let rest = sorted.split_off(sorted.len().min(SIZES_SHOWN));
    let group = |label: String, count: u64| crate::chart::Group {
        label,
        bars: vec![Some(Bar { value: count as f64 / total, half: None })],
    };
    let bytes = |size: u64| format!("{} B", number::count(size));
    let mut groups: Vec<_> =
        sorted.into_iter().map(|(size, count)| group(bytes(size), count)).collect();
    if !rest.is_empty() {
        let count = rest.iter().map(|(_, count)| *count).fold(0, u64::saturating_add);
        groups.push(group(format!("{} others", number::count(rest.len() as u64)), count));
    }
    Bars {
        title: "Requested sizes".into(),
        note: "The most frequent first.".into(),
        groups_are: "requested bytes".into(),
        axis: Axis::new("share of allocations", Format::Percent(1)),
        series: vec![("share of allocations".into(), Look::MAIN)],
        groups,
    }
}
