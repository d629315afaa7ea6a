//! Macro-fusion of two instructions, and which micro-fused pairs are unlaminated before allocation.

use iced_x86::{ConditionCode, EncodingKind, Instruction, Mnemonic, OpKind};

/// Whether `first` and the conditional jump `second` right after it decode to one uop, if the
/// instruction cache has lines of `line` bytes.
///
/// Intel optimisation manual 2.4.2.1 (table of fusible pairs since Sandy Bridge) and Agner Fog,
/// microarchitecture, Haswell, "Instruction fusion". A pair does not fuse when the first ends at
/// the end of a line, because the decoders then see the second only a cycle later.
pub fn macro_fuses(first: &Instruction, second: &Instruction, line: u64) -> bool {
    let condition = second.condition_code();
    if !second.is_jcc_short_or_near() || condition == ConditionCode::None {
        return false;
    }
    if second.ip().is_multiple_of(line) || !operands_fuse(first) {
        return false;
    }
    fuses_with(first.mnemonic(), condition)
}

/// Whether an instruction fuses with some conditional jump.
pub fn is_fusible(first: &Instruction) -> bool {
    fuses_with(first.mnemonic(), ConditionCode::e) && operands_fuse(first)
}

fn fuses_with(mnemonic: Mnemonic, condition: ConditionCode) -> bool {
    use ConditionCode as C;
    match mnemonic {
        Mnemonic::Test | Mnemonic::And => true,
        Mnemonic::Cmp | Mnemonic::Add | Mnemonic::Sub => {
            !matches!(condition, C::o | C::no | C::s | C::ns | C::p | C::np)
        }
        Mnemonic::Inc | Mnemonic::Dec => {
            matches!(condition, C::e | C::ne | C::l | C::ge | C::le | C::g)
        }
        _ => false,
    }
}

/// Register-register, register-immediate and memory-register pairs fuse; memory with an immediate
/// does not, and neither does anything that writes memory.
fn operands_fuse(first: &Instruction) -> bool {
    let memory = (0..first.op_count()).any(|i| first.op_kind(i) == OpKind::Memory);
    if !memory {
        return true;
    }
    let compares = matches!(first.mnemonic(), Mnemonic::Cmp | Mnemonic::Test);
    let immediate = (0..first.op_count())
        .any(|i| !matches!(first.op_kind(i), OpKind::Memory | OpKind::Register));
    !immediate && (compares || first.op0_kind() == OpKind::Register)
}

/// Whether a load that is micro-fused with its operation stays fused with an index register.
///
/// Intel optimisation manual 2.4.5 (Unlamination on Haswell): the pair stays fused when the
/// operation has two register operands of which the destination is also a source; three-operand
/// (VEX) forms, pure destinations and forms that also read flags are split. Compares have no
/// destination and are split too: in the BHive measurements, `cmp` with an index and a `lea`
/// together take a cycle, which means three slots and a pair that does not straddle cycles.
pub fn keeps_indexed_load(insn: &Instruction, reads_flags: bool, reads_destination: bool) -> bool {
    insn.encoding() == EncodingKind::Legacy
        && insn.op_count() == 2
        && !reads_flags
        && reads_destination
}
