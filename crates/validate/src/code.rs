//! Machine code from hex, and which blocks can be run on their own.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Formatter, Instruction, NasmFormatter};
use stream::BlockDef;

use crate::blocks::BlockError;

/// Bytes from hex digits. Spaces, commas and `0x` or `\x` before a byte are skipped.
pub fn parse_hex(text: &str) -> Result<Vec<u8>, BlockError> {
    let shorter = text.replace("0x", "").replace("\\x", "");
    let mut digits = Vec::with_capacity(shorter.len());
    for c in shorter.chars().filter(|c| !c.is_whitespace() && *c != ',') {
        match c.to_digit(16) {
            Some(d) => digits.push(d as u8),
            None => return Err(BlockError::Hex { found: c }),
        }
    }
    if digits.len() % 2 != 0 {
        return Err(BlockError::OddHex { digits: digits.len() });
    }
    Ok(digits.chunks_exact(2).map(|d| d[0] << 4 | d[1]).collect())
}

/// At most 40 characters of an arbitrary text.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The block at `addr`, or why it cannot be run on its own.
pub fn block_def(bytes: &[u8], addr: u64) -> Result<BlockDef, BlockError> {
    if bytes.is_empty() {
        return Err(BlockError::Empty);
    }
    let mut lens = Vec::new();
    for insn in &mut Decoder::with_ip(64, bytes, addr, DecoderOptions::NONE) {
        let offset = (insn.ip() - addr) as usize;
        if insn.is_invalid() {
            let found = bytes[offset..].iter().take(4).map(|b| format!("{b:02x}")).collect();
            return Err(BlockError::Undecodable { offset, found });
        }
        if leaves(&insn) {
            return Err(BlockError::Leaves { offset, instruction: text(&insn) });
        }
        lens.push(insn.len() as u8);
    }
    if lens.len() > BlockDef::MAX_INSNS || bytes.len() > BYTES_MAX {
        return Err(BlockError::TooLong { instructions: lens.len(), bytes: bytes.len() });
    }
    Ok(BlockDef { id: 0, addr, lens, bytes: bytes.to_vec() })
}

/// Maximum length of a block: several copies must fit into a 32 KB instruction cache.
pub const BYTES_MAX: usize = 4096;

/// Branches, traps, and instructions that enter the kernel.
fn leaves(insn: &Instruction) -> bool {
    use iced_x86::Mnemonic::{Hlt, Syscall, Sysenter, Sysexit, Sysret};
    !matches!(insn.flow_control(), FlowControl::Next)
        || matches!(insn.mnemonic(), Hlt | Syscall | Sysenter | Sysexit | Sysret)
}

/// The instructions of a block as assembly language.
pub fn disassemble(def: &BlockDef) -> Vec<String> {
    Decoder::with_ip(64, &def.bytes, def.addr, DecoderOptions::NONE)
        .iter()
        .map(|insn| text(&insn))
        .collect()
}

fn text(insn: &Instruction) -> String {
    let mut line = String::new();
    NasmFormatter::new().format(insn, &mut line);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_may_have_spaces_and_prefixes() {
        for text in ["4801c8", "48 01 C8", "0x48,0x01,0xc8", "\\x48\\x01\\xc8", " 48\n01c8"] {
            assert_eq!(parse_hex(text).unwrap(), [0x48, 0x01, 0xc8], "{text}");
        }
        assert!(matches!(parse_hex("480"), Err(BlockError::OddHex { digits: 3 })));
        assert!(matches!(parse_hex("48zz"), Err(BlockError::Hex { found: 'z' })));
    }

    #[test]
    fn blocks_that_cannot_run_alone_are_refused_with_the_place() {
        let refused = |hex: &str| block_def(&parse_hex(hex).unwrap(), 0).unwrap_err();
        assert!(matches!(refused(""), BlockError::Empty));
        // nop, then 06 (push es), which 64-bit mode does not have.
        assert!(matches!(refused("9006"), BlockError::Undecodable { offset: 1, .. }));
        // A truncated add with immediate.
        assert!(matches!(refused("9048"), BlockError::Undecodable { offset: 1, .. }));
        // nop; jmp, jcc, call, ret, indirect jump, syscall, int3.
        for hex in ["90ebfe", "9075fe", "90e800000000", "90c3", "90ffe0", "900f05", "90cc"] {
            assert!(matches!(refused(hex), BlockError::Leaves { offset: 1, .. }), "{hex}");
        }
        assert!(matches!(refused(&"90".repeat(1025)), BlockError::TooLong { .. }));
    }

    #[test]
    fn lengths_add_up_to_the_bytes() {
        let def = block_def(&[0x90, 0x48, 0x01, 0xc8, 0xc5, 0xf8, 0x77], 0x1000).unwrap();
        assert_eq!(def.lens, [1, 3, 3]);
        assert!(def.is_well_formed());
        assert_eq!(disassemble(&def), ["nop", "add rax,rcx", "vzeroupper"]);
    }
}
