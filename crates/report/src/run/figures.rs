//! Statistics of `results` by name, as the sections need them.

pub use results::statistics::configuration_statistic as program;
use results::statistics::{Unit, Value};
use results::text::number;
use results::{CallFigures, CallGroup, CallKind, Configuration, Run};

use crate::chart::Bar;

/// A statistic of a kind of call.
pub fn calls(run: &Run, item: &Configuration, kind: CallKind, name: &str) -> Value {
    CallFigures::of(run, item, CallGroup::Kind(kind)).value(name)
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
