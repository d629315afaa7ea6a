//! The state of a core apart from time: caches, predictors, accelerator, open calls.
//!
//! It can execute blocks by itself, without timing ([`Functional::warm`]): that is how the
//! stretches between samples are skipped. A core that times them uses the same parts one by one, so
//! that warmed and timed state cannot diverge:
//!
//! | part | what it decides | what is left to the core |
//! |---|---|---|
//! | [`Functional::resolve_branch`] | whether the block's branch was predicted | redirects, wrong path |
//! | [`Functional::marker`] | what the accelerator elides and injects; calls begin and end | the injected uops' times |
//! | [`Repeats`] | which iterations of a string instruction cost anything | their uops' times |
//! | [`Functional::memory`] | hits and misses, with times when asked with cycles | when to ask |

mod branch;
mod marker;
mod repeat;

pub use branch::BranchOutcome;
pub use marker::{MarkerReply, Markers, SiteCursor};
pub use repeat::{Repeats, each_iteration};

use accel::{Accelerator, InjectKind, Reply};
use decode::Block;
use memory::{Flat, Mapping, Memory, Shared};
use params::ConfigError;
use predict::Predictor;
use stats::{Counts, Walk};

use crate::calls::CallTracker;
use crate::machine::Machine;
use crate::step::{NO_ADDRESS, Step};

/// The state of a core apart from time.
pub struct Functional<M: Mapping = Flat> {
    /// Its caches, TLBs and memory.
    pub memory: Memory<M>,
    /// Its branch predictors.
    pub predictor: Predictor,
    /// Allocator calls, finished and open.
    pub calls: CallTracker,
    /// The accelerator and what it elides.
    pub markers: Markers,
    /// The current string instruction.
    pub repeats: Repeats,
    /// Line size in bytes.
    line: u64,
}

/// The interface to a core's functional half, whatever its mapping of data addresses.
pub trait State {
    /// The program unmapped a range of `len` bytes, or gave it back.
    fn unmap(&mut self, addr: u64, len: u64);

    /// Takes out the shared half of the memory hierarchy, to lend it to another core. Until one is
    /// put back, nothing may execute here.
    fn take_shared(&mut self) -> Option<Box<Shared>>;

    /// Puts in a shared half, which must come from a memory of equal parameters; returns the one
    /// that was here.
    fn put_shared(&mut self, shared: Box<Shared>) -> Option<Box<Shared>>;

    /// The accelerator, for its counters and checks.
    fn accelerator(&self) -> &dyn Accelerator;

    /// Allocator calls: finished ones are the caller's to drain.
    fn calls_mut(&mut self) -> &mut CallTracker;
}

impl<M: Mapping> State for Functional<M> {
    fn unmap(&mut self, addr: u64, len: u64) {
        self.memory.unmap(addr, len);
    }

    fn take_shared(&mut self) -> Option<Box<Shared>> {
        self.memory.take_shared()
    }

    fn put_shared(&mut self, shared: Box<Shared>) -> Option<Box<Shared>> {
        self.memory.put_shared(shared)
    }

    fn accelerator(&self) -> &dyn Accelerator {
        self.markers.accelerator()
    }

    fn calls_mut(&mut self) -> &mut CallTracker {
        &mut self.calls
    }
}

impl<M: Mapping> Functional<M> {
    /// Cold caches and predictors.
    pub fn new(machine: &Machine, accelerator: Box<dyn Accelerator>) -> Result<Self, ConfigError> {
        Ok(Self {
            memory: Memory::mapped(&machine.memory)?,
            predictor: Predictor::new(&machine.predict)?,
            calls: CallTracker::default(),
            markers: Markers::new(accelerator),
            repeats: Repeats::default(),
            line: machine.memory.line,
        })
    }

    /// Another thread runs from now on: state that belongs to the old one is dropped.
    pub fn context_switch(&mut self) {
        self.markers.context_switch();
        self.calls.abandon();
    }

    /// Executes a block without timing.
    #[inline]
    pub fn warm(&mut self, step: &Step) {
        let block = step.block;
        if !self.markers.eliding() && block.markers.is_empty() {
            self.warm_code(block);
            for (operand, &address) in block.mem_operands.iter().zip(step.addresses) {
                let pc = block.addr + u64::from(block.insns[usize::from(operand.insn)].offset);
                self.warm_access(pc, operand, address);
            }
        } else {
            self.warm_marked(step);
        }
        if !self.markers.eliding() && !step.repeats.is_empty() {
            self.warm_repeat(step);
        }
        self.warm_branch(step);
        self.repeats.note(block);
    }

    #[inline(always)]
    fn warm_code(&mut self, block: &Block) {
        let last = block.addr + u64::from(block.len) - 1;
        let mut addr = block.addr;
        loop {
            self.memory.warm_fetch(addr);
            addr = (addr | (self.line - 1)) + 1;
            if addr > last {
                break;
            }
        }
    }

    #[inline(always)]
    fn warm_access(&mut self, pc: u64, operand: &decode::MemOperand, address: u64) {
        if address == NO_ADDRESS {
            return;
        }
        if operand.store {
            self.memory.warm_store(address, u32::from(operand.size));
        } else {
            self.memory.warm_load(pc, address, u32::from(operand.size));
        }
    }

    fn warm_marked(&mut self, step: &Step) {
        let block = step.block;
        let mut sites = SiteCursor::new(step);
        for (index, insn) in block.insns.iter().enumerate() {
            let pc = block.addr + u64::from(insn.offset);
            if let Some((site, values)) = sites.at(index) {
                let reply = self.marker(site, values, pc, None);
                self.warm_injected(&reply.reply);
                self.markers.take_back(reply);
            }
            if insn.marker || self.markers.eliding() {
                continue;
            }
            self.memory.warm_fetch(pc);
            let first = usize::from(insn.first_mem_operand);
            for at in first..first + usize::from(insn.mem_operands) {
                let address = step.addresses.get(at).copied().unwrap_or(NO_ADDRESS);
                self.warm_access(pc, &block.mem_operands[at], address);
            }
        }
    }

    /// Injected prefetches update the cache; nothing waits for them.
    fn warm_injected(&mut self, reply: &Reply) {
        for injected in &reply.inject {
            if let InjectKind::Prefetch(address) = injected.kind {
                self.memory.warm_load(0, address, 8);
            }
        }
    }

    #[cold]
    fn warm_repeat(&mut self, step: &Step) {
        let mut buffer = self.repeats.take_buffer();
        each_iteration(step, &mut buffer, |step| self.warm_iteration(step));
        self.repeats.give_back(buffer);
    }

    fn warm_iteration(&mut self, step: &Step) {
        let block = step.block;
        let Some(insn) = block.insns.last() else { return };
        if self.repeats.costs(block, step.addresses).is_none() {
            return;
        }
        let pc = block.addr + u64::from(insn.offset);
        let first = usize::from(insn.first_mem_operand);
        let operands = &block.mem_operands[first..first + usize::from(insn.mem_operands)];
        for (operand, &address) in operands.iter().zip(&step.addresses[first..]) {
            self.warm_access(pc, operand, address);
        }
    }
}

impl<M: Mapping> Counts for Functional<M> {
    fn visit(&self, walk: &mut Walk<'_>) {
        self.memory.statistics().visit(walk);
        self.predictor.statistics().visit(walk);
        self.markers.accelerator().statistics(walk);
    }
}
