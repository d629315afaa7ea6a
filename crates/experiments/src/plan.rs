//! What is simulated: which accelerators on which machines, and how much of the program.

pub use sim::plan::{Plan, Sample, Seeds, count};

/// Instructions that a program may execute before it is sampled.
pub const BUDGET_INSTRUCTIONS: u64 = 100_000_000;
/// Simulations of each machine, by seeds, unless the user asks for another number.
pub const SEEDS: u64 = 3;
/// Instructions up to which a program is simulated with all seeds unasked.
pub const SEEDS_INSTRUCTIONS: u64 = 20_000_000;
/// The sampling grid: 5 % of the instructions in detail, 2 % counted.
pub const SAMPLE: Sample = Sample { period: 2_000_000, warm: 60_000, measure: 40_000 };

/// Everything in detail, however long it takes.
pub const WHOLE: Plan =
    Plan { skip: 0, max: None, sample: SAMPLE, budget: None, roi_only: false, seeds: Seeds::ONE };

/// Which accelerators on which machines.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// `[NAME=]ACCELERATOR[:KEY=VALUE,…]`; empty for the usual ones.
    pub configs: Vec<String>,
    /// Whether configurations with only one part of an accelerator enabled follow.
    pub ablations: bool,
    /// Names of machines or of machine files.
    pub machines: Vec<String>,
}
