//! Helpers shared by the tests.
#![allow(dead_code, missing_docs)]

use iced_x86::{Decoder as Bytes, DecoderOptions};
use mallacc_decode::{Block, Decoder, Family, Reg, Uop, UopFlags, UopKind};
use stream::BlockDef;

/// Address of every test block, at the start of a line.
pub const BASE: u64 = 0x40_0000;

/// Bytes of a line.
pub const LINE: u64 = 64;

pub fn haswell() -> &'static Family {
    Family::find("haswell").unwrap()
}

pub fn decoder() -> Decoder {
    Decoder::new(haswell(), LINE)
}

pub fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    assert!(digits.len().is_multiple_of(2), "whole bytes: {hex}");
    digits.chunks(2).map(|p| p[0] << 4 | p[1]).collect()
}

pub fn def_at(addr: u64, code: &[u8]) -> BlockDef {
    let lens = Bytes::with_ip(64, code, addr, DecoderOptions::NONE)
        .iter()
        .map(|i| i.len() as u8)
        .collect();
    BlockDef { id: 7, addr, lens, bytes: code.to_vec() }
}

pub fn block(hex: &str) -> Block {
    decoder().block(&def_at(BASE, &bytes(hex)))
}

fn name(reg: Reg) -> String {
    const GPR: [&str; 16] = [
        "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
        "r13", "r14", "r15",
    ];
    match reg.0 {
        n @ 0..=15 => GPR[usize::from(n)].to_string(),
        n @ 16..=31 => format!("v{}", n - 16),
        n @ 32..=39 => format!("x{}", n - 32),
        n @ 40..=43 => ["ah", "ch", "dh", "bh"][usize::from(n - 40)].to_string(),
        44 => "cf".to_string(),
        45 => "spazo".to_string(),
        46 => "status".to_string(),
        47 => "fs".to_string(),
        n => format!("t{}", n - 48),
    }
}

/// One uop as text: kind, ports, latency unless 0 or 1, busy, results, sources, marks.
pub fn show(uop: &Uop) -> String {
    let ports: String =
        (0..8).filter(|n| uop.ports & (1 << n) != 0).map(|n| n.to_string()).collect();
    let mut text = match uop.kind {
        UopKind::Exec if uop.ports == 0 => "none".to_string(),
        UopKind::Exec => format!("p{ports}"),
        UopKind::Load => format!("load p{ports}"),
        UopKind::StoreAddress => format!("sta p{ports}"),
        UopKind::StoreData => format!("std p{ports}"),
    };
    if uop.latency > 1 {
        text += &format!(" lat{}", uop.latency);
    }
    if uop.busy > 0 {
        text += &format!(" busy{}", uop.busy);
    }
    let list = |regs: &[Reg]| {
        let mut names: Vec<String> =
            regs.iter().filter(|&&r| r != Reg::NONE).map(|&r| name(r)).collect();
        names.sort();
        names.join(" ")
    };
    text += &format!(" {} <- {}", list(&uop.dsts), list(&uop.srcs));
    for (bit, mark) in [
        (UopFlags::FUSED, "+fused"),
        (UopFlags::UNLAMINATED, "+split"),
        (UopFlags::MOVE, "+move"),
        (UopFlags::INDEXED, "+indexed"),
        (UopFlags::BRANCH, "+branch"),
        (UopFlags::FENCE, "+fence"),
        (UopFlags::PREFETCH, "+prefetch"),
        (UopFlags::MERGE, "+merge"),
    ] {
        if uop.flags.has(bit) {
            text += &format!(" {mark}");
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The uops of a block as text.
pub fn uops(hex: &str) -> Vec<String> {
    block(hex).uops.iter().map(show).collect()
}

/// Checks the invariants of every block.
pub fn check(block: &Block) {
    let mut next_uop = 0;
    let mut next_operand = 0;
    for (i, insn) in block.insns.iter().enumerate() {
        assert_eq!(
            (insn.first_uop, insn.first_mem_operand),
            (next_uop, next_operand),
            "instruction {i}"
        );
        next_uop += u16::from(insn.uops);
        next_operand += u16::from(insn.mem_operands);
        let uops = &block.uops[usize::from(insn.first_uop)..usize::from(next_uop)];
        check_marks(block, i, uops);
        let mut store = false;
        for operand in
            &block.mem_operands[usize::from(insn.first_mem_operand)..usize::from(next_operand)]
        {
            assert_eq!(usize::from(operand.insn), i);
            assert!(operand.store || !store, "loads before stores, instruction {i}");
            store = operand.store;
        }
        for uop in uops {
            check_uop(block, i, uop);
        }
    }
    assert_eq!(usize::from(next_uop), block.uops.len());
    assert_eq!(usize::from(next_operand), block.mem_operands.len());
    let counted = block.insns.iter().filter(|i| !i.marker).count();
    assert_eq!(usize::from(block.insn_count), counted);
}

fn check_marks(block: &Block, i: usize, uops: &[Uop]) {
    let insn = &block.insns[i];
    if insn.fused_with_previous {
        assert_eq!((insn.uops, insn.fused_uops), (0, 0), "second of a pair, instruction {i}");
        return;
    }
    assert!(!uops.is_empty(), "instruction {i} has uops");
    for (k, uop) in uops.iter().enumerate() {
        assert_eq!(uop.flags.has(UopFlags::FIRST), k == 0, "first, instruction {i}");
        assert_eq!(uop.flags.has(UopFlags::LAST), k + 1 == uops.len(), "last, instruction {i}");
    }
    assert!(!uops[0].flags.has(UopFlags::FUSED), "nothing before it to fuse with");
    let slots = uops
        .iter()
        .filter(|u| !u.flags.has(UopFlags::FUSED) && !u.flags.has(UopFlags::MERGE))
        .count();
    if !insn.marker {
        assert_eq!(slots, usize::from(insn.fused_uops), "slots of instruction {i}");
    }
}

fn check_uop(block: &Block, i: usize, uop: &Uop) {
    assert_eq!(usize::from(uop.insn), i);
    let memory = uop.kind != UopKind::Exec && !uop.flags.has(UopFlags::STORE_FENCE);
    assert_eq!(
        uop.mem_operand != Uop::NO_OPERAND,
        memory,
        "memory uops have an operand, instruction {i}"
    );
    if memory {
        let operand = &block.mem_operands[usize::from(uop.mem_operand)];
        assert_eq!(usize::from(operand.insn), i);
        assert_eq!(operand.store, uop.kind != UopKind::Load);
    }
    assert_eq!(uop.ports == 0, uop.flags.has(UopFlags::NO_EXEC), "instruction {i}");
    for reg in uop.srcs.iter().chain(&uop.dsts) {
        assert!(usize::from(reg.0) < Reg::COUNT);
    }
    if uop.flags.has(UopFlags::UNLAMINATED) {
        assert!(uop.flags.has(UopFlags::FUSED));
    }
}
