//! The CPI stack: where the cycles go, cause by cause.

use results::{Configuration, Run};

use super::Name;
use super::roles::{all, main};
use crate::chart::{Axis, Stack, StackRow, figure};
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
        parts,
        rows,
    };
    Some(figure(&stack, &name.file("cpi-stack")))
}

/// Cycles of a cause for each instruction; 0 if nothing was measured.
fn per_instruction(item: &Configuration, part: &str) -> f64 {
    let cycles = item.cpi_stack.iter().find(|p| p.name == part).map_or(0, |p| p.cycles);
    item.per_instruction(cycles).unwrap_or(0.0)
}
