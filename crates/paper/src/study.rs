//! What was measured: runs by program, and what could not be.

use results::confidence::Estimate;
use results::statistics::{CONFIGURATION, Value, configuration_context, find};
use results::{CallFigures, CallGroup, Configuration, Run};

use crate::causes::Conditions;
use crate::subject::Subject;

/// A program that was measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The program.
    pub subject: &'static Subject,
    /// Its run with all configurations.
    pub run: Run,
    /// Runs with other seeds, baseline and 32 entries.
    pub seeds: Vec<Run>,
}

/// Everything that was measured.
#[derive(Clone, Debug, Default)]
pub struct Study {
    /// The machine that was measured, in a sentence.
    pub machine: String,
    /// The conditions that causes depend on.
    pub conditions: Conditions,
    /// Programs in the order of [`crate::SUBJECTS`].
    pub measured: Vec<Measured>,
    /// Programs that could not be measured, and why.
    pub missing: Vec<(&'static Subject, String)>,
    /// Mean absolute error against measured basic blocks, and their number.
    pub blocks: Option<(f64, usize)>,
}

impl Study {
    /// A program's measurement.
    pub fn get(&self, name: &str) -> Option<&Measured> {
        self.measured.iter().find(|measured| measured.subject.name == name)
    }

    /// Whether a program was to be measured.
    pub fn asked(&self, name: &str) -> bool {
        self.get(name).is_some() || self.missing.iter().any(|(subject, _)| subject.name == name)
    }
}

impl Measured {
    /// A configuration by name.
    pub fn configuration(&self, name: &str) -> Option<&Configuration> {
        configuration(&self.run, name)
    }

    /// Malloc speedup of a configuration over the baseline (0.1 is 10 %), with its interval.
    pub fn malloc_speedup(&self, name: &str) -> Option<Estimate> {
        let figures = CallFigures::of(&self.run, self.configuration(name)?, CallGroup::Allocation);
        estimate(figures.value("speedup"))
    }

    /// The same for the whole allocator.
    pub fn allocator_speedup(&self, name: &str) -> Option<Estimate> {
        statistic(&self.run, name, "allocator_speedup")
    }

    /// Share of malloc cycles in calls under 100 cycles.
    pub fn fast_share(&self, name: &str) -> Option<f64> {
        let calls = self.configuration(name)?.calls.allocation();
        (calls.cycles > 0).then(|| calls.fast_cycles as f64 / calls.cycles as f64)
    }
}

/// A configuration of a run by name.
pub fn configuration<'a>(run: &'a Run, name: &str) -> Option<&'a Configuration> {
    run.configurations.iter().find(|item| item.name == name)
}

/// A declared statistic of a configuration.
pub fn statistic(run: &Run, configuration_name: &str, name: &str) -> Option<Estimate> {
    let item = configuration(run, configuration_name)?;
    let context = configuration_context(run, item);
    estimate(find(CONFIGURATION, name)?.value(item, &context))
}

fn estimate(value: Value) -> Option<Estimate> {
    match value {
        Value::Real(estimate) => Some(estimate),
        Value::Count(count) => Some(Estimate { value: count as f64, half_width: None }),
        Value::Undefined => None,
    }
}
