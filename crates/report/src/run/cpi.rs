//! Stacks: how the cycles of a core are divided among causes.

use documents::text::capitalised;
use results::statistics::Value;
use results::{Configuration, GroupFigures, Placed, Run, placed};

use super::Name;
use super::roles::{all, main};
use crate::chart::{Axis, Bar, Bars, Group, Stack, StackRow, figure, side_by_side};
use crate::data::Format;
use crate::html::Html;

/// Above this number of rows, only the main configurations are drawn.
const ROWS_MAX: usize = 8;

/// A group whose counters sum to a whole.
struct Parts<'a> {
    group: Placed<'a>,
    names: Vec<&'a str>,
}

/// The section: two charts for each group whose counters sum to a whole.
pub fn body(run: &Run, name: &Name) -> Option<Html> {
    let schema = run.groups();
    let mut figures = Vec::new();
    for group in placed(&schema).filter(|group| group.kind.head.whole.is_some()) {
        if !run.configurations.iter().any(|item| GroupFigures::of(run, item).has(&group.path)) {
            continue;
        }
        let names = group.kind.figures.iter().map(|part| part.name.as_str()).collect();
        let parts = Parts { group, names };
        let file = parts.group.kind.head.key.replace('_', "-");
        figures.push(figure(&stack(run, &parts), &name.file(&file)));
        let unit = unit(&parts);
        let file = name.file(&format!("{unit}-saved"));
        figures.extend(saved(run, &parts).map(|bars| figure(&bars, &file)));
    }
    (!figures.is_empty()).then(|| side_by_side(figures))
}

/// What the parts count, in words.
fn unit(parts: &Parts) -> &'static str {
    parts.group.kind.figures.first().map_or("count", |part| part.unit.name())
}

fn stack(run: &Run, parts: &Parts) -> Stack {
    let shown = if run.configurations.len() > ROWS_MAX { main(run) } else { all(run) };
    let row = |item: &Configuration| StackRow {
        label: item.name.clone(),
        values: per_instruction(run, item, parts),
    };
    Stack {
        title: capitalised(&format!("{} per instruction by cause", unit(parts))),
        note: parts.group.kind.head.about.clone(),
        rows_are: "configuration".into(),
        axis: Axis::new(format!("{} per instruction", unit(parts)), Format::Fixed(4)),
        parts: parts.names.iter().map(|part| part.replace('_', " ")).collect(),
        rows: shown.iter().map(|shown| row(shown.item)).collect(),
    }
}

/// Number of causes drawn: those that change most.
const CAUSES_MAX: usize = 8;

/// What the headline and the limit save per 1,000 instructions, by cause.
fn saved(run: &Run, parts: &Parts) -> Option<Bars> {
    let chosen = run.headline_configuration()?;
    let base = per_instruction(run, run.baseline_of(chosen)?, parts);
    let shown: Vec<_> = main(run).into_iter().filter(|s| !s.item.is_baseline()).collect();
    let own: Vec<_> = shown.iter().map(|s| per_instruction(run, s.item, parts)).collect();
    let saving = |own: &[f64], part: usize| 1_000.0 * (base[part] - own[part]);
    let mut groups: Vec<(f64, Group)> = parts
        .names
        .iter()
        .enumerate()
        .map(|(part, name)| {
            let values: Vec<f64> = own.iter().map(|own| saving(own, part)).collect();
            let size = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
            let bars = values.into_iter().map(|value| Some(Bar { value, half: None })).collect();
            (size, Group { label: name.replace('_', " "), bars })
        })
        .collect();
    groups.sort_by(|a, b| b.0.total_cmp(&a.0));
    groups.truncate(CAUSES_MAX);
    let unit = unit(parts);
    Some(Bars {
        title: capitalised(&format!("{unit} saved, by cause")),
        note: "Savings over the baseline by cause, the largest changes first; negative where the \
               cause takes more."
            .into(),
        groups_are: "cause".into(),
        axis: Axis::new(format!("{unit} per 1,000 instructions"), Format::Fixed(2)),
        series: shown.iter().map(|s| (s.item.name.clone(), s.look)).collect(),
        groups: groups.into_iter().map(|(_, group)| group).collect(),
    })
}

/// Each part per instruction; 0 if nothing was measured.
fn per_instruction(run: &Run, item: &Configuration, parts: &Parts) -> Vec<f64> {
    let figures = GroupFigures::of(run, item);
    let share = |name: &&str| match figures.value(&parts.group.path, name) {
        Value::Count(count) => item.per_instruction(count).unwrap_or(0.0),
        _ => 0.0,
    };
    parts.names.iter().map(share).collect()
}
