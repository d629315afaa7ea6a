//! Hits and misses: every structure that declares a rate.

use results::statistics::Value;
use results::{GroupFigures, Placed, Run, meaning};
use stats::{Figure, Meaning, Schema};

use super::Name;
use super::figures::bar;
use super::roles::{Shown, main};
use crate::chart::{Axis, Bars, Group, figure, side_by_side};
use crate::data::Format;
use crate::html::Html;

/// The section, if anything declares a rate.
pub fn body(run: &Run, name: &Name) -> Option<Html> {
    let schema = run.groups();
    let shown = main(run);
    let charts = [
        rates(
            run,
            &shown,
            &schema,
            Meaning::MissRate,
            Chart {
                title: "Misses per 1,000 instructions",
                note: "Demand misses and mispredicted branches.",
                axis: Axis::new("per 1,000 instructions", Format::Fixed(2)),
            },
        )
        .map(|bars| figure(&bars, &name.file("misses"))),
        rates(
            run,
            &shown,
            &schema,
            Meaning::HitRate,
            Chart {
                title: "Hit rates",
                note: "Shares of demand accesses, and of the directions of conditional branches.",
                axis: Axis::new("share that hits", Format::Percent(1)).to(1.0),
            },
        )
        .map(|bars| figure(&bars, &name.file("hit-rates"))),
    ];
    let charts: Vec<Html> = charts.into_iter().flatten().collect();
    (!charts.is_empty()).then(|| side_by_side(charts))
}

/// The texts of a chart.
struct Chart {
    title: &'static str,
    note: &'static str,
    axis: Axis,
}

/// The figures with a given meaning, for every structure that a configuration has.
fn rates(
    run: &Run,
    shown: &[Shown],
    schema: &Schema,
    wanted: Meaning,
    chart: Chart,
) -> Option<Bars> {
    let items: Vec<GroupFigures> = shown.iter().map(|s| GroupFigures::of(run, s.item)).collect();
    let mut found = meaning(schema, wanted);
    found.retain(|(_, group, _)| items.iter().any(|item| item.has(&group.path)));
    if found.is_empty() {
        return None;
    }
    let group = |(label, group, figure): &(String, Placed, &Figure<String>)| {
        let value = |item: &GroupFigures| -> Value { item.value(&group.path, &figure.name) };
        Group { label: label.clone(), bars: items.iter().map(|item| bar(value(item))).collect() }
    };
    Some(Bars {
        title: chart.title.into(),
        note: chart.note.into(),
        groups_are: "structure".into(),
        axis: chart.axis,
        series: shown.iter().map(|s| (s.item.name.clone(), s.look)).collect(),
        groups: found.iter().map(group).collect(),
    })
}
