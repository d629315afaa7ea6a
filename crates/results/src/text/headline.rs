//! The sentence that answers the user's question.

use super::number;
use crate::model::{Configuration, ParameterValue, Run};
use crate::select::{CallFigures, CallGroup};
use crate::statistics::{CONFIGURATION, Unit, Value, configuration_context, find};

/// How much the hardware gains for this program, in a sentence or two; the first is the answer.
pub fn headline(run: &Run) -> Vec<String> {
    let Some(first) = run.configurations.first() else {
        return vec!["Nothing was measured: no configuration finished.".into()];
    };
    let Some(kind) = run.main_kind() else {
        let ipc = number::value(program_figure(run, first, "ipc"), Unit::InstructionsPerCycle);
        return vec![format!(
            "No allocation was measured, so hardware help for it changes nothing here; {} runs at \
             {ipc} instructions per cycle.",
            run.program
        )];
    };
    let mut sentences = Vec::new();
    if let Some(chosen) = run.headline_configuration() {
        let base = run.baseline_of(chosen).unwrap_or(first);
        let per_call = |configuration| {
            let figures = CallFigures::of(run, configuration, CallGroup::Kind(kind));
            let figure = figures.value("cycles_per_call").figure();
            figure.map_or(number::UNDEFINED.into(), |figure| number::fixed(figure, 1))
        };
        sentences.push(format!(
            "{} makes {} {} ({} → {} cycles per call), the allocator {} and the program {}.",
            subject(chosen),
            kind.name(),
            gain(call_speedup(run, chosen, kind)),
            per_call(base),
            per_call(chosen),
            gain(program_figure(run, chosen, "allocator_speedup")),
            gain(program_figure(run, chosen, "speedup"))
        ));
    } else {
        let figures = CallFigures::of(run, first, CallGroup::Kind(kind));
        sentences.push(format!(
            "{} takes {} cycles per call on {}, and the allocator {} of the program's cycles.",
            kind.name(),
            number::value(figures.value("cycles_per_call"), Unit::CyclesPerCall),
            first.name,
            number::value(program_figure(run, first, "allocator_share"), Unit::Fraction)
        ));
    }
    let machine = run.headline_configuration().map_or(&first.machine, |chosen| &chosen.machine);
    if let Some(limit) = run.limit_of(machine).filter(|limit| run.baseline_of(limit).is_some()) {
        sentences.push(format!(
            "The most that hardware could do (limit study): the allocator {}, the program {}.",
            gain(program_figure(run, limit, "allocator_speedup")),
            gain(program_figure(run, limit, "speedup"))
        ));
    }
    sentences
}

/// The accelerator as the subject of a sentence.
fn subject(configuration: &Configuration) -> String {
    let mut letters = configuration.accelerator.chars();
    let name: String =
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    match configuration.parameters.get("entries") {
        Some(ParameterValue::Integer(1)) => format!("{name} with 1 entry"),
        Some(ParameterValue::Integer(entries)) => format!("{name} with {entries} entries"),
        _ => format!("{name} ({})", configuration.name),
    }
}

fn call_speedup(run: &Run, configuration: &Configuration, kind: crate::model::CallKind) -> Value {
    CallFigures::of(run, configuration, CallGroup::Kind(kind)).value("speedup")
}

fn program_figure(run: &Run, configuration: &Configuration, name: &str) -> Value {
    let context = configuration_context(run, configuration);
    find(CONFIGURATION, name).map_or(Value::Undefined, |found| found.value(configuration, &context))
}

/// A speedup as an adjective. One whose interval contains zero is not called a gain.
fn gain(speedup: Value) -> String {
    let Value::Real(estimate) = speedup else { return "not comparably faster".into() };
    let percent = estimate.scaled(100.0);
    if estimate.covers(0.0) && percent.half_width != Some(0.0) {
        return format!("not measurably faster ({})", number::change(speedup));
    }
    let size = percent.value.abs();
    let decimals = match size {
        10.0.. => 0,
        0.1.. => 1,
        _ => 2,
    };
    let text = number::fixed(size, decimals);
    if text == "0.00" {
        return "neither faster nor slower".into();
    }
    let interval = percent.half_width.map(|half| format!(" (±{half:.decimals$} %)"));
    let word = if percent.value > 0.0 { "faster" } else { "slower" };
    format!("{text} %{} {word}", interval.unwrap_or_default())
}
