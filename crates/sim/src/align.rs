//! Converts event words into executions of decoded blocks.
//!
//! A block execution is complete when the next block of its thread begins; only then is it known
//! where control went. Memory events name their instruction; each one takes the first free operand
//! of that instruction and direction. Pieces of a wide access are dropped, and so is anything
//! beyond the operands (counted in [`Aligner::extra_accesses`]); an operand without an event has no
//! address. A repeated string instruction runs its iterations within one execution of its block:
//! the addresses of the further iterations follow those of the operands. Where the stream enters
//! it again, because a buffer was full, it goes on.

use std::collections::BTreeMap;

use decode::Decoder;
use stream::event::{self, Control, Event};
use stream::{BlockDef, MarkerOp, ObjectDef, Objects, Packet, StreamError};
use uarch::{NO_ADDRESS, StepRecord};

use crate::balance::{Balance, Turn};
use crate::batch::{Batch, Item};
use crate::known::Known;
use crate::plan::Planner;

/// System calls that unmap: `mmap` (over existing mappings), `munmap`, `mremap`, `madvise`.
const MMAP: u64 = 9;
const MUNMAP: u64 = 11;
const MREMAP: u64 = 25;
const MADVISE: u64 = 28;
const MAP_FIXED: u64 = 0x10;
const MADV_DONTNEED: u64 = 4;
const MADV_FREE: u64 = 8;
/// Addresses that one execution of a repeated string instruction may have: it goes on in another.
const REPEATS_MOST: usize = 1 << 16;

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
    /// In the order of the batches' blocks: those of the stream, and joined ones in between.
    known: Vec<Known>,
    /// Where the stream's blocks are in `known`.
    places: Vec<u32>,
    /// Where the two halves of a cut pair are joined, by their places.
    joined: BTreeMap<(u32, u32), u32>,
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
            places: Vec::new(),
            joined: BTreeMap::new(),
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
                Some(Event::Mem { insn, store, addr, .. }) => {
                    self.memory(insn, store, addr, batch);
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
            if def.id as usize != self.places.len() || !def.is_well_formed() {
                return Err(broken("a block out of order or with wrong lengths"));
            }
            let place = self.know(def.id, def.clone(), batch);
            self.places.push(place);
        }
        Ok(())
    }

    /// Decodes a block, which has this number in the stream; returns its place.
    fn know(&mut self, id: u32, mut def: BlockDef, batch: &mut Batch) -> u32 {
        let place = self.known.len() as u32;
        def.id = place;
        let (known, variants) = Known::of(id, &def, &self.decoders);
        self.known.push(known);
        batch.blocks.push(variants);
        place
    }

    /// Continues the open block with the one at `place`, a conditional jump alone, if they follow
    /// each other and may fuse. QEMU cuts blocks of many operations anywhere, and each version
    /// elsewhere; what a processor does, does not depend on that.
    fn joins(&mut self, place: u32, batch: &mut Batch) -> bool {
        let Some(first) = self.open.as_ref().map(|open| open.index) else { return false };
        let (one, other) = (&self.known[first as usize], &self.known[place as usize]);
        let (Some(def), Some(jump)) = (&one.open_end, &other.jump) else { return false };
        if def.end() != other.block.addr || def.lens.len() == BlockDef::MAX_INSNS {
            return false;
        }
        let both = match self.joined.get(&(first, place)) {
            Some(&both) => both,
            None => {
                let mut def = (**def).clone();
                def.lens.push(jump.len() as u8);
                def.bytes.extend_from_slice(jump);
                let both = self.know(one.id, def, batch);
                self.joined.insert((first, place), both);
                both
            }
        };
        if let Some(open) = &mut self.open {
            open.index = both;
        }
        true
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
        let Some(&place) = self.places.get(id as usize) else {
            return Err(broken("a block that was never described"));
        };
        let known = &self.known[place as usize];
        let addr = known.block.addr;
        let operands = known.block.mem_operands.len();
        let continues = known.repeats != 0 && known.repeats == self.repeating;
        let instructions = if continues { 0 } else { known.instructions };
        let watched = known.watched;
        self.repeating = known.ends_with_repeat;
        if continues && self.open.as_ref().is_some_and(|open| open.index == place) {
            return Ok(());
        }
        if known.jump.is_some() && self.joins(place, batch) {
            planner.extend(instructions);
            return Ok(());
        }
        let open = self.open.as_ref().map(|open| &self.known[open.index as usize]);
        let goes_on = open.is_some_and(|open| open.goes_on == addr);
        self.close(addr, batch);
        if watched {
            self.watched(place, planner, batch);
        }
        if goes_on {
            planner.extend(instructions);
        } else {
            planner.advance(instructions, &mut batch.items);
        }
        let first_address = batch.addresses.len();
        batch.addresses.resize(first_address + operands, NO_ADDRESS);
        self.open = Some(Open { index: place, first_address, first_value: batch.values.len() });
        Ok(())
    }

    /// Region-of-interest markers take effect at the start of their block.
    #[cold]
    fn watched(&mut self, place: u32, planner: &mut Planner, batch: &mut Batch) {
        let known = &mut self.known[place as usize];
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
        let callers = self.known.iter().zip(1..).filter(|(known, _)| known.calls_allocator);
        callers
            .map(|(known, number)| {
                let addr = known.block.branch.addr;
                let object = self.objects.of(known.id, addr).cloned();
                Caller { number, addr, code: known.call.clone(), object }
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
    fn memory(&mut self, insn: u16, store: bool, addr: u64, batch: &mut Batch) {
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
            let held = batch.addresses.len() - open.first_address;
            if held >= REPEATS_MOST && held.is_multiple_of(block.mem_operands.len()) {
                self.repeat(batch);
                return self.memory(0, store, addr, batch);
            }
            batch.addresses.push(addr);
        } else {
            self.extra_accesses += 1;
        }
    }

    /// Divides an execution of a repeated string instruction, before its addresses become too many.
    #[cold]
    fn repeat(&mut self, batch: &mut Batch) {
        let Some(index) = self.open.as_ref().map(|open| open.index) else { return };
        let block = &self.known[index as usize].block;
        let (addr, operands) = (block.addr, block.mem_operands.len());
        self.close(addr, batch);
        let first_address = batch.addresses.len();
        batch.addresses.resize(first_address + operands, NO_ADDRESS);
        self.open = Some(Open { index, first_address, first_value: batch.values.len() });
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
