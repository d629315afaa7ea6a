//! What a figure counts.

use serde::{Deserialize, Serialize};

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Unit {
    Accesses,
    Branches,
    Bytes,
    Calls,
    Classes,
    Cycles,
    CyclesPerCall,
    /// A share or a relative change: 0.25 in JSON and CSV, 25 % in text.
    Fraction,
    Instructions,
    InstructionsPerCycle,
    Lines,
    MillionPerSecond,
    Nanojoules,
    PerThousandInstructions,
    Seconds,
    SquareMicrometres,
    Uops,
    /// Events of any kind; an unknown unit of a newer version is also read as this.
    #[serde(other)]
    Count,
}

impl Unit {
    /// Whether figures with this unit are whole numbers even if they are derived.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Cycles | Self::Classes)
    }

    /// The unit in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accesses => "accesses",
            Self::Branches => "branches",
            Self::Bytes => "bytes",
            Self::Calls => "calls",
            Self::Classes => "size classes",
            Self::Count => "count",
            Self::Cycles => "cycles",
            Self::CyclesPerCall => "cycles per call",
            Self::Fraction => "fraction of 1",
            Self::Instructions => "instructions",
            Self::InstructionsPerCycle => "instructions per cycle",
            Self::Lines => "cache lines",
            Self::MillionPerSecond => "million instructions per second",
            Self::Nanojoules => "nJ",
            Self::PerThousandInstructions => "per 1,000 instructions",
            Self::Seconds => "s",
            Self::SquareMicrometres => "um^2",
            Self::Uops => "uops",
        }
    }
}
