//! Predecode, instruction queue and the four legacy decoders.

use decode::{DecodeClass, Insn};

use crate::params::DecodeParams;

/// Ring for the instruction queue's back-pressure; a power of two above any queue length.
const QUEUE_RING: usize = 64;

/// Times of the legacy decode pipeline.
pub struct Legacy {
    params: DecodeParams,
    block_shift: u32,
    /// Aligned block being predecoded, and how many instructions were marked in this cycle.
    block: u64,
    marked: u32,
    /// The predecoder's current cycle.
    predecode: u64,
    /// Decode cycles of the latest instructions, by number.
    queue: [u64; QUEUE_RING],
    count: u64,
    /// The decoders' current cycle; decoders used and fused uops produced in it.
    cycle: u64,
    used: u32,
    /// Decoders that can still take an instruction in this cycle.
    left: u32,
}

/// No block: the next instruction starts one.
const NO_BLOCK: u64 = u64::MAX;

impl Legacy {
    /// An idle pipeline.
    pub fn new(params: &DecodeParams) -> Self {
        Self {
            params: params.clone(),
            block_shift: params.predecode_bytes.trailing_zeros(),
            block: NO_BLOCK,
            marked: 0,
            predecode: 0,
            queue: [0; QUEUE_RING],
            count: 0,
            cycle: 0,
            used: 0,
            left: 0,
        }
    }

    /// The cycle at which the predecoder next looks at code, that is, needs an instruction line.
    pub fn fetch_cycle(&self) -> u64 {
        self.predecode
    }

    /// Code is not available before `cycle` (a miss in the instruction cache).
    pub fn wait_for_code(&mut self, cycle: u64) {
        self.predecode = self.predecode.max(cycle);
    }

    /// Fetch continues elsewhere, at `cycle` at the earliest.
    pub fn restart(&mut self, cycle: u64) {
        self.block = NO_BLOCK;
        self.predecode = self.predecode.max(cycle);
    }

    /// A predicted taken branch: the next instruction comes from another block, one cycle and the
    /// fetch unit's bubble later.
    pub fn taken_branch(&mut self, bubble: u64) {
        self.block = NO_BLOCK;
        self.predecode += bubble;
    }

    fn mark(&mut self) {
        if self.marked == self.params.predecode_width {
            self.predecode += 1;
            self.marked = 0;
        }
        self.marked += 1;
    }

    /// [uiCA] section 4.1: an instruction is marked in the block in which it ends; one whose opcode
    /// lies in the previous block takes a slot there too.
    fn predecode(&mut self, addr: u64, insn: &Insn) {
        let first = addr >> self.block_shift;
        let last = (addr + u64::from(insn.len) - 1) >> self.block_shift;
        if self.block == NO_BLOCK {
            self.predecode += 1 + (last - first);
            self.block = last;
            self.marked = 0;
        } else if last != self.block {
            if (addr + u64::from(insn.opcode_offset)) >> self.block_shift == self.block {
                self.mark();
            }
            self.predecode += last.wrapping_sub(self.block).clamp(1, 2);
            self.block = last;
            self.marked = 0;
        }
        self.mark();
        if insn.lcp {
            self.predecode += u64::from(self.params.lcp_stall);
        }
        let oldest = self.count.wrapping_sub(u64::from(self.params.queue));
        self.predecode = self.predecode.max(self.queue[oldest as usize % QUEUE_RING]);
    }

    fn next_cycle(&mut self) {
        self.cycle += 1;
        self.used = 0;
        self.left = self.params.width;
    }

    /// The cycle in which the instruction after `addr` will be marked, as far as the predecoder has
    /// got.
    fn marked_next(&self, addr: u64, insn: &Insn, next: &Insn) -> u64 {
        let last = (addr + u64::from(insn.len) + u64::from(next.len) - 1) >> self.block_shift;
        let later = last != self.block || self.marked == self.params.predecode_width;
        self.predecode + u64::from(later)
    }

    /// Decodes one instruction; `next` comes after it. Returns the cycle in which its first fused
    /// uop is decoded; microcode delivers four per cycle from there on. `floor`: the cycle from
    /// which the decoded-uop queue has room.
    pub fn decode(&mut self, addr: u64, insn: &Insn, next: &Insn, floor: u64) -> u64 {
        self.predecode(addr, insn);
        if insn.fused_with_previous {
            return self.cycle;
        }
        // An instruction that could fuse with a branch waits until the next instruction is marked,
        // as in [uiCA]'s published simulator.
        let seen = if insn.macro_fusible { self.marked_next(addr, insn, next) } else { 0 };
        let ready = (self.predecode.max(seen) + 1).max(floor);
        if ready > self.cycle {
            self.cycle = ready;
            self.used = 0;
            self.left = self.params.width;
        }
        let decoded = match insn.class {
            DecodeClass::Simple => {
                let last = self.used + 1 == self.params.width;
                if self.left == 0 || last && insn.macro_fusible {
                    self.next_cycle();
                }
                self.used += 1;
                self.left -= 1;
                self.cycle
            }
            DecodeClass::Complex => {
                if self.used > 0 {
                    self.next_cycle();
                }
                self.used = 1;
                self.left = u32::from(insn.decoders_beside);
                self.cycle
            }
            DecodeClass::Microcoded => self.microcode(u32::from(insn.fused_uops)),
        };
        self.queue[self.count as usize % QUEUE_RING] = self.cycle;
        self.count += 1;
        decoded
    }

    /// The microcode sequencer takes over and hands back; returns the cycle of its first fused
    /// uops.
    fn microcode(&mut self, fused_uops: u32) -> u64 {
        if self.used > 0 {
            self.next_cycle();
        }
        let switch = u64::from(self.params.microcode_switch);
        let start = self.cycle + switch / 2;
        let cycles = u64::from(fused_uops.div_ceil(self.params.width).max(1));
        self.cycle = start + cycles - 1 + switch.div_ceil(2);
        self.used = self.params.width;
        self.left = 0;
        start
    }
}
