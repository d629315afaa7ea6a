//! Fetch and decode: when each fused uop enters the decoded-uop queue.
//!
//! There are three paths: the uop cache (a 32-byte window at a time), the legacy decoders (for
//! windows that are not cached; they fill the cache), and the loop buffer. Program order in, times
//! out; back-pressure comes from the allocation times that the core reports.
//!
//! It is independent of the stages after it, so that any core can use it. It needs the parameters,
//! decoded blocks, and a [`FetchPort`] to the instruction cache. The core calls, in program order:
//!
//! 1. [`FrontEnd::insn`] for each instruction that it fetches, then for each of its fused uops
//!    [`FrontEnd::deliver`], which returns when the uop is in the queue, and
//!    [`FrontEnd::allocated`] with the cycle in which the uop left it (for a core without a queue,
//!    the cycle in which it issued).
//! 2. At the end of a block one of [`FrontEnd::taken_branch`], [`FrontEnd::not_taken`] and
//!    [`FrontEnd::redirect`]; the last also after anything else that restarts fetch.
//! 3. [`FrontEnd::stall`] when nothing is delivered for some cycles.
//!
//! The cycles passed in must not be earlier than those returned for the same uop.
//! [`FrontEnd::cause`] says what determined the delivery of the newest uop.

mod legacy;
mod loop_buffer;
mod near;
mod uop_cache;

use decode::{Block, Insn};
use memory::{Mapping, Memory};
use params::ConfigError;

use crate::kind::check_ranges;
use crate::params::CoreParams;
use legacy::Legacy;
use loop_buffer::LoopBuffer;
use near::NearBranches;
use uop_cache::{UopCache, WINDOW_BYTES};

/// Ring of allocation times: a power of two, at least the decoded-uop queue's length.
const ALLOC_RING: usize = 256;
const NOWHERE: u64 = u64::MAX;

/// Where code comes from.
pub trait FetchPort {
    /// Fetches the line of `addr` at `cycle`; returns the cycle at which it is available, on a hit
    /// [`CodeLines::latency`] later.
    fn fetch_line(&mut self, addr: u64, cycle: u64) -> u64;
}

impl<M: Mapping> FetchPort for Memory<M> {
    #[inline(always)]
    fn fetch_line(&mut self, addr: u64, cycle: u64) -> u64 {
        self.fetch(addr, cycle).ready
    }
}

/// What a [`FetchPort`] delivers.
#[derive(Clone, Copy, Debug)]
pub struct CodeLines {
    /// Line size in bytes, a power of two.
    pub bytes: u64,
    /// Latency of a hit: hidden by the pipeline; only what a miss adds has an effect.
    pub latency: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Cache,
    Legacy,
    Loop,
}

/// What determined when the last fused uop was delivered: for the CPI stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchCause {
    /// Bandwidth of its path.
    Bandwidth,
    /// Instruction cache or ITLB miss.
    Miss,
    /// Refill after a mispredicted branch.
    Mispredict,
    /// Redirect by the decoders (branch missed in the target buffer).
    Redirect,
}

stats::counters! {
    /// Counters of the ways.
    pub struct FetchCounters = Head::one("fetch")
        .title("fetch and decode")
        .about("Fused uops by where they were delivered from.")
        .since(2);

    /// Fused uops from the uop cache.
    uop_cache: Uops,
    /// Fused uops from the legacy decoders and microcode.
    legacy: Uops,
    /// Fused uops from the loop buffer.
    loop_buffer: Uops,
}

/// The fetch and decode stages of one core.
pub struct FrontEnd {
    way: Way,
    cycle: u64,
    left: u32,
    width: u32,
    idq: u64,
    window: u64,
    window_start: u8,
    window_uops: u32,
    line: u64,
    line_shift: u32,
    fetch_latency: u64,
    legacy_extra: u64,
    switch: u64,
    /// Cycles without delivery after a taken branch.
    bubble: u64,
    delivered: u64,
    all_cached: bool,
    cause: FetchCause,
    /// The last delivery cycle that `cause` explains.
    cause_until: u64,
    allocated: [u64; ALLOC_RING],
    cache: UopCache,
    legacy: Legacy,
    looping: LoopBuffer,
    near: NearBranches,
    /// Counters of the paths.
    pub counters: FetchCounters,
}

impl FrontEnd {
    /// An empty pipeline for code in lines of this kind.
    pub fn new(params: &CoreParams, code: CodeLines) -> Self {
        Self {
            way: Way::Legacy,
            cycle: 0,
            left: 0,
            width: params.uop_cache.width,
            idq: u64::from(params.idq),
            window: NOWHERE,
            window_start: 0,
            window_uops: 0,
            line: NOWHERE,
            line_shift: code.bytes.trailing_zeros(),
            fetch_latency: code.latency,
            legacy_extra: u64::from(params.legacy_decode_extra),
            switch: u64::from(params.decode.switch),
            bubble: u64::from(params.taken_branch) - 1,
            delivered: 0,
            all_cached: true,
            cause: FetchCause::Bandwidth,
            cause_until: 0,
            allocated: [0; ALLOC_RING],
            cache: UopCache::new(&params.uop_cache),
            legacy: Legacy::new(&params.decode),
            looping: LoopBuffer::new(params.loop_buffer),
            near: NearBranches::new(params.near_branches),
            counters: FetchCounters::default(),
        }
    }

    /// Delivery cycle of the newest fused uop.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// What stalled allocation, if it had to wait for the newest fused uop.
    pub fn cause(&self) -> FetchCause {
        if self.cycle <= self.cause_until { self.cause } else { FetchCause::Bandwidth }
    }

    /// The next instruction in program order, from its block. Call [`FrontEnd::deliver`] for each
    /// of its fused uops.
    #[inline(always)]
    pub fn insn(&mut self, addr: u64, insns: &[Insn], index: usize, code: &mut impl FetchPort) {
        let window = addr / WINDOW_BYTES;
        if window != self.window && self.way != Way::Loop {
            self.enter_window(window, (addr % WINDOW_BYTES) as u8);
        }
        if self.way == Way::Legacy {
            self.decode(addr, insns, index, code);
        }
    }

    fn enter_window(&mut self, window: u64, offset: u8) {
        self.close_window();
        self.window = window;
        self.window_start = offset;
        self.window_uops = 0;
        if self.cache.lookup(window, offset) {
            if self.way == Way::Legacy {
                self.way = Way::Cache;
                self.left = 0;
            }
        } else {
            self.all_cached = false;
            if self.way == Way::Cache {
                self.way = Way::Legacy;
                self.legacy.restart(self.cycle + self.switch);
                self.line = NOWHERE;
            }
        }
    }

    /// Puts the uops that the legacy decoders produced from the window into the uop cache.
    fn close_window(&mut self) {
        if self.way == Way::Legacy && self.window != NOWHERE {
            self.cache.insert(self.window, self.window_start, self.window_uops);
        }
    }

    #[inline(never)]
    fn decode(&mut self, addr: u64, insns: &[Insn], index: usize, code: &mut impl FetchPort) {
        let insn = &insns[index];
        // The successor of the block's last instruction is not known here; it matters only for a
        // comparison that no branch of its own block follows.
        let next = insns.get(index + 1).unwrap_or(&insns[0]);
        let last = addr + u64::from(insn.len) - 1;
        if last >> self.line_shift != self.line {
            self.line = last >> self.line_shift;
            let at = self.legacy.fetch_cycle();
            let ready = code.fetch_line(last, at);
            if ready > at + self.fetch_latency {
                self.legacy.wait_for_code(ready - self.fetch_latency);
                self.note_cause(FetchCause::Miss, ready - self.fetch_latency + 2);
            }
        }
        let cycle = self.legacy.decode(addr, insn, next, self.room());
        if cycle > self.cycle {
            self.cycle = cycle;
            self.left = self.width;
        }
    }

    /// The cycle from which the queue has room for one more.
    #[inline(always)]
    fn room(&self) -> u64 {
        self.allocated[(self.delivered.wrapping_sub(self.idq)) as usize % ALLOC_RING]
    }

    /// Delivers the next fused uop; returns its cycle.
    #[inline(always)]
    pub fn deliver(&mut self) -> u64 {
        let room = self.room();
        if room > self.cycle {
            self.cycle = room;
            self.left = self.width;
        }
        if self.left == 0 {
            self.cycle += 1;
            self.left = self.width;
        }
        self.left -= 1;
        self.delivered += 1;
        self.window_uops += 1;
        match self.way {
            Way::Cache => self.counters.uop_cache += 1,
            Way::Legacy => self.counters.legacy += 1,
            Way::Loop => self.counters.loop_buffer += 1,
        }
        self.cycle
    }

    /// The newest fused uop was allocated at `cycle`: it left the queue.
    #[inline(always)]
    pub fn allocated(&mut self, cycle: u64) {
        self.allocated[self.delivered.wrapping_sub(1) as usize % ALLOC_RING] = cycle;
    }

    /// A correctly predicted taken branch at `addr` goes to `target`. `plain`: a direct jump or a
    /// conditional branch.
    #[inline(always)]
    pub fn taken_branch(&mut self, addr: u64, target: u64, plain: bool) {
        let bubble = if plain && self.near.taken(addr, target) { 0 } else { self.bubble };
        let streams = self.looping.taken(addr, target, self.delivered, self.all_cached);
        self.all_cached = true;
        if streams {
            self.way = Way::Loop;
            return;
        }
        if self.way == Way::Loop {
            self.way = Way::Cache;
        }
        self.close_window();
        self.window = NOWHERE;
        self.left = 0;
        self.cycle += bubble;
        self.legacy.taken_branch(bubble);
        self.line = NOWHERE;
    }

    /// The branch at the end of `block` was not taken, or the block has none: fetch continues
    /// sequentially. A streaming loop ends here.
    #[inline(always)]
    pub fn not_taken(&mut self, block: &Block) {
        if self.way == Way::Loop && block.branch.kind != decode::BranchKind::None {
            self.way = Way::Cache;
            self.window = NOWHERE;
            self.looping.leave();
        }
    }

    /// Nothing is delivered for this many cycles (start-up of a string instruction).
    pub fn stall(&mut self, cycles: u64) {
        self.cycle += cycles;
        self.left = self.width;
    }

    /// Fetch restarts at a new address; the first uop can be delivered at `cycle`.
    pub fn redirect(&mut self, cycle: u64, cause: FetchCause) {
        self.close_window();
        self.looping.leave();
        self.window = NOWHERE;
        self.line = NOWHERE;
        self.way = Way::Cache;
        self.cycle = self.cycle.max(cycle);
        self.left = self.width;
        self.legacy.restart(self.cycle + self.legacy_extra - self.switch.min(self.legacy_extra));
        self.note_cause(cause, self.cycle + self.legacy_extra);
    }

    fn note_cause(&mut self, cause: FetchCause, until: u64) {
        self.cause = cause;
        self.cause_until = until;
    }
}

/// Checks the front end's parameters; the error names the first broken rule.
pub fn check(core: &CoreParams) -> Result<(), ConfigError> {
    check_ranges(&[
        ("core.idq", core.idq, 4, 256),
        ("core.decode.queue", core.decode.queue, 4, 64),
        ("core.decode.width", core.decode.width, 1, 8),
        ("core.decode.predecode_width", core.decode.predecode_width, 1, 16),
        ("core.uop_cache.width", core.uop_cache.width, 1, 16),
        ("core.uop_cache.ways", core.uop_cache.ways, 1, 16),
        ("core.uop_cache.line_uops", core.uop_cache.line_uops, 1, 16),
        ("core.taken_branch", core.taken_branch, 1, 100),
    ])?;
    for (name, value) in [
        ("core.uop_cache.sets", core.uop_cache.sets),
        ("core.decode.predecode_bytes", core.decode.predecode_bytes),
    ] {
        if !value.is_power_of_two() {
            let near = format!("try {}", value.next_power_of_two());
            return Err(ConfigError::rule(name, value, "must be a power of two", &near));
        }
    }
    let near = core.near_branches;
    if near != 0 && (near < 4 || !near.is_power_of_two()) {
        let rule = "must be 0 or a power of two of at least 4";
        let remedy = format!("try {}", near.next_power_of_two().max(4));
        return Err(ConfigError::rule("core.near_branches", near, rule, &remedy));
    }
    Ok(())
}
