//! The messages between core and accelerator.

use decode::Reg;
use stream::MarkerOp;

/// A marker as it executes.
#[derive(Clone, Copy, Debug)]
pub struct Marker {
    /// The operation.
    pub op: MarkerOp,
    /// Architectural registers that hold the operands.
    pub regs: [Reg; 3],
    /// Operand values; for a prefetch the fourth is the word at `next`. Unused ones are 0.
    pub values: [u64; 4],
    /// Address of the carrier.
    pub pc: u64,
}

/// What an injected uop does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectKind {
    /// Executes on a port.
    Exec,
    /// Loads the line at this address; the result goes to the accelerator, not to a register, and
    /// retirement does not wait for it.
    Prefetch(u64),
}

/// Where a uop may issue, by purpose; the core family says which ports these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueTo {
    /// Any port that adds integers and moves registers.
    Integer,
    /// Any port that loads.
    Load,
    /// Any port that takes conditional branches.
    Branch,
    /// The port of the accelerator's unit with this number ([`crate::Accelerator::units`]). The uop
    /// occupies the unit for [`Injected::busy`] cycles.
    Unit(u8),
}

/// A uop injected in place of, or beside, software.
#[derive(Clone, Copy, Debug)]
pub struct Injected {
    /// What it does.
    pub kind: InjectKind,
    /// Where it may issue.
    pub to: IssueTo,
    /// Cycles from issue to result.
    pub latency: u32,
    /// Cycles for which its unit accepts nothing else; 0 if it only takes the unit's port.
    pub busy: u8,
    /// Source registers.
    pub srcs: [Reg; 3],
    /// Destination registers.
    pub dsts: [Reg; 3],
    /// Earliest issue cycle (an entry blocked by an outstanding prefetch); 0 if none.
    pub not_before: u64,
    /// If set, [`crate::Accelerator::completed`] is called when this uop is done.
    pub token: Option<u32>,
}

impl Default for Injected {
    fn default() -> Self {
        Self {
            kind: InjectKind::Exec,
            to: IssueTo::Integer,
            latency: 1,
            busy: 0,
            srcs: [Reg::NONE; 3],
            dsts: [Reg::NONE; 3],
            not_before: 0,
            token: None,
        }
    }
}

/// The conditional branch to the software fallback that follows an instruction of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fallback {
    /// Taken: the malloc cache missed.
    pub taken: bool,
    /// The flag register that it tests.
    pub flags: Reg,
}

/// The accelerator's response to a marker.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// Leave out all instructions up to this marker (which is still reported).
    pub elide: Option<MarkerOp>,
    /// Uops to allocate here, in order.
    pub inject: Vec<Injected>,
    /// A conditional branch to allocate after them.
    pub fallback: Option<Fallback>,
}

impl Reply {
    /// Resets the reply to "keep everything, inject nothing".
    pub fn clear(&mut self) {
        self.elide = None;
        self.inject.clear();
        self.fallback = None;
    }
}

/// Times of an injected uop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    /// The uop's token.
    pub token: u32,
    /// Cycle in which it would have issued without [`Injected::not_before`].
    pub ready: u64,
    /// Cycle in which it issued.
    pub issued: u64,
    /// Cycle in which its result arrived.
    pub done: u64,
}
