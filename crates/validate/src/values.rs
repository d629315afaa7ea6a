//! Values of general-purpose registers and addresses in straight-line code, as far as they follow
//! from known start values: enough of the integer instruction set to determine which memory
//! accesses of a block overlap when it is run repeatedly.
//!
//! The start state is that of the BHive measurements (Chen et al., IISWC 2019; its published
//! profiler): every register holds the address of one page, `rsp` and `rbp` point to its middle,
//! every eight bytes of the page hold its address, and *every* page of the address space is mapped
//! to this page. So memory is 4,096 bytes, addressed by the low 12 bits.

use iced_x86::{
    ConditionCode, Decoder as Bytes, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic,
    OpAccess, OpKind, Register,
};
use stream::BlockDef;

/// Size of the page that all addresses are mapped to.
const PAGE: usize = 4096;
/// Address of the page, and the initial value of registers and memory.
const START: u64 = 0x0232_4000;

/// A value, if it is known.
type Value = Option<u64>;

/// Arithmetic flags, as far as they are known.
#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    carry: Option<bool>,
    zero: Option<bool>,
    sign: Option<bool>,
    overflow: Option<bool>,
    parity: Option<bool>,
}

/// Registers and memory.
#[derive(Clone, Debug)]
pub struct Values {
    gpr: [Value; 16],
    flags: Flags,
    memory: Vec<Option<u8>>,
}

impl Default for Values {
    fn default() -> Self {
        Values::new()
    }
}

impl Values {
    /// The start state.
    pub fn new() -> Values {
        let mut gpr = [Some(START); 16];
        gpr[4] = Some(START + 2048);
        gpr[5] = Some(START + 2048 - 16);
        let clear = Some(false);
        let flags =
            Flags { carry: clear, zero: clear, sign: clear, overflow: clear, parity: clear };
        let memory = START.to_le_bytes().iter().cycle().take(PAGE).map(|&b| Some(b)).collect();
        Values { gpr, flags, memory }
    }

    /// Executes a block once; returns the addresses of its memory operands in order, `None` if a
    /// register is unknown.
    pub fn run(&mut self, def: &BlockDef) -> Vec<Option<u64>> {
        let mut factory = InstructionInfoFactory::new();
        let mut addresses = Vec::new();
        for (ip, code) in code(def) {
            let insn = Bytes::with_ip(64, code, ip, DecoderOptions::NONE).decode();
            for store in [false, true] {
                self.addresses(&insn, &mut factory, store, &mut addresses);
            }
            self.execute(&insn, &mut factory);
        }
        addresses
    }

    fn addresses(
        &self,
        insn: &Instruction,
        factory: &mut InstructionInfoFactory,
        store: bool,
        out: &mut Vec<Option<u64>>,
    ) {
        use OpAccess::*;
        for used in factory.info(insn).used_memory() {
            let (read, write) = match used.access() {
                Read | CondRead => (true, false),
                Write | CondWrite => (false, true),
                ReadWrite | ReadCondWrite => (true, true),
                _ => (false, false),
            };
            if (store && write) || (!store && read) {
                out.push(used.virtual_address(0, |r, _, _| self.register(r)));
            }
        }
        if !store && decode::is_prefetch(insn.mnemonic()) {
            out.push(insn.virtual_address(0, 0, |r, _, _| self.register(r)));
        }
    }

    /// The value of a register of any width; segment bases are 0.
    fn register(&self, reg: Register) -> Value {
        if reg.is_segment_register() {
            return Some(0);
        }
        let full = reg.full_register();
        if !full.is_gpr64() {
            return None;
        }
        let value = self.gpr[full.number()]?;
        Some(match reg {
            Register::AH | Register::BH | Register::CH | Register::DH => (value >> 8) & 0xff,
            _ => value & mask(reg.size()),
        })
    }

    fn set_register(&mut self, reg: Register, value: Value) {
        let full = reg.full_register();
        if !full.is_gpr64() {
            return;
        }
        let old = self.gpr[full.number()];
        let merged = |shift: u32, keep: u64| Some((old? & keep) | ((value? << shift) & !keep));
        self.gpr[full.number()] = match reg {
            Register::AH | Register::BH | Register::CH | Register::DH => merged(8, !0xff00),
            _ if reg.size() >= 4 => value.map(|v| v & mask(reg.size())),
            _ => merged(0, !mask(reg.size())),
        };
    }

    fn load(&self, address: Value, size: usize) -> Value {
        let address = address?;
        let mut value = 0;
        for i in (0..size.min(8)).rev() {
            value = value << 8 | u64::from(self.memory[place(address, i)]?);
        }
        Some(value)
    }

    fn store(&mut self, address: Value, size: usize, value: Value) {
        let Some(address) = address else { return };
        for i in 0..size {
            let byte = value.filter(|_| i < 8).map(|v| (v >> (8 * i)) as u8);
            self.memory[place(address, i)] = byte;
        }
    }

    fn address(&self, insn: &Instruction, i: u32) -> Value {
        insn.virtual_address(i, 0, |r, _, _| self.register(r))
    }

    /// The value of an operand.
    fn get(&self, insn: &Instruction, i: u32) -> Value {
        match insn.op_kind(i) {
            OpKind::Register => self.register(insn.op_register(i)),
            OpKind::Memory => self.load(self.address(insn, i), insn.memory_size().size()),
            OpKind::Immediate8
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate64
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64 => Some(insn.immediate(i)),
            _ => None,
        }
    }

    fn set(&mut self, insn: &Instruction, i: u32, value: Value) {
        match insn.op_kind(i) {
            OpKind::Register => self.set_register(insn.op_register(i), value),
            OpKind::Memory => {
                let address = self.address(insn, i);
                self.store(address, insn.memory_size().size(), value);
            }
            _ => {}
        }
    }

    /// Executes one instruction. If it is not modelled, its results become unknown.
    fn execute(&mut self, insn: &Instruction, factory: &mut InstructionInfoFactory) {
        use Mnemonic::*;
        let size = width(insn);
        let (a, b) = (self.get(insn, 0), self.get(insn, 1));
        match insn.mnemonic() {
            Nop | Endbr64 => {}
            Mov | Movzx => self.set(insn, 0, b),
            Movsx | Movsxd => {
                let from = operand_size(insn, 1);
                self.set(insn, 0, b.map(|v| extend(v, from)));
            }
            Lea => {
                let address = insn.virtual_address(1, 0, |r, _, _| self.register(r));
                self.set(insn, 0, address);
            }
            Push => {
                let slot = self.gpr[4].map(|sp| sp.wrapping_sub(8));
                self.store(slot, 8, a);
                self.gpr[4] = slot;
            }
            Pop => {
                let slot = self.gpr[4];
                let value = self.load(slot, 8);
                self.gpr[4] = slot.map(|sp| sp.wrapping_add(8));
                self.set(insn, 0, value);
            }
            Cdqe => {
                self.set_register(Register::RAX, self.register(Register::EAX).map(|v| extend(v, 4)))
            }
            Cwde => {
                self.set_register(Register::EAX, self.register(Register::AX).map(|v| extend(v, 2)))
            }
            Cdq => self.sign_of(Register::EAX, Register::EDX),
            Cqo => self.sign_of(Register::RAX, Register::RDX),
            Xchg => {
                self.set(insn, 0, b);
                self.set(insn, 1, a);
            }
            m if insn.condition_code() != ConditionCode::None => {
                self.conditional(insn, m, a, b);
            }
            m => match self.arithmetic(insn, m, a, b, size) {
                Some(result) if !matches!(m, Cmp | Test) => self.set(insn, 0, result),
                Some(_) => {}
                None => self.forget(insn, factory),
            },
        }
    }

    fn sign_of(&mut self, from: Register, to: Register) {
        let size = from.size();
        let value = self.register(from).map(|v| if negative(v, size) { mask(size) } else { 0 });
        self.set_register(to, value);
    }

    fn conditional(&mut self, insn: &Instruction, mnemonic: Mnemonic, old: Value, new: Value) {
        let holds = self.holds(insn.condition_code());
        if format!("{mnemonic:?}").starts_with("Set") {
            self.set(insn, 0, holds.map(u64::from));
        } else if insn.op_count() == 2 {
            self.set(insn, 0, holds.and_then(|h| if h { new } else { old }));
        }
    }

    fn holds(&self, condition: ConditionCode) -> Option<bool> {
        use ConditionCode as C;
        let f = self.flags;
        let less = || Some(f.sign? != f.overflow?);
        Some(match condition {
            C::None => return None,
            C::o => f.overflow?,
            C::no => !f.overflow?,
            C::b => f.carry?,
            C::ae => !f.carry?,
            C::e => f.zero?,
            C::ne => !f.zero?,
            C::be => f.carry? || f.zero?,
            C::a => !(f.carry? || f.zero?),
            C::s => f.sign?,
            C::ns => !f.sign?,
            C::p => f.parity?,
            C::np => !f.parity?,
            C::l => less()?,
            C::ge => !less()?,
            C::le => less()? || f.zero?,
            C::g => !(less()? || f.zero?),
        })
    }

    /// The result of an arithmetic instruction and its flags; `None` for other instructions.
    fn arithmetic(
        &mut self,
        insn: &Instruction,
        mnemonic: Mnemonic,
        a: Value,
        b: Value,
        size: usize,
    ) -> Option<Value> {
        use Mnemonic::*;
        let carry_in = self.flags.carry;
        let result = match mnemonic {
            Add => self.sum(a, b, Some(false), size),
            Adc => self.sum(a, b, carry_in, size),
            Sub | Cmp => self.difference(a, b, Some(false), size),
            Sbb => self.difference(a, b, carry_in, size),
            Neg => self.difference(Some(0), a, Some(false), size),
            Inc => self.keeping_carry(|v| v.sum(a, Some(1), Some(false), size)),
            Dec => self.keeping_carry(|v| v.difference(a, Some(1), Some(false), size)),
            Xor if insn.op_kind(1) == OpKind::Register
                && insn.op0_register() == insn.op1_register() =>
            {
                self.logic(Some(0), size)
            }
            And => self.logic(both(a, b, |x, y| x & y).or((b == Some(0)).then_some(0)), size),
            Test => self.logic(both(a, b, |x, y| x & y), size),
            Or => self.logic(both(a, b, |x, y| x | y), size),
            Xor => self.logic(both(a, b, |x, y| x ^ y), size),
            Not => a.map(|v| !v & mask(size)),
            Shl | Sal | Shr | Sar => self.shift(mnemonic, a, b, size),
            Imul if insn.op_count() >= 2 => {
                self.flags = Flags::default();
                let (x, y) = if insn.op_count() == 3 { (b, self.get(insn, 2)) } else { (a, b) };
                both(x, y, |x, y| x.wrapping_mul(y) & mask(size))
            }
            _ => return None,
        };
        Some(result)
    }

    fn keeping_carry(&mut self, f: impl FnOnce(&mut Values) -> Value) -> Value {
        let carry = self.flags.carry;
        let value = f(self);
        self.flags.carry = carry;
        value
    }

    fn result_flags(&mut self, value: Value, size: usize) {
        self.flags.zero = value.map(|v| v == 0);
        self.flags.sign = value.map(|v| negative(v, size));
        self.flags.parity = value.map(|v| (v as u8).count_ones().is_multiple_of(2));
    }

    fn sum(&mut self, a: Value, b: Value, carry: Option<bool>, size: usize) -> Value {
        let wide = a.zip(b).zip(carry).map(|((a, b), c)| {
            u128::from(a & mask(size)) + u128::from(b & mask(size)) + u128::from(c)
        });
        let value = wide.map(|w| w as u64 & mask(size));
        self.flags.carry = wide.map(|w| w > u128::from(mask(size)));
        self.flags.overflow = a.zip(b).zip(value).map(|((a, b), v)| {
            negative(a, size) == negative(b, size) && negative(v, size) != negative(a, size)
        });
        self.result_flags(value, size);
        value
    }

    fn difference(&mut self, a: Value, b: Value, borrow: Option<bool>, size: usize) -> Value {
        let parts = a.zip(b).zip(borrow).map(|((a, b), c)| {
            (u128::from(a & mask(size)), u128::from(b & mask(size)) + u128::from(c))
        });
        let value = parts.map(|(a, b)| a.wrapping_sub(b) as u64 & mask(size));
        self.flags.carry = parts.map(|(a, b)| a < b);
        self.flags.overflow = a.zip(b).zip(value).map(|((a, b), v)| {
            negative(a, size) != negative(b, size) && negative(v, size) != negative(a, size)
        });
        self.result_flags(value, size);
        value
    }

    fn logic(&mut self, value: Value, size: usize) -> Value {
        let value = value.map(|v| v & mask(size));
        self.flags.carry = Some(false);
        self.flags.overflow = Some(false);
        self.result_flags(value, size);
        value
    }

    fn shift(&mut self, mnemonic: Mnemonic, a: Value, b: Value, size: usize) -> Value {
        let count = b.map(|n| n & if size == 8 { 63 } else { 31 });
        if count == Some(0) {
            return a;
        }
        let value = both(a, count, |v, n| {
            let n = n as u32;
            match mnemonic {
                Mnemonic::Shr => v.checked_shr(n).unwrap_or(0),
                Mnemonic::Sar => ((extend(v, size) as i64) >> n.min(63)) as u64 & mask(size),
                _ => v.checked_shl(n).unwrap_or(0) & mask(size),
            }
        });
        self.flags = Flags::default();
        self.result_flags(value, size);
        value
    }

    /// Makes everything that an instruction writes unknown.
    fn forget(&mut self, insn: &Instruction, factory: &mut InstructionInfoFactory) {
        use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
        let info = factory.info(insn);
        let writes = |a| matches!(a, Write | CondWrite | ReadWrite | ReadCondWrite);
        for used in info.used_registers() {
            if writes(used.access()) {
                self.set_register(used.register(), None);
            }
        }
        for used in info.used_memory() {
            if writes(used.access()) {
                let address = used.virtual_address(0, |r, _, _| self.register(r));
                self.store(address, used.memory_size().size(), None);
            }
        }
        if insn.rflags_modified() != 0 {
            self.flags = Flags::default();
        }
    }
}

/// The offset in the page of byte `i` of an access.
fn place(address: u64, i: usize) -> usize {
    (address.wrapping_add(i as u64) % PAGE as u64) as usize
}

fn both(a: Value, b: Value, f: impl FnOnce(u64, u64) -> u64) -> Value {
    Some(f(a?, b?))
}

fn mask(size: usize) -> u64 {
    if size >= 8 { u64::MAX } else { (1 << (8 * size)) - 1 }
}

fn negative(value: u64, size: usize) -> bool {
    value >> (8 * size.clamp(1, 8) - 1) & 1 != 0
}

fn extend(value: u64, size: usize) -> u64 {
    if negative(value, size) { value | !mask(size) } else { value & mask(size) }
}

fn operand_size(insn: &Instruction, i: u32) -> usize {
    match insn.op_kind(i) {
        OpKind::Register => insn.op_register(i).size(),
        _ => insn.memory_size().size(),
    }
}

/// Size of the first operand in bytes.
fn width(insn: &Instruction) -> usize {
    if insn.op_count() == 0 { 8 } else { operand_size(insn, 0).clamp(1, 8) }
}

/// Addresses and bytes of the instructions.
fn code(def: &BlockDef) -> impl Iterator<Item = (u64, &[u8])> {
    let mut start = 0usize;
    def.lens.iter().map(move |&len| {
        let from = start.min(def.bytes.len());
        let to = (from + usize::from(len)).min(def.bytes.len());
        start = to;
        (def.addr.wrapping_add(from as u64), &def.bytes[from..to])
    })
}
