//! Copies of a block back to back, as measurements of single blocks run them.
//!
//! The code starts 0x1df bytes into a page, and every page of data is mapped to one and the same
//! frame of 4,096 bytes (Chen et al., "BHive", IISWC 2019, and its published profiler): two
//! accesses meet if the low twelve bits of their addresses say so, but each page has a translation
//! of its own.

use decode::{Block, Decoder};
use stream::BlockDef;
use uarch::NO_ADDRESS;

use crate::values::Values;

/// Address of the first copy. The instruction fetch sees addresses from here on.
pub const CODE: u64 = 0x0040_01df;
/// Copies beyond this many bytes of code lie at the addresses of the first ones again, so that any
/// number of them stays in a 32 KB instruction cache. Whole pages, which changes nothing about the
/// places of instructions in lines and pages; far more than the uop cache holds.
const CODE_SPAN: u64 = 7 * 4096;
/// Bits of canonical addresses.
const ADDRESS_MASK: u64 = (1 << 48) - 1;
const OFFSET_MASK: u64 = 0xfff;
/// Where accesses of unknown address go: a place for each memory operand, shared with no other. No
/// canonical address has this bit.
const ELSEWHERE: u64 = 1 << 52;
/// The bits that tell places apart: all pages of known address are mapped to one frame.
pub const PLACE_MASK: u64 = ELSEWHERE | OFFSET_MASK;
/// Bytes between the places of unknown address; they repeat after a page.
const PLACE_BYTES: u64 = 32;

/// The lines of `line` bytes that so many bytes of copies, each `len` long, lie in.
pub fn code_lines(bytes: u64, len: u64, line: u64) -> impl Iterator<Item = u64> {
    let end = CODE + bytes.min(CODE_SPAN) + len;
    (CODE & !(line - 1)..end).step_by(line as usize)
}

/// The lines that memory accesses may meet: the frame and the places of unknown address.
pub fn data_lines(line: u64) -> impl Iterator<Item = u64> {
    let page = |start: u64| (start..=start + OFFSET_MASK).step_by(line as usize);
    page(0).chain(page(ELSEWHERE))
}

/// A block and the state that its copies leave.
pub struct Unrolled {
    def: BlockDef,
    values: Values,
    block: Block,
    addresses: Vec<u64>,
    copies: u64,
}

impl Unrolled {
    /// Before the first copy. `def` is moved to [`CODE`].
    pub fn new(decoder: &Decoder, mut def: BlockDef) -> Self {
        def.addr = CODE;
        let block = decoder.block(&def);
        let addresses = vec![NO_ADDRESS; block.mem_operands.len()];
        Self { def, values: Values::new(), block, addresses, copies: 0 }
    }

    /// The block, at the address of the current copy.
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// Addresses of the current copy's memory operands.
    pub fn addresses(&self) -> &[u64] {
        &self.addresses
    }

    /// Goes to the next copy.
    pub fn advance(&mut self) {
        let distance = self.copies * self.def.bytes.len() as u64;
        self.def.addr = CODE + distance % CODE_SPAN;
        self.block.addr = self.def.addr;
        self.block.branch.next = self.def.end();
        self.copies += 1;
        if self.block.mem_operands.is_empty() {
            return;
        }
        let known = self.values.run(&self.def);
        for (operand, address) in self.addresses.iter_mut().enumerate() {
            *address = match known.get(operand).copied().flatten() {
                Some(address) => address & ADDRESS_MASK,
                None => ELSEWHERE + ((operand as u64 * PLACE_BYTES) & OFFSET_MASK),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{block_def, parse_hex};
    use uarch::Machine;

    fn unrolled(hex: &str) -> Unrolled {
        let decoder = Machine::default().view().unwrap().decoder();
        Unrolled::new(&decoder, block_def(&parse_hex(hex).unwrap(), 0).unwrap())
    }

    #[test]
    fn copies_follow_each_other_in_memory() {
        let mut code = unrolled("4801c8");
        let places: Vec<u64> = (0..3)
            .map(|_| {
                code.advance();
                code.block().addr
            })
            .collect();
        assert_eq!(places, [CODE, CODE + 3, CODE + 6]);
    }

    #[test]
    fn addresses_follow_the_registers() {
        // mov rax, [rcx]; add rcx, 0x800: all registers start at 0x2324000.
        const DATA: u64 = 0x0232_4000;
        let mut code = unrolled("488b01 4881c100080000");
        let mut next = || {
            code.advance();
            code.addresses()[0]
        };
        assert_eq!([next(), next(), next()], [DATA, DATA + 0x800, DATA + 0x1000]);
    }

    #[test]
    fn unknown_addresses_meet_nothing_else() {
        // imul rcx (one operand: not followed); mov [rdx], rax; mov [rax], rcx; mov rsi, [rbx].
        let mut code = unrolled("48f7e9 488902 488908 488b33");
        code.advance();
        let addresses = code.addresses();
        assert!(addresses[0] >= ELSEWHERE && addresses[1] >= ELSEWHERE);
        assert!(addresses[0].abs_diff(addresses[1]) >= 32);
        assert_eq!(addresses[2], 0x0232_4000);
    }
}
