//! The few facts about x86-64 instructions that the feeder needs.
//!
//! Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2
//! (prefixes) and appendix A (opcode maps).

/// An instruction without its prefixes.
struct Opcode<'a> {
    repeated: bool,
    locked: bool,
    rest: &'a [u8],
}

fn opcode(code: &[u8]) -> Opcode<'_> {
    let (mut rest, mut repeated, mut locked) = (code, false, false);
    while let [prefix, tail @ ..] = rest {
        match prefix {
            0xf2 | 0xf3 => repeated = true,
            0xf0 => locked = true,
            0x66 | 0x67 | 0x2e | 0x36 | 0x3e | 0x26 | 0x64 | 0x65 | 0x40..=0x4f => {}
            _ => break,
        }
        rest = tail;
    }
    Opcode { repeated, locked, rest }
}

/// Whether this is a string instruction with a repeat prefix: movs, cmps, stos, lods, scas, ins,
/// outs. QEMU runs one iteration at a time and re-enters the instruction for each.
pub fn is_repeated_string(code: &[u8]) -> bool {
    let op = opcode(code);
    op.repeated && matches!(op.rest, [0xa4..=0xa7 | 0xaa..=0xaf | 0x6c..=0x6f, ..])
}

/// How an instruction's accesses to memory are passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accesses {
    /// As QEMU reports them.
    Plain,
    /// Not at all: see [`accesses`].
    Unreported,
    /// As one store: read and written as one.
    Atomic,
    /// Of a repeated string instruction, with so many in an iteration.
    Repeated(usize),
}

/// How an instruction's accesses are passed on: versions of QEMU differ in what they report.
///
/// Instructions that save or restore the processor's state (fxsave, xsave, xrstor and their like),
/// and x87 instructions with operands of more than 8 bytes, access memory from within QEMU: version
/// 7.2 reports pieces, version 10 nothing. Atomic instructions are one store in version 7.2, a load
/// and a store later.
pub fn accesses(code: &[u8]) -> Accesses {
    let op = opcode(code);
    let in_memory = |modrm: u8| modrm >> 6 != 3;
    match op.rest {
        [0xa4..=0xa7, ..] if op.repeated => Accesses::Repeated(2),
        _ if is_repeated_string(code) => Accesses::Repeated(1),
        [0x0f, 0xae, modrm, ..] if in_memory(*modrm) && is_state(modrm >> 3 & 7) => {
            Accesses::Unreported
        }
        // xrstors, xsavec, xsaves
        [0x0f, 0xc7, modrm, ..] if in_memory(*modrm) && matches!(modrm >> 3 & 7, 3..=5) => {
            Accesses::Unreported
        }
        [opcode @ 0xd8..=0xdf, modrm, ..]
            if in_memory(*modrm) && is_long(*opcode, modrm >> 3 & 7) =>
        {
            Accesses::Unreported
        }
        [0x86 | 0x87, modrm, ..] if in_memory(*modrm) => Accesses::Atomic,
        _ if op.locked => Accesses::Atomic,
        _ => Accesses::Plain,
    }
}

/// Whether the second opcode byte AE with this extension saves or restores state: fxsave, fxrstor,
/// xsave, xrstor, xsaveopt; not ldmxcsr, stmxcsr and clflush.
fn is_state(extension: u8) -> bool {
    matches!(extension, 0 | 1 | 4 | 5 | 6)
}

/// Whether an x87 instruction has an operand of more than 8 bytes: fldenv, fnstenv, fld and fstp of
/// 10 bytes, frstor, fnsave, fbld, fbstp.
fn is_long(opcode: u8, extension: u8) -> bool {
    matches!((opcode, extension), (0xd9 | 0xdd | 0xdf, 4 | 6) | (0xdb, 5 | 7))
}

/// Whether a block ends behind this instruction: under some version of QEMU it does.
pub fn ends_block(code: &[u8]) -> bool {
    match opcode(code).rest {
        // rdtsc, rdtscp
        [0x0f, 0x31] | [0x0f, 0x01, 0xf9] => true,
        // xrstor
        [0x0f, 0xae, modrm, ..] => modrm >> 6 != 3 && modrm >> 3 & 7 == 5,
        _ => false,
    }
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
    fn accesses_that_versions_of_qemu_report_differently_are_known() {
        use Accesses::{Atomic, Plain, Repeated, Unreported};
        for (code, expected) in [
            (&[0x0f, 0xae, 0x64, 0x24, 0x40][..], Unreported), // xsave
            (&[0x48, 0x0f, 0xc7, 0x64, 0x24, 0x40], Unreported), // xsavec64
            (&[0x0f, 0xae, 0x6c, 0x24, 0x40], Unreported),     // xrstor
            (&[0xdb, 0x2c, 0x24], Unreported),                 // fld of 10 bytes
            (&[0xdd, 0x1c, 0x24], Plain),                      // fstp of 8 bytes
            (&[0x0f, 0xae, 0x1c, 0x24], Plain),                // stmxcsr
            (&[0x0f, 0xae, 0xe8], Plain),                      // lfence
            (&[0xf0, 0x48, 0x0f, 0xc7, 0x0f], Atomic),         // lock cmpxchg16b
            (&[0x48, 0x0f, 0xc7, 0x0f], Plain),                // cmpxchg16b
            (&[0xf0, 0x0f, 0xb1, 0x17], Atomic),               // lock cmpxchg
            (&[0x48, 0x87, 0x07], Atomic),                     // xchg with memory
            (&[0x48, 0x87, 0xc7], Plain),                      // xchg of registers
            (&[0xf3, 0xa4], Repeated(2)),                      // rep movsb
            (&[0xf3, 0x48, 0xab], Repeated(1)),                // rep stosq
            (&[0xf2, 0xae], Repeated(1)),                      // repne scasb
            (&[0xa4], Plain),                                  // movsb
            (&[0x48, 0x89, 0x07], Plain),
        ] {
            assert_eq!(accesses(code), expected, "{code:02x?}");
        }
    }

    #[test]
    fn blocks_end_where_they_do_in_some_version_of_qemu() {
        assert!(ends_block(&[0x0f, 0x31]) && ends_block(&[0x0f, 0x01, 0xf9]));
        assert!(ends_block(&[0x0f, 0xae, 0x6c, 0x24, 0x40]), "xrstor");
        assert!(!ends_block(&[0x0f, 0xae, 0xe8]), "lfence");
        assert!(!ends_block(&[0x0f, 0xae, 0x64, 0x24, 0x40]), "xsave");
        assert!(!ends_block(&[0x90]));
    }

    #[test]
    fn state_saving_instructions_have_a_larger_bound() {
        // The 512 bytes of fxsave in 8-byte pieces.
        assert!(most_accesses(&[0x0f, 0xae, 0x00]) >= 512 / 8);
        assert!(most_accesses(&[0x48, 0x0f, 0xc7, 0x27]) >= 832 / 8);
        assert!(most_accesses(&[0xc5, 0xfe, 0x6f, 0x00]) >= 32 / 8, "vmovdqu ymm");
    }
}
