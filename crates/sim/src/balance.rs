//! Whether the allocator calls of a stream balance: each that begins ends at its own return.
//!
//! A cheap part of `mallacc check-markers`, done in every run: a call whose end is never seen also
//! hides the calls after it, and a report of the rest would mislead.

use decode::{Block, BranchKind, MemOperand};
use markers::{Calls, Findings, Spot};
use results::MarkerCounts;
use stream::MarkerOp;
use uarch::NO_ADDRESS;

/// How a block changes the stack of calls; the number is that of the memory operand with the return
/// address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Not at all.
    None,
    /// A call at its end.
    Call(u16),
    /// A return at its end.
    Return(u16),
}

impl Turn {
    /// That of a block.
    pub fn of(block: &Block) -> Self {
        let last = block.insns.len().saturating_sub(1);
        let own = |operand: &MemOperand| usize::from(operand.insn) == last;
        let operand = |store| {
            block.mem_operands.iter().rposition(|operand| own(operand) && operand.store == store)
        };
        let found = match block.branch.kind {
            BranchKind::Call | BranchKind::IndirectCall => operand(true).map(|at| (true, at)),
            BranchKind::Return => operand(false).map(|at| (false, at)),
            _ => None,
        };
        match found {
            Some((true, at)) => Self::Call(at as u16),
            Some((false, at)) => Self::Return(at as u16),
            None => Self::None,
        }
    }
}

/// Follows the calls of all threads.
#[derive(Default)]
pub struct Balance {
    threads: Vec<Calls>,
    thread: usize,
    findings: Findings,
    begun: u64,
}

impl Balance {
    /// Whether a marker takes part.
    pub fn counts(op: MarkerOp) -> bool {
        matches!(op, MarkerOp::CallBegin(_) | MarkerOp::CallEnd)
    }

    /// From here on, this thread runs.
    pub fn thread(&mut self, thread: u32) {
        self.thread = thread as usize;
        if self.threads.len() <= self.thread {
            self.threads.resize_with(self.thread + 1, Calls::default);
        }
    }

    /// The program replaced itself.
    pub fn new_image(&mut self) {
        self.threads.iter_mut().for_each(Calls::clear);
    }

    /// A block was executed, with these addresses and marker values. If an outermost call began in
    /// it, returns its caller, as in [`crate::Item::Caller`].
    #[inline]
    pub fn step(
        &mut self,
        block: &Block,
        turn: Turn,
        addresses: &[u64],
        values: &[u64],
    ) -> Option<u32> {
        let calls = self.threads.get_mut(self.thread)?;
        let mut caller = None;
        let spot = |insn: u16| Spot { block: block.id, insn };
        if !block.markers.is_empty() {
            let mut rest = values;
            for marker in &block.markers {
                // A block that was left by a fault lacks the values of markers that did not run.
                let Some((own, others)) = rest.split_at_checked(marker.op.values()) else { break };
                rest = others;
                let (value, at) = (own.first().copied().unwrap_or(0), spot(marker.insn));
                match marker.op {
                    MarkerOp::CallBegin(kind) => {
                        let outermost = calls.begin(kind, value, at, &mut self.findings);
                        if outermost {
                            self.begun += 1;
                            let by = calls.outermost().and_then(|call| call.caller);
                            caller = Some(by.map_or(0, |by| by.block + 1));
                        }
                    }
                    MarkerOp::CallEnd => {
                        calls.end(at, &mut self.findings);
                    }
                    _ => {}
                }
            }
        }
        let last = || spot(block.insns.len().saturating_sub(1) as u16);
        let slot = |operand: u16| {
            addresses.get(usize::from(operand)).copied().filter(|&slot| slot != NO_ADDRESS)
        };
        match turn {
            Turn::Call(operand) => {
                if let Some(slot) = slot(operand) {
                    calls.call(slot, last(), &mut self.findings);
                }
            }
            Turn::Return(operand) => {
                if let Some(slot) = slot(operand) {
                    calls.ret(slot, last(), &mut self.findings);
                }
            }
            Turn::None => {}
        }
        caller
    }

    /// Calls so far.
    pub fn counts_so_far(&self) -> MarkerCounts {
        MarkerCounts {
            begun: self.begun,
            ended: self.threads.iter().map(|calls| calls.ended).sum(),
            broken: self.findings.total(),
        }
    }
}
