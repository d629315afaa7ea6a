//! The memory hierarchy as seen by a program, compared with latencies measured on real hardware.
//!
//! ```text
//!   Pattern (sizes, order) ──> Chase: `mov rax,[rax]` in a loop ──> uarch::Core ──> cycles/access
//!                                   │                                                   │
//!                                   └ pages ──> reach (where the TLBs step)             v
//!   reference (measurements, each with its sizes) ─────────────────────────────> rows ──> report
//! ```
//!
//! Nothing here queries a cache for its latency: a loop of three instructions goes through fetch,
//! rename, issue and retirement, and its cycles are counted. Every load's address is the data of
//! the previous load, so the cycles per access are its load-to-use latency.
//!
//! | module | contents |
//! |---|---|
//! | [`chase`] | the loop, and the order of its addresses |
//! | [`reach`] | how many pages the TLBs cover |
//! | [`reference`] | measurements, and the sizes for which each level is representative |
//! | [`table`] | rows as text, CSV and JSON |

pub mod chase;
pub mod reach;
pub mod reference;
pub mod table;

use params::ConfigError;
use uarch::Machine;

pub use chase::{Chase, Order};
pub use reference::Range;

/// Smallest and largest size of a chase.
pub const SIZES: (u64, u64) = (4 << 10, 64 << 20);
/// Required agreement.
pub const WITHIN: f64 = 0.10;

/// What a row's figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Cycles per access.
    Cycles,
    /// Pages of 4 KB that can be accessed before the next step in latency.
    Pages,
}

/// One figure of the simulated hierarchy.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Row {
    /// Size of the range that is accessed; in a TLB's row, the total size of its pages.
    pub bytes: u64,
    /// The order of the accesses.
    pub pattern: &'static str,
    /// What is counted.
    pub unit: Unit,
    /// The model's value.
    pub simulated: f64,
    /// The measured range, if there is one.
    pub measured: Option<Range>,
}

impl Row {
    /// Distance to the nearer end of the measured range, relative to it; 0 inside.
    pub fn error(&self) -> Option<f64> {
        self.measured.map(|range| range.error(self.simulated))
    }

    /// Whether the error is at most [`WITHIN`].
    pub fn agrees(&self) -> Option<bool> {
        self.error().map(|error| error.abs() <= WITHIN)
    }

    /// The same in a word.
    pub fn verdict(&self) -> &'static str {
        match self.agrees() {
            Some(true) => "within 10 %",
            Some(false) => "differs",
            None => "not measured",
        }
    }
}

/// All rows of a machine: chases in random and linear order over all sizes, then the reach of both
/// TLBs. Fails if the machine cannot be built.
pub fn rows(machine: &Machine) -> Result<Vec<Row>, ConfigError> {
    let reference = reference::of(machine);
    let mut rows = Vec::new();
    for order in [Order::Random, Order::Linear] {
        let mut bytes = SIZES.0;
        while bytes <= SIZES.1 {
            let simulated = Chase::lines(machine, bytes, order)?.cycles_per_access();
            let measured = reference.and_then(|r| r.latency(machine, order, bytes));
            let (pattern, unit) = (order.pattern(), Unit::Cycles);
            rows.push(Row { bytes, pattern, unit, simulated, measured });
            bytes *= 2;
        }
    }
    let steps = reach::steps(machine)?;
    let patterns = ["first-level TLB", "second-level TLB"];
    for (level, (pattern, pages)) in patterns.into_iter().zip(steps).enumerate() {
        let measured = reference.map(|r| Range::about(r.tlb_pages[level]));
        let bytes = pages << chase::PAGE_SHIFT;
        rows.push(Row { bytes, pattern, unit: Unit::Pages, simulated: pages as f64, measured });
    }
    Ok(rows)
}
