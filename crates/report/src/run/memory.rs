//! Caches, translation buffers, branch prediction and the malloc cache.

use results::statistics::{
    CACHE, Context, MALLOC_CACHE, Measured, PREDICTOR, Statistic, TLB, Unit, Value, find,
};
use results::{Configuration, Run};

use super::Name;
use super::figures::bar;
use super::roles::{Shown, all, main};
use crate::chart::{Axis, Bars, Group, figure, side_by_side};
use crate::data::{Column, Data, Datum, Format};
use crate::html::Html;

/// The section, if anything was counted.
pub fn body(run: &Run, name: &Name) -> Option<Html> {
    let counted = |item: &Configuration| !item.caches.is_empty() || !item.tlbs.is_empty();
    if !run.configurations.iter().any(counted) {
        return None;
    }
    let shown = main(run);
    let mut html = side_by_side([
        figure(&misses(&shown, true), &name.file("misses")),
        figure(&misses(&shown, false), &name.file("hit-rates")),
    ]);
    html.push(table("Branches and their prediction", run, name, "predictor", PREDICTOR, |item| {
        vec![("", &item.predictor)]
    }));
    html.push(table("Caches, demand accesses", run, name, "caches", CACHE, |item| {
        item.caches.iter().map(|cache| (cache.name.as_str(), cache)).collect()
    }));
    html.push(table("Translation buffers", run, name, "tlbs", TLB, |item| {
        item.tlbs.iter().map(|tlb| (tlb.name.as_str(), tlb)).collect()
    }));
    if run.configurations.iter().any(|item| item.malloc_cache.is_some()) {
        html.push(table("Malloc cache", run, name, "malloc-cache", MALLOC_CACHE, |item| {
            item.malloc_cache.iter().map(|cache| ("", cache)).collect()
        }));
    }
    Some(html)
}

/// A statistic that needs no baseline.
fn plain<T: Measured>(
    slice: &'static [Statistic<T>],
    name: &str,
    part: &T,
    item: &Configuration,
) -> Value {
    let context = Context::plain(item.instructions);
    find(slice, name).map_or(Value::Undefined, |found| found.value(part, &context))
}

/// Misses per 1,000 instructions, or hit rates, of every structure.
fn misses(shown: &[Shown], misses: bool) -> Bars {
    let name = if misses { "mpki" } else { "hit_rate" };
    let mut labels: Vec<&str> = Vec::new();
    for item in shown.iter().map(|shown| shown.item) {
        let caches = item.caches.iter().map(|cache| cache.name.as_str());
        let all = caches.chain(item.tlbs.iter().map(|tlb| tlb.name.as_str()));
        for label in all {
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
    }
    let value = |item: &Configuration, label: &str| {
        let cache = item.caches.iter().find(|cache| cache.name == label);
        let tlb = item.tlbs.iter().find(|tlb| tlb.name == label);
        let cache = cache.map(|cache| plain(CACHE, name, cache, item));
        cache.or(tlb.map(|tlb| plain(TLB, name, tlb, item))).unwrap_or(Value::Undefined)
    };
    let mut groups: Vec<Group> = labels
        .iter()
        .map(|label| Group {
            label: (*label).to_owned(),
            bars: shown.iter().map(|s| bar(value(s.item, label))).collect(),
        })
        .collect();
    let branches = if misses { "mpki" } else { "accuracy" };
    groups.push(Group {
        label: if misses { "branches" } else { "directions" }.into(),
        bars: shown
            .iter()
            .map(|s| bar(plain(PREDICTOR, branches, &s.item.predictor, s.item)))
            .collect(),
    });
    let (title, note, axis) = if misses {
        let axis = Axis::new("per 1,000 instructions", Format::Fixed(2));
        ("Misses per 1,000 instructions", "Demand misses; wrong predictions of branches.", axis)
    } else {
        let axis = Axis::new("share that hits", Format::Percent(1)).to(1.0);
        ("Hit rates", "Of demand accesses; of directions of conditional branches.", axis)
    };
    Bars {
        title: title.into(),
        note: note.into(),
        groups_are: "structure".into(),
        axis,
        series: shown.iter().map(|s| (s.item.name.clone(), s.look)).collect(),
        groups,
    }
}

/// How people read a statistic.
fn format(unit: Unit) -> Format {
    match unit {
        Unit::Fraction => Format::Percent(1),
        Unit::PerThousandInstructions => Format::Fixed(2),
        _ => Format::Count,
    }
}

/// Every statistic of a structure, a row for each configuration that has it.
fn table<T: Measured>(
    title: &str,
    run: &Run,
    name: &Name,
    file: &str,
    slice: &'static [Statistic<T>],
    parts: impl for<'a> Fn(&'a Configuration) -> Vec<(&'a str, &'a T)>,
) -> Html {
    let mut columns = vec![Column::new("configuration", Format::Text)];
    let named = run.configurations.iter().any(|item| parts(item).iter().any(|p| !p.0.is_empty()));
    if named {
        columns.push(Column::new("structure", Format::Text));
    }
    columns.extend(slice.iter().map(|s| Column::new(s.name.replace('_', " "), format(s.unit))));
    let mut data = Data::new(columns);
    for shown in all(run) {
        for (part, figures) in parts(shown.item) {
            let mut row = vec![Datum::from(shown.item.name.as_str())];
            row.extend(named.then(|| Datum::from(part)));
            let context = Context::plain(shown.item.instructions);
            row.extend(slice.iter().map(|s| Datum::from(s.value(figures, &context))));
            data.row(row);
        }
    }
    let mut details = Html::tag("summary", &[], title);
    details.push(data.html(title));
    let link = data.download(title, &name.file(file));
    details.push(Html::element("p", &[("class", "tools")], link));
    Html::element("details", &[], details)
}
