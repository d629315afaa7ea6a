//! How the allocator's share changes in the course of a run.

use results::{Configuration, Run};

use super::Name;
use super::roles::main;
use crate::chart::{Axis, LineChart, Look, Series, Shape, figure};
use crate::data::Format;
use crate::html::Html;

/// Fewer parts than this show no course.
const PARTS_MIN: usize = 4;
/// Parts drawn.
const PARTS_MAX: usize = 64;

/// The section, if there is a course to show.
pub fn body(run: &Run, name: &Name) -> Option<Html> {
    run.main_kind()?;
    let shown: Vec<_> = main(run).into_iter().filter(|shown| shown.look != Look::LIMIT).collect();
    if shown.iter().any(|shown| shown.item.course(PARTS_MAX).len() < PARTS_MIN) {
        return None;
    }
    let series = shown.iter().map(|shown| {
        Series::line(&shown.item.name, shown.look, shares(shown.item)).shaped(Shape::Step)
    });
    let sampled = run.sampling.is_some();
    let ends = shown.iter().map(|shown| shown.item.instructions);
    let end = ends.max().unwrap_or(1).max(1) as f64;
    let chart = LineChart {
        title: "Allocator's share of cycles over the course of the run".into(),
        note: match sampled {
            true => "Each step joins neighbouring samples.",
            false => "Each step is a phase of about the same number of instructions.",
        }
        .into(),
        x: Axis::new(if sampled { "measured instructions" } else { "instructions" }, Format::Count)
            .from(0.0)
            .to(end),
        y: Axis::new("share of cycles", Format::Percent(1)).from(0.0),
        series: series.collect(),
        guides: Vec::new(),
    };
    Some(figure(&chart, &name.file("phases")))
}

/// The share of each part from its first instruction on, and the last one's until the end.
fn shares(item: &Configuration) -> Vec<(f64, f64)> {
    let mut at = 0;
    let mut points = Vec::new();
    for part in item.course(PARTS_MAX) {
        let share = part.allocator_cycles as f64 / part.cycles.max(1) as f64;
        points.push((at as f64, share));
        at += part.instructions;
        points.push((at as f64, share));
    }
    points
}
