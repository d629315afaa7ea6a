//! The figures of a configuration's groups: counters, and what is derived from them.

use stats::{Figure, Kind, Meaning, Number, Schema, Values, View};

use crate::confidence::Estimate;
use crate::model::{Configuration, Run};
use crate::statistics::{CONFIGURATION, Source, Value, find};

/// The counters of one configuration, together with the declarations of its run.
///
/// Identical parts of a machine, such as the cores of a chip, are added up.
pub struct GroupFigures<'a> {
    item: &'a Configuration,
    schema: Schema,
    counted: Values,
}

impl<'a> GroupFigures<'a> {
    /// The figures of a configuration of `run`.
    pub fn of(run: &Run, item: &'a Configuration) -> Self {
        Self { item, schema: run.groups(), counted: item.counted.summed() }
    }

    /// Whether the configuration has this group.
    pub fn has(&self, path: &str) -> bool {
        self.counted.has(path)
    }

    /// Whether the configuration counted this figure, or it can be derived from what it counted.
    pub fn knows(&self, path: &str, figure: &Figure<String>) -> bool {
        let counted = self.counted.get(path, &figure.name).is_some();
        self.has(path) && (counted || figure.formula.is_some())
    }

    /// A figure of a group; undefined if the configuration does not have it.
    pub fn value(&self, path: &str, name: &str) -> Value {
        let value = self.view().value(path, name);
        value.map_or(Value::Undefined, |number| match number {
            Number::Whole(count) => Value::Count(count),
            Number::Real(value) => Value::Real(Estimate { value, half_width: None }),
        })
    }

    /// The counters of a group by name.
    pub fn counters(&self, path: &str) -> &[(String, u64)] {
        self.counted.iter().find(|(known, _)| *known == path).map_or(&[], |(_, values)| values)
    }

    /// The figure that the counters of a group of this kind sum to, if there is one.
    pub fn whole(&self, kind: &Kind, path: &str) -> Option<u64> {
        match self.view().formula(path, kind.head.whole.as_deref()?) {
            Some(Number::Whole(whole)) => Some(whole),
            _ => None,
        }
    }

    /// Both sides of the balance of a group of this kind, and the left one in words.
    pub fn balance(&self, kind: &Kind, path: &str) -> Option<(String, u64, u64)> {
        let (left, right) = kind.head.balance.as_ref()?;
        let view = self.view();
        match (view.formula(path, left)?, view.formula(path, right)?) {
            (Number::Whole(sum), Number::Whole(total)) => {
                Some((left.replace(" + ", " and ").replace('_', " "), sum, total))
            }
            _ => None,
        }
    }

    fn view(&self) -> View<'_> {
        View::new(&self.schema, &self.counted, |name| {
            let statistic = find(CONFIGURATION, name)?;
            match statistic.source {
                Source::Counter { get, .. } => Some(Number::Whole(get(self.item))),
                _ => None,
            }
        })
    }
}

/// A group with its kind and path.
pub struct Placed<'a> {
    /// Its kind.
    pub kind: &'a Kind,
    /// Its path.
    pub path: String,
    /// Its name among groups of its kind, empty if it is the only one.
    pub name: &'a str,
}

/// The groups of a schema in the order used in documents, kind by kind.
pub fn placed(schema: &Schema) -> impl Iterator<Item = Placed<'_>> {
    schema.kinds().iter().flat_map(|kind| groups_of(schema, kind))
}

/// The groups of a kind.
pub fn groups_of<'a>(schema: &'a Schema, kind: &'a Kind) -> impl Iterator<Item = Placed<'a>> {
    schema.groups_of(kind).map(move |entry| Placed { kind, path: entry.path(), name: &entry.name })
}

/// The figures with a meaning, each with its group and its name: its label, or else the name of its
/// group.
pub fn meaning(schema: &Schema, meaning: Meaning) -> Vec<(String, Placed<'_>, &Figure<String>)> {
    let mut found = Vec::new();
    for kind in schema.kinds() {
        for figure in kind.figures.iter().filter(|figure| figure.meaning == meaning) {
            for place in groups_of(schema, kind) {
                let label = match (&figure.label, place.name) {
                    (None, "") => kind.head.title.clone(),
                    (None, name) => name.to_owned(),
                    (Some(label), "") => label.clone(),
                    (Some(label), name) => format!("{name} {label}"),
                };
                found.push((label, place, figure));
            }
        }
    }
    found
}

impl Run {
    /// The declarations of what its configurations counted, with identical parts merged.
    pub fn groups(&self) -> Schema {
        self.schema.summed()
    }
}
