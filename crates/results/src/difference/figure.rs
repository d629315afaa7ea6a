//! A figure in two runs, and whether its difference is significant.

use crate::figures::{GroupFigures, placed};
use crate::model::{Configuration, Run};
use crate::select::{CallFigures, CallGroup};
use crate::statistics::{CALLS, CONFIGURATION, Unit, Value, configuration_context};

/// What the intervals of two figures say about their difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is none.
    Same,
    /// It is larger than the intervals explain.
    Significant,
    /// The intervals explain it.
    NotSignificant,
    /// One of the figures has no interval, so nothing is known about another run.
    NoInterval,
}

impl Verdict {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Significant => "significant",
            Self::NotSignificant => "not significant",
            Self::NoInterval => "no interval",
        }
    }
}

/// A figure in two runs.
#[derive(Clone, Debug)]
pub struct FigureDifference {
    /// Its name, as in CSV: `cycles`, `malloc.cycles_per_call`, `cache.L1D.mpki`.
    pub name: String,
    /// What it counts.
    pub unit: Unit,
    /// In the first run.
    pub a: Value,
    /// In the second.
    pub b: Value,
    /// Whether it is one of the run and its calls, and not a counter of a part of the machine.
    pub is_main: bool,
}

impl FigureDifference {
    /// The second less the first.
    pub fn difference(&self) -> Option<f64> {
        Some(self.b.figure()? - self.a.figure()?)
    }

    /// The difference as a share of the first; `None` if that is 0.
    pub fn relative(&self) -> Option<f64> {
        let first = self.a.figure().filter(|first| *first != 0.0)?;
        Some(self.difference()? / first.abs())
    }

    /// The 95 % interval of the difference of two independent figures has the root of the sum of
    /// the squares of theirs as its half width.
    pub fn verdict(&self) -> Verdict {
        let Some(difference) = self.difference() else { return Verdict::NoInterval };
        match (self.a.half_width(), self.b.half_width()) {
            _ if difference == 0.0 => Verdict::Same,
            (Some(a), Some(b)) if difference.abs() > a.hypot(b) => Verdict::Significant,
            (Some(_), Some(_)) => Verdict::NotSignificant,
            _ => Verdict::NoInterval,
        }
    }
}

/// A figure's name, unit and value.
type Named = (String, Unit, Value);

/// Each figure that one of the two configurations has.
pub fn figures(
    (a, first): (&Run, &Configuration),
    (b, second): (&Run, &Configuration),
) -> Vec<FigureDifference> {
    let mut all = pairs(main(a, first), main(b, second), true);
    all.extend(pairs(counters(a, first), counters(b, second), false));
    all
}

fn pairs(a: Vec<Named>, mut b: Vec<Named>, is_main: bool) -> Vec<FigureDifference> {
    let mut all = Vec::new();
    for (name, unit, a) in a {
        let at = b.iter().position(|(other, ..)| *other == name);
        let b = at.map_or(Value::Undefined, |at| b.remove(at).2);
        all.push(FigureDifference { name, unit, a, b, is_main });
    }
    let a = Value::Undefined;
    all.extend(b.into_iter().map(|(name, unit, b)| FigureDifference { name, unit, a, b, is_main }));
    all.retain(|figure| (figure.a, figure.b) != (Value::Undefined, Value::Undefined));
    all
}

/// The statistics of a configuration and of the kinds of calls that occurred.
fn main(run: &Run, item: &Configuration) -> Vec<Named> {
    let context = configuration_context(run, item);
    let statistics = CONFIGURATION.iter();
    let mut all: Vec<Named> = statistics
        .map(|statistic| {
            (statistic.name.to_owned(), statistic.unit, statistic.value(item, &context))
        })
        .collect();
    for group in CallGroup::all().filter(|group| group.stats(item).calls > 0) {
        let figures = CallFigures::of(run, item, group);
        all.extend(CALLS.iter().map(|statistic| {
            let name = format!("{}.{}", group.name(), statistic.name);
            (name, statistic.unit, figures.value(statistic.name))
        }));
    }
    all
}

/// What the models counted.
fn counters(run: &Run, item: &Configuration) -> Vec<Named> {
    let (schema, figures) = (run.groups(), GroupFigures::of(run, item));
    let mut all = Vec::new();
    for group in placed(&schema).filter(|group| figures.has(&group.path)) {
        for figure in group.kind.figures.iter() {
            let name = format!("{}.{}", group.path, figure.name);
            all.push((name, figure.unit, figures.value(&group.path, &figure.name)));
        }
    }
    all
}
