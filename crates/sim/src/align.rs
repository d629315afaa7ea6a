//! Converts event words into executions of decoded blocks.
//!
//! A block execution is complete when the next block of its thread begins; only then is it known
//! where control went. Memory events name their instruction; each one takes the first free operand
//! of that instruction and direction. Pieces of a wide access are dropped, and so is anything
//! beyond the operands (counted in [`Aligner::extra_accesses`]); an operand without an event has no
//! address. A repeated string instruction runs all its iterations within one execution of its
//! block: the addresses of the further iterations follow those of the operands.

use std::collections::BTreeMap;
use std::sync::Arc;

use decode::{Block, BranchKind, Decoder};
use stream::event::{self, Control, Event};
use stream::{BlockDef, MarkerOp, ObjectDef, Objects, Packet, StreamError};
use uarch::{NO_ADDRESS, StepRecord};

use crate::balance::{Balance, Turn};
use crate::batch::{Batch, Item};
use crate::plan::Planner;

/// System calls that unmap: `mmap` (over existing mappings), `munmap`, `mremap`, `madvise`.
const MMAP: u64 = 9;
const MUNMAP: u64 = 11;
const MREMAP: u64 = 25;
const MADVISE: u64 = 28;
const MAP_FIXED: u64 = 0x10;
const MADV_DONTNEED: u64 = 4;
const MADV_FREE: u64 = 8;
/// The feeder ends blocks at pages of this size.
const OS_PAGE: u64 = 4096;
/// Longest instruction in bytes (Intel SDM volume 2, section 2.3.11).
const INSTRUCTION_MAX: u64 = 15;

/// What must be known about a block before it runs.
struct Known {
    block: Arc<Block>,
    instructions: u64,
    /// Something happens when it is entered: a region of interest, or instructions that are not
    /// in the instruction table.
    watched: bool,
    unknown: Vec<String>,
    /// Times that it was entered, counted if there are unknown instructions in it.
    entered: u64,
    /// Address of the repeated string instruction, if the block consists only of one.
    repeats: u64,
    ends_with_repeat: u64,
    turn: Turn,
    /// It contains markers that begin or end calls.
    has_calls: bool,
    /// The call instruction at its end, if there is one.
    call: Box<[u8]>,
    /// It called the allocator.
    calls_allocator: bool,
}

/// The block execution in progress.
struct Open {
    index: u32,
    first_address: usize,
    first_value: usize,
}

/// Turns packets into batches.
pub struct Aligner {
    /// One per view of code, at least one.
    decoders: Vec<Decoder>,
    known: Vec<Known>,
    thread: Option<u32>,
    open: Option<Open>,
    repeating: u64,
    /// A program began and has not accessed memory yet.
    begins: bool,
    /// Begins and ends of allocator calls.
    pub balance: Balance,
    objects: Objects,
    /// Memory events for which no operand was left, except pieces of wide accesses.
    pub extra_accesses: u64,
    /// Threads seen.
    pub threads: u64,
    /// Switches between threads.
    pub context_switches: u64,
    /// Children that left the stream.
    pub forks: u64,
    /// Times the program replaced itself by another.
    pub execs: u64,
    /// Payload of the exit event.
    pub exit: Option<u64>,
}

impl Aligner {
    /// For the code of one stream and its machines' views of the code.
    pub fn new(decoders: Vec<Decoder>) -> Self {
        Self {
            decoders,
            known: Vec::new(),
            thread: None,
            open: None,
            repeating: 0,
            begins: true,
            balance: Balance::default(),
            objects: Objects::default(),
            extra_accesses: 0,
            threads: 0,
            context_switches: 0,
            forks: 0,
            execs: 0,
            exit: None,
        }
    }

    /// Appends the packet's executions to the batch. Stops at the end of the plan.
    pub fn packet(
        &mut self,
        packet: &Packet,
        planner: &mut Planner,
        batch: &mut Batch,
    ) -> Result<(), StreamError> {
        self.learn(packet, batch)?;
        self.switch_thread(packet.thread, batch);
        let events = &packet.events;
        let mut at = 0;
        while let Some(&word) = events.get(at) {
            at += 1;
            match event::decode(word) {
                Some(Event::Mem { insn, store, size, addr }) => {
                    self.memory(insn, store, size, addr, batch);
                }
                Some(Event::Block { id }) => {
                    self.begin(id, planner, batch)?;
                    if planner.finished {
                        self.open = None;
                        return Ok(());
                    }
                }
                Some(Event::Value { .. }) => {
                    let Some(&value) = events.get(at) else {
                        return Err(broken("a marker value without its word"));
                    };
                    at += 1;
                    batch.values.push(value);
                }
                Some(Event::Control { kind, extra, payload }) => {
                    let end = at + usize::from(extra);
                    let words = events.get(at..end);
                    let words = words.ok_or_else(|| broken("a control event cut short"))?;
                    self.control(kind, payload, words, batch);
                    at = end;
                }
                None => return Err(broken("an event of an unknown kind")),
            }
        }
        Ok(())
    }

    /// Takes everything complete out of `batch`; the execution in progress moves to the new batch
    /// that replaces it.
    pub fn take(&mut self, batch: &mut Batch) -> Batch {
        let mut rest = Batch::default();
        if let Some(open) = &mut self.open {
            rest.addresses = batch.addresses.split_off(open.first_address);
            rest.values = batch.values.split_off(open.first_value);
            open.first_address = 0;
            open.first_value = 0;
        }
        std::mem::replace(batch, rest)
    }

    /// The stream has ended: the last execution has no successor.
    pub fn end(&mut self, batch: &mut Batch) {
        self.close(0, batch);
    }

    fn learn(&mut self, packet: &Packet, batch: &mut Batch) -> Result<(), StreamError> {
        self.objects.learn(packet);
        for def in &packet.blocks {
            if def.id as usize != self.known.len() || !def.is_well_formed() {
                return Err(broken("a block out of order or with wrong lengths"));
            }
            let variants = variants(&self.decoders, def);
            let Some(block) = variants.first() else { continue };
            let unknown = match block.unknown {
                0 => Vec::new(),
                _ => self.decoders.first().map_or(Vec::new(), |decoder| decoder.unknown(def)),
            };
            let roi = |op| matches!(op, MarkerOp::RoiBegin | MarkerOp::RoiEnd);
            let last_repeat = block.insns.last().filter(|insn| insn.rep);
            let ends = last_repeat.map_or(0, |insn| block.addr + u64::from(insn.offset));
            self.known.push(Known {
                instructions: u64::from(block.insn_count),
                watched: !unknown.is_empty() || block.markers.iter().any(|m| roi(m.op)),
                unknown,
                entered: 0,
                repeats: if block.insns.len() == 1 { ends } else { 0 },
                ends_with_repeat: ends,
                turn: Turn::of(block),
                call: call_of(block, def),
                calls_allocator: false,
                has_calls: block.markers.iter().any(|m| Balance::counts(m.op)),
                block: Arc::clone(block),
            });
            batch.blocks.push(variants);
        }
        Ok(())
    }

    fn switch_thread(&mut self, thread: u32, batch: &mut Batch) {
        if self.thread == Some(thread) {
            return;
        }
        if self.thread.is_some() {
            self.close(0, batch);
            self.context_switches += 1;
            self.repeating = 0;
            batch.items.push(Item::ContextSwitch);
        }
        self.thread = Some(thread);
        self.balance.thread(thread);
        self.threads = self.threads.max(u64::from(thread) + 1);
    }

    #[inline(always)]
    fn begin(
        &mut self,
        id: u32,
        planner: &mut Planner,
        batch: &mut Batch,
    ) -> Result<(), StreamError> {
        let Some(known) = self.known.get(id as usize) else {
            return Err(broken("a block that was never described"));
        };
        let addr = known.block.addr;
        let operands = known.block.mem_operands.len();
        let continues = known.repeats != 0 && known.repeats == self.repeating;
        let instructions = if continues { 0 } else { known.instructions };
        let watched = known.watched;
        self.repeating = known.ends_with_repeat;
        self.close(addr, batch);
        if watched {
            self.watched(id, planner, batch);
        }
        planner.advance(instructions, &mut batch.items);
        let first_address = batch.addresses.len();
        batch.addresses.resize(first_address + operands, NO_ADDRESS);
        self.open = Some(Open { index: id, first_address, first_value: batch.values.len() });
        Ok(())
    }

    /// Region-of-interest markers take effect at the start of their block.
    #[cold]
    fn watched(&mut self, id: u32, planner: &mut Planner, batch: &mut Batch) {
        let known = &mut self.known[id as usize];
        known.entered += 1;
        for marker in &known.block.markers {
            match marker.op {
                MarkerOp::RoiBegin => planner.roi_begin(&mut batch.items),
                MarkerOp::RoiEnd => planner.roi_end(),
                _ => {}
            }
        }
    }

    /// Instructions that are not in the instruction table, with how often they were executed, the
    /// most frequent first.
    pub fn unknown(&self) -> Vec<(String, u64)> {
        let mut all: BTreeMap<&str, u64> = BTreeMap::new();
        for known in &self.known {
            for name in &known.unknown {
                *all.entry(name).or_default() += known.entered;
            }
        }
        let mut all: Vec<_> =
            all.into_iter().map(|(name, times)| (name.to_owned(), times)).collect();
        all.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
        all
    }

    /// The code that called the allocator.
    pub fn callers(&self) -> Vec<Caller> {
        let callers = self.known.iter().zip(0..).filter(|(known, _)| known.calls_allocator);
        callers
            .map(|(known, block)| {
                let addr = known.block.branch.addr;
                let object = self.objects.of(block, addr).cloned();
                Caller { number: block + 1, addr, code: known.call.clone(), object }
            })
            .collect()
    }

    #[inline(always)]
    fn close(&mut self, next: u64, batch: &mut Batch) {
        let Some(open) = self.open.take() else { return };
        let known = &self.known[open.index as usize];
        let operands = known.block.mem_operands.len();
        if known.has_calls || known.turn != Turn::None {
            let addresses = &batch.addresses[open.first_address..];
            let values = &batch.values[open.first_value..];
            if let Some(caller) = self.balance.step(&known.block, known.turn, addresses, values) {
                batch.items.push(Item::Caller(caller));
                if let Some(at) = caller.checked_sub(1) {
                    self.known[at as usize].calls_allocator = true;
                }
            }
        }
        batch.steps.push(StepRecord {
            repeats: (batch.addresses.len() - open.first_address - operands) as u32,
            block: open.index,
            first_address: open.first_address as u32,
            first_value: open.first_value as u32,
            values: (batch.values.len() - open.first_value) as u32,
            next,
        });
        if let Some(Item::Steps(count)) = batch.items.last_mut() {
            *count += 1;
        } else {
            batch.items.push(Item::Steps(1));
        }
    }

    #[inline(always)]
    fn memory(&mut self, insn: u16, store: bool, _size: u8, addr: u64, batch: &mut Batch) {
        let Some(open) = &self.open else { return };
        if self.begins {
            // All that the kernel hands to a program is its stack.
            self.begins = false;
            batch.items.push(Item::Stack(addr));
        }
        let block = &self.known[open.index as usize].block;
        let Some(insn) = block.insns.get(usize::from(insn)) else { return };
        let first = usize::from(insn.first_mem_operand);
        for at in first..first + usize::from(insn.mem_operands) {
            let operand = &block.mem_operands[at];
            if operand.store != store {
                continue;
            }
            let place = &mut batch.addresses[open.first_address + at];
            if *place == NO_ADDRESS {
                *place = addr;
                return;
            }
            if addr > *place && addr < *place + u64::from(operand.size) {
                return;
            }
        }
        if insn.rep {
            batch.addresses.push(addr);
        } else {
            self.extra_accesses += 1;
        }
    }

    fn control(&mut self, kind: Control, payload: u64, words: &[u64], batch: &mut Batch) {
        match kind {
            Control::Syscall => {
                if let Some((addr, len)) = unmapped(payload, words) {
                    self.close(0, batch);
                    batch.items.push(Item::Unmap { addr, len });
                }
            }
            Control::ThreadStart | Control::ThreadEnd => {}
            Control::Fork => self.forks += 1,
            Control::Exec => {
                self.execs += 1;
                self.close(0, batch);
                self.balance.new_image();
                self.repeating = 0;
                self.begins = true;
                batch.items.push(Item::Unmap { addr: 0, len: u64::MAX });
            }
            Control::Exit => self.exit = Some(payload),
        }
    }
}

/// The range that a system call unmaps, if it unmaps one.
fn unmapped(number: u64, args: &[u64]) -> Option<(u64, u64)> {
    let &[a, b, c, d] = args.first_chunk::<4>()?;
    match number {
        MUNMAP | MREMAP => Some((a, b)),
        MMAP if d & MAP_FIXED != 0 => Some((a, b)),
        MADVISE if c == MADV_DONTNEED || c == MADV_FREE => Some((a, b)),
        _ => None,
    }
}

fn broken(what: &str) -> StreamError {
    StreamError::Feeder(format!("the stream violates its format: {what}"))
}

/// A place in the program that called the allocator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// As in [`Item::Caller`].
    pub number: u32,
    /// Address of the call instruction.
    pub addr: u64,
    /// Its code.
    pub code: Box<[u8]>,
    /// The file that it comes from.
    pub object: Option<ObjectDef>,
}

/// The machine code of the call at the end of a block, if there is one.
fn call_of(block: &Block, def: &BlockDef) -> Box<[u8]> {
    let calls = matches!(block.branch.kind, BranchKind::Call | BranchKind::IndirectCall);
    let call = def.insns().find(|(addr, _)| calls && *addr == block.branch.addr);
    call.map_or(Box::default(), |(_, code)| code.into())
}

/// The block in each view. Views share the stream's addresses, so their memory operands must be
/// equal; where a view's differ (a gather has as many as its family loads), the first view's block
/// is used.
fn variants(decoders: &[Decoder], def: &BlockDef) -> Vec<Arc<Block>> {
    let mut variants: Vec<Arc<Block>> = Vec::with_capacity(decoders.len());
    for decoder in decoders {
        let block = whole_instructions(decoder, def);
        let same = variants
            .first()
            .filter(|first| first.mem_operands != block.mem_operands)
            .map(Arc::clone);
        variants.push(same.unwrap_or_else(|| Arc::new(block)));
    }
    variants
}

/// The decoded block, without a last instruction that crosses an OS page boundary: the feeder's
/// translator began it, backed out, and starts the next block with it. The block contains those of
/// its bytes that the translator had read, in pieces of up to four. They are not a valid
/// instruction, because no instruction is a prefix of another.
fn whole_instructions(decoder: &Decoder, def: &BlockDef) -> Block {
    let block = decoder.block(def);
    let left = def.end().next_multiple_of(OS_PAGE) - def.end();
    if block.unknown == 0 || left >= INSTRUCTION_MAX || def.lens.len() < 2 {
        return block;
    }
    let mut whole = def.clone();
    let cut = whole.lens.pop().map_or(0, usize::from);
    whole.bytes.truncate(whole.bytes.len() - cut);
    let shorter = decoder.block(&whole);
    if shorter.unknown < block.unknown { shorter } else { block }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `nop` and the first bytes of `mov rax, [rip + …]` (48 8b 05 and four of displacement).
    fn cut(addr: u64, bytes: usize) -> Block {
        let code = [0x90, 0x48, 0x8b, 0x05, 0x10, 0x20, 0x30, 0x40];
        let (bytes, lens) = (code[..1 + bytes].to_vec(), vec![1, bytes as u8]);
        whole_instructions(
            &Decoder::new(<&decode::Family>::default(), 64),
            &BlockDef { id: 0, addr, lens, bytes },
        )
    }

    #[test]
    fn an_instruction_that_a_page_ends_in_belongs_to_the_next_block_alone() {
        // The displacement is read in one piece, so none of it is present if only two bytes fit.
        for (addr, bytes) in [(0x1ffa, 3), (0x1ffc, 3), (0x1ffe, 1)] {
            let block = cut(addr, bytes);
            assert_eq!((block.insns.len(), block.unknown), (1, 0), "{addr:x}");
            assert_eq!(block.branch.next, addr + 1, "it falls through to where the next begins");
        }
    }

    #[test]
    fn whole_instructions_at_a_page_end_and_unknown_ones_elsewhere_stay() {
        let block = cut(0x1ff8, 7);
        assert_eq!((block.insns.len(), block.unknown), (2, 0));
        let block = cut(0x1f00, 3);
        assert_eq!((block.insns.len(), block.unknown), (2, 1));
    }
}
