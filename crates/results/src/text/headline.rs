//! The sentence that answers the user's question.

use documents::text::capitalised;

use super::cautions::too_little;
use super::number;
use crate::confidence::Estimate;
use crate::model::{CallKind, Configuration, ParameterValue, Run};
use crate::select::{CallFigures, CallGroup};
use crate::statistics::{Unit, Value, configuration_statistic};

/// What hardware support buys this program: the answer for each machine, then what puts it in
/// proportion. In each sentence the program comes first, then the allocator as a whole, then its
/// calls: time moves between neighbouring calls without anybody gaining from it.
pub fn headline(run: &Run) -> Vec<String> {
    let Some(first) = run.configurations.first() else {
        return vec!["Nothing was measured: no configuration finished.".into()];
    };
    let too_little = too_little(run);
    if run.main_kind().is_none() {
        // Broken markers may be why there is no call.
        let invalid = too_little.filter(|_| run.is_invalid());
        return vec![invalid.unwrap_or_else(|| nothing_allocated(run, first))];
    }
    let statable = too_little.is_none();
    let mut sentences: Vec<String> = too_little.into_iter().collect();
    for machine in run.machines() {
        let of_machine = |item: &&Configuration| item.machine == machine;
        let Some(first) = run.configurations.iter().find(of_machine) else { continue };
        let Some(subject) = run.subject_of(machine).filter(|_| statable) else {
            sentences.push(plain_answer(run, first));
            continue;
        };
        sentences.push(answer(run, subject));
        sentences.extend(run.limit_of(machine).map(|limit| limit_sentence(run, limit, subject)));
        sentences.extend(run.bound_of(machine).map(|bound| bound_sentence(run, bound)));
    }
    sentences
}

/// Why no allocation was measured, as far as that is known.
fn nothing_allocated(run: &Run, first: &Configuration) -> String {
    let ipc = number::value(configuration_statistic(run, first, "ipc"), Unit::InstructionsPerCycle);
    match &run.unmeasured {
        Some(reason) => format!("What hardware support would buy could not be measured: {reason}."),
        None => format!(
            "{} made no allocator call in the measured part, so hardware support for malloc \
             changes nothing there; it runs at {ipc} instructions per cycle on {}.",
            run.program, first.machine
        ),
    }
}

/// An accelerator against its baseline.
fn answer(run: &Run, subject: &Configuration) -> String {
    let kinds = run.main_kinds().into_iter();
    let calls: Vec<String> = kinds
        .map(|kind| {
            let speedup = CallFigures::of(run, subject, CallGroup::Kind(kind)).value("speedup");
            format!("{} {} ({})", kind.name(), gain(speedup), cycles_per_call(run, subject, kind))
        })
        .collect();
    format!(
        "On {}, {} makes the program {} and its allocator {}: {}.",
        subject.machine,
        name(subject),
        gain(configuration_statistic(run, subject, "speedup")),
        gain(configuration_statistic(run, subject, "allocator_speedup")),
        calls.join(", ")
    )
}

/// Cycles per call under the baseline and under a configuration.
fn cycles_per_call(run: &Run, item: &Configuration, kind: CallKind) -> String {
    let per_call = |item: &Configuration| {
        let figure = CallFigures::of(run, item, CallGroup::Kind(kind)).value("cycles_per_call");
        figure.figure().map_or(number::UNDEFINED.into(), |figure| number::fixed(figure, 1))
    };
    let base = run.baseline_of(item).unwrap_or(item);
    format!("{} → {} cycles per call", per_call(base), per_call(item))
}

/// The cost of allocation on a machine on which nothing is compared.
fn plain_answer(run: &Run, item: &Configuration) -> String {
    let kinds = run.main_kinds().into_iter();
    let calls: Vec<String> = kinds
        .map(|kind| {
            let figures = CallFigures::of(run, item, CallGroup::Kind(kind));
            let cycles = number::value(figures.value("cycles_per_call"), Unit::CyclesPerCall);
            format!("{cycles} cycles for each {}", kind.name())
        })
        .collect();
    format!(
        "On {} ({}), the allocator takes {} of the program's cycles: {}.",
        item.machine,
        item.name,
        number::value(configuration_statistic(run, item, "allocator_share"), Unit::Fraction),
        calls.join(", ")
    )
}

/// The limit study, which says what it is.
fn limit_sentence(run: &Run, limit: &Configuration, subject: &Configuration) -> String {
    let figure = |item, name| configuration_statistic(run, item, name);
    let mut sentence = format!(
        "With the accelerated steps at no cost (limit study) the program would be {} and its \
         allocator {}.",
        gain(figure(limit, "speedup")),
        gain(figure(limit, "allocator_speedup"))
    );
    let below = |name| {
        let (limit, own) = (figure(limit, name).figure(), figure(subject, name).figure());
        limit.zip(own).is_some_and(|(limit, own)| limit < own)
    };
    if below("speedup") || below("allocator_speedup") {
        sentence += " The accelerator gains more than that, which is possible: the limit study \
                     is not an upper bound (docs/accuracy.md).";
    }
    sentence
}

fn bound_sentence(run: &Run, bound: &Configuration) -> String {
    format!(
        "If allocator calls cost nothing at all, the program would be {}.",
        gain(configuration_statistic(run, bound, "speedup"))
    )
}

/// The accelerator as the subject of a sentence.
fn name(configuration: &Configuration) -> String {
    let model = capitalised(&configuration.accelerator);
    match configuration.parameters.get("entries") {
        Some(ParameterValue::Integer(1)) => format!("{model} with 1 entry"),
        Some(ParameterValue::Integer(entries)) => format!("{model} with {entries} entries"),
        _ => format!("{model} ({})", configuration.name),
    }
}

/// A speedup as an adjective. One whose interval contains zero is not called a gain.
fn gain(speedup: Value) -> String {
    let Value::Real(estimate) = speedup else { return "not comparably faster".into() };
    let percent = estimate.scaled(100.0);
    if estimate.covers(0.0) && percent.half_width != Some(0.0) {
        return format!("not measurably faster or slower ({})", number::change(speedup));
    }
    let size = percent.value.abs();
    let usual = usize::from(size < 10.0);
    let shown = number::Shown::of(Estimate { value: size, ..percent }, usual);
    if shown.figure == "0.0" {
        return "neither faster nor slower".into();
    }
    let word = if percent.value > 0.0 { "faster" } else { "slower" };
    format!("{shown} % {word}")
}
