//! The out-of-order core: one pass over uops in program order, with time stamps.
//!
//! ```text
//!             frontend            allocate              calendar / stores / memory      retire
//!   Step ──> delivered? ──> ROB, RS, LQ, SQ free? ──> operands, port, unit, cache ──> in order
//!     │          ^                                              │                        │
//!     │          └──────────── redirect (mispredict, fault) ────┘                        │
//!     └ markers ──> accelerator ──> elide / inject                      CPI stack, calls <┘
//! ```
//!
//! Each uop is taken through its whole life before the next one is looked at. That is exact as long
//! as an older uop never waits for what a younger one does, which holds for everything here but
//! wrong-path work; see `docs/core-model.md` for what is modelled how.

mod allocate;
mod branch;
mod execute;
mod marker;
mod moves;
mod repeat;
mod store;
mod warm;

use accel::{Accelerator, Reply};
use decode::{Block, BranchKind, Insn, Reg, Uop, UopFlags, UopKind};
use memory::Memory;
use params::ConfigError;
use predict::Predictor;
use stream::MarkerOp;

use crate::calendar::Unit;
use crate::calls::CallTracker;
use crate::frontend::{FetchCause, FrontEnd};
use crate::machine::Machine;
use crate::observe::{Observer, Times};
use crate::params::CoreParams;
use crate::ports::{Port, Ports};
use crate::retire::{Component, Retire};
use crate::stores::Stores;
use allocate::Allocator;
use moves::Moves;
use store::PendingStore;

/// No address for a memory slot: masked off, zero iterations, or not executed.
pub const NO_ADDRESS: u64 = u64::MAX;

/// Counters for the branches to software fallbacks; an allocator has a handful of them.
const FALLBACKS: usize = 64;

/// Cache levels beyond the first at most.
const LEVELS: usize = memory::Depth::ALL.len();

/// One execution of a block.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The block.
    pub block: &'a Block,
    /// An address, or [`NO_ADDRESS`], for each of its memory slots.
    pub addresses: &'a [u64],
    /// If it ends with a repeated string instruction: addresses of the iterations after the first,
    /// as many for each as the instruction has memory slots.
    pub repeats: &'a [u64],
    /// Values of its markers' operands, in order.
    pub values: &'a [u64],
    /// Address of the block that this thread executes next; 0 when there is none.
    pub next: u64,
}

/// Event counts of a core; caches and predictors keep their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreCounters {
    /// Instructions retired: without marker and elided instructions.
    pub instructions: u64,
    /// Unfused uops executed, injected ones included.
    pub uops: u64,
    /// Instructions left out because an accelerator made them unnecessary.
    pub elided: u64,
    /// Uops that an accelerator put in.
    pub injected: u64,
    /// Branches that redirected fetch at execution.
    pub mispredicts: u64,
    /// Loads that took their data from a store in flight.
    pub forwards: u64,
    /// Loads that had to wait for an overlapping store to be written.
    pub forward_failures: u64,
    /// Memory-order clears.
    pub order_clears: u64,
    /// System calls.
    pub syscalls: u64,
    /// Page faults taken.
    pub page_faults: u64,
    /// Transfers that no branch explains: signal delivery and the like.
    pub asynchronous: u64,
}

/// One simulated core with its private hierarchy and accelerator.
pub struct Core<O: Observer = ()> {
    params: CoreParams,
    page_fault_cycles: u64,
    fetch: FrontEnd,
    allocator: Allocator,
    ports: Ports,
    divider: Unit,
    malloc_unit: Unit,
    stores: Stores,
    retire: Retire,
    memory: Memory<O::Mapping>,
    /// What waiting for a load is charged to, by the level beyond the first that served it.
    served_by: [Component; LEVELS],
    predictor: Predictor,
    accelerator: Box<dyn Accelerator>,
    reply: Reply,
    /// Ready cycle of every register: one for each value that a [`Reg`] can hold, so that no index
    /// needs a check.
    ready: [u64; 1 << u8::BITS],
    /// Registers whose newest value a load brought from the cache, a bit each.
    from_load: u64,
    /// Registers that eliminated moves made share.
    moves: Moves,
    /// Stores of the current instruction.
    pending: [PendingStore; 4],
    pending_count: usize,
    /// Cycle in which the last store has written.
    written: u64,
    /// Loads may not issue before (fences).
    load_floor: u64,
    /// Completion of the newest branch uop.
    branch_done: u64,
    /// Fused slot being filled: allocation cycle, who held it up, completion, what it waited for.
    slot: Slot,
    /// What the stack engine holds that has not been added to the stack pointer, in bytes.
    stack_sum: i16,
    elide_until: Option<MarkerOp>,
    /// Two-bit counters that predict the branches to the software fallbacks, by carrier address.
    fallbacks: [u8; FALLBACKS],
    /// Retirement of the first instruction of the block in work.
    block_retired: u64,
    /// Address of the string instruction that repeats.
    repeating: u64,
    repeat_bytes: u64,
    /// Addresses of one iteration, in the places of its slots.
    iteration: Vec<u64>,
    calls: CallTracker,
    counters: CoreCounters,
    observer: O,
}

/// A fused uop on its way to retirement.
#[derive(Clone, Copy)]
struct Slot {
    open: bool,
    allocated: u64,
    held: Component,
    completed: u64,
    waited: Component,
}

const NO_SLOT: Slot = Slot {
    open: false,
    allocated: 0,
    held: Component::FetchBandwidth,
    completed: 0,
    waited: Component::Execute,
};

impl<O: Observer> Core<O> {
    /// A core with cold caches and predictors.
    pub fn new(
        machine: &Machine,
        accelerator: Box<dyn Accelerator>,
        observer: O,
    ) -> Result<Self, ConfigError> {
        let params = machine.core.clone();
        let latency = machine.memory.l1i.latency;
        Ok(Self {
            page_fault_cycles: machine.memory.page_fault.cycles,
            fetch: FrontEnd::new(&params, latency),
            allocator: Allocator::new(&params),
            ports: Ports::new(machine.family()?),
            divider: Unit::default(),
            malloc_unit: Unit::default(),
            stores: Stores::new(),
            retire: Retire::new(params.retire_width, u64::from(params.allocate_to_issue)),
            memory: Memory::mapped(&machine.memory)?,
            served_by: execute::served_by(machine.memory.level.len()),
            predictor: Predictor::new(&machine.predict)?,
            accelerator,
            reply: Reply::default(),
            ready: [0; 1 << u8::BITS],
            from_load: 0,
            moves: Moves::new(params.move_entries),
            pending: [PendingStore::default(); 4],
            pending_count: 0,
            written: 0,
            load_floor: 0,
            branch_done: 0,
            slot: NO_SLOT,
            stack_sum: 0,
            elide_until: None,
            fallbacks: [0; FALLBACKS],
            block_retired: 0,
            repeating: 0,
            repeat_bytes: 0,
            iteration: Vec::new(),
            calls: CallTracker::default(),
            counters: CoreCounters::default(),
            observer,
            params,
        })
    }

    /// Cycles so far: the newest retirement.
    pub fn cycles(&self) -> u64 {
        self.retire.last()
    }

    /// Cycles charged to each component; they sum to [`Core::cycles`].
    pub fn cpi_stack(&self) -> [u64; Component::COUNT] {
        self.retire.stack
    }

    /// Event counts.
    pub fn counters(&self) -> CoreCounters {
        self.counters
    }

    /// How fused uops came through fetch and decode.
    pub fn fetch_counters(&self) -> crate::frontend::FetchCounters {
        self.fetch.counters
    }

    /// The hierarchy, for its statistics.
    pub fn memory(&self) -> &Memory<O::Mapping> {
        &self.memory
    }

    /// The hierarchy, to forget unmapped ranges.
    pub fn memory_mut(&mut self) -> &mut Memory<O::Mapping> {
        &mut self.memory
    }

    /// The predictors, for their statistics.
    pub fn predictor(&self) -> &Predictor {
        &self.predictor
    }

    /// The accelerator, for its counters.
    pub fn accelerator(&self) -> &dyn Accelerator {
        &*self.accelerator
    }

    /// Allocator calls.
    pub fn calls_mut(&mut self) -> &mut CallTracker {
        &mut self.calls
    }

    /// Whoever watches the uops.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// Another thread runs on this core from now on.
    pub fn context_switch(&mut self) {
        self.accelerator.context_switch();
        self.elide_until = None;
        self.calls.abandon();
        self.drain(u64::from(self.params.syscall));
    }

    /// Executes a block with all times.
    pub fn execute(&mut self, step: &Step) {
        let block = step.block;
        if self.continues_repeat(block) {
            self.repeat_iteration(step, step.addresses, true);
            return;
        }
        self.block_retired = 0;
        self.repeat_bytes = 0;
        if self.elide_until.is_some() || !block.markers.is_empty() {
            self.execute_marked(step);
        } else {
            for index in 0..block.insns.len() {
                self.instruction(step, index);
            }
        }
        if self.elide_until.is_none() {
            if !step.repeats.is_empty() {
                self.repeat(step);
            }
            self.resolve_branch(step);
        } else {
            // The predictors see the same branches whatever the accelerator leaves out. Otherwise
            // shifted histories would move mispredictions about in code that has nothing to do
            // with allocation, by more than an accelerator gains.
            self.warm_branch(step);
        }
        self.note_repeat(block);
    }

    /// A block with markers, or within an elided region.
    fn execute_marked(&mut self, step: &Step) {
        let block = step.block;
        let (mut next_marker, mut next_value) = (0, 0);
        for index in 0..block.insns.len() {
            if let Some(site) = block.markers.get(next_marker)
                && usize::from(site.insn) == index
            {
                next_marker += 1;
                let count = site.op.values();
                let values = step.values.get(next_value..next_value + count).unwrap_or(&[]);
                next_value += count;
                self.marker(site, values, block.addr + u64::from(block.insns[index].offset), true);
            }
            if block.insns[index].marker {
                continue;
            }
            if self.elide_until.is_some() {
                self.counters.elided += 1;
                continue;
            }
            self.instruction(step, index);
        }
    }

    #[inline(always)]
    fn instruction(&mut self, step: &Step, index: usize) {
        let block = step.block;
        let insn = &block.insns[index];
        let pc = block.addr + u64::from(insn.offset);
        self.fetch.insn(pc, &block.insns, index, &mut self.memory);
        if insn.reads_rsp | insn.writes_rsp | (insn.stack_delta != 0) {
            self.stack_engine(insn);
        }
        if insn.rep {
            self.fetch.stall(u64::from(insn.rep_startup));
        }
        let first = usize::from(insn.first_uop);
        for uop in &block.uops[first..first + usize::from(insn.uops)] {
            self.uop(step, uop, pc);
        }
        self.finish_instruction();
        self.counters.instructions += 1;
        if self.block_retired == 0 {
            self.block_retired = self.retire.last();
            self.calls.first_instruction(self.block_retired);
        }
    }

    /// Tracks the stack pointer's offset; an explicit use of the stack pointer while it is not 0
    /// takes a synchronising uop ([AF] stack engine).
    #[inline]
    fn stack_engine(&mut self, insn: &Insn) {
        if insn.reads_rsp && self.stack_sum != 0 {
            self.synchronise_stack();
        }
        if insn.reads_rsp || insn.writes_rsp {
            self.stack_sum = 0;
        }
        self.stack_sum += insn.stack_delta;
        // The offset has 8 bits.
        if i8::try_from(self.stack_sum).is_err() {
            self.synchronise_stack();
            self.stack_sum = 0;
        }
    }

    /// The last fused slot retires, then the stores may write.
    #[inline(always)]
    fn finish_instruction(&mut self) {
        self.close_slot();
        if self.pending_count > 0 {
            self.write_stores();
        }
    }

    #[inline(always)]
    fn close_slot(&mut self) {
        let slot = self.slot;
        if slot.open {
            let cycle = self.retire.retire(slot.allocated, slot.held, slot.completed, slot.waited);
            self.allocator.retired(cycle);
            self.observer.retired(cycle);
            self.slot.open = false;
        }
    }

    /// Waits until everything has retired and written, then `cycles` more.
    fn drain(&mut self, cycles: u64) {
        let end = self.retire.last().max(self.written) + cycles;
        self.allocator.barrier(end, Component::Serialize);
    }

    fn syscall(&mut self) {
        self.counters.syscalls += 1;
        self.drain(u64::from(self.params.syscall));
    }

    /// The first touch of a page, known in `cycle`: when the access goes on, and what it waited
    /// for. Where it takes no time there is no exception either.
    fn page_fault(&mut self, cycle: u64, waited: Component) -> (u64, Component) {
        self.counters.page_faults += 1;
        if self.page_fault_cycles == 0 {
            return (cycle, waited);
        }
        let end = cycle + self.page_fault_cycles;
        self.allocator.barrier(end, Component::PageFault);
        (end, Component::PageFault)
    }
}
