//! Instructions that rename handles, entirely or in part.
//!
//! Sources: Intel optimisation manual 3.5.1.8 (dependency-breaking idioms) and 2.4.2.5 (move
//! elimination); Agner Fog, microarchitecture, Sandy Bridge "Zero idioms" and Haswell.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

/// How rename treats an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idiom {
    /// No special treatment.
    None,
    /// The result is zero whatever the sources: no execution, no dependency.
    Zero,
    /// Executes, but does not depend on the sources (all ones; `sbb` does depend on carry).
    Independent,
    /// Register move that may be eliminated.
    Move,
    /// Does nothing.
    Nop,
}

/// The idiom of an instruction.
pub fn idiom(insn: &Instruction) -> Idiom {
    use Mnemonic::*;
    if is_nop(insn) {
        return Idiom::Nop;
    }
    if is_move(insn) && insn.op0_register().full_register() != insn.op1_register().full_register() {
        return Idiom::Move;
    }
    if !same_sources(insn) {
        return Idiom::None;
    }
    match insn.mnemonic() {
        // 8- and 16-bit forms merge into the full register, so they are not idioms.
        Xor | Sub if insn.op0_register().size() >= 4 => Idiom::Zero,
        Pxor | Xorps | Xorpd | Psubb | Psubw | Psubd | Psubq | Pcmpgtb | Pcmpgtw | Pcmpgtd
            if insn.op0_register().is_xmm() =>
        {
            Idiom::Zero
        }
        Vpxor | Vxorps | Vxorpd | Vpsubb | Vpsubw | Vpsubd | Vpsubq | Vpcmpgtb | Vpcmpgtw
        | Vpcmpgtd => Idiom::Zero,
        // Independent of its sources, but needs the unit (the table gives latencies of 0 to 5).
        Pcmpgtq | Vpcmpgtq => Idiom::Independent,
        Pcmpeqb | Pcmpeqw | Pcmpeqd | Pcmpeqq if insn.op0_register().is_xmm() => Idiom::Independent,
        Vpcmpeqb | Vpcmpeqw | Vpcmpeqd | Vpcmpeqq => Idiom::Independent,
        _ => Idiom::None,
    }
}

/// Whether the last two operands are the same register.
fn same_sources(insn: &Instruction) -> bool {
    let n = insn.op_count();
    n >= 2
        && insn.op_kind(n - 1) == OpKind::Register
        && insn.op_kind(n - 2) == OpKind::Register
        && insn.op_register(n - 1) == insn.op_register(n - 2)
}

fn is_nop(insn: &Instruction) -> bool {
    use Mnemonic::*;
    match insn.mnemonic() {
        Nop | Endbr64 | Endbr32 | Clc => true,
        // Reserved nops: without effect on processors that predate their present meaning.
        Reservednop => true,
        _ => false,
    }
}

/// Whether this is a whole-register move of a kind that rename can eliminate, even if this one
/// cannot be eliminated because it moves a register to itself.
pub fn is_move(insn: &Instruction) -> bool {
    use Mnemonic::*;
    if insn.op_count() != 2
        || insn.op0_kind() != OpKind::Register
        || insn.op1_kind() != OpKind::Register
    {
        return false;
    }
    let (to, from) = (insn.op0_register(), insn.op1_register());
    match insn.mnemonic() {
        Mov => (to.is_gpr32() || to.is_gpr64()) && to.size() == from.size(),
        // The low byte only; ah, ch, dh and bh are bits 8 to 15.
        Movzx => {
            from.is_gpr8()
                && !matches!(from, Register::AH | Register::CH | Register::DH | Register::BH)
                && to.size() >= 4
        }
        Movaps | Movapd | Movdqa | Movups | Movupd | Movdqu => true,
        Vmovaps | Vmovapd | Vmovdqa | Vmovups | Vmovupd | Vmovdqu => true,
        _ => false,
    }
}
