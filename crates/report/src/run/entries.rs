//! Speedup against the number of entries of the malloc cache.

use std::collections::{BTreeMap, BTreeSet};

use results::statistics::Value;
use results::{CallKind, Configuration, ParameterValue, Run};

use super::Name;
use super::figures::{calls, kind_name, program};
use crate::chart::{Axis, Guide, LineChart, Look, Point, Series, Shape, figure, side_by_side};
use crate::data::Format;
use crate::html::Html;

/// Configurations that differ only in their number of entries, by entries.
pub struct Sweep<'a> {
    /// What tells it from the run's other sweeps, or the accelerator.
    pub name: String,
    /// The configurations.
    pub sizes: BTreeMap<i64, &'a Configuration>,
}

/// The parameter that is swept.
const ENTRIES: &str = "entries";

/// What the configurations of a sweep have in common: machine, accelerator, other parameters.
type Common = BTreeMap<String, String>;

/// The names of these two; no parameter has a blank in its name.
const MACHINE: &str = " machine";
const ACCELERATOR: &str = " accelerator";

fn common(item: &Configuration) -> Common {
    let others = item.parameters.iter().filter(|(name, _)| *name != ENTRIES);
    let mut common: Common = others.map(|(n, value)| (n.clone(), value.to_string())).collect();
    common.insert(MACHINE.into(), item.machine.clone());
    common.insert(ACCELERATOR.into(), item.accelerator.clone());
    common
}

/// What tells one sweep from the others; of a single sweep, its accelerator.
fn distinguished(own: &Common, all: &[Common]) -> String {
    let differs = |name: &str| all.iter().any(|other| other.get(name) != own.get(name));
    let parts = own.iter().filter(|(name, _)| differs(name)).map(|(name, value)| {
        if name.starts_with(' ') { value.clone() } else { format!("{name}={value}") }
    });
    let parts: Vec<_> = parts.collect();
    if parts.is_empty() { own[ACCELERATOR].clone() } else { parts.join(", ") }
}

/// The sweeps of a run, the one with the most sizes first; a single size is not a sweep.
pub fn sweeps(run: &Run) -> Vec<Sweep<'_>> {
    let mut groups: Vec<(Common, BTreeMap<i64, &Configuration>)> = Vec::new();
    for item in &run.configurations {
        let Some(ParameterValue::Integer(entries)) = item.parameters.get(ENTRIES) else { continue };
        let key = common(item);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, sizes)) => {
                sizes.entry(*entries).or_insert(item);
            }
            None => groups.push((key, BTreeMap::from([(*entries, item)]))),
        }
    }
    groups.retain(|(_, sizes)| sizes.len() > 1);
    groups.sort_by_key(|(_, sizes)| std::cmp::Reverse(sizes.len()));
    let all: Vec<Common> = groups.iter().map(|(key, _)| key.clone()).collect();
    let named = |(key, sizes): (Common, _)| Sweep { name: distinguished(&key, &all), sizes };
    groups.into_iter().map(named).collect()
}

/// A statistic of a sweep's configurations as a line.
pub fn line(sweep: &Sweep, look: Look, name: &str, of: impl Fn(&Configuration) -> Value) -> Series {
    let point = |(entries, item): (&i64, &&Configuration)| {
        let value = of(item);
        let half = value.half_width();
        value.figure().map(|y| Point { x: *entries as f64, y, half })
    };
    let points = sweep.sizes.iter().filter_map(point).collect();
    Series { name: name.into(), look, shape: Shape::Line, points }
}

/// The section; without a sweep it explains how to run one.
pub fn body(run: &Run, name: &Name) -> Option<Html> {
    run.main_kind()?;
    let sweeps = sweeps(run);
    run.headline_configuration()?;
    if sweeps.is_empty() {
        let mut html = Html::text(
            "One size of the malloc cache was simulated. To see where more entries stop helping, \
             give several: ",
        );
        html.push(Html::tag(
            "code",
            &[],
            "--config none --config mallacc:entries=4 --config mallacc:entries=8 … --config limit",
        ));
        return Some(Html::element("p", &[], html));
    }
    let mut figures = Vec::new();
    for (what, statistic) in [("program", "speedup"), ("allocator", "allocator_speedup")] {
        let title = format!("Speedup of the {what} against entries");
        let chart = chart(run, &sweeps, title, |item| program(run, item, statistic));
        figures.push(figure(&chart, &name.file(&format!("{what}-against-entries"))));
    }
    for kind in run.main_kinds() {
        let id = format!("{}-against-entries", kind.name().replace('_', "-"));
        figures.push(figure(&of_calls(run, &sweeps, kind), &name.file(&id)));
    }
    Some(side_by_side(figures))
}

/// The axes of a chart of sweeps: from the smallest cache to the largest.
pub fn axes(sweeps: &[Sweep]) -> (Axis, Axis) {
    let sizes = || sweeps.iter().flat_map(|sweep| sweep.sizes.keys().copied());
    let (least, most) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(1));
    (
        Axis::new("entries of the malloc cache", Format::Count).from(least as f64).to(most as f64),
        Axis::new("speedup over the baseline", Format::Change(1)).with_zero(),
    )
}

/// The limit study of each machine as a horizontal line.
fn limit(run: &Run, sweeps: &[Sweep], of: impl Fn(&Configuration) -> Value) -> Vec<Guide> {
    let first = |sweep: &Sweep| sweep.sizes.values().next().map(|item| item.machine.clone());
    let machines: BTreeSet<String> = sweeps.iter().filter_map(first).collect();
    let guide = |machine: &String| {
        let at = of(run.limit_of(machine)?).figure()?;
        let label = if machines.len() > 1 { format!("limit, {machine}") } else { "limit".into() };
        Some(Guide { label, at, across: true })
    };
    machines.iter().filter_map(guide).collect()
}

fn chart(
    run: &Run,
    sweeps: &[Sweep],
    title: String,
    of: impl Fn(&Configuration) -> Value,
) -> LineChart {
    let looks = std::iter::once(Look::MAIN).chain((0..).map(Look::other));
    let (x, y) = axes(sweeps);
    LineChart {
        title,
        note: String::new(),
        x,
        y,
        series: sweeps.iter().zip(looks).map(|(s, look)| line(s, look, &s.name, &of)).collect(),
        guides: limit(run, sweeps, &of),
    }
}

fn of_calls(run: &Run, sweeps: &[Sweep], kind: CallKind) -> LineChart {
    let title = format!("Speedup of {} against entries", kind_name(kind));
    chart(run, sweeps, title, |item| calls(run, item, kind, "speedup"))
}
