//! The normalised form of an instruction, which is the key of the instruction table.

use iced_x86::{Instruction, MemorySize, Mnemonic, OpKind, Register};

/// Names of the operand kinds in the table; the index is the code, 0 means no operand.
const KINDS: [&str; 45] = [
    "", "r8", "r8h", "r16", "r32", "r64", "xmm", "ymm", "mm", "st", "seg", "cr", "dr", "m", "m8",
    "m16", "m32", "m64", "m80", "m128", "m256", "m512", "m4096", "m4608", "x", "y", "i8", "i16",
    "i32", "i64", "0", "1", "cl", "dx", "rel", "b", "bd", "bi", "bid", "bis", "bisd", "d", "id",
    "isd", "rd",
];
/// Maximum number of operands of a form.
pub const OPERANDS: usize = 5;

/// Code of an operand kind.
pub fn kind(name: &str) -> Option<u8> {
    KINDS.iter().position(|&k| k == name).map(|i| i as u8)
}

/// The code of a name known to be in the list.
const fn code(name: &str) -> u8 {
    let mut i = 0;
    while i < KINDS.len() {
        let (a, b) = (KINDS[i].as_bytes(), name.as_bytes());
        let mut same = a.len() == b.len();
        let mut j = 0;
        while same && j < a.len() {
            same = a[j] == b[j];
            j += 1;
        }
        if same {
            return i as u8;
        }
        i += 1;
    }
    panic!("not an operand kind")
}

/// Prefixes that distinguish forms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Prefix {
    /// None of these.
    #[default]
    None,
    /// `lock`, explicit or implied.
    Lock,
    /// `rep` or `repe` on a string instruction.
    Rep,
    /// `repne` on a string instruction.
    Repne,
}

/// An instruction form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The mnemonic.
    pub mnemonic: Mnemonic,
    /// The prefix.
    pub prefix: Prefix,
    /// Operand kind codes.
    pub kinds: [u8; OPERANDS],
}

impl Key {
    /// The form as one number.
    pub fn packed(self) -> u64 {
        let head = ((self.mnemonic as u64) << 2) | self.prefix as u64;
        self.kinds.iter().fold(head, |acc, &k| (acc << 6) | u64::from(k))
    }

    /// The form of an instruction. `has_immediate` tells whether its encoding contains an immediate
    /// (a shift by one may or may not).
    pub fn of(insn: &Instruction, has_immediate: bool) -> Key {
        let mnemonic = match insn.mnemonic() {
            Mnemonic::Sal => Mnemonic::Shl,
            other => other,
        };
        let mut key = Key { mnemonic, prefix: prefix(insn), kinds: [0; OPERANDS] };
        if mnemonic == Mnemonic::Lea {
            key.kinds[0] = register(insn.op0_register());
            key.kinds[1] = lea_shape(insn);
            return key;
        }
        if insn.is_string_instruction() {
            // The mnemonic implies their operands.
            return key;
        }
        let mut n = 0;
        for i in 0..insn.op_count().min(OPERANDS as u32) {
            let code = operand(insn, i, has_immediate);
            if code != 0 {
                key.kinds[n] = code;
                n += 1;
            }
        }
        key
    }

    /// The same form with operand kinds replaced by `f`; `None` if nothing changed.
    pub fn map(self, f: impl Fn(u8) -> u8) -> Option<Key> {
        let other = Key { kinds: self.kinds.map(f), ..self };
        (other != self).then_some(other)
    }

    /// The form with its memory operand replaced by a register; vector instructions take the
    /// register that fits their other operands. `None` if there is no memory operand.
    pub fn register_form(self) -> Option<Key> {
        let vector = self.kinds.iter().copied().find(|&k| [XMM, YMM, MM].contains(&k));
        self.map(|k| match (k, vector) {
            (M256, Some(_)) => YMM,
            (M8..=M128, Some(MM)) => MM,
            (M8..=M128, Some(_)) if self.integer_source() => {
                if k == M64 {
                    R64
                } else {
                    R32
                }
            }
            (M8..=M128, Some(_)) => XMM,
            (M8, None) => R8,
            (M16, None) => R16,
            (M32, None) => R32,
            (M64, None) => R64,
            _ => k,
        })
    }

    /// Vector instructions whose register source is a general-purpose one.
    fn integer_source(self) -> bool {
        use Mnemonic::*;
        matches!(
            self.mnemonic,
            Cvtsi2sd
                | Cvtsi2ss
                | Vcvtsi2sd
                | Vcvtsi2ss
                | Pinsrb
                | Pinsrw
                | Pinsrd
                | Pinsrq
                | Vpinsrb
                | Vpinsrw
                | Vpinsrd
                | Vpinsrq
        )
    }

    /// Whether an operand is a vector register or wide memory.
    pub fn is_vector(self) -> bool {
        self.kinds.iter().any(|k| [XMM, YMM, MM, M128, M256].contains(k))
    }

    /// Whether an operand is 32 bytes wide.
    pub fn is_wide(self) -> bool {
        self.kinds.iter().any(|k| [YMM, M256].contains(k))
    }
}

const R8: u8 = code("r8");
/// High-byte register.
pub const R8H: u8 = code("r8h");
const R16: u8 = code("r16");
const R32: u8 = code("r32");
const R64: u8 = code("r64");
const XMM: u8 = code("xmm");
const YMM: u8 = code("ymm");
const MM: u8 = code("mm");
const M8: u8 = code("m8");
const M16: u8 = code("m16");
const M32: u8 = code("m32");
const M64: u8 = code("m64");
const M128: u8 = code("m128");
const M256: u8 = code("m256");

const I8: u8 = code("i8");
const I16: u8 = code("i16");
const I32: u8 = code("i32");
const I64: u8 = code("i64");
const ZERO: u8 = code("0");
const ONE: u8 = code("1");
const CL: u8 = code("cl");

/// Less specific forms to try when the exact one is not in the table, nearest first.
pub fn relaxations(key: Key) -> impl Iterator<Item = Key> {
    let special = key.map(|k| if k == ZERO || k == ONE { I8 } else { k });
    let low = key.map(|k| if k == R8H { R8 } else { k });
    let both = special.unwrap_or(key).map(|k| if k == R8H { R8 } else { k });
    let base = both.or(special).or(low).unwrap_or(key);
    let word = base.map(|k| if k == I8 { I32 } else { k });
    let half = base.map(|k| if k == I8 { I16 } else { k });
    let byte = base.map(|k| if (I16..=I64).contains(&k) { I8 } else { k });
    let wide = base.map(|k| if k == I64 { I32 } else { k });
    let bare = base.map(|k| if k == ONE || k == CL { 0 } else { k });
    [special, low, both, word, half, byte, wide, bare].into_iter().flatten()
}

fn prefix(insn: &Instruction) -> Prefix {
    // `xchg` with memory is locked too, but the table has its plain form.
    if insn.has_lock_prefix() && insn.mnemonic() != Mnemonic::Xchg {
        Prefix::Lock
    } else if insn.is_string_instruction() && insn.has_repne_prefix() {
        Prefix::Repne
    } else if insn.is_string_instruction() && insn.has_rep_prefix() {
        Prefix::Rep
    } else {
        Prefix::None
    }
}

fn register(reg: Register) -> u8 {
    match reg {
        Register::AH | Register::CH | Register::DH | Register::BH => R8H,
        r if r.is_gpr8() => R8,
        r if r.is_gpr16() => R16,
        r if r.is_gpr32() => R32,
        r if r.is_gpr64() => R64,
        r if r.is_xmm() => XMM,
        r if r.is_ymm() => YMM,
        r if r.is_mm() => MM,
        r if r.is_st() => code("st"),
        r if r.is_segment_register() => code("seg"),
        r if r.is_cr() => code("cr"),
        r if r.is_dr() => code("dr"),
        _ => 0,
    }
}

fn operand(insn: &Instruction, i: u32, has_immediate: bool) -> u8 {
    match insn.op_kind(i) {
        OpKind::Register if insn.op_register(i) == Register::CL && is_shift(insn.mnemonic()) => {
            if i + 1 == insn.op_count() { CL } else { R8 }
        }
        OpKind::Register => register(insn.op_register(i)),
        OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64 => code("rel"),
        OpKind::FarBranch16 | OpKind::FarBranch32 => code("rel"),
        OpKind::Memory => memory(insn),
        OpKind::Immediate8 if is_shift(insn.mnemonic()) && !has_immediate => ONE,
        OpKind::Immediate8
        | OpKind::Immediate8_2nd
        | OpKind::Immediate8to16
        | OpKind::Immediate8to32
        | OpKind::Immediate8to64 => {
            if insn.immediate(i) == 0 {
                ZERO
            } else {
                I8
            }
        }
        OpKind::Immediate16 => I16,
        OpKind::Immediate32 | OpKind::Immediate32to64 => I32,
        OpKind::Immediate64 => I64,
        // The mnemonic implies string operands.
        _ => 0,
    }
}

fn is_shift(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(mnemonic, Rol | Ror | Rcl | Rcr | Shl | Sal | Shr | Sar | Shld | Shrd)
}

fn memory(insn: &Instruction) -> u8 {
    use Mnemonic::*;
    match insn.mnemonic() {
        Prefetch | Prefetchw | Prefetchwt1 | Prefetchnta | Prefetcht0 | Prefetcht1 | Prefetcht2
        | Clflush => return code("m512"),
        Xsave | Xsave64 | Xsaveopt | Xsaveopt64 | Xrstor | Xrstor64 => return code("m4608"),
        Fxsave | Fxsave64 | Fxrstor | Fxrstor64 => return code("m4096"),
        Xlatb => return 0,
        _ => {}
    }
    if insn.is_vsib() {
        return if insn.memory_index().is_ymm() { code("y") } else { code("x") };
    }
    size(insn.memory_size())
}

fn size(size: MemorySize) -> u8 {
    match size.size() {
        1 => M8,
        2 => M16,
        4 => M32,
        8 => M64,
        10 => code("m80"),
        16 => M128,
        32 => M256,
        64 => code("m512"),
        _ => code("m"),
    }
}

/// The kind of address of a `lea`, named as in the table.
fn lea_shape(insn: &Instruction) -> u8 {
    let base = insn.memory_base();
    let displacement = insn.memory_displ_size() != 0;
    if insn.is_ip_rel_memory_operand() {
        return code("rd");
    }
    let index = match (insn.memory_index(), insn.memory_index_scale()) {
        (Register::None, _) => 0,
        (_, 1) => 1,
        _ => 2,
    };
    match (base != Register::None, index, displacement) {
        (true, 0, false) => code("b"),
        (true, 0, true) => code("bd"),
        (true, 1, false) => code("bi"),
        (true, 1, true) => code("bid"),
        (true, _, false) => code("bis"),
        (true, _, true) => code("bisd"),
        (false, 0, _) => code("d"),
        (false, 1, _) => code("id"),
        (false, _, _) => code("isd"),
    }
}
