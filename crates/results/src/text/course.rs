//! The allocator's share of the cycles over the course of a run, on one line.

use super::number;
use crate::confidence::Estimate;
use crate::model::Run;
use crate::statistics::{Unit, Value};

/// Fewer parts than this show no course.
const PARTS_MIN: usize = 8;
/// Parts drawn.
const PARTS_MAX: usize = 48;
/// From none to the largest share.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The same in ASCII.
const ASCII: [char; 8] = ['_', '.', ':', '-', '=', '+', '*', '#'];

/// The bars in a character set without them.
pub fn in_ascii(bar: char) -> char {
    BARS.iter().position(|own| *own == bar).map_or(bar, |at| ASCII[at])
}

/// The line, if the run has calls and is long enough to have a course.
pub fn line(run: &Run) -> Option<String> {
    let item = run.configurations.first()?;
    let parts = item.course(PARTS_MAX);
    let shares: Vec<f64> =
        parts.iter().map(|part| part.allocator_cycles as f64 / part.cycles.max(1) as f64).collect();
    let most = shares.iter().copied().fold(0.0, f64::max);
    if shares.len() < PARTS_MIN || most <= 0.0 {
        return None;
    }
    let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
    let bar = |share: &f64| BARS[((share / most * 8.0) as usize).min(7)];
    let percent = |share| {
        number::value(Value::Real(Estimate { value: share, half_width: None }), Unit::Fraction)
    };
    Some(format!(
        "Allocator's share of cycles over the course of the run ({}): {} {} to {}.",
        item.name,
        shares.iter().map(bar).collect::<String>(),
        percent(least),
        percent(most)
    ))
}
