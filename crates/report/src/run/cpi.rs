//! The CPI stack: where the cycles go, cause by cause.

use results::{Configuration, Run};

use super::Name;
use super::roles::{all, main};
use crate::chart::{Axis, Bar, Bars, Group, Stack, StackRow, figure, side_by_side};
use crate::data::Format;
use crate::html::Html;

/// Rows beyond which only the main configurations are drawn.
const ROWS_MAX: usize = 8;

/// The section, if there is a stack.
pub fn body(run: &Run, name: &Name) -> Option<Html> {
    let mut parts: Vec<String> = Vec::new();
    for part in run.configurations.iter().flat_map(|item| &item.cpi_stack) {
        if !parts.contains(&part.name) {
            parts.push(part.name.clone());
        }
    }
    if parts.is_empty() {
        return None;
    }
    let shown = if run.configurations.len() > ROWS_MAX { main(run) } else { all(run) };
    let row = |item: &Configuration| StackRow {
        label: item.name.clone(),
        values: parts.iter().map(|part| per_instruction(item, part)).collect(),
    };
    let rows = shown.iter().map(|shown| row(shown.item)).collect();
    let stack = Stack {
        title: "Cycles per instruction by cause".into(),
        note:
            "Each cycle has one cause: what held up the oldest instruction that had not retired. \
               The causes sum exactly to the cycles."
                .into(),
        rows_are: "configuration".into(),
        axis: Axis::new("cycles per instruction", Format::Fixed(4)),
        parts: parts.iter().map(|part| part.replace('_', " ")).collect(),
        rows,
    };
    let mut figures = vec![figure(&stack, &name.file("cpi-stack"))];
    figures.extend(saved(run, &parts).map(|bars| figure(&bars, &name.file("cycles-saved"))));
    Some(side_by_side(figures))
}

/// Causes that are drawn: those that change most.
const CAUSES_MAX: usize = 8;

/// Cycles for each 1,000 instructions that the headline and the limit save, cause by cause.
fn saved(run: &Run, parts: &[String]) -> Option<Bars> {
    let chosen = run.headline_configuration()?;
    let base = run.baseline_of(chosen)?;
    let shown: Vec<_> = main(run).into_iter().filter(|s| !s.item.is_baseline()).collect();
    let saving = |item: &Configuration, part: &str| {
        1_000.0 * (per_instruction(base, part) - per_instruction(item, part))
    };
    let mut groups: Vec<(f64, Group)> = parts
        .iter()
        .map(|part| {
            let values: Vec<f64> = shown.iter().map(|s| saving(s.item, part)).collect();
            let size = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
            let bars = values.into_iter().map(|value| Some(Bar { value, half: None })).collect();
            (size, Group { label: part.replace('_', " "), bars })
        })
        .collect();
    groups.sort_by(|a, b| b.0.total_cmp(&a.0));
    groups.truncate(CAUSES_MAX);
    Some(Bars {
        title: "Cycles saved, by cause".into(),
        note: "What each cause takes less than under the baseline, the largest changes first; \
               below 0 it takes more."
            .into(),
        groups_are: "cause".into(),
        axis: Axis::new("cycles per 1,000 instructions", Format::Fixed(2)),
        series: shown.iter().map(|s| (s.item.name.clone(), s.look)).collect(),
        groups: groups.into_iter().map(|(_, group)| group).collect(),
    })
}

/// Cycles of a cause for each instruction; 0 if nothing was measured.
fn per_instruction(item: &Configuration, part: &str) -> f64 {
    let cycles = item.cpi_stack.iter().find(|p| p.name == part).map_or(0, |p| p.cycles);
    item.per_instruction(cycles).unwrap_or(0.0)
}
