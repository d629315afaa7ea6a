//! What a machine measured, in reportable form.

use accel::Checks;
use results::{Configuration, Phase, SamplePoint};
use stats::{Layout, Reading, Values};

use crate::totals::Totals;

/// The group whose counters give the length of a run.
const CORE: &str = "core";

/// What a machine counted.
pub struct Measured {
    /// Over everything timed since the start or the region of interest.
    pub whole: Totals,
    /// Over the samples only.
    pub sampled: Totals,
    /// The samples.
    pub points: Vec<SamplePoint>,
    /// The phases, up to where a run was sampled.
    pub phases: Vec<Phase>,
    /// The layout of its counters.
    pub layout: Layout,
    /// All counters at the end, warmed or timed.
    pub last: Reading,
    /// What the accelerator checked over the whole run, warmed or timed.
    pub checks: Checks,
    /// The same machine with the further seeds of the plan.
    pub replicates: Vec<Measured>,
    /// Calls that had begun and not ended when timing stopped, or that a jump left.
    pub abandoned_calls: u64,
}

impl Measured {
    /// The counters of a part of the run; fault counters cover the whole run.
    pub fn values(&self, totals: &Totals) -> Values {
        let mut counters = totals.counters.clone();
        self.layout.settle(&mut counters, &self.last);
        self.layout.values(&counters)
    }

    /// All measurements, for a report: over the samples, or over everything timed. The caller adds
    /// what was simulated and under which name.
    pub fn configuration(&self, sampled: bool) -> Configuration {
        let mut own = self.described(sampled);
        if !self.replicates.is_empty() {
            let others = self.replicates.iter().map(|seed| seed.described(sampled).point());
            own.replicates = std::iter::once(own.point()).chain(others).collect();
        }
        own
    }

    /// The same without the replicates.
    fn described(&self, sampled: bool) -> Configuration {
        let totals = if sampled { &self.sampled } else { &self.whole };
        let counted = self.values(totals);
        let of_core = |name| counted.get(CORE, name).unwrap_or_default();
        Configuration {
            cycles: of_core("cycles"),
            instructions: of_core("instructions"),
            uops: of_core("uops"),
            calls: totals.calls.clone(),
            allocator_cycles: totals.allocator_cycles,
            size_classes: totals.size_classes.clone(),
            class_bytes: totals.class_bytes.clone(),
            requested_sizes: totals.requested_sizes.clone(),
            samples: if sampled { self.points.clone() } else { Vec::new() },
            phases: if sampled { Vec::new() } else { self.phases.clone() },
            counted,
            ..Configuration::default()
        }
    }
}
