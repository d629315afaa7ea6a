//! Declarations of a group and of its figures.
//!
//! `S` is `&'static str` in a declaration and `String` in a [`Schema`](crate::Schema), which may
//! come from a file.

use serde::{Deserialize, Serialize};

use crate::unit::Unit;

/// One figure of a group: a counter, or a value derived from counters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figure<S> {
    /// Its name, in snake case.
    pub name: S,
    /// What it counts.
    pub unit: Unit,
    /// One sentence.
    pub sentence: S,
    /// The formula that derives it from other figures; `None` if it is counted. Names are those of
    /// the same group, or `path.name` of a group further out.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub formula: Option<S>,
    /// What reports may use it for.
    #[serde(default, skip_serializing_if = "Meaning::is_plain")]
    pub meaning: Meaning,
    /// Its label in reports that use `meaning`, where the group's name is not enough.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub label: Option<S>,
    /// Its label in the short comparison of a run; `None` if it is not shown there.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub summary: Option<S>,
    /// The edition of the declarations that introduced it. CSV columns are in the order of
    /// editions, so that none moves when a figure is added.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub since: u32,
}

/// `None`, for any type.
fn none<T>() -> Option<T> {
    None
}

fn first() -> u32 {
    1
}

fn is_first(edition: &u32) -> bool {
    *edition == first()
}

/// What a figure means beyond its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// It must stay 0; any other value is a fault of a model or of the guest. It is counted over
    /// the whole run, measured or not, so that no fault goes unnoticed.
    Fault,
    /// The share of requests that were found: shown in charts of hit rates.
    HitRate,
    /// Misses per 1,000 instructions: shown in charts of misses.
    MissRate,
    /// Cycles that a constant of the machine file makes, not a mechanism of the model: reports
    /// say so when they are a good part of the whole.
    Assumed,
    /// No special meaning.
    #[default]
    #[serde(other)]
    Plain,
}

impl Meaning {
    fn is_plain(&self) -> bool {
        *self == Self::Plain
    }
}

/// The declaration of a kind of group, apart from its figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head<S> {
    /// The kind's name. A group's path is this name, or begins with it and a dot.
    pub name: S,
    /// The title of the group's tables, in lower case.
    pub title: S,
    /// A description of one or a few sentences.
    pub about: S,
    /// The key under which documents show it.
    pub key: S,
    /// Whether there may be several of them, so that documents contain a list.
    #[serde(default)]
    pub list: bool,
    /// If its counters are parts of a whole: the figure that they sum to.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub whole: Option<S>,
    /// Two formulas that must have the same value.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub balance: Option<(S, S)>,
    /// The edition of the declarations that introduced it; see [`Figure::since`].
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub since: u32,
}

/// A model's declaration of one kind of group.
#[derive(Debug)]
pub struct Declaration {
    /// The kind.
    pub head: Head<&'static str>,
    /// Its figures, in the order of documents.
    pub figures: &'static [Figure<&'static str>],
}

/// Counters that [`counters!`](crate::counters!) declared.
pub trait Group {
    /// Their declaration.
    fn declaration() -> &'static Declaration;

    /// Calls `each` with every counter, in declared order.
    fn read(&self, each: &mut dyn FnMut(u64));
}

impl Figure<&'static str> {
    /// A counter, or, with a formula, a value derived from counters.
    pub const fn new(
        name: &'static str,
        unit: Unit,
        sentence: &'static str,
        formula: Option<&'static str>,
    ) -> Self {
        let meaning = Meaning::Plain;
        Self { name, unit, sentence, formula, meaning, label: None, summary: None, since: 1 }
    }

    /// The same, introduced by a later edition of the declarations.
    pub const fn since(mut self, edition: u32) -> Self {
        self.since = edition;
        self
    }

    /// The same, as something that must stay 0.
    pub const fn fault(mut self) -> Self {
        self.meaning = Meaning::Fault;
        self
    }

    /// The same, as cycles that a constant makes.
    pub const fn assumed(mut self) -> Self {
        self.meaning = Meaning::Assumed;
        self
    }

    /// The same, as a hit rate.
    pub const fn hit_rate(mut self) -> Self {
        self.meaning = Meaning::HitRate;
        self
    }

    /// The same, as misses per 1,000 instructions.
    pub const fn miss_rate(mut self) -> Self {
        self.meaning = Meaning::MissRate;
        self
    }

    /// The same, with this label where reports use its meaning.
    pub const fn called(mut self, label: &'static str) -> Self {
        self.label = Some(label);
        self
    }

    /// The same, with this label in the short comparison of a run.
    pub const fn summary(mut self, label: &'static str) -> Self {
        self.summary = Some(label);
        self
    }

    /// The figure in the form that a schema holds.
    pub(crate) fn owned(&self) -> Figure<String> {
        let text = |text: Option<&str>| text.map(str::to_owned);
        Figure {
            name: self.name.to_owned(),
            unit: self.unit,
            sentence: self.sentence.trim().to_owned(),
            formula: text(self.formula),
            meaning: self.meaning,
            label: text(self.label),
            summary: text(self.summary),
            since: self.since,
        }
    }
}

impl Head<&'static str> {
    /// A kind of which a machine has one; documents show it under its own name.
    pub const fn one(name: &'static str) -> Self {
        let (title, about, key) = (name, "", name);
        Self { name, title, about, key, list: false, whole: None, balance: None, since: 1 }
    }

    /// A kind of which a machine has several; documents show a list under `key`.
    pub const fn list(name: &'static str, key: &'static str) -> Self {
        Self { key, list: true, ..Self::one(name) }
    }

    /// The same, with this title for its tables.
    pub const fn title(mut self, title: &'static str) -> Self {
        self.title = title;
        self
    }

    /// The same, with a description.
    pub const fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    /// The same, under a different key in documents.
    pub const fn key(mut self, key: &'static str) -> Self {
        self.key = key;
        self
    }

    /// The same; its counters sum to this figure.
    pub const fn parts_of(mut self, whole: &'static str) -> Self {
        self.whole = Some(whole);
        self
    }

    /// The same; these two formulas have the same value.
    pub const fn balanced(mut self, left: &'static str, right: &'static str) -> Self {
        self.balance = Some((left, right));
        self
    }

    /// The same, introduced by a later edition of the declarations.
    pub const fn since(mut self, edition: u32) -> Self {
        self.since = edition;
        self
    }

    /// The head in the form that a schema holds.
    pub(crate) fn owned(&self) -> Head<String> {
        Head {
            name: self.name.to_owned(),
            title: self.title.to_owned(),
            about: self.about.to_owned(),
            key: self.key.to_owned(),
            list: self.list,
            whole: self.whole.map(str::to_owned),
            balance: self.balance.map(|(left, right)| (left.to_owned(), right.to_owned())),
            since: self.since,
        }
    }
}
