//! Properties of whole blocks: fusion, decoders, markers, ends, invalid bytes.

use crate::common;

use crate::common::{BASE, block, bytes, def_at, show};
use mallacc_decode::{BranchKind, DecodeClass, UopFlags};
use stream::marker::{MAGIC, MarkerOp};

/// Whether `first` followed by a conditional jump of this condition code fuses.
fn fuses(first: &str, condition: u8) -> bool {
    let b = block(&format!("{first} {:02x}00", 0x70 + condition));
    assert_eq!(b.insns.len(), 2);
    b.insns[1].fused_with_previous
}

#[test]
fn macro_fusion_depends_on_the_condition() {
    // Conditions in encoding order: o no b ae e ne be a s ns p np l ge le g.
    // Intel optimisation manual 2.4.2.1.
    let all = 0xffffu32;
    let arithmetic = 0b1111_0000_1111_1100;
    let no_carry = 0b1111_0000_0011_0000;
    for (name, first, set) in [
        ("test rax,rbx", "4885d8", all),
        ("and rax,rbx", "4821d8", all),
        ("cmp rax,rbx", "4839d8", arithmetic),
        ("cmp eax,[rbx]", "3b03", arithmetic),
        ("cmp [rbx],eax", "3903", arithmetic),
        ("cmp eax,5", "83f805", arithmetic),
        ("add rax,rbx", "4801d8", arithmetic),
        ("sub rax,rbx", "4829d8", arithmetic),
        ("inc rax", "48ffc0", no_carry),
        ("dec rax", "48ffc8", no_carry),
        ("cmp dword [rbx],5", "833b05", 0),
        ("cmp dword [rip],5", "833d0000000005", 0),
        ("add [rbx],eax", "0103", 0),
        ("or rax,rbx", "4809d8", 0),
        ("neg rax", "48f7d8", 0),
    ] {
        for condition in 0..16 {
            assert_eq!(fuses(first, condition), set >> condition & 1 == 1, "{name} {condition}");
        }
    }
}

#[test]
fn a_fused_pair_is_one_uop_with_the_branch() {
    let b = block("4839d8 7510");
    assert_eq!(b.uops.iter().map(show).collect::<Vec<_>>(), ["p06 cf spazo <- rax rbx +branch"]);
    assert_eq!((b.insns[0].fused_uops, b.insns[1].fused_uops), (1, 0));
    assert_eq!(b.branch.kind, BranchKind::Conditional);
    assert_eq!(b.branch.addr, BASE + 3);
    assert_eq!(b.branch.target, BASE + 5 + 0x10);
    assert_eq!(b.branch.next, BASE + 5);
    assert_eq!(b.insn_count, 2);
    let memory = block("3b03 7500");
    assert_eq!(
        memory.uops.iter().map(show).collect::<Vec<_>>(),
        ["load p23 t0 <- rbx", "p06 cf spazo <- rax t0 +fused +branch"]
    );
}

#[test]
fn a_pair_across_lines_does_not_fuse() {
    let code = bytes("4839d8 7500");
    // The jump starts where a line of 64 bytes starts.
    let across = common::decoder().block(&def_at(BASE + 64 - 3, &code));
    assert!(!across.insns[1].fused_with_previous);
    let inside = common::decoder().block(&def_at(BASE + 64 - 4, &code));
    assert!(inside.insns[1].fused_with_previous);
}

#[test]
fn decoders_are_chosen_by_slots_and_by_instruction() {
    let class = |hex: &str| (block(hex).insns[0].class, block(hex).insns[0].decoders_beside);
    assert_eq!(class("4801d8"), (DecodeClass::Simple, 3), "add");
    // Four slots in all in a cycle: a two-slot instruction leaves two.
    assert_eq!(class("480f44c3"), (DecodeClass::Complex, 2), "cmove, 2 slots");
    assert_eq!(class("480f47c3"), (DecodeClass::Complex, 1), "cmova, 3 slots");
    assert_eq!(class("48d3e0"), (DecodeClass::Complex, 0), "shl by cl");
    assert_eq!(class("0f94c0"), (DecodeClass::Complex, 2), "setcc");
    assert_eq!(class("0f9407"), (DecodeClass::Complex, 0), "setcc to memory");
    assert_eq!(class("4898"), (DecodeClass::Complex, 0), "cdqe");
    assert_eq!(class("0fbae003"), (DecodeClass::Complex, 0), "bt");
    assert_eq!(class("f7f1"), (DecodeClass::Microcoded, 0), "div");
    assert_eq!(class("415c"), (DecodeClass::Complex, 0), "pop r12, the encoding of pop rsp");
    assert_eq!(class("5b"), (DecodeClass::Simple, 3), "pop rbx");
    assert_eq!(block("4801d8").insns[0].opcode_offset, 1, "REX");
    assert_eq!(block("66490fafc3").insns[0].opcode_offset, 3, "66, REX and 0f");
    assert_eq!(block("660f3800c1").insns[0].opcode_offset, 3, "66 and 0f 38");
    assert_eq!(block("c5e9efca").insns[0].opcode_offset, 2, "VEX of two bytes");
    assert_eq!(block("c4e2f900c1").insns[0].opcode_offset, 3, "VEX of three bytes");
    assert!(block("4839d8").insns[0].macro_fusible, "cmp");
    assert!(!block("4809d8").insns[0].macro_fusible, "or");
    assert!(!block("833b05").insns[0].macro_fusible, "memory with immediate");
}

#[test]
fn length_changing_prefixes_are_those_with_a_short_immediate() {
    assert!(block("66813b3412").insns[0].lcp, "cmp word [rbx],0x1234");
    assert!(block("66b83412").insns[0].lcp, "mov ax,0x1234");
    assert!(!block("66833b12").insns[0].lcp, "a byte immediate has its length either way");
    assert!(!block("6689d8").insns[0].lcp, "no immediate");
    assert!(!block("c20800").insns[0].lcp, "ret 8 has no prefix");
}

#[test]
fn blocks_end_as_their_last_instruction_says() {
    for (hex, kind) in [
        ("4801d8", BranchKind::None),
        ("7400", BranchKind::Conditional),
        ("e300", BranchKind::Conditional),
        ("e200", BranchKind::Conditional),
        ("eb00", BranchKind::Jump),
        ("ffe0", BranchKind::IndirectJump),
        ("ff23", BranchKind::IndirectJump),
        ("e800000000", BranchKind::Call),
        ("ffd0", BranchKind::IndirectCall),
        ("c3", BranchKind::Return),
        ("0f05", BranchKind::Syscall),
    ] {
        let b = block(hex);
        assert_eq!(b.branch.kind, kind, "{hex}");
        let marked = b.uops.iter().filter(|u| u.flags.has(UopFlags::BRANCH)).count();
        assert_eq!(marked, usize::from(kind != BranchKind::None), "{hex}");
    }
}

#[test]
fn markers_take_no_slots_and_are_not_counted() {
    // mov rax,rbx; PUSH marker on rax, rcx; ret. Encodings as in docs/markers.md.
    let mut code = bytes("4889d8 0f1f80");
    code.extend((MAGIC + 0x07).to_le_bytes());
    code.extend(bytes("48898424 78ffffff 48898c24 78ffffff c3"));
    let b = common::decoder().block(&def_at(BASE, &code));
    assert_eq!(b.markers.len(), 1);
    assert_eq!((b.markers[0].insn, b.markers[0].op), (1, MarkerOp::Push));
    assert_eq!(b.markers[0].regs[..2], [0, 1]);
    let marked: Vec<bool> = b.insns.iter().map(|i| i.marker).collect();
    assert_eq!(marked, [false, true, true, true, false]);
    assert_eq!(b.insn_count, 2);
    assert!(b.insns.iter().filter(|i| i.marker).all(|i| i.fused_uops == 0));
    common::check(&b);
}

#[test]
fn bytes_that_are_no_instruction_become_an_unknown_uop() {
    let mut def = def_at(BASE, &bytes("4801d8"));
    def.bytes.push(0x06); // not an instruction in 64-bit mode
    def.lens.push(1);
    let b = common::decoder().block(&def);
    assert_eq!((b.unknown, b.insns.len()), (1, 2));
    assert_eq!(show(&b.uops[1]), "p0156 <-");
    common::check(&b);
    // Lengths that do not add up to the bytes.
    def.lens = vec![15, 15, 200];
    let b = common::decoder().block(&def);
    assert_eq!(b.unknown, 3);
    common::check(&b);
}

#[test]
fn a_pair_that_a_line_ends_in_does_not_fuse_whatever_the_lines_size() {
    // cmp rax,rbx up to byte 64; jne there.
    let def = def_at(BASE + 61, &bytes("4839d8 7500"));
    for (line, fuses) in [(32, false), (64, false), (128, true)] {
        let block = mallacc_decode::Decoder::new(common::haswell(), line).block(&def);
        assert_eq!(block.insns[1].fused_with_previous, fuses, "lines of {line} bytes");
    }
}
