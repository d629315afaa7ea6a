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

/// The kinds that reports single out: the allocating and the freeing kind with the most calls.
pub fn main_kinds(run: &Run) -> Vec<CallKind> {
    let groups = [CallGroup::Allocation, CallGroup::Deallocation];
    groups.into_iter().filter_map(|group| run.main_kind_of(group)).collect()
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
