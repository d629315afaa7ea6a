//! What a derived statistic needs besides its own counters.

use crate::model::{CallKind, CallStats, CallTally, Configuration, Run, SamplePoint};

/// Something that statistics are declared for.
pub trait Measured: Sized {
    /// A sample's data about it.
    type Point;
}

impl Measured for Run {
    type Point = ();
}
impl Measured for Configuration {
    type Point = SamplePoint;
}
impl Measured for CallStats {
    type Point = CallTally;
}

/// The context in which an item's statistic is evaluated.
pub struct Context<T: Measured> {
    /// Instructions its configuration measured.
    pub instructions: u64,
    /// The same item in the baseline, which may be the item itself.
    pub baseline: Option<T>,
    /// What each sample measured.
    pub samples: Pairs<T::Point>,
    /// What each replicate measured.
    pub replicates: Pairs<T::Point>,
}

/// Points of an item, each with the baseline's point of the same sample or seed.
pub struct Pairs<P> {
    /// The item's share of each point.
    pub points: Vec<P>,
    /// The baseline's share of each; empty without a baseline.
    pub baseline: Vec<P>,
}

impl<P> Pairs<P> {
    const NONE: Self = Self { points: Vec::new(), baseline: Vec::new() };
}

impl<T: Measured> Context<T> {
    /// A context without a baseline, samples or replicates.
    pub fn plain(instructions: u64) -> Self {
        Self { instructions, baseline: None, samples: Pairs::NONE, replicates: Pairs::NONE }
    }
}

/// The context of a configuration of `run`.
pub fn configuration_context(run: &Run, configuration: &Configuration) -> Context<Configuration> {
    let baseline = run.baseline_of(configuration);
    let pairs = |points: fn(&Configuration) -> &[SamplePoint]| Pairs {
        points: points(configuration).to_vec(),
        baseline: baseline.map(|base| points(base).to_vec()).unwrap_or_default(),
    };
    Context {
        instructions: configuration.instructions,
        baseline: baseline.cloned(),
        samples: pairs(|item| &item.samples),
        replicates: pairs(|item| &item.replicates),
    }
}

/// The context of the calls of all kinds that `choose` accepts.
pub fn calls_context(
    run: &Run,
    configuration: &Configuration,
    choose: impl Fn(CallKind) -> bool,
) -> Context<CallStats> {
    let tally = |point: &SamplePoint| {
        let mut sum = CallTally::default();
        for (_, tally) in point.calls.iter().filter(|(kind, _)| choose(*kind)) {
            sum.calls += tally.calls;
            sum.cycles += tally.cycles;
        }
        sum
    };
    let baseline = run.baseline_of(configuration);
    let pairs = |points: fn(&Configuration) -> &[SamplePoint]| {
        let tallies = |item| points(item).iter().map(tally).collect();
        Pairs {
            points: tallies(configuration),
            baseline: baseline.map(tallies).unwrap_or_default(),
        }
    };
    Context {
        instructions: configuration.instructions,
        baseline: baseline.map(|base| base.calls.total(&choose)),
        samples: pairs(|item| &item.samples),
        replicates: pairs(|item| &item.replicates),
    }
}
