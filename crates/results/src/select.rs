//! The call groups that reports show: each kind, then the two sums.

use crate::model::{CallKind, CallStats, Configuration, Run};
use crate::statistics::{CALLS, Context, Value, calls_context, find, values};

/// A kind of call or a sum of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallGroup {
    /// A single entry point.
    Kind(CallKind),
    /// All kinds that allocate memory.
    Allocation,
    /// All kinds that free memory.
    Deallocation,
}

impl CallGroup {
    /// All groups: the kinds in code order, then the sums.
    pub fn all() -> impl Iterator<Item = Self> {
        CallKind::ALL.into_iter().map(Self::Kind).chain([Self::Allocation, Self::Deallocation])
    }

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kind(kind) => kind.name(),
            Self::Allocation => "allocation",
            Self::Deallocation => "deallocation",
        }
    }

    /// Whether a kind belongs to the group.
    pub fn contains(self, kind: CallKind) -> bool {
        match self {
            Self::Kind(own) => own == kind,
            Self::Allocation => kind.allocates(),
            Self::Deallocation => !kind.allocates(),
        }
    }

    /// The group's counters in a configuration.
    pub fn stats(self, configuration: &Configuration) -> CallStats {
        configuration.calls.total(|kind| self.contains(kind))
    }
}

/// A call group of one configuration, with everything its statistics need.
pub struct CallFigures {
    stats: CallStats,
    context: Context<CallStats>,
}

impl CallFigures {
    /// Gathers a group of a configuration of `run`.
    pub fn of(run: &Run, configuration: &Configuration, group: CallGroup) -> Self {
        let stats = group.stats(configuration);
        Self { stats, context: calls_context(run, configuration, |kind| group.contains(kind)) }
    }

    /// The counters.
    pub fn stats(&self) -> &CallStats {
        &self.stats
    }

    /// Every statistic by name, in declared order.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, Value)> {
        values(CALLS, &self.stats, &self.context)
    }

    /// The statistic of that name; undefined if there is none.
    pub fn value(&self, name: &str) -> Value {
        let statistic = find(CALLS, name);
        statistic.map_or(Value::Undefined, |found| found.value(&self.stats, &self.context))
    }
}
