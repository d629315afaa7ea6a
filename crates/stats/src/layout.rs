//! The counters that a model has, and their values at a moment.

use crate::declare::{Declaration, Group, Meaning};
use crate::schema::{Entry, Schema};
use crate::values::Values;
use crate::view::View;

/// A model that counts.
pub trait Counts {
    /// Shows every group to `walk`: the same groups in the same order on every call.
    fn visit(&self, walk: &mut Walk<'_>);
}

/// Traverses the groups of a model and tracks the current path.
pub struct Walk<'a> {
    scope: String,
    sink: Sink<'a>,
}

enum Sink<'a> {
    Layout(&'a mut Layout),
    Reading(&'a mut Vec<u64>),
}

impl Walk<'_> {
    /// A group that occurs once here: its path ends with the name of its kind.
    pub fn one<G: Group>(&mut self, counters: &G) {
        self.named("", counters);
    }

    /// One of several groups of a kind: its path ends with the kind and this name.
    pub fn named<G: Group>(&mut self, name: &str, counters: &G) {
        match &mut self.sink {
            Sink::Layout(layout) => layout.push(&self.scope, name, G::declaration()),
            Sink::Reading(values) => counters.read(&mut |value| values.push(value)),
        }
    }

    /// Everything that `visit` shows belongs to a part with this name.
    pub fn within(&mut self, part: &str, visit: impl FnOnce(&mut Self)) {
        let outside = self.scope.len();
        if outside > 0 {
            self.scope.push('.');
        }
        self.scope.push_str(part);
        visit(self);
        self.scope.truncate(outside);
    }

    /// Everything that `visit` shows belongs to one of several identical parts: `core[3]`.
    /// [`Values::summed`] adds them up.
    pub fn nth(&mut self, part: &str, index: usize, visit: impl FnOnce(&mut Self)) {
        self.within(&format!("{part}[{index}]"), visit);
    }
}

/// The counters of a model, determined once: its groups with their paths.
#[derive(Debug, Default)]
pub struct Layout {
    groups: Vec<Placed>,
    count: usize,
}

#[derive(Debug)]
struct Placed {
    scope: String,
    name: String,
    declaration: &'static Declaration,
    /// Index of its first counter in a reading.
    first: usize,
}

impl Placed {
    fn entry(&self) -> Entry {
        Entry::new(&self.scope, self.declaration.head.name, &self.name)
    }

    /// Its figures; counted ones come with their index in a reading.
    fn figures(&self) -> impl Iterator<Item = (&crate::Figure<&'static str>, Option<usize>)> {
        let mut next = self.first;
        self.declaration.figures.iter().map(move |figure| {
            let index = figure.formula.is_none().then_some(next);
            next += usize::from(index.is_some());
            (figure, index)
        })
    }
}

impl Layout {
    /// The layout of a model.
    pub fn of(model: &dyn Counts) -> Self {
        let mut layout = Self::default();
        model.visit(&mut Walk { scope: String::new(), sink: Sink::Layout(&mut layout) });
        layout
    }

    fn push(&mut self, scope: &str, name: &str, declaration: &'static Declaration) {
        let (scope, name, first) = (scope.to_owned(), name.to_owned(), self.count);
        self.count += declaration.figures.iter().filter(|f| f.formula.is_none()).count();
        self.groups.push(Placed { scope, name, declaration, first });
    }

    /// The declarations, independent of the model.
    pub fn schema(&self) -> Schema {
        let groups = self.groups.iter().map(|group| (group.entry(), group.declaration));
        Schema::of(groups)
    }

    /// The index in a reading of the counter with this path and name.
    pub fn index(&self, path: &str, name: &str) -> Option<usize> {
        let group = self.groups.iter().find(|group| group.entry().path() == path)?;
        group.figures().find(|(figure, _)| figure.name == name)?.1
    }

    /// A reading by path and name, including figures that are sums of counters.
    pub fn values(&self, reading: &Reading) -> Values {
        let mut counted = Values::default();
        for group in &self.groups {
            let path = group.entry().path();
            counted.group(&path);
            for (figure, index) in group.figures() {
                if let Some(index) = index {
                    counted.push(&path, figure.name, reading.get(index));
                }
            }
        }
        let schema = self.schema();
        let view = View::new(&schema, &counted, |_| None);
        let mut values = Values::default();
        for group in &self.groups {
            let path = group.entry().path();
            values.group(&path);
            for figure in group.declaration.figures {
                if let Some(crate::Number::Whole(value)) = view.value(&path, figure.name) {
                    values.push(&path, figure.name, value);
                }
            }
        }
        values
    }

    /// Sets those counters in `sum` that cover the whole run, whatever part of it was measured: the
    /// fault counters. `last` is the reading at the end.
    pub fn settle(&self, sum: &mut Reading, last: &Reading) {
        sum.0.resize(self.count, 0);
        for (figure, index) in self.groups.iter().flat_map(Placed::figures) {
            if let (Meaning::Fault, Some(index)) = (figure.meaning, index) {
                sum.0[index] = last.get(index);
            }
        }
    }
}

/// All counters of a model at one moment, or sums of such readings, in the order of its [`Layout`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading(Vec<u64>);

impl Reading {
    /// What a model has counted since it was created.
    pub fn of(model: &dyn Counts) -> Self {
        let mut values = Vec::with_capacity(160);
        model.visit(&mut Walk { scope: String::new(), sink: Sink::Reading(&mut values) });
        Self(values)
    }

    /// A counter; 0 in an empty reading.
    pub fn get(&self, index: usize) -> u64 {
        self.0.get(index).copied().unwrap_or(0)
    }

    /// Adds what was counted between two readings of the same model.
    pub fn add_difference(&mut self, from: &Self, to: &Self) {
        debug_assert_eq!(from.0.len(), to.0.len(), "a model's groups stay as they are");
        self.0.resize(to.0.len(), 0);
        for ((sum, from), to) in self.0.iter_mut().zip(&from.0).zip(&to.0) {
            *sum += to - from;
        }
    }

    /// Adds another sum of the same model.
    pub fn add(&mut self, other: &Self) {
        self.add_difference(&Self(vec![0; other.0.len()]), other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::counters! {
        /// A core.
        pub struct Core = Head::one("core");

        /// Cycles.
        cycles: Cycles,
        /// Retired.
        retired: Instructions,
        /// Left out.
        elided: Instructions,
        /// Both.
        instructions: Instructions = "retired + elided",
        /// Wrong.
        wrong: Count [fault()],
    }

    crate::counters! {
        /// A cache.
        pub struct Cache = Head::list("cache", "caches");

        /// Lookups.
        accesses: Accesses,
        /// Not found.
        misses: Accesses,
        /// Rate.
        mpki: PerThousandInstructions = "1000 * (misses / core.instructions)" [miss_rate()],
    }

    /// A chip of cores, each with a cache, around a shared one.
    struct Chip {
        cores: Vec<(Core, Cache)>,
        shared: Cache,
    }

    impl Counts for Chip {
        fn visit(&self, walk: &mut Walk<'_>) {
            for (index, (core, cache)) in self.cores.iter().enumerate() {
                walk.nth("core", index, |walk| {
                    walk.one(core);
                    walk.named("L1D", cache);
                });
            }
            walk.within("uncore", |walk| walk.named("LLC", &self.shared));
        }
    }

    fn chip(scale: u64) -> Chip {
        let core = |n: u64| Core {
            cycles: 10 * n * scale,
            retired: 4 * n * scale,
            elided: n * scale,
            wrong: n * scale,
        };
        let cache = |n: u64| Cache { accesses: 8 * n * scale, misses: n * scale };
        Chip { cores: vec![(core(1), cache(1)), (core(2), cache(4))], shared: cache(5) }
    }

    #[test]
    fn groups_nest_and_alike_parts_are_numbered() {
        let schema = Layout::of(&chip(1)).schema();
        let paths: Vec<String> = schema.groups().iter().map(Entry::path).collect();
        let expected = ["core[0].core", "core[0].cache.L1D", "core[1].core", "core[1].cache.L1D"];
        assert_eq!(paths[..4], expected);
        assert_eq!(paths[4], "uncore.cache.LLC");
        assert_eq!(schema.kinds().len(), 2, "a kind is declared once, however many groups it has");
    }

    #[test]
    fn differences_and_sums_of_readings_cover_every_counter() {
        let layout = Layout::of(&chip(1));
        let mut sum = Reading::default();
        let (early, late) = (Reading::of(&chip(2)), Reading::of(&chip(5)));
        sum.add_difference(&early, &late);
        assert_eq!(sum, Reading::of(&chip(3)));
        sum.add(&early);
        assert_eq!(sum, late);
        let index = layout.index("core[1].core", "elided").unwrap();
        assert_eq!(sum.get(index), 2 * 5);
        assert_eq!(layout.index("core[1].core", "instructions"), None, "it is not counted");
    }

    #[test]
    fn sums_of_counters_are_values_and_ratios_are_not() {
        let values = Layout::of(&chip(3)).values(&Reading::of(&chip(3)));
        assert_eq!(values.get("core[1].core", "instructions"), Some((4 + 1) * 2 * 3));
        assert_eq!(values.get("core[1].cache.L1D", "mpki"), None);
    }

    #[test]
    fn a_reading_of_nothing_has_every_value_and_all_are_zero() {
        let values = Layout::of(&chip(1)).values(&Reading::default());
        assert_eq!(values.iter().flat_map(|(_, group)| group).count(), 2 * (5 + 2) + 2);
        assert!(values.iter().flat_map(|(_, group)| group).all(|(_, value)| *value == 0));
    }

    #[test]
    fn faults_cover_the_whole_run_and_everything_else_the_measured_part() {
        let layout = Layout::of(&chip(1));
        let mut sum = Reading::default();
        sum.add_difference(&Reading::of(&chip(2)), &Reading::of(&chip(3)));
        layout.settle(&mut sum, &Reading::of(&chip(7)));
        let values = layout.values(&sum);
        assert_eq!(values.get("core[0].core", "wrong"), Some(7));
        assert_eq!(values.get("core[0].core", "cycles"), Some(10));
    }

    #[test]
    fn alike_parts_add_up_to_a_whole_with_the_paths_of_a_single_one() {
        let values = Layout::of(&chip(1)).values(&Reading::of(&chip(1))).summed();
        assert_eq!(values.get("core", "cycles"), Some(10 + 20));
        assert_eq!(values.get("cache.L1D", "misses"), Some(1 + 4));
        assert_eq!(values.get("uncore.cache.LLC", "misses"), Some(5));
        let schema = Layout::of(&chip(1)).schema().summed();
        let paths: Vec<String> = schema.groups().iter().map(Entry::path).collect();
        assert_eq!(paths, ["core", "cache.L1D", "uncore.cache.LLC"]);
        let view = View::new(&schema, &values, |_| None);
        let mpki = 1000.0 * (5.0 / (5.0 + 10.0));
        assert_eq!(view.value("cache.L1D", "mpki"), Some(crate::Number::Real(mpki)));
    }

    #[test]
    fn a_formula_finds_the_group_of_its_own_part_before_one_further_out() {
        let layout = Layout::of(&chip(1));
        let (schema, values) = (layout.schema(), layout.values(&Reading::of(&chip(1))));
        let view = View::new(&schema, &values, |_| None);
        let mpki = |n: f64, misses: f64| Some(crate::Number::Real(1000.0 * (misses / (5.0 * n))));
        assert_eq!(view.value("core[0].cache.L1D", "mpki"), mpki(1.0, 1.0));
        assert_eq!(view.value("core[1].cache.L1D", "mpki"), mpki(2.0, 4.0));
        assert_eq!(view.value("uncore.cache.LLC", "mpki"), None, "it belongs to no core");
        assert_eq!(schema.unresolved(|_| false).len(), 1, "and that is found out");
    }
}
