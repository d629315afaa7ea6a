//! Converts between a configuration's counters and their names in the store.

use std::collections::BTreeMap;

use stats::Schema;

use crate::model::{CallKind, CallStats, Configuration};
use crate::statistics::{CALLS, CONFIGURATION, Measured, Source, Statistic, find};

/// The declarations for runs that were stored without them, by schema version 1. Never edit this.
const VERSION_1: &str = include_str!("declarations_1.json");

/// A stored value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stored {
    Count(u64),
    Real(f64),
}

/// Every stored statistic of a configuration by name, in the order of reports.
pub fn flatten(configuration: &Configuration) -> Vec<(String, Stored)> {
    let mut all = Vec::new();
    collect(&mut all, "", CONFIGURATION, configuration);
    for (kind, calls) in configuration.calls.iter() {
        if *calls == CallStats::default() {
            continue;
        }
        let prefix = format!("{}.", kind.name());
        collect(&mut all, &prefix, CALLS, calls);
        if let (Some(min), Some(max)) = (calls.latency.min(), calls.latency.max()) {
            all.push((format!("{prefix}latency_min"), Stored::Count(min)));
            all.push((format!("{prefix}latency_max"), Stored::Count(max)));
        }
    }
    for (path, values) in configuration.counted.iter() {
        let named =
            |(name, value): &(String, u64)| (format!("{path}.{name}"), Stored::Count(*value));
        all.extend(values.iter().map(named));
    }
    all
}

fn collect<T: Measured>(
    all: &mut Vec<(String, Stored)>,
    prefix: &str,
    slice: &[Statistic<T>],
    item: &T,
) {
    for statistic in slice {
        let value = match &statistic.source {
            Source::Counter { get, .. } => Some(Stored::Count(get(item))),
            Source::Real { get, .. } => get(item).map(Stored::Real),
            Source::Derived { .. } => None,
        };
        all.extend(value.map(|value| (format!("{prefix}{}", statistic.name), value)));
    }
}

/// Sets the statistic `name` of a configuration. Counters of models are always kept; statistics of
/// the configuration or of its calls that this version does not know are ignored.
pub fn restore(configuration: &mut Configuration, name: &str, value: Stored) {
    let Some((path, last)) = name.rsplit_once('.') else {
        set(CONFIGURATION, configuration, name, value);
        return;
    };
    match (kind_named(path), value) {
        (Some(kind), _) => set(CALLS, &mut configuration.calls[kind], last, value),
        (None, Stored::Count(count)) => configuration.counted.push(path, last, count),
        (None, Stored::Real(_)) => {}
    }
}

/// The kind of call of that name.
pub fn kind_named(name: &str) -> Option<CallKind> {
    CallKind::ALL.into_iter().find(|kind| kind.name() == name)
}

fn set<T: Measured>(slice: &'static [Statistic<T>], item: &mut T, name: &str, value: Stored) {
    match (find(slice, name).map(|statistic| &statistic.source), value) {
        (Some(Source::Counter { set, .. }), Stored::Count(count)) => set(item, count),
        (Some(Source::Real { set, .. }), Stored::Real(real)) => set(item, real),
        (Some(Source::Real { set, .. }), Stored::Count(count)) => set(item, count as f64),
        _ => {}
    }
}

/// The schema in a stored text, or what is wrong with it; without a text, that of version 1.
pub fn schema_of(text: Option<&str>) -> Result<Schema, String> {
    let text = text.unwrap_or(VERSION_1);
    serde_json::from_str(text).map_err(|error| format!("its declarations are damaged ({error})"))
}

/// The model counters that stores of schema version 1 hold: no later version may rename them.
pub fn version_1() -> Schema {
    // A test checks that it is valid.
    schema_of(None).unwrap_or_default()
}

/// The schema, extended by everything in the configurations that is not declared.
pub fn complete(schema: Schema, configurations: &[Configuration]) -> Schema {
    let mut missing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, values) in configurations.iter().flat_map(|item| item.counted.iter()) {
        let kind = schema.kind_at(path);
        let unknown = |name: &str| kind.is_none_or(|kind| kind.figure(name).is_none());
        for (name, _) in values.iter().filter(|(name, _)| unknown(name)) {
            let names = missing.entry(path).or_default();
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    let undeclared = missing.into_iter();
    undeclared.fold(schema, |schema, (path, names)| schema.with_undeclared(path, &names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declarations_of_version_1_are_whole() {
        let schema = schema_of(None).unwrap();
        // Statistics of a configuration, which every version has.
        let known = |name: &str| matches!(name, "cycles" | "instructions");
        assert_eq!(schema.unresolved(known), [""; 0]);
        assert_eq!(schema.groups().len(), 1 + 4 + 3 + 2);
    }
}
