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
    /// The item's share of each sample.
    pub points: Vec<T::Point>,
    /// The baseline's share of each sample.
    pub baseline_points: Vec<T::Point>,
}

impl<T: Measured> Context<T> {
    /// A context without a baseline and without samples.
    pub fn plain(instructions: u64) -> Self {
        Self { instructions, baseline: None, points: Vec::new(), baseline_points: Vec::new() }
    }
}

/// The context of a configuration of `run`.
pub fn configuration_context(run: &Run, configuration: &Configuration) -> Context<Configuration> {
    let baseline = run.baseline_of(configuration);
    Context {
        instructions: configuration.instructions,
        baseline: baseline.cloned(),
        points: configuration.samples.clone(),
        baseline_points: baseline.map(|base| base.samples.clone()).unwrap_or_default(),
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
    let tallies = |configuration: &Configuration| configuration.samples.iter().map(tally).collect();
    let baseline = run.baseline_of(configuration);
    Context {
        instructions: configuration.instructions,
        baseline: baseline.map(|base| base.calls.total(&choose)),
        points: tallies(configuration),
        baseline_points: baseline.map(tallies).unwrap_or_default(),
    }
}
