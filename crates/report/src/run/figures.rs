//! Statistics of `results` by name, as the sections need them.

use results::statistics::{CONFIGURATION, Unit, Value, configuration_context, find};
use results::text::number;
use results::{CallFigures, CallGroup, CallKind, Configuration, Run};

use crate::chart::Bar;

/// A statistic of a configuration.
pub fn program(run: &Run, item: &Configuration, name: &str) -> Value {
    let context = configuration_context(run, item);
    find(CONFIGURATION, name).map_or(Value::Undefined, |found| found.value(item, &context))
}

/// A statistic of a kind of call.
pub fn calls(run: &Run, item: &Configuration, kind: CallKind, name: &str) -> Value {
    CallFigures::of(run, item, CallGroup::Kind(kind)).value(name)
}

/// The freeing kind with the most calls; `None` if nothing was freed.
pub fn main_free(run: &Run) -> Option<CallKind> {
    let calls = &run.configurations.first()?.calls;
    let kinds = CallKind::ALL.into_iter().filter(|kind| !kind.allocates());
    // The first in code order if several are equal.
    kinds.rev().max_by_key(|kind| calls[*kind].calls).filter(|kind| calls[*kind].calls > 0)
}

/// A figure as a bar.
pub fn bar(value: Value) -> Option<Bar> {
    let half = value.half_width();
    value.figure().map(|value| Bar { value, half })
}

/// A relative change in readable form; a baseline has none.
pub fn change(item: &Configuration, value: Value) -> String {
    if item.is_baseline() { number::UNDEFINED.into() } else { number::change(value) }
}

/// A share in readable form.
pub fn share(value: Value) -> String {
    number::value(value, Unit::Fraction)
}

/// The readable name of a kind.
pub fn kind_name(kind: CallKind) -> String {
    kind.name().replace('_', " ")
}
