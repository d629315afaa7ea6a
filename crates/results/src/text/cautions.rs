//! Why a reader should not rely on a figure, said beside it: too little was measured, time moved
//! between calls, or a constant stands in for a mechanism.

use stats::Meaning;

use super::number;
use crate::figures::{GroupFigures, meaning};
use crate::model::{Configuration, Run};
use crate::select::{CallFigures, CallGroup};
use crate::statistics::{Value, configuration_statistic};

/// Fewer calls than this say nothing about a mean: one slow call of a few thousand cycles moves it
/// by a third.
const CALLS_MIN: u64 = 100;
/// A single sample has no confidence interval.
const SAMPLES_MIN: u64 = 2;
/// Assumed cycles are mentioned from this share of all cycles on.
const ASSUMED_SHARE_MIN: f64 = 0.10;
/// Changes of a call's time below this are not worth a word about where they went.
const MOVED_MIN: f64 = 0.01;

/// Why the gains of a run cannot be stated, in place of percentages; `None` if they can.
pub fn too_little(run: &Run) -> Option<String> {
    if run.markers.is_some_and(|markers| markers.broken > 0) {
        return Some(
            "The allocator's markers break their rules, so no gain is stated; `mallacc \
             check-markers` says where."
                .into(),
        );
    }
    if run.is_invalid() {
        return Some(
            "The markers of the allocator or the model are at fault, so no gain is stated; \
             `mallacc check-markers` says where markers break rules."
                .into(),
        );
    }
    if let Some(sampling) = run.sampling.filter(|sampling| sampling.samples < SAMPLES_MIN) {
        return Some(format!(
            "Only {} of {} instructions, too little to state a gain: shorten the period (--sample) \
             or simulate everything (--no-sample).",
            number::counted(sampling.samples, "sample", "samples"),
            number::count(sampling.measure)
        ));
    }
    if run.sampling.is_some() {
        return None;
    }
    let kind = run.main_kind()?;
    let calls = run.configurations.first()?.calls[kind].calls;
    (calls < CALLS_MIN).then(|| {
        let calls = number::counted(calls, "call", "calls");
        format!("Only {calls} of {}, too few to state a gain.", kind.name())
    })
}

/// The configuration that the headline states a gain of, on the first machine; `None` if too little
/// was measured, or nothing that could be compared.
pub fn stated(run: &Run) -> Option<&Configuration> {
    run.headline_configuration().filter(|_| too_little(run).is_none())
}

/// What to keep in mind about the figures that are stated, a sentence or two each.
pub fn cautions(run: &Run) -> Vec<String> {
    let mut all = Vec::new();
    for machine in run.machines() {
        let subject = run.subject_of(machine);
        all.extend(subject.and_then(|subject| moved(run, subject)));
        let base = subject.and_then(|subject| run.baseline_of(subject));
        let first = run.configurations.iter().find(|item| item.machine == machine);
        all.extend(base.or(first).and_then(|item| assumed(run, item)));
    }
    all
}

/// Time that moved between a call and its neighbours.
fn moved(run: &Run, subject: &Configuration) -> Option<String> {
    let [allocating, freeing] = run.main_kinds().try_into().ok()?;
    // A change that its interval does not tell from none has not moved anything.
    let speedup = |kind| match CallFigures::of(run, subject, CallGroup::Kind(kind)).value("speedup")
    {
        Value::Real(change) if !change.covers(0.0) => Some(change.value),
        _ => None,
    };
    let (one, other) = (speedup(allocating)?, speedup(freeing)?);
    if one * other >= 0.0 || one.abs().min(other.abs()) < MOVED_MIN {
        return None;
    }
    let (faster, slower) = if one > 0.0 { (allocating, freeing) } else { (freeing, allocating) };
    let whole = configuration_statistic(run, subject, "allocator_speedup");
    Some(format!(
        "With {}, {} becomes faster and {} slower. Calls are timed from retirement to retirement, \
         which moves time between neighbouring calls: judge by the allocator as a whole ({}).",
        subject.name,
        faster.name(),
        slower.name(),
        number::change(whole)
    ))
}

/// Cycles that a constant makes.
fn assumed(run: &Run, item: &Configuration) -> Option<String> {
    let (schema, figures) = (run.groups(), GroupFigures::of(run, item));
    let counted = meaning(&schema, Meaning::Assumed).into_iter().filter_map(
        |(_, group, figure)| match figures.value(&group.path, &figure.name) {
            Value::Count(cycles) => Some((figure.name.replace('_', " "), cycles)),
            _ => None,
        },
    );
    let (what, cycles) = counted.max_by_key(|(_, cycles)| *cycles)?;
    let share = cycles as f64 / item.cycles.max(1) as f64;
    (share >= ASSUMED_SHARE_MIN).then(|| {
        format!(
            "{} of the cycles on {} are {what}s, whose cost is a constant of the machine file: \
             shares and gains depend on it.",
            number::share(cycles, item.cycles),
            item.machine
        )
    })
}
