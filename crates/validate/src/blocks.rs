//! Steady-state cycles per iteration of an unrolled block, from the core model.

use std::fmt;

use accel::Choice;
use decode::{Block, Decoder};
use memory::Alias;
use params::ConfigError;
use stream::BlockDef;
use uarch::{Component, Machine, Observer, OutOfOrder, Step};

use crate::bottleneck::Analysis;
use crate::category::Category;
use crate::code::{self, BYTES_MAX};
use crate::timeline::{Timeline, UopLog};
use crate::trace::Trace;
use crate::unroll::{self, Unrolled};

/// Minimum number of copies measured, unless the block is long: measurements take the difference of
/// two unroll counts, usually 100 apart.
const COPIES: u64 = 100;
/// Minimum number of uops before the measured ones: several times the reorder buffer and the
/// decoded-uop queue, so that whichever of them limits the block is full.
const WARM_UOPS: u64 = 1500;
/// Minimum number of uops measured: short blocks need many copies to average out their period.
const MEASURED_UOPS: u64 = 2000;
/// Copies after which a block that loads and stores has used every entry of a memory dependence
/// predictor that is indexed by the low eight bits of the load instruction's address.
const ADDRESS_PERIOD: u64 = 256;
/// Maximum length of a timeline, in iterations.
const TIMELINE_MAX: u64 = 10_000;

/// Why a block has no prediction. The text does not name the block, which the caller knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockError {
    /// No bytes.
    Empty,
    /// Not a hex digit.
    Hex {
        /// The first invalid character.
        found: char,
    },
    /// An odd number of hex digits.
    OddHex {
        /// How many digits.
        digits: usize,
    },
    /// No valid instruction at this offset.
    Undecodable {
        /// Byte offset.
        offset: usize,
        /// The next bytes.
        found: String,
    },
    /// A branch, call, return, trap or system call.
    Leaves {
        /// Byte offset.
        offset: usize,
        /// The instruction.
        instruction: String,
    },
    /// Too long to be unrolled in the instruction cache.
    TooLong {
        /// Number of instructions.
        instructions: usize,
        /// Number of bytes.
        bytes: usize,
    },
    /// The machine cannot be built.
    Machine(String),
}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "no bytes; give the hex bytes of the block's instructions"),
            Self::Hex { found } => {
                write!(f, "{found:?} is not a hex digit; give pairs of 0-9 and a-f")
            }
            Self::OddHex { digits } => {
                write!(f, "{digits} hex digits, but a byte has two; is one missing or cut off?")
            }
            Self::Undecodable { offset, found } => write!(
                f,
                "no 64-bit instruction at byte {offset} ({found}…); check the bytes with a \
                 disassembler"
            ),
            Self::Leaves { offset, instruction } => write!(
                f,
                "`{instruction}` at byte {offset} leaves the block, but a block is run unrolled \
                 and in a straight line; leave that instruction out"
            ),
            Self::TooLong { instructions, bytes } => write!(
                f,
                "{instructions} instructions in {bytes} bytes, but at most {} and {BYTES_MAX} can \
                 be unrolled; give a shorter block",
                BlockDef::MAX_INSNS
            ),
            Self::Machine(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for BlockError {}

impl From<ConfigError> for BlockError {
    fn from(error: ConfigError) -> Self {
        Self::Machine(error.0)
    }
}

/// The model's prediction for a block.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Prediction {
    /// Steady-state cycles per iteration.
    pub cycles_per_iteration: f64,
    /// Kind of work.
    pub category: Category,
    /// Instructions of the block.
    pub instructions: u32,
    /// Fused uops of the block in the decoders.
    pub fused_uops: u32,
    /// Uops executed per iteration, including those inserted by the stack engine.
    pub uops: f64,
    /// Instructions that are not in the instruction table and count as one uop of one cycle.
    pub unknown: u16,
    /// Iterations measured.
    pub iterations: u64,
    /// Share of the cycles of each component of the CPI stack, largest first; components without
    /// cycles are left out.
    pub bound_by: Vec<(&'static str, f64)>,
}

/// Observes nothing; all pages of a block's data are mapped to one frame.
struct Unwatched;

impl Observer for Unwatched {
    type Mapping = Alias;
}

/// Predicts blocks on one machine.
pub struct Blocks {
    machine: Machine,
    decoder: Decoder,
}

/// Predicts one block. For many, keep a [`Blocks`].
pub fn steady_state(machine: &Machine, bytes: &[u8]) -> Result<Prediction, BlockError> {
    Blocks::new(machine)?.predict(bytes)
}

impl Blocks {
    /// For blocks on this machine, without an accelerator.
    pub fn new(machine: &Machine) -> Result<Self, BlockError> {
        let decoder = machine.view()?.decoder();
        let blocks = Self { machine: in_first_level(machine), decoder };
        blocks.core(Unwatched)?;
        Ok(blocks)
    }

    fn core<O: Observer<Mapping = Alias>>(&self, observer: O) -> Result<OutOfOrder<O>, BlockError> {
        let accelerator = Choice::baseline().build()?;
        Ok(OutOfOrder::new(&self.machine, accelerator, observer)?)
    }

    /// Steady-state cycles per iteration of the block.
    pub fn predict(&self, bytes: &[u8]) -> Result<Prediction, BlockError> {
        Ok(Self::measure(&mut self.start(bytes, Unwatched)?, Run::advance))
    }

    /// The ports that its uops issue to, and what its parts would take alone.
    pub fn analyse(&self, bytes: &[u8]) -> Result<Analysis, BlockError> {
        let mut run = self.start(bytes, Trace::new(0, Vec::new(), 0))?;
        let block = run.unrolled.block();
        let sizes = block.mem_operands.iter().map(|operand| u64::from(operand.size)).collect();
        let forward = u64::from(self.machine.core.store_forward);
        *run.core.observer_mut() = Trace::new(block.insns.len(), sizes, forward);
        let prediction = Self::measure(&mut run, Run::advance_traced);
        let trace = std::mem::replace(run.core.observer_mut(), Trace::new(0, Vec::new(), 0));

        let mut run = self.start(bytes, Unwatched)?;
        run.unrolled = run.unrolled.without_execution();
        let fetched = Self::measure(&mut run, Run::advance).cycles_per_iteration;
        let text = code::disassemble(&code::block_def(bytes, unroll::CODE)?);
        let ports = self.machine.family()?.ports();
        Ok(Analysis::new(prediction, text, ports, &trace, fetched))
    }

    /// Runs the copies before the measured ones, and these.
    fn measure<O: Observer<Mapping = Alias>>(
        run: &mut Run<O>,
        advance: impl Fn(&mut Run<O>, u64),
    ) -> Prediction {
        let (before, measured) = run.copies();
        run.advance(before);
        let from = (run.core.cycles(), run.core.counters().uops, run.core.cpi_stack());
        advance(run, measured);
        let cycles = run.core.cycles() - from.0;
        let stack = run.core.cpi_stack();
        let mut bound_by: Vec<(&'static str, f64)> = Component::ALL
            .iter()
            .map(|&c| (c.name(), (stack[c as usize] - from.2[c as usize]) as f64 / cycles as f64))
            .filter(|(_, share)| *share > 0.0)
            .collect();
        bound_by.sort_by(|a, b| b.1.total_cmp(&a.1));
        let block = run.unrolled.block();
        Prediction {
            cycles_per_iteration: cycles as f64 / measured as f64,
            category: Category::of(block),
            instructions: block.insns.len() as u32,
            fused_uops: block.insns.iter().map(|i| u32::from(i.fused_uops)).sum(),
            uops: (run.core.counters().uops - from.1) as f64 / measured as f64,
            unknown: block.unknown,
            iterations: measured,
            bound_by,
        }
    }

    /// Event cycles of the uops of `iterations` iterations, after `skip` earlier ones.
    pub fn timeline(
        &self,
        bytes: &[u8],
        skip: u64,
        iterations: u64,
    ) -> Result<Timeline, BlockError> {
        let mut run = self.start(bytes, UopLog::default())?;
        run.advance(skip.min(TIMELINE_MAX));
        for iteration in 0..iterations.clamp(1, TIMELINE_MAX) {
            run.core.observer_mut().begin(iteration);
            run.advance(1);
        }
        let text = code::disassemble(&code::block_def(bytes, unroll::CODE)?);
        Ok(std::mem::take(run.core.observer_mut()).finish(text))
    }

    fn start<O: Observer<Mapping = Alias>>(
        &self,
        bytes: &[u8],
        observer: O,
    ) -> Result<Run<O>, BlockError> {
        let def = code::block_def(bytes, unroll::CODE)?;
        let unrolled = Unrolled::new(&self.decoder, def);
        let line = self.machine.memory.line;
        let mut run = Run { core: self.core(observer)?, unrolled, line };
        run.warm();
        Ok(run)
    }
}

impl Run<Trace> {
    /// Advances and tells the observer where each copy begins.
    fn advance_traced(&mut self, copies: u64) {
        for _ in 0..copies {
            self.unrolled.advance();
            self.translate();
            let addresses = self.unrolled.addresses();
            self.core.observer_mut().begin(addresses);
            self.core.execute(&step(self.unrolled.block(), addresses));
            self.core.observer_mut().end();
        }
    }
}

/// Number of sets that the outer cache levels keep. The blocks never miss the first level, so that
/// more sets would only be set up for each block and thrown away.
const OUTER_SETS: u64 = 64;

/// The machine, reduced to what blocks need.
fn in_first_level(machine: &Machine) -> Machine {
    let mut machine = machine.clone();
    let memory = &mut machine.memory;
    // An inclusive level must be able to hold the first-level caches.
    let first = memory.l1i.size + memory.l1d.size;
    for level in &mut memory.level {
        let set = u64::from(level.assoc) * memory.line;
        let least = if level.inclusive { first.div_ceil(set).next_power_of_two() } else { 0 };
        level.size = level.size.min(set * OUTER_SETS.max(least));
    }
    machine
}

/// A block running on a core.
struct Run<O: Observer<Mapping = Alias>> {
    core: OutOfOrder<O>,
    unrolled: Unrolled,
    /// Line size in bytes.
    line: u64,
}

impl<O: Observer<Mapping = Alias>> Run<O> {
    /// Number of copies before the measurement, and number measured.
    fn copies(&self) -> (u64, u64) {
        let block = self.unrolled.block();
        let uops = block.uops.len().max(block.insns.len()).max(1) as u64;
        let mut before = WARM_UOPS.div_ceil(uops);
        if block.mem_operands.iter().any(|s| s.store) && block.mem_operands.iter().any(|s| !s.store)
        {
            let len = u64::from(block.len).max(1);
            before = before.max(ADDRESS_PERIOD >> len.trailing_zeros().min(8));
        }
        (before, COPIES.max(MEASURED_UOPS.div_ceil(uops)))
    }

    fn advance(&mut self, copies: u64) {
        for _ in 0..copies {
            self.unrolled.advance();
            self.translate();
            self.core.execute(&step(self.unrolled.block(), self.unrolled.addresses()));
        }
    }

    /// Warms the caches with code and data, and the TLBs with their pages.
    fn warm(&mut self) {
        let (before, measured) = self.copies();
        let len = u64::from(self.unrolled.block().len);
        let memory = &mut self.core.functional_mut().memory;
        for line in unroll::code_lines((before + measured) * len, len, self.line) {
            memory.warm_fetch(line);
        }
        memory.alias(unroll::PLACE_MASK);
        for line in unroll::data_lines(self.line) {
            memory.warm_load(0, line, 1);
        }
    }

    /// Data pages are in the second-level TLB when a copy first accesses them, because measurements
    /// run the same copies several times. The first-level TLB does not keep them between runs (the
    /// measured penalty already appears with twenty pages; the profiler enters the kernel between
    /// the runs).
    fn translate(&mut self) {
        let memory = &mut self.core.functional_mut().memory;
        let operands = self.unrolled.block().mem_operands.iter();
        for (operand, &address) in operands.zip(self.unrolled.addresses()) {
            memory.warm_translation(address);
            memory.warm_translation(address + u64::from(operand.size) - 1);
        }
    }
}

fn step<'a>(block: &'a Block, addresses: &'a [u64]) -> Step<'a> {
    let next = block.addr + u64::from(block.len);
    Step { block, addresses, repeats: &[], values: &[], next }
}
