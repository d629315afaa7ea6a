//! Statistics of a run, of a configuration and of its calls, each declared once: name, unit,
//! description, and how it is obtained from the counters.
//!
//! The JSON, the CSV, the tables, the store and `docs/statistics.md` all walk these slices. What
//! the models count is declared there (`stats::counters!`) and comes with the run.

mod context;
mod declared;
mod document;

pub use context::{Context, Measured, Pairs, calls_context, configuration_context};
pub use declared::{CALLS, CONFIGURATION, RUN};
pub use document::{Declaration, declarations, markdown};
pub use stats::Unit;

use crate::confidence::{Estimate, around_first, ratio, relative};
use crate::model::{Configuration, Run};

/// One declared statistic of a `T`.
pub struct Statistic<T: Measured + 'static> {
    /// The name, in snake case, ending in the unit if it is not obvious.
    pub name: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// One sentence.
    pub description: &'static str,
    /// Where its value comes from.
    pub source: Source<T>,
}

/// Where a statistic's value comes from.
pub enum Source<T: Measured + 'static> {
    /// Counted while the machine runs; stored.
    Counter {
        /// Reads the counter.
        get: fn(&T) -> u64,
        /// Sets it, when a run is loaded.
        set: fn(&mut T, u64),
    },
    /// Stated by a model or measured on the host; stored if there is a value.
    Real {
        /// Reads the value.
        get: fn(&T) -> Option<f64>,
        /// Sets it, when a run is loaded.
        set: fn(&mut T, f64),
    },
    /// Derived when it is shown; never stored.
    Derived {
        /// The formula, in terms of other statistics.
        formula: &'static str,
        /// Derives it; `None` if it would divide by zero or has nothing to compare with.
        get: fn(&T, &Context<T>) -> Option<f64>,
        /// How it gets its confidence interval.
        interval: Interval<T>,
    },
}

/// How the confidence interval of a derived statistic is computed from samples and replicates.
pub enum Interval<T: Measured> {
    /// It has none.
    None,
    /// The statistic is the ratio of the sums of these two values.
    Ratio(fn(&T::Point) -> (u64, u64)),
    /// It is the same ratio in the baseline over that in this configuration, minus 1.
    Speedup(fn(&T::Point) -> (u64, u64)),
}

/// A statistic's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A counter.
    Count(u64),
    /// A stated or derived figure, with its interval if the run has samples or replicates.
    Real(Estimate),
    /// Undefined: a division by zero, or nothing to compare with.
    Undefined,
}

impl Value {
    /// The figure without its interval.
    pub fn figure(self) -> Option<f64> {
        match self {
            Self::Count(count) => Some(count as f64),
            Self::Real(estimate) => Some(estimate.value),
            Self::Undefined => None,
        }
    }

    /// The same without its interval.
    #[must_use]
    pub fn without_interval(self) -> Self {
        match self {
            Self::Real(estimate) => Self::Real(Estimate { half_width: None, ..estimate }),
            other => other,
        }
    }

    /// Half the width of its confidence interval, if it has one.
    pub fn half_width(self) -> Option<f64> {
        match self {
            Self::Real(estimate) => estimate.half_width,
            _ => None,
        }
    }
}

impl<T: Measured> Statistic<T> {
    /// The statistic's value for `item`.
    pub fn value(&self, item: &T, context: &Context<T>) -> Value {
        let exact = |value: f64| Value::Real(Estimate { value, half_width: None });
        match &self.source {
            Source::Counter { get, .. } => Value::Count(get(item)),
            Source::Real { get, .. } => get(item).map_or(Value::Undefined, exact),
            Source::Derived { get, interval, .. } => match get(item, context) {
                None => Value::Undefined,
                Some(value) if self.unit.is_whole() => Value::Count(value as u64),
                Some(value) => {
                    Value::Real(Estimate { value, half_width: interval.half_width(context) })
                }
            },
        }
    }

    /// Whether it is kept in the store.
    pub fn is_stored(&self) -> bool {
        !matches!(self.source, Source::Derived { .. })
    }
}

impl<T: Measured> Interval<T> {
    /// Half the width of the interval: what the samples leave open and what differs from seed to
    /// seed; `None` if neither is known.
    fn half_width(&self, context: &Context<T>) -> Option<f64> {
        let samples = self.estimate(&context.samples).and_then(|estimate| estimate.half_width);
        let seeds: Option<Vec<f64>> = (0..context.replicates.points.len())
            .map(|seed| self.of_seed(&context.replicates, seed))
            .collect();
        around_first(&seeds.unwrap_or_default(), samples)
    }

    /// The figure over all points.
    fn estimate(&self, pairs: &Pairs<T::Point>) -> Option<Estimate> {
        self.over(&pairs.points, &pairs.baseline)
    }

    /// The figure of one seed.
    fn of_seed(&self, pairs: &Pairs<T::Point>, seed: usize) -> Option<f64> {
        let points = pairs.points.get(seed..=seed)?;
        let baseline = pairs.baseline.get(seed..=seed).unwrap_or_default();
        self.over(points, baseline).map(|estimate| estimate.value)
    }

    fn over(&self, points: &[T::Point], baseline: &[T::Point]) -> Option<Estimate> {
        let collect = |points: &[T::Point], part: fn(&T::Point) -> (u64, u64)| -> Vec<_> {
            points.iter().map(part).collect()
        };
        match self {
            Self::None => None,
            Self::Ratio(part) => ratio(&collect(points, *part)),
            Self::Speedup(part) => relative(&collect(baseline, *part), &collect(points, *part)),
        }
    }
}

/// A statistic of a configuration of `run`; undefined if there is none of that name.
pub fn configuration_statistic(run: &Run, item: &Configuration, name: &str) -> Value {
    let statistic = find(CONFIGURATION, name);
    statistic.map_or(Value::Undefined, |found| found.value(item, &configuration_context(run, item)))
}

/// Every statistic of `item` by name, in declared order.
pub fn values<T: Measured>(
    slice: &'static [Statistic<T>],
    item: &T,
    context: &Context<T>,
) -> impl Iterator<Item = (&'static str, Value)> {
    slice.iter().map(move |statistic| (statistic.name, statistic.value(item, context)))
}

/// The statistic of that name in a slice.
pub fn find<T: Measured>(
    slice: &'static [Statistic<T>],
    name: &str,
) -> Option<&'static Statistic<T>> {
    slice.iter().find(|statistic| statistic.name == name)
}

/// A quotient; undefined if the denominator is 0.
pub(crate) fn quotient(numerator: u64, denominator: u64) -> Option<f64> {
    (denominator > 0).then(|| numerator as f64 / denominator as f64)
}
