//! The few facts about x86-64 instructions that the feeder needs.
//!
//! Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2
//! (prefixes) and appendix A (opcode maps).

/// An instruction without its prefixes.
struct Opcode<'a> {
    repeated: bool,
    rest: &'a [u8],
}

fn opcode(code: &[u8]) -> Opcode<'_> {
    let (mut rest, mut repeated) = (code, false);
    while let [prefix, tail @ ..] = rest {
        match prefix {
            0xf2 | 0xf3 => repeated = true,
            0x66 | 0x67 | 0x2e | 0x36 | 0x3e | 0x26 | 0x64 | 0x65 | 0xf0 | 0x40..=0x4f => {}
            _ => break,
        }
        rest = tail;
    }
    Opcode { repeated, rest }
}

/// Whether this is a string instruction with a repeat prefix: movs, cmps, stos, lods, scas, ins,
/// outs. QEMU runs one iteration at a time and re-enters the instruction for each.
pub fn is_repeated_string(code: &[u8]) -> bool {
    let op = opcode(code);
    op.repeated && matches!(op.rest, [0xa4..=0xa7 | 0xaa..=0xaf | 0x6c..=0x6f, ..])
}

/// An upper bound on the memory events of one execution.
pub fn most_accesses(code: &[u8]) -> usize {
    match opcode(code).rest {
        // 0F AE and 0F C7: fxsave, xsave and similar; D9 and DD: fldenv, fsave; C8: enter. The
        // largest area is that of xsave with AVX, 832 bytes in 8-byte pieces, and x87 registers
        // take two pieces each.
        [0x0f, 0xae | 0xc7, ..] | [0xd9 | 0xdd | 0xc8, ..] => 256,
        // A masked store writes 16 bytes one at a time; a 32-byte access takes 4 pieces.
        _ => 16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_strings_are_told_from_single_ones_and_from_mandatory_prefixes() {
        assert!(is_repeated_string(&[0xf3, 0xa4]), "rep movsb");
        assert!(is_repeated_string(&[0xf3, 0x48, 0xab]), "rep stosq");
        assert!(is_repeated_string(&[0x67, 0xf2, 0xae]), "addr32 repne scasb");
        assert!(!is_repeated_string(&[0xa4]), "movsb");
        assert!(!is_repeated_string(&[0xf3, 0x0f, 0x10, 0x00]), "movss");
        assert!(!is_repeated_string(&[0xf3, 0xc3]), "rep ret");
        assert!(!is_repeated_string(&[]));
    }

    #[test]
    fn state_saving_instructions_have_a_larger_bound() {
        // The 512 bytes of fxsave in 8-byte pieces.
        assert!(most_accesses(&[0x0f, 0xae, 0x00]) >= 512 / 8);
        assert!(most_accesses(&[0x48, 0x0f, 0xc7, 0x27]) >= 832 / 8);
        assert!(most_accesses(&[0xc5, 0xfe, 0x6f, 0x00]) >= 32 / 8, "vmovdqu ymm");
    }
}
