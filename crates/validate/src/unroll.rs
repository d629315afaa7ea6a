//! Copies of a block back to back, as measurements of single blocks execute them.
//!
//! The code starts 0x1df bytes into a page, and every data page is mapped to the same frame of
//! 4,096 bytes (Chen et al., "BHive", IISWC 2019, and its published profiler): two accesses overlap
//! if the low twelve bits of their addresses do, but each page has its own translation.

use decode::{Block, Decoder, Reg, Uop, UopFlags, UopKind};
use stream::BlockDef;
use uarch::NO_ADDRESS;

use crate::values::Values;

/// Address of the first copy. Instruction fetch sees addresses from here on.
pub const CODE: u64 = 0x0040_01df;
/// Beyond this number of bytes, copies reuse the addresses of the first ones, so that any number of
/// them fits into a 32 KB instruction cache. It is a multiple of the page size, so that the
/// positions of instructions in lines and pages are unchanged, and far larger than the uop cache.
const CODE_SPAN: u64 = 7 * 4096;
/// Mask of the bits of canonical addresses.
const ADDRESS_MASK: u64 = (1 << 48) - 1;
const OFFSET_MASK: u64 = 0xfff;
/// Accesses with unknown addresses go here: each memory operand has its own place. No canonical
/// address has this bit.
const ELSEWHERE: u64 = 1 << 52;
/// The bits that distinguish places: all pages with known addresses are mapped to one frame.
pub const PLACE_MASK: u64 = ELSEWHERE | OFFSET_MASK;
/// Distance in bytes between the places of unknown addresses; they repeat after a page.
const PLACE_BYTES: u64 = 32;

/// The lines, of `line` bytes each, that contain `bytes` bytes of copies, each `len` bytes long.
pub fn code_lines(bytes: u64, len: u64, line: u64) -> impl Iterator<Item = u64> {
    let end = CODE + bytes.min(CODE_SPAN) + len;
    (CODE & !(line - 1)..end).step_by(line as usize)
}

/// The lines that memory accesses may touch: the frame and the places of unknown addresses.
pub fn data_lines(line: u64) -> impl Iterator<Item = u64> {
    let page = |start: u64| (start..=start + OFFSET_MASK).step_by(line as usize);
    page(0).chain(page(ELSEWHERE))
}

/// A block and the state after its copies.
pub struct Unrolled {
    def: BlockDef,
    values: Values,
    block: Block,
    addresses: Vec<u64>,
    copies: u64,
}

impl Unrolled {
    /// The state before the first copy. `def` is moved to [`CODE`].
    pub fn new(decoder: &Decoder, mut def: BlockDef) -> Self {
        def.addr = CODE;
        let block = decoder.block(&def);
        let addresses = vec![NO_ADDRESS; block.mem_operands.len()];
        Self { def, values: Values::new(), block, addresses, copies: 0 }
    }

    /// The same code, but no uop needs a unit, an operand or memory: fetch, decode, allocation and
    /// retirement remain.
    pub fn without_execution(mut self) -> Self {
        let kept = UopFlags::FIRST
            | UopFlags::LAST
            | UopFlags::FUSED
            | UopFlags::UNLAMINATED
            | UopFlags::MERGE;
        for uop in &mut self.block.uops {
            *uop = Uop {
                kind: UopKind::Exec,
                ports: 0,
                latency: 0,
                busy: 0,
                flags: UopFlags(uop.flags.0 & kept | UopFlags::NO_EXEC),
                mem_operand: Uop::NO_OPERAND,
                insn: uop.insn,
                srcs: [Reg::NONE; 4],
                dsts: [Reg::NONE; 3],
            };
        }
        self.block.insns.iter_mut().for_each(|insn| insn.mem_operands = 0);
        self.block.mem_operands.clear();
        self.addresses.clear();
        self
    }

    /// The block, at the address of the current copy.
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// Addresses of the current copy's memory operands.
    pub fn addresses(&self) -> &[u64] {
        &self.addresses
    }

    /// Advances to the next copy.
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
