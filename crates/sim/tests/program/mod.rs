//! A made-up program with a made-up allocator: packets as a feeder would send them, with free lists
//! maintained by the test, so that every marker value is known.
#![allow(dead_code)]

use std::collections::VecDeque;

use stream::event;
use stream::marker::{MAGIC, MarkerOp, SLOT};
use stream::{BlockDef, CallKind, Packet, Source, StreamError};

const RAX: u8 = 0;
const RDX: u8 = 2;
const RSI: u8 = 6;
const RDI: u8 = 7;
const R9: u8 = 9;

/// Addresses of the allocator's table, its list heads and the objects.
const TABLE: u64 = 0x50_0000;
const HEADS: u64 = 0x51_0000;
const OBJECTS: u64 = 0x60_0000;
const STACK: u64 = 0x7f_0000;

/// A marker's machine code.
fn marker(op: MarkerOp, regs: &[u8]) -> Vec<Vec<u8>> {
    let first = regs.first().copied().unwrap_or(RAX);
    let mut carrier = if first >= 8 { vec![0x41] } else { vec![] };
    carrier.extend([0x0f, 0x1f, 0x80 | (first & 7)]);
    carrier.extend((MAGIC + u32::from(op.code())).to_le_bytes());
    let mut code = vec![carrier];
    for reg in regs {
        let mut store = vec![0x48 | ((reg >> 3) << 2), 0x89, 0x84 | ((reg & 7) << 3), 0x24];
        store.extend(SLOT.to_le_bytes());
        code.push(store);
    }
    code
}

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|b| u8::from_str_radix(b, 16).unwrap()).collect()
}

/// Blocks of the program, in order of their numbers.
pub struct Code {
    pub blocks: Vec<BlockDef>,
}

/// Numbers of the blocks.
pub const CALL_MALLOC: u32 = 0;
pub const MALLOC: u32 = 1;
pub const MALLOC_POPPED: u32 = 2;
pub const CALL_FREE: u32 = 3;
pub const FREE: u32 = 4;
pub const WORK: u32 = 5;

impl Code {
    fn block(&mut self, addr: u64, insns: Vec<Vec<u8>>) {
        let id = self.blocks.len() as u32;
        let lens = insns.iter().map(|c| c.len() as u8).collect();
        self.blocks.push(BlockDef { id, addr, lens, bytes: insns.concat() });
    }

    fn call(at: u64, target: u64) -> Vec<u8> {
        let mut code = vec![0xe8];
        code.extend(((target as i64 - at as i64 - 5) as i32).to_le_bytes());
        code
    }

    pub fn new() -> Self {
        let mut code = Self { blocks: Vec::new() };
        let (malloc, free) = (0x41_0000, 0x42_0000);
        code.block(0x40_0000, vec![Self::call(0x40_0000, malloc)]);
        let mut entry = marker(MarkerOp::CallBegin(CallKind::Malloc), &[RDI]);
        entry.extend(marker(MarkerOp::Lookup, &[RDI]));
        entry.push(hex("8d 47 07")); // lea eax,[rdi+7]
        entry.push(hex("c1 e8 03")); // shr eax,3
        entry.push(hex("0f b6 34 03")); // movzx esi,byte [rbx+rax]
        entry.push(hex("48 8b 14 f3")); // mov rdx,[rbx+rsi*8]
        entry.extend(marker(MarkerOp::Update, &[RDI, RDX, RSI]));
        entry.extend(marker(MarkerOp::Sample, &[RDX]));
        entry.push(hex("48 8b 45 10")); // mov rax,[rbp+16]
        entry.push(hex("48 29 d0")); // sub rax,rdx
        entry.push(hex("48 89 45 10")); // mov [rbp+16],rax
        entry.extend(marker(MarkerOp::SampleEnd, &[]));
        entry.push(hex("48 8d 4c f5 30")); // lea rcx,[rbp+rsi*8+48]
        entry.extend(marker(MarkerOp::Pop, &[RSI]));
        entry.push(hex("48 8b 01")); // mov rax,[rcx]
        entry.push(hex("48 85 c0")); // test rax,rax
        entry.push(hex("74 40")); // je slow
        code.block(malloc, entry);
        let popped_at = code.blocks[1].end();
        let mut popped = vec![hex("4c 8b 08")]; // mov r9,[rax]
        popped.extend(marker(MarkerOp::PopEnd, &[RAX, R9]));
        popped.push(hex("4c 89 09")); // mov [rcx],r9
        popped.extend(marker(MarkerOp::Prefetch, &[RSI, RAX, R9]));
        popped.extend(marker(MarkerOp::CallEnd, &[RAX]));
        popped.push(hex("c3"));
        code.block(popped_at, popped);
        code.block(0x40_0005, vec![hex("48 89 c7"), Self::call(0x40_0008, free)]);
        let mut release = marker(MarkerOp::CallBegin(CallKind::Free), &[RDI]);
        release.extend(marker(MarkerOp::Push, &[RSI, RDI]));
        release.push(hex("4c 8b 09")); // mov r9,[rcx]
        release.push(hex("4c 89 0f")); // mov [rdi],r9
        release.push(hex("48 89 39")); // mov [rcx],rdi
        release.extend(marker(MarkerOp::CallEnd, &[RDI]));
        release.push(hex("c3"));
        code.block(free, release);
        // Ten dependent additions, a load, and back to the start.
        let mut work = vec![hex("48 01 c0"); 10];
        work.push(hex("48 8b 07"));
        let at = 0x40_000d;
        let after = at + 33 + 5;
        let mut back = vec![0xe9];
        back.extend(((0x40_0000i64 - after as i64) as i32).to_le_bytes());
        work.push(back);
        code.block(at, work);
        code
    }
}

/// Events of the program.
pub struct Program {
    code: Code,
    lists: Vec<VecDeque<u64>>,
    events: Vec<u64>,
    /// The pop that reports a wrong object.
    pub lie_at: Option<u64>,
    pops: u64,
    described: bool,
}

impl Program {
    pub fn new() -> Self {
        let lists = (0..8u64)
            .map(|class| (0..32).map(|i| OBJECTS + class * 0x1_0000 + i * 64).collect())
            .collect();
        Self {
            code: Code::new(),
            lists,
            events: Vec::new(),
            lie_at: None,
            pops: 0,
            described: false,
        }
    }

    fn enter(&mut self, block: u32) {
        self.events.push(event::block(block));
    }

    /// A memory access of the `n`-th instruction with a memory operand, markers excluded.
    fn access(&mut self, block: u32, n: usize, store: bool, addr: u64) {
        let def = &self.code.blocks[block as usize];
        let plain = def.insns().enumerate().filter(|(_, (_, c))| touches_memory(c));
        let insn = plain.map(|(i, _)| i).nth(n).unwrap();
        self.events.push(event::mem(insn as u16, store, 3, addr));
    }

    fn values(&mut self, values: &[u64]) {
        for &value in values {
            self.events.extend([event::value(0), value]);
        }
    }

    fn malloc(&mut self, class: u64) -> u64 {
        let size = class * 16 + 16;
        let list = &mut self.lists[class as usize];
        let object = list.pop_front().unwrap();
        let next = list.front().copied().unwrap_or(0);
        let after = list.get(1).copied().unwrap_or(0);
        self.pops += 1;
        let head = if self.lie_at == Some(self.pops) { object + 16 } else { object };
        self.enter(CALL_MALLOC);
        self.access(CALL_MALLOC, 0, true, STACK);
        self.enter(MALLOC);
        self.values(&[size, size, size, size, class, size, class]);
        self.access(MALLOC, 0, false, TABLE + size / 8);
        self.access(MALLOC, 1, false, TABLE + 0x800 + class * 8);
        self.access(MALLOC, 2, false, HEADS + 0x800);
        self.access(MALLOC, 3, true, HEADS + 0x800);
        self.access(MALLOC, 4, false, HEADS + class * 64);
        self.enter(MALLOC_POPPED);
        self.access(MALLOC_POPPED, 0, false, object);
        self.values(&[head, next, class, object, next, after, object]);
        self.access(MALLOC_POPPED, 1, true, HEADS + class * 64);
        self.access(MALLOC_POPPED, 2, false, STACK);
        object
    }

    fn free(&mut self, class: u64, object: u64) {
        self.enter(CALL_FREE);
        self.access(CALL_FREE, 0, true, STACK);
        self.enter(FREE);
        self.values(&[object, class, object, object]);
        self.access(FREE, 0, false, HEADS + class * 64);
        self.access(FREE, 1, true, object);
        self.access(FREE, 2, true, HEADS + class * 64);
        self.access(FREE, 3, false, STACK);
        self.lists[class as usize].push_front(object);
    }

    fn work(&mut self) {
        self.enter(WORK);
        self.access(WORK, 0, false, OBJECTS);
    }

    /// One iteration: an allocation from a class, its release, some work.
    pub fn round(&mut self, class: u64) {
        let object = self.malloc(class);
        self.free(class, object);
        self.work();
    }

    /// The whole program: classes come from a small linear congruential generator.
    pub fn packets(mut self, rounds: u64, classes: u64) -> Packets {
        let mut packets = VecDeque::new();
        let mut state = 1u64;
        for round in 0..rounds {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            self.round((state >> 33) % classes);
            if round % 100 == 99 {
                packets.push_back(self.packet());
            }
        }
        packets.push_back(self.packet());
        Packets(packets)
    }

    fn packet(&mut self) -> Packet {
        // Blocks are described once, in the first packet.
        let blocks = if self.described { Vec::new() } else { self.code.blocks.clone() };
        self.described = true;
        Packet { blocks, events: std::mem::take(&mut self.events), ..Packet::default() }
    }
}

/// Whether an instruction other than a marker's accesses memory: it pushes or pops a return
/// address, or has a memory operand.
fn touches_memory(code: &[u8]) -> bool {
    if stream::marker::carrier(code).is_some() || stream::marker::operand_store(code).is_some() {
        return false;
    }
    match code {
        [0xe8, ..] | [0xc3] => true,
        [0x48 | 0x4c, 0x8b | 0x89, modrm, ..] => modrm >> 6 != 3,
        [0x0f, 0xb6, ..] => true,
        _ => false,
    }
}

/// Packets from memory.
#[derive(Clone)]
pub struct Packets(pub VecDeque<Packet>);

impl Source for Packets {
    fn next(&mut self, packet: &mut Packet) -> Result<bool, StreamError> {
        let Some(next) = self.0.pop_front() else { return Ok(false) };
        *packet = next;
        Ok(true)
    }
}
