//! Values of straight-line code, compared with results computed here by ordinary arithmetic.

use iced_x86::{Decoder as Bytes, DecoderOptions};
use mallacc_validate::values::Values;
use mallacc_validate::{bhive, code};
use proptest::prelude::*;
use stream::BlockDef;

use crate::measured::development_file;
use uarch::Machine;

/// Address of the blocks.
const BASE: u64 = 0x40_0000;

fn def_at(addr: u64, code: &[u8]) -> BlockDef {
    let insns = Bytes::with_ip(64, code, addr, DecoderOptions::NONE);
    let lens = insns.into_iter().map(|insn| insn.len() as u8).collect();
    BlockDef { id: 0, addr, lens, bytes: code.to_vec() }
}

/// The initial value of every register and of every eight bytes of memory.
const START: u64 = 0x0232_4000;

/// Addresses of the memory operands in `times` executions of a block.
fn addresses(hex: &str, times: usize) -> Vec<Vec<Option<u64>>> {
    let def = def_at(BASE, &code::parse_hex(hex).unwrap());
    let operands = Machine::default().view().unwrap().decoder().block(&def).mem_operands.len();
    let mut values = Values::new();
    (0..times)
        .map(|_| {
            let list = values.run(&def);
            assert_eq!(list.len(), operands, "one address for each memory operand of {hex}");
            list
        })
        .collect()
}

#[test]
fn registers_start_at_the_page_and_the_stack_in_its_middle() {
    // mov rax,[rbx+8]; mov rax,[rsp]; mov rax,[rbp]
    let list = addresses("488b4308 488b0424 488b4500", 1);
    assert_eq!(list[0], [START + 8, START + 2048, START + 2048 - 16].map(Some));
}

#[test]
fn pointers_advance_from_execution_to_execution() {
    // mov rax,[rbx]; add rbx,8
    let list = addresses("488b03 4883c308", 3);
    let expected: Vec<_> = (0..3).map(|i| vec![Some(START + 8 * i)]).collect();
    assert_eq!(list, expected);
    // push rax; pop rcx; push rax
    let stack = addresses("50 59 50", 2);
    let top = START + 2048;
    assert_eq!(stack[0], [top - 8, top - 8, top - 8].map(Some));
    assert_eq!(stack[1], [top - 16, top - 16, top - 16].map(Some));
}

#[test]
fn loads_return_what_was_stored() {
    // mov dword [rbx],0x10; mov eax,[rbx]; mov rcx,[rax]
    let list = addresses("c70310000000 8b03 488b08", 1);
    assert_eq!(list[0], [Some(START), Some(START), Some(0x10)]);
    // Memory holds the page's address: mov rax,[rbx]; mov rcx,[rax]
    assert_eq!(addresses("488b03 488b08", 1)[0], [Some(START); 2]);
    // A vector store makes it unknown: movups [rbx],xmm0; mov rax,[rbx]; mov rcx,[rax]
    assert_eq!(addresses("0f1103 488b03 488b08", 1)[0], [Some(START), Some(START), None]);
}

#[test]
fn conditions_follow_the_flags() {
    // cmp eax,1; cmova rax,[...] is a load either way; here setcc and cmov on registers.
    // xor ecx,ecx; cmp rcx,rbx; cmovb rcx,rbx; mov rax,[rcx]: 0 < page, so rcx = rbx.
    assert_eq!(addresses("31c9 4839d9 480f42cb 488b01", 1)[0], [Some(START)]);
    // The opposite condition: cmovae keeps 0.
    assert_eq!(addresses("31c9 4839d9 480f43cb 488b01", 1)[0], [Some(0)]);
    // test ecx,ecx after xor: sete cl; mov rax,[rcx]
    assert_eq!(addresses("31c9 85c9 0f94c1 488b01", 1)[0], [Some(1)]);
}

/// Loads `[rax]` after `mov eax,a; mov ecx,b; <op> eax,ecx`, all in 32 bits.
fn after(op: u8, a: u32, b: u32) -> Option<u64> {
    let mut code = vec![0xb8];
    code.extend(a.to_le_bytes());
    code.push(0xb9);
    code.extend(b.to_le_bytes());
    code.extend([op, 0xc8]); // op r/m32,r32 with eax, ecx
    code.extend([0x48, 0x8b, 0x00]);
    Values::new().run(&def_at(BASE, &code))[0]
}

#[test]
fn every_memory_access_of_a_measured_block_has_its_address() {
    let Some(text) = development_file() else { return };
    let decoder = Machine::default().view().unwrap().decoder();
    for row in bhive::parse(&text).unwrap().measured {
        let def = def_at(BASE, &row.bytes);
        let addresses = Values::new().run(&def);
        assert_eq!(addresses.len(), decoder.block(&def).mem_operands.len(), "{:02x?}", row.bytes);
    }
}

proptest! {
    #[test]
    fn arithmetic_is_that_of_32_bits(a: u32, b: u32) {
        prop_assert_eq!(after(0x01, a, b), Some(u64::from(a.wrapping_add(b))));
        prop_assert_eq!(after(0x29, a, b), Some(u64::from(a.wrapping_sub(b))));
        prop_assert_eq!(after(0x21, a, b), Some(u64::from(a & b)));
        prop_assert_eq!(after(0x09, a, b), Some(u64::from(a | b)));
        prop_assert_eq!(after(0x31, a, b), Some(u64::from(a ^ b)));
    }

    #[test]
    fn comparisons_decide_as_integers_do(a: i32, b: i32, near in -2i32..3) {
        for (x, y) in [(a, b), (a, a.wrapping_add(near))] {
            // setcc cl after cmp: movzx ecx,cl; mov rax,[rcx]. Conditions b, e, l, be, le, s.
            let expected = [
                (0x92, (x as u32) < (y as u32)),
                (0x94, x == y),
                (0x9c, x < y),
                (0x96, (x as u32) <= (y as u32)),
                (0x9e, x <= y),
                (0x98, x.wrapping_sub(y) < 0),
            ];
            for (set, holds) in expected {
                let mut code = vec![0xb8];
                code.extend(x.to_le_bytes());
                code.push(0xb9);
                code.extend(y.to_le_bytes());
                code.extend([0x39, 0xc8, 0x0f, set, 0xc1, 0x0f, 0xb6, 0xc9, 0x48, 0x8b, 0x01]);
                let address = Values::new().run(&def_at(BASE, &code))[0];
                prop_assert_eq!(address, Some(u64::from(holds)), "{} {} {:x}", x, y, set);
            }
        }
    }

    #[test]
    fn any_bytes_run_without_panic(code in proptest::collection::vec(any::<u8>(), 1..48)) {
        let mut values = Values::new();
        let def = def_at(BASE, &code);
        for _ in 0..3 {
            values.run(&def);
        }
    }
}
