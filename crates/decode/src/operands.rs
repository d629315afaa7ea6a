//! The dependency names that an instruction reads and writes.

use iced_x86::{
    Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register, RflagsBits,
    UsedMemory,
};

use crate::uop::Reg;

/// A small set of names in order of insertion. Names beyond its capacity are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Names {
    list: [Option<Reg>; 10],
}

impl Names {
    /// The set of these names.
    pub fn of(regs: &[Reg]) -> Names {
        let mut names = Names::default();
        names.extend(regs.iter().copied());
        names
    }

    /// Adds a name unless it is already in the set or is [`Reg::NONE`].
    pub fn push(&mut self, reg: Reg) {
        if reg != Reg::NONE
            && !self.contains(reg)
            && let Some(free) = self.list.iter_mut().find(|s| s.is_none())
        {
            *free = Some(reg);
        }
    }

    /// Adds several names.
    pub fn extend(&mut self, regs: impl IntoIterator<Item = Reg>) {
        for reg in regs {
            self.push(reg);
        }
    }

    /// Whether the name is in the set.
    pub fn contains(&self, reg: Reg) -> bool {
        self.list.contains(&Some(reg))
    }

    /// The set without one name.
    pub fn without(&self, reg: Reg) -> Names {
        let mut names = Names::default();
        names.extend(self.iter().filter(|&r| r != reg));
        names
    }

    /// The names in order.
    pub fn iter(&self) -> impl Iterator<Item = Reg> + '_ {
        self.list.iter().flatten().copied()
    }

    /// How many names.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list[0].is_none()
    }
}

/// Names whose meaning depends on earlier instructions of the block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    /// Bit n: high-byte register n has been written and not yet merged into its full register.
    pub high_dirty: u8,
    /// Register number of the x87 stack top; the number at the start of a block is arbitrary.
    pub x87_top: u8,
}

/// A memory location that an instruction accesses.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// It is loaded.
    pub read: bool,
    /// It is stored.
    pub write: bool,
    /// Bytes; 255 if larger or unknown.
    pub size: u8,
    /// What the address depends on: base, index, segment.
    pub address: Names,
    /// The address has an index register.
    pub indexed: bool,
    /// The address consists of a base register and a displacement from 0 to 2,047.
    pub simple: bool,
}

/// What an instruction reads and writes.
#[derive(Clone, Debug, Default)]
pub struct Operands {
    /// Registers whose values enter the result (not those of addresses), except flags.
    pub srcs: Names,
    /// Registers written, except flags.
    pub dsts: Names,
    /// Flag groups read.
    pub flag_srcs: Names,
    /// Flag groups written.
    pub flag_dsts: Names,
    /// Full registers that must first absorb their high byte (bit n as in [`Context`]).
    pub merges: u8,
    /// A destination keeps part of its old value.
    pub partial: bool,
    /// The stack pointer's value is used other than by the stack engine.
    pub reads_rsp: bool,
    /// The stack pointer is set other than by the stack engine.
    pub writes_rsp: bool,
    /// Memory accesses, in operand order.
    pub memory: Vec<Access>,
}

/// The number of a general-purpose register of any width, except high-byte registers.
fn gpr(reg: Register) -> Option<u8> {
    let full = reg.full_register();
    full.is_gpr64().then(|| full.number() as u8)
}

fn high8(reg: Register) -> Option<u8> {
    match reg {
        Register::AH => Some(0),
        Register::CH => Some(1),
        Register::DH => Some(2),
        Register::BH => Some(3),
        _ => None,
    }
}

fn reads(access: OpAccess) -> bool {
    use OpAccess::*;
    // A conditional write leaves the old value in place, which is a read.
    matches!(access, Read | CondRead | ReadWrite | ReadCondWrite | CondWrite)
}

fn writes(access: OpAccess) -> bool {
    use OpAccess::*;
    matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite)
}

/// Whether the stack engine updates the stack pointer for this instruction.
pub fn uses_stack_engine(insn: &Instruction) -> bool {
    use Mnemonic::*;
    matches!(insn.mnemonic(), Push | Pop | Call | Ret | Pushf | Pushfq | Popf | Popfq)
}

/// Instructions whose interval is explained by neither ports nor operands; they depend on each
/// other through [`Reg::STATUS`] for their measured cycles.
pub fn has_own_rhythm(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        mnemonic,
        Pause
            | Cld
            | Std
            | Rdtsc
            | Rdtscp
            | Rdpmc
            | Xgetbv
            | Cpuid
            | Emms
            | Rdrand
            | Fninit
            | Fnclex
            | Vzeroall
            | Lahf
    )
}

impl Operands {
    /// Determines the operands; `context` is read and updated.
    pub fn of(
        insn: &Instruction,
        factory: &mut InstructionInfoFactory,
        context: &mut Context,
    ) -> Operands {
        let mut out = Operands::default();
        let info = factory.info(insn);
        for memory in info.used_memory() {
            out.memory.extend(access(memory));
        }
        if insn.is_string_instruction() {
            // With a repeat prefix, the reported size is that of the whole string, which is
            // unknown.
            let size = insn.memory_size().size().min(255) as u8;
            out.memory.iter_mut().for_each(|a| a.size = size);
        }
        if is_prefetch(insn.mnemonic()) {
            out.memory.push(prefetched(insn));
        }
        for a in &out.memory {
            out.reads_rsp |= a.address.contains(Reg::RSP) && !uses_stack_engine(insn);
        }
        if uses_stack_engine(insn)
            && (0..insn.op_count()).any(|i| insn.op_kind(i) == OpKind::Memory)
        {
            out.reads_rsp |= insn.memory_base().full_register() == Register::RSP;
        }
        out.registers(insn, factory, context);
        out.flags(insn);
        out
    }

    /// Registers other than those of addresses: exactly the registers used by a copy of the
    /// instruction without address registers.
    fn registers(
        &mut self,
        insn: &Instruction,
        factory: &mut InstructionInfoFactory,
        context: &mut Context,
    ) {
        let mut bare = *insn;
        let lea = insn.mnemonic() == Mnemonic::Lea;
        if !lea && (0..insn.op_count()).any(|i| insn.op_kind(i) == OpKind::Memory) {
            if insn.is_vsib() {
                self.srcs.extend(name(insn.memory_index(), context));
            }
            bare.set_memory_base(Register::None);
            bare.set_memory_index(Register::None);
        }
        let fpu = insn.fpu_stack_increment_info().increment();
        let mut written = *context;
        written.x87_top = (context.x87_top.wrapping_add(fpu.min(0) as u8)) & 7;
        let explicit_rsp = (0..insn.op_count()).any(|i| {
            insn.op_kind(i) == OpKind::Register
                && insn.op_register(i).full_register() == Register::RSP
        });
        let info = factory.info(&bare);
        for used in info.used_registers() {
            let (reg, access) = (used.register(), used.access());
            if reg.full_register() == Register::RSP {
                if uses_stack_engine(insn) && !explicit_rsp {
                    continue;
                }
                self.reads_rsp |= reads(access);
                self.writes_rsp |= writes(access);
            }
            if reads(access) {
                self.read(reg, context);
            }
            if writes(access) {
                self.write(reg, &mut written, context);
            }
        }
        // False dependency on the destination (Haswell specification update, HSD146).
        if matches!(insn.mnemonic(), Mnemonic::Popcnt | Mnemonic::Lzcnt | Mnemonic::Tzcnt) {
            self.srcs.extend(name(insn.op0_register(), context));
        }
        if fpu < 0 {
            self.dsts.push(Reg::x87(written.x87_top));
        }
        if has_own_rhythm(insn.mnemonic()) {
            self.srcs.push(Reg::STATUS);
            self.dsts.push(Reg::STATUS);
        }
        context.high_dirty = written.high_dirty & !self.merges;
        context.x87_top = context.x87_top.wrapping_add(fpu as u8) & 7;
    }

    fn read(&mut self, reg: Register, context: &Context) {
        if let Some(n) = gpr(reg).filter(|&n| n < 4 && reg.size() >= 2 && high8(reg).is_none()) {
            self.merges |= context.high_dirty & (1 << n);
        }
        self.srcs.extend(name(reg, context));
        if let Some(n) = high8(reg) {
            // Written before this block, or not at all: depends on both names, so the younger
            // counts.
            self.srcs.push(Reg::high8(n));
        }
    }

    fn write(&mut self, reg: Register, written: &mut Context, before: &Context) {
        if let Some(n) = high8(reg) {
            // Renamed separately from the full register (Agner Fog, microarchitecture, Haswell,
            // "Partial register access").
            written.high_dirty |= 1 << n;
            self.dsts.push(Reg::high8(n));
            return;
        }
        if let Some(n) = gpr(reg) {
            if reg.size() < 4 {
                self.partial = true;
                self.srcs.push(Reg::gpr(n));
                if reg.size() == 2 && n < 4 {
                    self.merges |= before.high_dirty & (1 << n);
                }
            } else if n < 4 {
                written.high_dirty &= !(1 << n);
            }
        }
        self.dsts.extend(name(reg, written));
    }

    fn flags(&mut self, insn: &Instruction) {
        const CF: u32 = RflagsBits::CF;
        const REST: u32 =
            RflagsBits::OF | RflagsBits::SF | RflagsBits::ZF | RflagsBits::AF | RflagsBits::PF;
        let pick = |bits: u32| {
            let mut names = Names::default();
            names.push(if bits & CF != 0 { Reg::CF } else { Reg::NONE });
            names.push(if bits & REST != 0 { Reg::SPAZO } else { Reg::NONE });
            names
        };
        self.flag_srcs = pick(insn.rflags_read());
        self.flag_dsts = pick(insn.rflags_modified());
        // The group is renamed as one: an instruction that sets only some of its flags (bit tests,
        // rotates, sahf) reads the old ones.
        let set = insn.rflags_modified() & REST;
        if set != 0 && set != REST {
            self.flag_srcs.push(Reg::SPAZO);
        }
    }
}

/// The dependency name of a register, if it has one.
fn name(reg: Register, context: &Context) -> Option<Reg> {
    if let Some(n) = high8(reg) {
        let apart = context.high_dirty & (1 << n) != 0;
        return Some(if apart { Reg::high8(n) } else { Reg::gpr(n) });
    }
    let number = reg.number() as u8;
    if let Some(n) = gpr(reg) {
        Some(Reg::gpr(n))
    } else if reg.is_vector_register() {
        Some(Reg::vec(number))
    } else if reg.is_mm() {
        Some(Reg::x87(number))
    } else if reg.is_st() {
        Some(Reg::x87(number + context.x87_top))
    } else {
        None
    }
}

/// Prefetch instructions, whose memory accesses do not affect the program.
pub fn is_prefetch(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(mnemonic, Prefetchnta | Prefetcht0 | Prefetcht1 | Prefetcht2)
}

fn prefetched(insn: &Instruction) -> Access {
    let context = Context::default();
    let mut address = Names::default();
    address.extend(name(insn.memory_base(), &context));
    address.extend(name(insn.memory_index(), &context));
    let indexed = insn.memory_index() != Register::None;
    Access { read: true, write: false, size: 1, address, indexed, simple: false }
}

fn access(memory: &UsedMemory) -> Option<Access> {
    use OpAccess::*;
    let (read, write) = match memory.access() {
        Read | CondRead => (true, false),
        Write | CondWrite => (false, true),
        ReadWrite | ReadCondWrite => (true, true),
        None | NoMemAccess => return Option::None,
    };
    let mut address = Names::default();
    let context = Context::default();
    let base = name(memory.base(), &context);
    let index = name(memory.index(), &context);
    address.extend(base);
    address.extend(index);
    if matches!(memory.segment(), Register::FS | Register::GS) {
        address.push(Reg::FSBASE);
    }
    let size = memory.memory_size().size();
    Some(Access {
        read,
        write,
        size: if size == 0 { 255 } else { size.min(255) as u8 },
        address,
        indexed: index.is_some(),
        // Intel optimisation manual, 2.3.5.1 (L1 DCache, load latency).
        simple: base.is_some() && index.is_none() && memory.displacement() < 2048,
    })
}
