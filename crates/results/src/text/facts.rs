//! What was run, how much of it was measured, and warnings.

use std::fmt::Write as _;

use super::cautions::cautions;
use super::grid::wrap;
use super::{Style, course, number};
use crate::compare::Fault;
use crate::model::{Exit, MarkerCounts, Run};

/// The facts of a run, wrapped to the style's width, then the warnings.
pub fn text(run: &Run, style: &Style) -> String {
    let mut text = String::new();
    for line in lines(run).into_iter().chain(course::line(run)) {
        let _ = writeln!(text, "{}", wrap(&line, style.width, "  "));
    }
    let cautions = cautions(run).into_iter().map(|caution| format!("Caution: {caution}"));
    let warnings = run.warnings.iter().map(|warning| format!("Warning: {warning}"));
    for line in cautions.chain(warnings) {
        let _ = writeln!(text, "{}", wrap(&line, style.width, "  "));
    }
    for alarm in alarms(run) {
        let _ = writeln!(text, "{}", style.alarm(&wrap(&alarm, style.width, "  ")));
    }
    text
}

/// The facts of a run, one or two sentences each.
pub fn lines(run: &Run) -> Vec<String> {
    let mut lines = vec![extent(run)];
    if let Some(sampling) = &run.sampling {
        let alone = run.configurations.first().is_none_or(|item| item.replicates.is_empty());
        let interval =
            if alone && sampling.samples > 1 { "; ± is the 95 % confidence interval" } else { "" };
        lines.push(format!(
            "Sampled: {} of {} instructions, one every {}, each after {} of warm-up{interval}. \
             --no-sample simulates everything.",
            number::counted(sampling.samples, "sample", "samples"),
            number::count(sampling.measure),
            number::count(sampling.period),
            number::count(sampling.warm)
        ));
    }
    lines.extend(replicates(run));
    lines.extend(measured_part(run));
    if let Some(Exit::Code(code @ (..=-1 | 1..))) = run.exit {
        lines.push(format!("The program exited with code {code}."));
    }
    if run.threads > 1 {
        lines.push(format!(
            "{} threads took turns on one simulated core: {}, each of which flushes the malloc \
             cache.",
            number::count(run.threads),
            number::counted(run.context_switches, "context switch", "context switches")
        ));
    }
    lines.extend(markers(run));
    if run.forked_children > 0 {
        let children = number::counted(run.forked_children, "forked child", "forked children");
        lines.push(format!("{children} left the stream and were not simulated."));
    }
    if run.execs > 0 {
        let times = if run.execs == 1 { "once".into() } else { format!("{} times", run.execs) };
        lines.push(format!("The program replaced itself {times}; the last image is reported."));
    }
    lines
}

fn extent(run: &Run) -> String {
    let command = run.labelled_command();
    let mut line = format!("{command}: {} instructions", number::count(run.instructions));
    if run.host_seconds > 0.0 {
        let mips = run.instructions as f64 / run.host_seconds / 1e6;
        let _ = write!(line, " in {:.1} s ({mips:.1} million per second)", run.host_seconds);
    }
    line.push('.');
    line
}

/// How often the program was simulated, and what ± says.
fn replicates(run: &Run) -> Option<String> {
    let item = run.configurations.first()?;
    let both = if run.sampling.is_some() { " and samples" } else { "" };
    match (item.replicates.len(), run.executions) {
        (0, _) if run.sampling.is_some() || item.instructions == 0 => None,
        (0, _) => Some(
            "Simulated once, so figures have no interval: --seeds 3 gives them one.".to_owned(),
        ),
        (seeds, 0 | 1) => Some(format!(
            "Simulated {seeds} times, each with a different stack position, page placement and \
             DRAM timing; ± is the 95 % confidence interval over these seeds{both}."
        )),
        (_, executions) => Some(format!(
            "Executed {executions} times, each with different hash seeds, stack position, page \
             placement and DRAM timing; ± is the 95 % confidence interval over the \
             executions{both}; counts are those of the first."
        )),
    }
}

/// Begins and ends of calls that balance; what does not is an alarm.
fn markers(run: &Run) -> Option<String> {
    let counts = run.markers.filter(|markers| markers.begun > 0 && markers.broken == 0)?;
    let calls = number::counted(counts.begun, "allocator call", "allocator calls");
    let ended = match counts.begun - counts.ended.min(counts.begun) {
        0 => "all of which ended".to_owned(),
        open => format!("of which {} had not ended when the stream did", number::count(open)),
    };
    Some(format!("Markers: {calls} began, {ended}."))
}

fn measured_part(run: &Run) -> Option<String> {
    let mut parts = Vec::new();
    if run.roi {
        parts.push("regions of interest only".to_owned());
    }
    if run.skip > 0 {
        parts.push(format!("the first {} instructions skipped", number::count(run.skip)));
    }
    if let Some(max) = run.max {
        parts.push(format!("at most {} instructions", number::count(max)));
    }
    (!parts.is_empty()).then(|| format!("Measured: {}.", parts.join(", ")))
}

/// What makes figures invalid or incomplete, a sentence each.
pub fn alarms(run: &Run) -> Vec<String> {
    let mut alarms = Vec::new();
    if let Some(Exit::Signal(signal)) = run.exit {
        alarms.push(format!(
            "Signal {signal} killed the program; the figures cover what ran until then."
        ));
    }
    if !run.complete {
        alarms.push("The run did not finish; the figures cover what was measured.".into());
    }
    if let Some(MarkerCounts { begun, ended, broken: broken @ 1.. }) = run.markers {
        alarms.push(format!(
            "Markers: {} began, {} ended as they should, and {} begins, ends and returns do not \
             match; do not trust these figures, see `mallacc check-markers`.",
            number::counted(begun, "allocator call", "allocator calls"),
            number::count(ended),
            number::count(broken)
        ));
    }
    for Fault { configuration, name, count, sentence } in run.faults() {
        alarms.push(format!(
            "{configuration}: {name} is {} and must be 0 ({sentence}); do not trust these figures, report \
             the fault.",
            number::count(count)
        ));
    }
    let contradictions = run.contradictions().into_iter();
    alarms.extend(contradictions.map(|what| format!("These figures are inconsistent: {what}.")));
    alarms
}
