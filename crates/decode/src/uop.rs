//! The parts of a decoded block.

use stream::marker::MarkerSite;

/// A dependency name: anything that an instruction can wait for. Dense, below [`Reg::COUNT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reg(pub u8);

impl Reg {
    /// Number of names.
    pub const COUNT: usize = 64;
    /// No register: always ready, never written. The core model keeps its ready time at 0.
    pub const NONE: Reg = Reg(63);
    /// General-purpose register `n`: 0 = rax, 1 = rcx, 2 = rdx, 3 = rbx, 4 = rsp … 15 = r15.
    pub const fn gpr(n: u8) -> Reg {
        Reg(n & 15)
    }
    /// The stack pointer.
    pub const RSP: Reg = Reg(4);
    /// Vector register `n` (xmm/ymm 0..=15).
    pub const fn vec(n: u8) -> Reg {
        Reg(16 + (n & 15))
    }
    /// x87 or MMX register `n` (0..=7).
    pub const fn x87(n: u8) -> Reg {
        Reg(32 + (n & 7))
    }
    /// High-byte register `n` (0 = ah, 1 = ch, 2 = dh, 3 = bh), renamed separately on Haswell.
    pub const fn high8(n: u8) -> Reg {
        Reg(40 + (n & 3))
    }
    /// The carry flag.
    pub const CF: Reg = Reg(44);
    /// The other arithmetic flags (sign, parity, adjust, zero, overflow), renamed as one group.
    pub const SPAZO: Reg = Reg(45);
    /// All other state that can carry a dependency: direction flag, x87 status and control, MXCSR.
    pub const STATUS: Reg = Reg(46);
    /// Base of the FS segment; written rarely, read by thread-local accesses.
    pub const FSBASE: Reg = Reg(47);
    /// Scratch name `n` (0..=7) that lives within one instruction.
    pub const fn temp(n: u8) -> Reg {
        Reg(48 + (n & 7))
    }
    /// Number of names reserved for an accelerator.
    pub const ACCELERATOR: u8 = 7;
    /// Name `n` (0..=6) for uops that an accelerator injects: no instruction reads or writes it,
    /// and it keeps its value across markers.
    pub const fn accelerator(n: u8) -> Reg {
        assert!(n < Self::ACCELERATOR);
        Reg(56 + n)
    }
}

/// What a uop does with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UopKind {
    /// Arithmetic, moves, branches: no memory.
    Exec,
    /// Load of the uop's memory operand. Its result is ready after the hierarchy's latency plus
    /// `latency`.
    Load,
    /// Address generation of a store (port 2, 3 or 7).
    StoreAddress,
    /// Data of a store (port 4).
    StoreData,
}

/// Bit set of a uop's special properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UopFlags(pub u16);

impl UopFlags {
    /// First uop of its instruction (of a macro-fused pair: of the pair).
    pub const FIRST: u16 = 1 << 0;
    /// Last uop of its instruction.
    pub const LAST: u16 = 1 << 1;
    /// Micro-fused with the uop before it: shares its slot in the decoders, uop cache, ROB and
    /// retirement, but has its own RS entry and port.
    pub const FUSED: u16 = 1 << 2;
    /// Needs no execution unit: nop, zero idiom, `vzeroupper`. Takes a slot only; results ready at
    /// allocation.
    pub const NO_EXEC: u16 = 1 << 3;
    /// Register move that rename may eliminate; otherwise executes as an ordinary uop.
    pub const MOVE: u16 = 1 << 4;
    /// Micro-fused in decoders and uop cache, but split ("unlaminated") before allocation because
    /// of indexed addressing: takes a slot of its own from allocation to retirement, in the same
    /// cycle as the uop before it. Set together with `FUSED`.
    pub const UNLAMINATED: u16 = 1 << 5;
    /// The memory address has an index register (not possible on port 7; load-to-use is one
    /// longer).
    pub const INDEXED: u16 = 1 << 6;
    /// Ends a block: the branch condition or target is known when it completes.
    pub const BRANCH: u16 = 1 << 7;
    /// Locked read-modify-write or full fence: waits until it is the oldest, stores drain first. On
    /// the first uop of the instruction; the others depend on it.
    pub const FENCE: u16 = 1 << 8;
    /// Serialising (cpuid, lfence, …): its first uop waits until it is the oldest, and younger
    /// instructions are allocated only after its last uop has completed. Set on all uops of the
    /// instruction. If the last one needs no execution, it stalls allocation for at least `latency`
    /// cycles.
    pub const SERIALIZE: u16 = 1 << 9;
    /// Wide or vector load (its load-to-use latency is longer than an integer load's).
    pub const VECTOR: u16 = 1 << 10;
    /// Software prefetch: the load has no destination, and retirement does not wait for it. Its
    /// memory operand has an address only if the feeder reports one.
    pub const PREFETCH: u16 = 1 << 11;
    /// Load whose base register came straight from a load with a displacement below 2,048: the
    /// 4-cycle pointer-chase case (Intel optimisation manual, 2.3.5.1) is possible.
    pub const SIMPLE_ADDRESS: u16 = 1 << 12;
    /// Inserted at rename to merge a high-byte register into its full register: takes no decoder
    /// slot and is allocated in a cycle of its own.
    pub const MERGE: u16 = 1 << 14;
    /// A store queue entry without address or data (`sfence`): where a store writes for one cycle,
    /// it delays the stores behind it for `latency` cycles.
    pub const STORE_FENCE: u16 = 1 << 15;

    /// Both bits: an instruction with one register source that rename executes itself. It needs no
    /// further bookkeeping: its results are ready when its source is.
    pub const RENAMED: u16 = Self::NO_EXEC | Self::MOVE;

    /// Whether any of the bits is set.
    #[inline(always)]
    pub fn has(self, bits: u16) -> bool {
        self.0 & bits != 0
    }

    /// Whether all of the bits are set.
    #[inline(always)]
    pub fn has_all(self, bits: u16) -> bool {
        self.0 & bits == bits
    }
}

/// One uop of the unfused domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uop {
    /// What it does with memory.
    pub kind: UopKind,
    /// Ports it may issue to: bit n = port n. 0 with `NO_EXEC`.
    pub ports: u8,
    /// Cycles from issue to result. For loads: cycles on top of the hierarchy's.
    pub latency: u8,
    /// Cycles its unit stays busy (the divider); 0 = pipelined.
    pub busy: u8,
    /// See [`UopFlags`].
    pub flags: UopFlags,
    /// Index into [`Block::mem_operands`] for uops that access memory; `u16::MAX` otherwise.
    pub mem_operand: u16,
    /// Index into [`Block::insns`].
    pub insn: u16,
    /// What it waits for; unused entries are [`Reg::NONE`]. Address registers of a memory uop come
    /// first.
    pub srcs: [Reg; 4],
    /// What it produces; unused entries are [`Reg::NONE`].
    pub dsts: [Reg; 3],
}

impl Uop {
    /// Value of `mem_operand` for a uop without memory.
    pub const NO_OPERAND: u16 = u16::MAX;
}

/// How the legacy decoders treat an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeClass {
    /// One fused uop: any decoder.
    Simple,
    /// Two to four fused uops: the first decoder only.
    Complex,
    /// More than four: the microcode sequencer.
    Microcoded,
}

/// One instruction of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Insn {
    /// Offset of its first byte from the block's address.
    pub offset: u16,
    /// Length in bytes.
    pub len: u8,
    /// Fused uops that it takes in decoders and uop cache (0 for the second of a macro-fused pair
    /// and for markers).
    pub fused_uops: u8,
    /// Decoder needed.
    pub class: DecodeClass,
    /// Has a length-changing prefix (predecode stalls).
    pub lcp: bool,
    /// Second half of a macro-fused pair.
    pub fused_with_previous: bool,
    /// Belongs to a marker (carrier or operand store).
    pub marker: bool,
    /// A string instruction with a repeat prefix: each iteration enters the block again. The uops
    /// are those of one iteration. For `movs` and `stos` these are only the load and the store,
    /// because the microcode moves the pointers for many elements at once (and copies up to 32
    /// bytes per cycle: the core may merge iterations within 32 bytes); for the others they are
    /// those of the form without a prefix.
    pub rep: bool,
    /// Has an operand of 32-bit immediate or displacement kind that takes two uop-cache slots
    /// (64-bit immediates).
    pub wide_immediate: bool,
    /// First uop in [`Block::uops`].
    pub first_uop: u16,
    /// Number of uops.
    pub uops: u8,
    /// First one in [`Block::mem_operands`].
    pub first_mem_operand: u16,
    /// Number of memory operands.
    pub mem_operands: u8,
    /// Bytes by which the stack engine moves the stack pointer, without a uop (`push` -8, `pop`
    /// and `ret` +8, `call` -8). The core keeps the sum since the last synchronisation.
    pub stack_delta: i16,
    /// Uses the stack pointer's value outside the stack engine, as an operand or in an address. If
    /// the stack engine's sum is not 0, a synchronising uop (any integer port, 1 cycle, reads and
    /// writes [`Reg::RSP`]) is inserted before this instruction and the sum becomes 0.
    pub reads_rsp: bool,
    /// Sets the stack pointer outside the stack engine: the sum becomes 0 (without a uop if
    /// `reads_rsp` is not set).
    pub writes_rsp: bool,
    /// For [`DecodeClass::Complex`]: the number of other decoders that can work in the cycle in
    /// which the first decoder takes this instruction (4 uops per cycle in all; fewer for some). 3
    /// for simple instructions, 0 for microcoded ones.
    pub decoders_beside: u8,
    /// Could be the first half of a macro-fused pair with some conditional jump: the fourth decoder
    /// does not take it, because it cannot see the next instruction.
    pub macro_fusible: bool,
    /// Bytes of prefixes and opcode escapes before the opcode proper. If the opcode lies in an
    /// earlier 16-byte line than the instruction's last byte, predecode handles the instruction in
    /// both lines.
    pub opcode_offset: u8,
    /// Start-up cycles of a repeated string instruction, 0 for other instructions. Its uops are
    /// those of one iteration.
    pub rep_startup: u8,
}

/// A place where a block accesses memory. Each execution of the block supplies one address per
/// memory operand, or none (masked off, zero iterations).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemOperand {
    /// Instruction index.
    pub insn: u16,
    /// Whether it is a store; otherwise a load.
    pub store: bool,
    /// Bytes, as the program sees it (an AVX load is one access of 32). Values are limited to 255,
    /// which stands for anything larger (`xsave`).
    pub size: u8,
}

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchKind {
    /// No branch: the next block follows in memory.
    None,
    /// Conditional, direct (`jcc`, `jrcxz`, `loop`).
    Conditional,
    /// Unconditional, direct.
    Jump,
    /// Indirect jump.
    IndirectJump,
    /// Direct call.
    Call,
    /// Indirect call.
    IndirectCall,
    /// Return.
    Return,
    /// `syscall`.
    Syscall,
}

/// The branch at the end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// How the block ends.
    pub kind: BranchKind,
    /// Address of the branch instruction.
    pub addr: u64,
    /// Target of a direct branch, else 0.
    pub target: u64,
    /// Address of the instruction after the block.
    pub next: u64,
}

/// A decoded block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its number in the stream.
    pub id: u32,
    /// Address of the first instruction.
    pub addr: u64,
    /// Length of the code in bytes.
    pub len: u16,
    /// Instructions in order.
    pub insns: Vec<Insn>,
    /// Uops in order.
    pub uops: Vec<Uop>,
    /// Memory operands in the order in which an execution's addresses arrive: by instruction, loads
    /// before stores.
    pub mem_operands: Vec<MemOperand>,
    /// Markers, by carrier.
    pub markers: Vec<MarkerSite>,
    /// How the block ends.
    pub branch: Branch,
    /// Instructions that count as executed: all but those of markers.
    pub insn_count: u16,
    /// Instructions that could not be decoded or are not in the table, treated as one-cycle uops.
    pub unknown: u16,
}
