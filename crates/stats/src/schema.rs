//! The meaning of counters, independent of the models that count them: it can be stored, read and
//! merged.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::declare::{Declaration, Figure, Head};
use crate::formula::Formula;
use crate::unit::Unit;
use crate::values::alike;

/// A declared kind of group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kind {
    /// Its declaration.
    #[serde(flatten)]
    pub head: Head<String>,
    /// Its figures, in the order of documents.
    pub figures: Vec<Figure<String>>,
}

/// A group of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The part of the machine that contains it: `core[3]`; empty for the machine itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// Its kind.
    pub kind: String,
    /// Its name among groups of its kind; empty if it is the only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// The declarations of the counters of one or more machines: kinds and groups.
///
/// Cloning is cheap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Content", into = "Content")]
pub struct Schema(Arc<Content>);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Content {
    kinds: Vec<Kind>,
    groups: Vec<Entry>,
}

/// Why a text is not a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("declarations of counters: {what}")]
pub struct SchemaError {
    what: String,
}

impl Entry {
    /// A group.
    pub fn new(scope: &str, kind: &str, name: &str) -> Self {
        Self { scope: scope.to_owned(), kind: kind.to_owned(), name: name.to_owned() }
    }

    /// Scope, kind and name, separated by dots.
    pub fn path(&self) -> String {
        let mut path = self.scope.clone();
        for part in [&self.kind, &self.name].into_iter().filter(|part| !part.is_empty()) {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(part);
        }
        path
    }
}

impl Kind {
    /// The figure of that name.
    pub fn figure(&self, name: &str) -> Option<&Figure<String>> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    /// The edition of the declarations that introduced a figure.
    pub fn since(&self, figure: &Figure<String>) -> u32 {
        self.head.since.max(figure.since)
    }
}

impl Schema {
    /// The schema of these groups.
    pub(crate) fn of(groups: impl IntoIterator<Item = (Entry, &'static Declaration)>) -> Self {
        let mut content = Content::default();
        for (entry, declaration) in groups {
            if !content.kinds.iter().any(|kind| kind.head.name == declaration.head.name) {
                let figures = declaration.figures.iter().map(Figure::owned).collect();
                content.kinds.push(Kind { head: declaration.head.owned(), figures });
            }
            content.groups.push(entry);
        }
        Self(Arc::new(content))
    }

    /// The kinds of groups, in the order of documents.
    pub fn kinds(&self) -> &[Kind] {
        &self.0.kinds
    }

    /// The groups, in the order of documents.
    pub fn groups(&self) -> &[Entry] {
        &self.0.groups
    }

    /// The kind of that name.
    pub fn kind(&self, name: &str) -> Option<&Kind> {
        self.kinds().iter().find(|kind| kind.head.name == name)
    }

    /// The groups of a kind.
    pub fn groups_of<'a>(&'a self, kind: &'a Kind) -> impl Iterator<Item = &'a Entry> {
        self.groups().iter().filter(|entry| entry.kind == kind.head.name)
    }

    /// The kind of the group with that path.
    pub fn kind_at(&self, path: &str) -> Option<&Kind> {
        let entry = self.groups().iter().find(|entry| entry.path() == path)?;
        self.kind(&entry.kind)
    }

    /// This schema, extended by everything that only `other` has. For what both declare, this one
    /// takes precedence; a new group follows the others of its kind.
    #[must_use]
    pub fn merged(&self, other: &Self) -> Self {
        if other.groups().iter().all(|entry| self.groups().contains(entry))
            && other.kinds().iter().all(|kind| self.kinds().contains(kind))
        {
            return self.clone();
        }
        let mut content = Content::clone(&self.0);
        for kind in other.kinds() {
            match content.kinds.iter_mut().find(|known| known.head.name == kind.head.name) {
                None => content.kinds.push(kind.clone()),
                Some(known) => {
                    let new = |figure: &&Figure<String>| known.figure(&figure.name).is_none();
                    let new: Vec<_> = kind.figures.iter().filter(new).cloned().collect();
                    known.figures.extend(new);
                }
            }
        }
        for entry in other.groups().iter().filter(|entry| !self.groups().contains(entry)) {
            let same = |known: &Entry| known.kind == entry.kind && known.scope == entry.scope;
            let at = content.groups.iter().rposition(same).map_or(content.groups.len(), |i| i + 1);
            content.groups.insert(at, entry.clone());
        }
        Self(Arc::new(content))
    }

    /// This schema, extended by an undeclared group: its kind is its path, and all its figures are
    /// counted.
    #[must_use]
    pub fn with_undeclared(&self, path: &str, names: &[&str]) -> Self {
        let figure = |name: &&str| Figure {
            name: (*name).to_owned(),
            unit: Unit::Count,
            sentence: "Stored without a declaration.".to_owned(),
            formula: None,
            meaning: crate::Meaning::Plain,
            label: None,
            summary: None,
            since: u32::MAX,
        };
        let (kind, name) = match self.groups().iter().find(|entry| entry.path() == path) {
            Some(entry) => (entry.kind.clone(), entry.name.clone()),
            None => (path.to_owned(), String::new()),
        };
        let head = Head {
            name: kind.clone(),
            title: kind.clone(),
            about: "Stored without a declaration.".to_owned(),
            key: kind.clone(),
            list: false,
            whole: None,
            balance: None,
            since: u32::MAX,
        };
        let kinds = vec![Kind { head, figures: names.iter().map(figure).collect() }];
        let groups = vec![Entry { scope: String::new(), kind, name }];
        self.merged(&Self(Arc::new(Content { kinds, groups })))
    }

    /// The schema of [`Values::summed`](crate::Values::summed).
    #[must_use]
    pub fn summed(&self) -> Self {
        if self.groups().iter().all(|entry| entry.scope.is_empty()) {
            return self.clone();
        }
        let mut content = Content { kinds: self.0.kinds.clone(), groups: Vec::new() };
        for entry in self.groups() {
            let summed = Entry { scope: alike(&entry.scope), ..entry.clone() };
            if !content.groups.contains(&summed) {
                content.groups.push(summed);
            }
        }
        Self(Arc::new(content))
    }

    /// Resolves `name` in a formula of the group at `path`: returns the group and the figure, which
    /// is in the same group or, for `group.figure`, in the nearest such group further out.
    pub(crate) fn resolve<'a>(
        &self,
        path: &str,
        name: &'a str,
    ) -> Option<(String, &'a str, &Figure<String>)> {
        let Some((group, figure)) = name.rsplit_once('.') else {
            let found = self.kind_at(path)?.figure(name)?;
            return Some((path.to_owned(), name, found));
        };
        let mut scope = path;
        loop {
            scope = scope.rsplit_once('.').map_or("", |(outer, _)| outer);
            let candidate =
                if scope.is_empty() { group.to_owned() } else { format!("{scope}.{group}") };
            if let Some(found) = self.kind_at(&candidate).and_then(|kind| kind.figure(figure)) {
                return Some((candidate, figure, found));
            }
            if scope.is_empty() {
                return None;
            }
        }
    }

    /// Names in formulas that are neither declared nor known outside, one sentence each.
    pub fn unresolved(&self, outside: impl Fn(&str) -> bool) -> Vec<String> {
        let mut found = Vec::new();
        for entry in self.groups() {
            let Some(kind) = self.kind(&entry.kind) else { continue };
            let path = entry.path();
            let head = [kind.head.whole.as_ref()].into_iter().flatten();
            let balance = kind.head.balance.iter().flat_map(|(left, right)| [left, right]);
            let formulas = kind.figures.iter().filter_map(|figure| figure.formula.as_ref());
            for text in formulas.chain(head).chain(balance) {
                match Formula::parse(text) {
                    Err(error) => found.push(format!("{path}: {error}")),
                    Ok(formula) => {
                        let names = formula.names().into_iter();
                        let unknown =
                            names.filter(|n| self.resolve(&path, n).is_none() && !outside(n));
                        found.extend(unknown.map(|n| format!("{path}: {text:?} names {n:?}")));
                    }
                }
            }
        }
        found
    }
}

impl From<Schema> for Content {
    fn from(schema: Schema) -> Self {
        Arc::unwrap_or_clone(schema.0)
    }
}

impl TryFrom<Content> for Schema {
    type Error = SchemaError;

    fn try_from(content: Content) -> Result<Self, SchemaError> {
        let fail = |what| Err(SchemaError { what });
        for (index, kind) in content.kinds.iter().enumerate() {
            let name = &kind.head.name;
            if content.kinds[..index].iter().any(|other| other.head.name == *name) {
                return fail(format!("kind {name:?} is there twice"));
            }
            for figure in &kind.figures {
                if let Some(Err(error)) = figure.formula.as_deref().map(Formula::parse) {
                    return fail(format!("{name}.{}: {error}", figure.name));
                }
            }
        }
        for entry in &content.groups {
            if !content.kinds.iter().any(|kind| kind.head.name == entry.kind) {
                return fail(format!("group {:?} has no kind {:?}", entry.path(), entry.kind));
            }
        }
        Ok(Self(Arc::new(content)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Counts, Layout, Walk};

    crate::counters! {
        /// A buffer.
        pub struct Buffer = Head::list("buffer", "buffers").about("A buffer.").title("buffers");

        /// Lookups.
        lookups: Accesses,
        /// Found.
        hits: Accesses [since(2)],
        /// Share found.
        hit_rate: Fraction = "hits / lookups" [hit_rate(), called("buffer")],
    }

    crate::causes! {
        /// Why it stalls.
        pub enum Cause, struct Stalls = Head::one("stalls").parts_of("cycles"), Cycles;

        /// Nothing there.
        Empty = "empty",
        /// No room.
        Full = "full",
    }

    struct Machine(&'static [&'static str]);

    impl Counts for Machine {
        fn visit(&self, walk: &mut Walk<'_>) {
            let mut stalls = Stalls::default();
            stalls[Cause::Full] += 2;
            walk.one(&stalls);
            self.0.iter().for_each(|name| walk.named(name, &Buffer::default()));
        }
    }

    fn schema(names: &'static [&'static str]) -> Schema {
        Layout::of(&Machine(names)).schema()
    }

    #[test]
    fn a_schema_is_read_as_it_was_written() {
        let schema = schema(&["a", "b"]);
        let text = serde_json::to_string(&schema).unwrap();
        assert_eq!(serde_json::from_str::<Schema>(&text).unwrap(), schema);
        // Default values are omitted.
        assert!(!text.contains("null") && !text.contains("scope"), "{text}");
    }

    #[test]
    fn what_a_newer_version_says_besides_is_passed_over() {
        let text = r#"{"kinds": [{"name": "x", "title": "x", "about": "", "key": "x", "new": 1,
            "figures": [{"name": "n", "unit": "furlongs", "sentence": "N.", "meaning": "novel"}]}],
            "groups": [{"kind": "x"}]}"#;
        let schema: Schema = serde_json::from_str(text).unwrap();
        let figure = &schema.kinds()[0].figures[0];
        assert_eq!((figure.unit, figure.meaning), (Unit::Count, crate::Meaning::Plain));
    }

    #[test]
    fn a_damaged_schema_is_refused() {
        let text = serde_json::to_string(&schema(&["a"])).unwrap();
        for (from, to, part) in [
            ("hits / lookups", "hits /", "buffer.hit_rate: formula"),
            (r#""kind":"stalls""#, r#""kind":"falls""#, "has no kind \"falls\""),
            (r#""name":"stalls""#, r#""name":"buffer""#, "kind \"buffer\" is there twice"),
        ] {
            let broken = text.replacen(from, to, 1);
            assert_ne!(broken, text, "{from}");
            let error = serde_json::from_str::<Schema>(&broken).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn merging_adds_what_is_new_beside_its_kind_and_nothing_twice() {
        let both = schema(&["a", "c"]).merged(&schema(&["b", "c"]));
        let paths: Vec<String> = both.groups().iter().map(Entry::path).collect();
        assert_eq!(paths, ["stalls", "buffer.a", "buffer.c", "buffer.b"]);
        assert_eq!(both.kinds(), schema(&["a"]).kinds());
        assert_eq!(both.merged(&both), both);
        let more =
            both.with_undeclared("buffer.b", &["hits", "lost"]).with_undeclared("x.y", &["z"]);
        assert_eq!(more.kind("buffer").unwrap().figures.len(), 4);
        assert_eq!(more.kind_at("x.y").unwrap().figures[0].name, "z");
        assert_eq!(more.groups().len(), 5);
    }

    #[test]
    fn names_that_nothing_declares_are_found() {
        let schema = schema(&["a"]);
        assert_eq!(schema.unresolved(|_| false), ["stalls: \"cycles\" names \"cycles\""]);
        assert_eq!(schema.unresolved(|name| name == "cycles"), [""; 0]);
    }

    #[test]
    fn causes_are_counters_by_name() {
        let machine = Machine(&[]);
        let layout = Layout::of(&machine);
        let values = layout.values(&crate::Reading::of(&machine));
        assert_eq!(values.get("stalls", "full"), Some(2));
        assert_eq!(Cause::ALL.map(Cause::name), ["empty", "full"]);
    }
}
