//! Decodes the bytes of a block into uops.

use iced_x86::{
    Decoder as Bytes, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic,
    OpKind, Register,
};
use stream::BlockDef;
use stream::marker;

use crate::emit::{self, Emitted};
use crate::family::{Family, ports};
use crate::fuse;
use crate::key::{Key, Prefix};
use crate::operands::{Context, Operands, is_prefetch, uses_stack_engine};
use crate::table::InstructionTable;
use crate::uop::{Block, Branch, BranchKind, DecodeClass, Insn, Reg, Uop, UopFlags, UopKind};

/// Decodes blocks for one core family.
#[derive(Clone, Debug)]
pub struct Decoder {
    table: InstructionTable,
    /// Line size of the instruction cache in bytes.
    line: u64,
}

/// An instruction of the block before its uops are generated.
struct Item {
    insn: Instruction,
    offset: u16,
    len: u8,
    has_immediate: bool,
    imm_bytes: u8,
    before_opcode: u8,
}

impl Decoder {
    /// The instructions of a block that count in [`Block::unknown`], by mnemonic and number of
    /// bytes; markers are none.
    pub fn unknown(&self, def: &BlockDef) -> Vec<String> {
        let mut factory = InstructionInfoFactory::new();
        let mut context = Context::default();
        let mut name = |item: &Item| {
            if item.insn.is_invalid() {
                return Some("bytes that are not a valid instruction".to_owned());
            }
            let operands = Operands::of(&item.insn, &mut factory, &mut context);
            let key = Key::of(&item.insn, item.has_immediate);
            let unknown = emit::emit(&self.table, &item.insn, key, &operands).unknown;
            unknown.then(|| format!("{:?}", item.insn.mnemonic()).to_lowercase())
        };
        split(def).iter().filter_map(&mut name).collect()
    }

    /// A decoder for a family whose instruction cache has lines of `line` bytes.
    pub fn new(family: &'static Family, line: u64) -> Decoder {
        Decoder { table: InstructionTable::of(family), line }
    }

    /// Decodes a block. Bytes that are not a valid instruction become a one-cycle uop, counted in
    /// [`Block::unknown`].
    pub fn block(&self, def: &BlockDef) -> Block {
        let items = split(def);
        let mut block = empty_block(def, &items);
        let marked = mark(def, &items, &mut block);
        let mut factory = InstructionInfoFactory::new();
        let mut context = Context::default();
        for (i, item) in items.iter().enumerate() {
            let operands = Operands::of(&item.insn, &mut factory, &mut context);
            let key = Key::of(&item.insn, item.has_immediate);
            let fused = i > 0
                && !marked[i]
                && !marked[i - 1]
                && !block.insns[i - 1].fused_with_previous
                && fuse::macro_fuses(&items[i - 1].insn, &item.insn, self.line);
            let mut emitted = if item.insn.is_invalid() {
                emit::invalid()
            } else {
                emit::emit(&self.table, &item.insn, key, &operands)
            };
            block.unknown += u16::from(emitted.unknown);
            if fused {
                fuse_branch(&mut block, i);
                emitted.uops.clear();
            }
            let last = i + 1 == items.len();
            let mut insn = self.describe(item, key, &operands, &emitted);
            insn.fused_with_previous = fused;
            insn.marker = marked[i];
            if marked[i] {
                insn.fused_uops = 0;
            }
            push(&mut block, insn, i as u16, emitted, &operands, &item.insn, last);
        }
        block.insn_count = block.insns.iter().filter(|i| !i.marker).count() as u16;
        block
    }

    /// The static properties of an instruction that its uops do not contain.
    fn describe(&self, item: &Item, key: Key, operands: &Operands, emitted: &Emitted) -> Insn {
        let insn = &item.insn;
        let fused_uops =
            emitted.uops.iter().filter(|u| !u.flags.has(UopFlags::FUSED)).count().min(255) as u8;
        let rep = key.prefix == Prefix::Rep || key.prefix == Prefix::Repne;
        let engine = uses_stack_engine(insn);
        let class = match fused_uops {
            0 | 1 if restricted(insn).is_none() => DecodeClass::Simple,
            0..=4 => DecodeClass::Complex,
            _ => DecodeClass::Microcoded,
        };
        let decoders = self.table.family().decoders;
        let others = decoders.saturating_sub(1);
        let beside = match class {
            DecodeClass::Simple => others,
            DecodeClass::Complex => {
                decoders.saturating_sub(fused_uops).min(restricted(insn).unwrap_or(others))
            }
            DecodeClass::Microcoded => 0,
        };
        Insn {
            offset: item.offset,
            len: item.len,
            fused_uops,
            class,
            lcp: has_lcp(item),
            fused_with_previous: false,
            marker: false,
            rep,
            wide_immediate: item.imm_bytes == 8,
            first_uop: 0,
            uops: 0,
            first_mem_operand: 0,
            mem_operands: 0,
            stack_delta: if engine { insn.stack_pointer_increment() as i16 } else { 0 },
            reads_rsp: operands.reads_rsp,
            writes_rsp: operands.writes_rsp,
            decoders_beside: beside,
            opcode_offset: item.before_opcode,
            macro_fusible: fuse::is_fusible(insn),
            rep_startup: if rep { self.startup(key) } else { 0 },
        }
    }

    /// Start-up cycles of a repeated string instruction with a short string, from the table.
    fn startup(&self, key: Key) -> u8 {
        self.table.exact(key).map_or(0, |row| row.cycles.round().min(255.0) as u8)
    }
}

/// The instructions of a block. Their lengths come from the block; an instruction whose decoded
/// length differs is invalid.
fn split(def: &BlockDef) -> Vec<Item> {
    let mut items = Vec::with_capacity(def.lens.len());
    let mut offset = 0usize;
    for &len in def.lens.iter().take(BlockDef::MAX_INSNS) {
        let end = (offset + usize::from(len)).min(def.bytes.len());
        let code = &def.bytes[offset.min(end)..end];
        let ip = def.addr.wrapping_add(offset as u64);
        let mut decoder = Bytes::with_ip(64, code, ip, DecoderOptions::NONE);
        let mut insn = decoder.decode();
        if insn.len() != usize::from(len) {
            insn = Instruction::default();
        }
        let offsets = decoder.get_constant_offsets(&insn);
        items.push(Item {
            insn,
            offset: offset as u16,
            len,
            has_immediate: offsets.has_immediate(),
            imm_bytes: offsets.immediate_size() as u8,
            before_opcode: before_opcode(code),
        });
        offset = end;
    }
    items
}

/// Bytes before the opcode proper: prefixes, REX, and the escapes `0f`, `0f 38`, `0f 3a` or the VEX
/// prefix that encodes them.
fn before_opcode(code: &[u8]) -> u8 {
    let legacy =
        |b: &&u8| matches!(**b, 0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3);
    let prefixes = code.iter().take_while(legacy).count();
    let rex = code.get(prefixes).is_some_and(|b| b & 0xf0 == 0x40);
    let n = prefixes + usize::from(rex);
    let escape = match code.get(n..).unwrap_or(&[]) {
        [0x0f, 0x38 | 0x3a, ..] | [0xc5, ..] => 2,
        [0x0f, ..] => 1,
        [0xc4, ..] => 3,
        _ => 0,
    };
    (n + escape) as u8
}

fn empty_block(def: &BlockDef, items: &[Item]) -> Block {
    Block {
        id: def.id,
        addr: def.addr,
        len: def.bytes.len() as u16,
        insns: Vec::with_capacity(items.len()),
        uops: Vec::with_capacity(items.len() * 2),
        mem_operands: Vec::new(),
        markers: Vec::new(),
        branch: branch(def, items),
        insn_count: 0,
        unknown: 0,
    }
}

/// Finds the markers; returns for each instruction whether it belongs to one.
fn mark(def: &BlockDef, items: &[Item], block: &mut Block) -> Vec<bool> {
    let mut marked = vec![false; items.len()];
    let code = items.iter().map(|item| {
        let start = usize::from(item.offset);
        def.bytes.get(start..start + usize::from(item.len)).unwrap_or(&[])
    });
    block.markers = marker::scan(code).0;
    for site in &block.markers {
        let first = usize::from(site.insn);
        for m in marked.iter_mut().skip(first).take(1 + site.op.operands()) {
            *m = true;
        }
    }
    marked
}

fn branch(def: &BlockDef, items: &[Item]) -> Branch {
    let next = def.addr.wrapping_add(def.bytes.len() as u64);
    let Some(item) = items.last() else {
        return Branch { kind: BranchKind::None, addr: def.addr, target: 0, next };
    };
    let insn = &item.insn;
    let kind = match (insn.mnemonic(), insn.flow_control()) {
        (Mnemonic::Syscall | Mnemonic::Sysenter, _) => BranchKind::Syscall,
        (_, FlowControl::UnconditionalBranch) => BranchKind::Jump,
        (_, FlowControl::IndirectBranch) => BranchKind::IndirectJump,
        (_, FlowControl::ConditionalBranch) => BranchKind::Conditional,
        (_, FlowControl::Return) => BranchKind::Return,
        (Mnemonic::Call, FlowControl::Call) => BranchKind::Call,
        (_, FlowControl::IndirectCall) => BranchKind::IndirectCall,
        _ => BranchKind::None,
    };
    let direct = matches!(kind, BranchKind::Jump | BranchKind::Conditional | BranchKind::Call);
    let target = if direct { insn.near_branch_target() } else { 0 };
    Branch { kind, addr: def.addr.wrapping_add(u64::from(item.offset)), target, next }
}

/// A length-changing prefix: 66h with a two-byte immediate, or 67h where it alters the length of
/// the address (Intel optimisation manual 3.4.2.3; in 64-bit mode only the moffs forms of `mov`).
fn has_lcp(item: &Item) -> bool {
    let wide =
        matches!(item.insn.op_kind(item.insn.op_count().saturating_sub(1)), OpKind::Immediate16);
    wide && item.insn.op_count() > 0
        && !matches!(item.insn.mnemonic(), Mnemonic::Ret | Mnemonic::Enter)
}

/// Instructions that only the first decoder accepts, regardless of their number of fused uops, and
/// how many other decoders can work in the same cycle. Determined from decode-bound blocks of the
/// BHive measurements: `setcc` takes two cycles with three other instructions and one with two;
/// `setcc` to memory, register bit tests, sign extensions of the accumulator and `pop r12` always
/// take a decode cycle of their own.
fn restricted(insn: &Instruction) -> Option<u8> {
    use Mnemonic::*;
    match insn.mnemonic() {
        Bt | Bts | Btr | Btc | Cdqe | Cwde | Cbw => Some(0),
        Shl | Shr | Sar | Sal | Rol | Ror
            if insn.op_count() == 2 && insn.op1_kind() == OpKind::Register =>
        {
            Some(0)
        }
        // Shares its encoding with `pop rsp`.
        Pop if matches!(insn.op0_register(), Register::RSP | Register::R12) => Some(0),
        Seta | Setae | Setb | Setbe | Sete | Setg | Setge | Setl | Setle | Setne | Setno
        | Setnp | Setns | Seto | Setp | Sets => {
            Some(if insn.op0_kind() == OpKind::Memory { 0 } else { 2 })
        }
        _ => None,
    }
}

/// Turns the last uop of instruction `at - 1` into the branch of a macro-fused pair.
fn fuse_branch(block: &mut Block, at: usize) {
    let first = block.insns[at - 1];
    let range =
        usize::from(first.first_uop)..usize::from(first.first_uop) + usize::from(first.uops);
    if let Some(uop) = block.uops[range].iter_mut().rev().find(|u| u.kind == UopKind::Exec) {
        uop.ports = ports::BRANCH;
        uop.latency = 1;
        uop.flags.0 = uop.flags.0 & !UopFlags::RENAMED | UopFlags::BRANCH;
    }
}

fn push(
    block: &mut Block,
    mut insn: Insn,
    index: u16,
    mut emitted: Emitted,
    operands: &Operands,
    code: &Instruction,
    last: bool,
) {
    let operand_base = block.mem_operands.len() as u16;
    insn.first_uop = block.uops.len() as u16;
    insn.first_mem_operand = operand_base;
    insn.mem_operands = emitted.mem_operands.len() as u8;
    if !insn.fused_with_previous {
        for n in (0..4).rev().filter(|n| operands.merges & (1 << n) != 0) {
            emitted.uops.insert(0, emit::merge_uop(n));
        }
        flag(&mut emitted.uops, code);
        if let Some(uop) = emitted.uops.first_mut() {
            uop.flags.0 |= UopFlags::FIRST;
        }
        if let Some(uop) = emitted.uops.last_mut() {
            uop.flags.0 |= UopFlags::LAST;
        }
    }
    insn.uops = emitted.uops.len() as u8;
    for mut uop in emitted.uops {
        uop.insn = index;
        if uop.mem_operand != Uop::NO_OPERAND {
            uop.mem_operand += operand_base;
        }
        block.uops.push(uop);
    }
    for mut operand in emitted.mem_operands {
        operand.insn = index;
        block.mem_operands.push(operand);
    }
    block.insns.push(insn);
    if last && block.branch.kind != BranchKind::None && !insn.fused_with_previous {
        let start = usize::from(insn.first_uop);
        if let Some(uop) = block.uops[start..].iter_mut().rev().find(|u| u.kind == UopKind::Exec) {
            uop.flags.0 |= UopFlags::BRANCH;
        }
    }
}

/// Flags that follow from the instruction: fences, serialisation, prefetches.
fn flag(uops: &mut [Uop], code: &Instruction) {
    use Mnemonic::*;
    let memory = (0..code.op_count()).any(|i| code.op_kind(i) == OpKind::Memory);
    let locked = code.has_lock_prefix() || (code.mnemonic() == Xchg && memory);
    if (locked || code.mnemonic() == Mfence)
        && let Some(first) = uops.first_mut()
    {
        first.flags.0 |= UopFlags::FENCE;
    }
    let all = match code.mnemonic() {
        Cpuid | Syscall | Sysenter | Lfence | Iretq | Iretd | Wbinvd | Invd | Wrmsr | Int3
        | Int => UopFlags::SERIALIZE,
        m if is_prefetch(m) => UopFlags::PREFETCH,
        _ => 0,
    };
    for uop in uops.iter_mut() {
        uop.flags.0 |= all;
        if all & UopFlags::PREFETCH != 0 {
            uop.dsts = [Reg::NONE; 3];
        }
    }
}
