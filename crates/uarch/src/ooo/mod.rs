//! The out-of-order core: one pass over uops in program order, with time stamps.
//!
//! ```text
//!             frontend            allocate             scheduler / stores / memory      retire
//!   Step ──> delivered? ──> ROB, RS, LQ, SQ free? ──> operands, port, unit, cache ──> in order
//!     │          ^                                              │                        │
//!     │          └──────────── redirect (mispredict, fault) ────┘                        │
//!     └ markers ──> accelerator ──> elide / inject                      CPI stack, calls <┘
//! ```
//!
//! Each uop is followed through its whole life before the next one is considered. That is exact as
//! long as an older uop never waits for what a younger one does, which holds for everything here
//! except wrong-path work; see `docs/core-model.md` for how each part is modelled.

mod allocate;
mod branch;
mod execute;
mod inject;
mod kind;
mod moves;
mod ports;
mod scheduler;
mod store;
mod stores;
mod unit;

use accel::Accelerator;
use decode::{Insn, Reg, Uop, UopFlags, UopKind};
use params::ConfigError;
use stats::{Counts, Walk, counters};

use crate::core::Core;
use crate::frontend::{CodeLines, FetchCause, FrontEnd};
use crate::functional::{Functional, SiteCursor, State, each_iteration};
use crate::machine::Machine;
use crate::observe::{Observer, Times};
use crate::params::CoreParams;
use crate::retire::{Component, CpiStack, Retire};
use crate::step::{NO_ADDRESS, Step};
use allocate::Allocator;
use moves::Moves;
use ports::{AcceleratorUnit, Port, Ports};
use store::PendingStore;
use stores::Stores;
use unit::BusyUnit;

pub use kind::OutOfOrderKind;

/// The most cache levels beyond the first.
const LEVELS: usize = memory::Depth::ALL.len();

counters! {
    /// Event counts of a core; caches and predictors keep their own.
    pub struct CoreCounters = Head::one("core").about("The core.").since(2);

    /// Cycles: the retirement of the newest instruction.
    cycles: Cycles,
    /// Instructions of the program: retired, or left out by the accelerator.
    instructions: Instructions = "retired + elided",
    /// Instructions retired, markers not counted.
    retired: Instructions,
    /// Instructions left out because an accelerator made them unnecessary.
    elided: Instructions,
    /// Uops executed, unfused, injected ones included.
    uops: Uops,
    /// Uops that an accelerator put in.
    injected: Uops,
    /// Branches that redirected fetch at execution.
    mispredicts: Branches,
    /// Loads that took their data from a store in flight.
    forwards: Count,
    /// Loads that had to wait for an overlapping store to be written.
    forward_failures: Count,
    /// Memory-order clears.
    order_clears: Count,
    /// System calls.
    syscalls: Count,
    /// Page faults taken.
    page_faults: Count,
    /// Transfers that no branch explains: signal delivery and the like.
    asynchronous: Count,
}

/// An out-of-order core.
pub struct OutOfOrder<O: Observer = ()> {
    params: CoreParams,
    page_fault_cycles: u64,
    /// Line size in bytes.
    line: u64,
    functional: Functional<O::Mapping>,
    fetch: FrontEnd,
    allocator: Allocator,
    ports: Ports,
    divider: BusyUnit,
    /// The accelerator's units.
    units: Vec<AcceleratorUnit>,
    stores: Stores,
    retire: Retire,
    /// The component that waiting for a load is charged to, by the level beyond the first that
    /// served it.
    served_by: [Component; LEVELS],
    /// Ready cycle of every register: one for each value that a [`Reg`] can hold, so that indexing
    /// needs no bounds check.
    ready: [u64; 1 << u8::BITS],
    /// Registers whose newest value was loaded from the cache, one bit each.
    from_load: u64,
    /// Registers that share a physical register after eliminated moves.
    moves: Moves,
    /// Stores of the current instruction.
    pending: [PendingStore; 4],
    pending_count: usize,
    /// Cycle at which the last store has written.
    written: u64,
    /// Earliest issue cycle of loads (fences).
    load_floor: u64,
    /// Completion of the newest branch uop.
    branch_done: u64,
    /// The current fused uop.
    fused: FusedUop,
    /// The stack engine's offset in bytes, not yet added to the stack pointer.
    stack_sum: i16,
    /// Retirement of the current block's first instruction.
    block_retired: u64,
    counters: CoreCounters,
    observer: O,
}

/// A fused uop on its way to retirement.
#[derive(Clone, Copy)]
struct FusedUop {
    /// Whether there is one.
    open: bool,
    /// Allocation cycle, and what stalled it until then.
    allocated: u64,
    held: Component,
    /// Completion of its last uop, and what that uop waited for.
    completed: u64,
    waited: Component,
}

const NO_FUSED_UOP: FusedUop = FusedUop {
    open: false,
    allocated: 0,
    held: Component::FetchBandwidth,
    completed: 0,
    waited: Component::Execute,
};

impl<O: Observer> OutOfOrder<O> {
    /// A core with cold caches and predictors.
    pub fn new(
        machine: &Machine,
        accelerator: Box<dyn Accelerator>,
        observer: O,
    ) -> Result<Self, ConfigError> {
        let params = CoreParams::clone(&machine.core);
        let family = machine.family()?;
        let units = accelerator.units().into_iter().map(|unit| AcceleratorUnit::new(unit, family));
        let units = units.collect::<Result<_, _>>()?;
        let code = CodeLines { bytes: machine.memory.line, latency: machine.memory.l1i.latency };
        Ok(Self {
            page_fault_cycles: machine.memory.page_fault.cycles,
            line: machine.memory.line,
            functional: Functional::new(machine, accelerator)?,
            fetch: FrontEnd::new(&params, code),
            allocator: Allocator::new(&params),
            ports: Ports::new(family),
            divider: BusyUnit::default(),
            units,
            stores: Stores::new(),
            retire: Retire::new(params.retire_width, u64::from(params.allocate_to_issue)),
            served_by: execute::served_by(machine.memory.level.len()),
            ready: [0; 1 << u8::BITS],
            from_load: 0,
            moves: Moves::new(params.move_entries),
            pending: [PendingStore::default(); 4],
            pending_count: 0,
            written: 0,
            load_floor: 0,
            branch_done: 0,
            fused: NO_FUSED_UOP,
            stack_sum: 0,
            block_retired: 0,
            counters: CoreCounters::default(),
            observer,
            params,
        })
    }

    /// The uop observer.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// A block that is not another iteration of the preceding string instruction.
    #[inline(always)]
    fn block(&mut self, step: &Step) {
        self.block_retired = 0;
        self.functional.repeats.restart();
        if self.functional.markers.eliding() || !step.block.markers.is_empty() {
            self.marked_block(step);
        } else {
            for index in 0..step.block.insns.len() {
                self.instruction(step, index);
            }
        }
        if self.functional.markers.eliding() {
            self.functional.warm_branch(step);
        } else {
            if !step.repeats.is_empty() {
                self.repeat(step);
            }
            self.resolve_branch(step);
        }
        self.functional.repeats.note(step.block);
    }

    /// A block with markers, or within an elided region.
    fn marked_block(&mut self, step: &Step) {
        let block = step.block;
        let mut sites = SiteCursor::new(step);
        for (index, insn) in block.insns.iter().enumerate() {
            if let Some((site, values)) = sites.at(index) {
                self.marker(site, values, block.addr + u64::from(insn.offset));
            }
            if insn.marker {
                continue;
            }
            if self.functional.markers.eliding() {
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
        self.fetch.insn(pc, &block.insns, index, &mut self.functional.memory);
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
        self.counters.retired += 1;
        if self.block_retired == 0 {
            self.block_retired = self.retire.last();
            self.functional.calls.first_instruction(self.block_retired);
        }
    }

    /// Tracks the stack pointer's offset; an explicit use of the stack pointer while the offset is
    /// not 0 needs a synchronising uop ([AF] stack engine).
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

    /// Retires the last fused uop, then lets the stores write.
    #[inline(always)]
    fn finish_instruction(&mut self) {
        self.retire_fused();
        if self.pending_count > 0 {
            self.write_stores();
        }
    }

    #[inline(always)]
    fn retire_fused(&mut self) {
        let fused = self.fused;
        if fused.open {
            let cycle =
                self.retire.retire(fused.allocated, fused.held, fused.completed, fused.waited);
            self.allocator.retired(cycle);
            self.observer.retired(cycle);
            self.fused.open = false;
        }
    }

    /// Waits until everything has retired and written, then `cycles` more.
    fn drain(&mut self, cycles: u64) {
        let end = self.retire.last().max(self.written) + cycles;
        self.allocator.barrier(end, Component::Serialize);
    }

    /// The iterations after the first of the block's last instruction.
    #[cold]
    fn repeat(&mut self, step: &Step) {
        let mut buffer = self.functional.repeats.take_buffer();
        each_iteration(step, &mut buffer, |step| self.repeat_iteration(step));
        self.functional.repeats.give_back(buffer);
    }

    /// Another iteration: its uops come from the microcode sequencer. For copies and fills these
    /// are only the load and the store: the microcode moves the pointers for many elements at once.
    fn repeat_iteration(&mut self, step: &Step) {
        let block = step.block;
        let Some(stores) = self.functional.repeats.costs(block, step.addresses) else { return };
        let Some(insn) = block.insns.last() else { return };
        let pc = block.addr + u64::from(insn.offset);
        let first = usize::from(insn.first_uop);
        for uop in &block.uops[first..first + usize::from(insn.uops)] {
            if !stores || uop.kind != UopKind::Exec {
                self.uop(step, uop, pc);
            }
        }
        self.finish_instruction();
    }

    /// The first touch of a page, detected at `cycle`: when the access can continue, and what it
    /// waited for. If it takes no time, there is no exception either.
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

/// The same answers without the trait, for uop observers.
impl<O: Observer> OutOfOrder<O> {
    /// See [`Core::execute`].
    pub fn execute(&mut self, step: &Step) {
        if self.functional.repeats.continues(step.block) {
            self.repeat_iteration(step);
            if !step.repeats.is_empty() {
                self.repeat(step);
            }
        } else {
            self.block(step);
        }
    }

    /// See [`Core::cycles`].
    pub fn cycles(&self) -> u64 {
        self.retire.last()
    }

    /// Event counts of the core itself.
    pub fn counters(&self) -> CoreCounters {
        CoreCounters { cycles: self.cycles(), ..self.counters }
    }

    /// Cycles charged to each component; they sum to [`Core::cycles`].
    pub fn cpi_stack(&self) -> [u64; Component::COUNT] {
        self.retire.stack
    }

    /// Its state apart from time.
    pub fn functional_mut(&mut self) -> &mut Functional<O::Mapping> {
        &mut self.functional
    }
}

impl<O: Observer> Counts for OutOfOrder<O> {
    fn visit(&self, walk: &mut Walk<'_>) {
        walk.one(&self.counters());
        walk.one(&self.fetch.counters);
        walk.one(&CpiStack(self.cpi_stack()));
        self.functional.visit(walk);
    }
}

impl<O: Observer + Send> Core for OutOfOrder<O> {
    fn execute(&mut self, step: &Step) {
        self.execute(step);
    }

    fn context_switch(&mut self) {
        self.functional.context_switch();
        self.drain(u64::from(self.params.syscall));
    }

    fn cycles(&self) -> u64 {
        self.cycles()
    }

    #[inline(always)]
    fn warm(&mut self, step: &Step) {
        self.functional.warm(step);
    }

    fn state(&self) -> &dyn State {
        &self.functional
    }

    fn state_mut(&mut self) -> &mut dyn State {
        &mut self.functional
    }
}
