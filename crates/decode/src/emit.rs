//! Builds the uops of one instruction: loads, execution, stores, fused-domain marks.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use crate::family::{Family, ports};
use crate::fence;
use crate::fuse;
use crate::idiom::{self, Idiom, idiom};
use crate::key::{Key, Prefix};
use crate::operands::{Access, Names, Operands, has_own_rhythm};
use crate::shape::{Exec, Recipe, dataflow};
use crate::table::{InstructionTable, Row};
use crate::uop::{MemOperand, Reg, Uop, UopFlags, UopKind};

/// Load-to-use latencies that are included in the measured latencies of memory forms: integer, 16
/// bytes, 32 bytes. (Table: `mov r64,m64` 5, `movaps xmm,m128` 6, `vmovaps ymm,m256` 7.)
const LOAD_TO_USE: [u8; 3] = [5, 6, 7];
/// Store-to-load forwarding in the latency of forms that read and write memory. (Table: `inc m32`
/// takes at most 9 to 10, of which the load takes 5 and the operation 1.)
const FORWARDING: u8 = 4;

/// A read-modify-write that takes at least this many cycles is locked (`xchg` with memory: 19).
const LOCKED: f32 = 19.0;

/// The uops of an instruction and how they count in the fused domain.
#[derive(Clone, Debug, Default)]
pub struct Emitted {
    /// The uops, without instruction index.
    pub uops: Vec<Uop>,
    /// Its memory operands.
    pub mem_operands: Vec<MemOperand>,
    /// The form was not in the table.
    pub unknown: bool,
}

/// The substitute for an instruction that is not in the table: one cycle on any integer port
/// between its loads and stores.
fn default_row(memory: &[Access]) -> Row {
    use crate::table::Group;
    let loads = memory.iter().filter(|a| a.read).count() as u8;
    let stores = memory.iter().filter(|a| a.write).count() as u8;
    let mut groups = vec![Group { count: 1, ports: ports::ALU }];
    for (count, set) in
        [(loads, ports::LOAD), (stores, ports::STORE_ADDRESS), (stores, ports::STORE_DATA)]
    {
        if count > 0 {
            groups.push(Group { count, ports: set });
        }
    }
    Row {
        fused: 1 + loads.saturating_sub(1) + stores,
        unfused: 1 + loads + 2 * stores,
        groups,
        latency_min: Some(1),
        latency_max: Some(1),
        latency_bound: false,
        cycles: 1.0,
    }
}

/// The memory operands of an instruction: loads, then stores. A gather has one per element.
fn mem_operands(
    insn: &Instruction,
    memory: &[Access],
    loads: usize,
) -> (Vec<MemOperand>, Vec<Access>) {
    let mut list = Vec::new();
    let mut accesses = Vec::new();
    let repeat = if insn.is_vsib() { loads.max(1) } else { 1 };
    for store in [false, true] {
        for a in memory.iter().filter(|a| if store { a.write } else { a.read }) {
            for _ in 0..repeat {
                list.push(MemOperand { insn: 0, store, size: a.size });
                accesses.push(*a);
            }
        }
    }
    (list, accesses)
}

fn to_uop(kind: UopKind, ports: u8, latency: u8, srcs: &Names, dsts: &Names) -> Uop {
    let mut uop = Uop {
        kind,
        ports,
        latency,
        busy: 0,
        flags: UopFlags(0),
        mem_operand: Uop::NO_OPERAND,
        insn: 0,
        srcs: [Reg::NONE; 4],
        dsts: [Reg::NONE; 3],
    };
    for (to, from) in uop.srcs.iter_mut().zip(srcs.iter()) {
        *to = from;
    }
    for (to, from) in uop.dsts.iter_mut().zip(dsts.iter()) {
        *to = from;
    }
    uop
}

fn exec_uop(exec: &Exec) -> Uop {
    let mut uop = to_uop(UopKind::Exec, exec.ports, exec.latency, &exec.srcs, &exec.dsts);
    uop.busy = exec.busy;
    uop
}

/// A uop that only occupies a slot.
pub fn empty_uop(dsts: &Names) -> Uop {
    let mut uop = to_uop(UopKind::Exec, 0, 0, &Names::default(), dsts);
    uop.flags.0 |= UopFlags::NO_EXEC;
    uop
}

/// The uop that merges a high-byte register into its full register.
pub fn merge_uop(n: u8) -> Uop {
    let (full, high) = (Reg::gpr(n), Reg::high8(n));
    let mut uop =
        to_uop(UopKind::Exec, ports::ALU, 1, &Names::of(&[full, high]), &Names::of(&[full]));
    uop.flags.0 |= UopFlags::MERGE;
    uop
}

/// Emits the uops of one instruction.
pub fn emit(
    table: &InstructionTable,
    insn: &Instruction,
    key: Key,
    operands: &Operands,
) -> Emitted {
    match idiom(insn) {
        Idiom::Nop => return single(empty_uop(&operands.flag_dsts), operands, insn),
        Idiom::Zero => {
            let mut dsts = operands.dsts;
            dsts.extend(operands.flag_dsts.iter());
            return single(empty_uop(&dsts), operands, insn);
        }
        Idiom::Move => return register_move(insn, key, operands),
        Idiom::None | Idiom::Independent => {}
    }
    // One iteration: the `rep` forms of the table cover whole strings of unknown length.
    let once =
        Key { prefix: if key.prefix == Prefix::Lock { Prefix::Lock } else { Prefix::None }, ..key };
    let found = table.find(once).map(|(k, r)| (k, r.clone())).or_else(|| derived(table, once));
    if found.as_ref().is_some_and(|(_, row)| row.unfused == 0) && idiom::is_move(insn) {
        // A move to itself is not eliminated.
        let mut moved = register_move(insn, key, operands);
        moved.uops[0].flags.0 &= !UopFlags::MOVE;
        return moved;
    }
    if found.as_ref().is_some_and(|(_, row)| row.unfused == 0 && row.latency_max == Some(0)) {
        return renamed(operands, insn);
    }
    let unknown = found.is_none();
    let (form, row) = found.unwrap_or_else(|| (once, default_row(&operands.memory)));
    let mut out = assemble(table, insn, form, &row, operands);
    out.unknown = unknown;
    if key.prefix == Prefix::Rep || key.prefix == Prefix::Repne {
        one_iteration(insn, &mut out.uops);
    }
    out
}

/// A memory form that is not in the table, derived from its register form by adding a load.
fn derived(table: &InstructionTable, key: Key) -> Option<(Key, Row)> {
    use crate::table::Group;
    let (_, row) = table.find(key.register_form()?)?;
    let mut row = row.clone();
    row.unfused += 1;
    row.groups.push(Group { count: 1, ports: ports::LOAD });
    row.fused = row.fused.max(1);
    Some((key, row))
}

fn single(uop: Uop, operands: &Operands, insn: &Instruction) -> Emitted {
    let (mem_operands, _) = mem_operands(insn, &operands.memory, 0);
    Emitted { uops: vec![uop], mem_operands, unknown: false }
}

/// An addition of an immediate that is executed at rename: its row has no uops.
fn renamed(operands: &Operands, insn: &Instruction) -> Emitted {
    let mut dsts = operands.dsts;
    dsts.extend(operands.flag_dsts.iter());
    let mut uop = to_uop(UopKind::Exec, 0, 0, &operands.srcs, &dsts);
    uop.flags.0 |= UopFlags::RENAMED;
    single(uop, operands, insn)
}

/// A move that rename may eliminate; otherwise it executes on any unit of its domain (`movaps` and
/// `movapd` on port 5, Agner Fog, instruction tables, Haswell).
fn register_move(insn: &Instruction, key: Key, operands: &Operands) -> Emitted {
    use Mnemonic::*;
    let set = match insn.mnemonic() {
        Movaps | Movapd | Movups | Movupd | Vmovaps | Vmovapd | Vmovups | Vmovupd => ports::P5,
        _ if key.is_vector() => ports::VECTOR,
        _ => ports::ALU,
    };
    let mut uop = to_uop(UopKind::Exec, set, 1, &operands.srcs, &operands.dsts);
    uop.flags.0 |= UopFlags::MOVE;
    Emitted { uops: vec![uop], mem_operands: Vec::new(), unknown: false }
}

/// Number of loads and stores among the uops of a row.
struct Pieces {
    loads: usize,
    stores: usize,
}

impl Pieces {
    fn of(row: &Row) -> Pieces {
        let stores = row.count(ports::STORE_DATA);
        let addresses = row.count(ports::STORE_ADDRESS);
        let on_23 = row.count(ports::LOAD);
        Pieces { loads: on_23.saturating_sub(stores.saturating_sub(addresses)), stores }
    }
}

/// Smallest and largest register-to-register latency of the executing uops of a form.
fn latency(table: &InstructionTable, key: Key, row: &Row, pieces: &Pieces) -> (u8, u8) {
    let (low, high) = (row.latency_min.unwrap_or(1), row.latency_max.unwrap_or(1));
    if key.prefix == Prefix::Lock || row.cycles >= LOCKED && pieces.loads * pieces.stores > 0 {
        // A locked operation starts when the previous one is done: its cycles are its latency.
        let chain = (row.cycles.round() as u8).saturating_sub(LOAD_TO_USE[0] + FORWARDING);
        return (low.min(chain), chain.max(1));
    }
    if has_own_rhythm(key.mnemonic) {
        let cycles = row.cycles.round().min(255.0) as u8;
        return (cycles, cycles.max(1));
    }
    if divides(key.mnemonic) && low > 5 && pieces.loads == 0 {
        // The throughput was measured with operands of few significant bits, so use that latency
        // too.
        return (low, low);
    }
    if pieces.loads == 0 && pieces.stores == 0 {
        return (low, high.max(1));
    }
    let here = row.exec().count();
    if let Some((_, same)) = key.register_form().and_then(|k| table.find(k))
        && let Some(high) = same.latency_max
    {
        let high = if divides(key.mnemonic) { same.latency_min.unwrap_or(high) } else { high };
        let missing = same.exec().count().saturating_sub(here) as u8;
        let more = here.saturating_sub(same.exec().count()) as u8;
        let low = same.latency_min.unwrap_or(1);
        return (low, high.saturating_sub(missing).saturating_add(more).max(1));
    }
    if pieces.loads == 0 {
        return (1, (here as u8).max(1));
    }
    let load = LOAD_TO_USE[usize::from(key.is_vector()) + usize::from(key.is_wide())];
    let both = if pieces.stores > 0 { FORWARDING } else { 0 };
    (1, high.saturating_sub(load + both).max(1))
}

fn recipe(
    table: &InstructionTable,
    insn: &Instruction,
    key: Key,
    row: &Row,
    operands: &Operands,
    loads: Names,
) -> Recipe {
    let pieces = Pieces::of(row);
    let independent = idiom(insn) == Idiom::Independent;
    let registers: [Reg; 4] = std::array::from_fn(|i| operand_name(insn, i as u32, operands));
    let first = registers[0];
    let merged = (first.0 >= Reg::vec(0).0 && operands.srcs.contains(first)).then_some(first);
    let computes = row.exec().count() > 0;
    // What string instructions, calls and the like store is not computed by their executing uops.
    let passes = insn.is_string_instruction() || insn.mnemonic() == Mnemonic::Call;
    let stored = if pieces.stores > 0 && computes && !passes {
        Names::of(&[Reg::temp(6)])
    } else {
        Names::default()
    };
    Recipe {
        mnemonic: insn.mnemonic(),
        string: insn.is_string_instruction(),
        locked: key.prefix == Prefix::Lock,
        ports: row.exec().collect(),
        latency: latency(table, key, row, &pieces),
        busy: if divides(insn.mnemonic()) { row.cycles.round() as u8 } else { 0 },
        srcs: if independent { Names::default() } else { operands.srcs },
        flag_srcs: operands.flag_srcs,
        loads,
        dsts: operands.dsts,
        flag_dsts: operands.flag_dsts,
        stored,
        merged,
        operands: registers,
    }
}

/// Dependency name of a register operand, [`Reg::NONE`] for other operands.
fn operand_name(insn: &Instruction, i: u32, operands: &Operands) -> Reg {
    if i >= insn.op_count() || insn.op_kind(i) != OpKind::Register {
        return Reg::NONE;
    }
    let reg = insn.op_register(i);
    let number = reg.full_register().number() as u8;
    let name = match reg {
        r if r.is_vector_register() => Reg::vec(number),
        Register::AH | Register::CH | Register::DH | Register::BH => {
            let high = Reg::high8(reg as u8 - Register::AH as u8);
            if operands.srcs.contains(high) || operands.dsts.contains(high) {
                high
            } else {
                Reg::gpr(number)
            }
        }
        r if r.is_gpr() => Reg::gpr(number),
        _ => Reg::NONE,
    };
    let known = operands.srcs.contains(name) || operands.dsts.contains(name);
    if known { name } else { Reg::NONE }
}

fn divides(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        mnemonic,
        Div | Idiv
            | Divss
            | Divsd
            | Divps
            | Divpd
            | Vdivss
            | Vdivsd
            | Vdivps
            | Vdivpd
            | Sqrtss
            | Sqrtsd
            | Sqrtps
            | Sqrtpd
            | Vsqrtss
            | Vsqrtsd
            | Vsqrtps
            | Vsqrtpd
            | Fdiv
            | Fdivp
            | Fdivr
            | Fdivrp
            | Fsqrt
    )
}

fn assemble(
    table: &InstructionTable,
    insn: &Instruction,
    key: Key,
    row: &Row,
    operands: &Operands,
) -> Emitted {
    let pieces = Pieces::of(row);
    let (mem_operands, accesses) = mem_operands(insn, &operands.memory, pieces.loads);
    let at = |store: bool, k: usize| {
        let wanted = mem_operands.iter().enumerate().filter(|(_, operand)| operand.store == store);
        wanted.map(|(i, _)| i).nth(k)
    };
    let vector = if key.is_vector() { UopFlags::VECTOR } else { 0 };
    let mut uops = Vec::new();
    let mut loaded = Names::default();
    let computes = row.exec().count() > 0;
    for k in 0..pieces.loads {
        let Some(operand) = at(false, k) else { continue };
        let a = &accesses[operand];
        let to = if insn.mnemonic() == Mnemonic::Leave {
            Names::of(&[Reg::gpr(5)])
        } else if computes || pieces.stores > 0 {
            loaded.push(Reg::temp(k.min(1) as u8));
            Names::of(&[Reg::temp(k.min(1) as u8)])
        } else {
            let mut dsts = operands.dsts;
            dsts.extend(operands.flag_dsts.iter());
            dsts
        };
        let mut uop = to_uop(UopKind::Load, ports::LOAD, 0, &a.address, &to);
        uop.mem_operand = operand as u16;
        uop.flags.0 |= vector | if a.indexed { UopFlags::INDEXED } else { 0 };
        uop.flags.0 |= if a.simple { UopFlags::SIMPLE_ADDRESS } else { 0 };
        uops.push(uop);
    }
    let extra_loads = pieces.loads - uops.len();
    let mut recipe = recipe(table, insn, key, row, operands, loaded);
    if insn.mnemonic() == Mnemonic::Leave {
        recipe.dsts = Names::of(&[Reg::RSP]);
        recipe.latency = (recipe.latency.0, recipe.ports.len() as u8);
    }
    let stored = recipe.stored;
    let execs = if recipe.ports.is_empty() { Vec::new() } else { dataflow(&recipe) };
    for exec in &execs {
        uops.push(exec_uop(exec));
    }
    for _ in 0..extra_loads {
        uops.push(to_uop(UopKind::Exec, ports::LOAD, 1, &Names::default(), &Names::default()));
    }
    for k in 0..pieces.stores {
        let operand = at(true, k).or_else(|| at(true, 0));
        let address = operand.map(|at| accesses[at]);
        let data = if !stored.is_empty() {
            stored
        } else if insn.mnemonic() == Mnemonic::Call {
            Names::default()
        } else if !loaded.is_empty() {
            loaded
        } else {
            store_sources(insn, operands)
        };
        push_store(table.family(), &mut uops, operand.zip(address), &data, vector);
    }
    if insn.mnemonic() == Mnemonic::Leave {
        // The frame pointer is loaded after its old value has been copied to the stack pointer.
        uops.rotate_left(pieces.loads);
    }
    mark_fused(insn, row, operands, &mut uops);
    fence::order(insn.mnemonic(), row, &mut uops);
    Emitted { uops, mem_operands, unknown: false }
}

/// Registers whose values a plain store writes to memory.
fn store_sources(insn: &Instruction, operands: &Operands) -> Names {
    if insn.is_string_instruction() {
        return Names::of(&[Reg::gpr(0)]);
    }
    let mut data = operands.srcs;
    data.extend(operands.flag_srcs.iter());
    data
}

fn push_store(
    family: &Family,
    uops: &mut Vec<Uop>,
    place: Option<(usize, Access)>,
    data: &Names,
    vector: u16,
) {
    let none = Names::default();
    let Some((operand, a)) = place else {
        uops.push(to_uop(UopKind::Exec, ports::STORE_ADDRESS, 1, &none, &none));
        uops.push(to_uop(UopKind::Exec, ports::STORE_DATA, 1, data, &none));
        return;
    };
    let set = if a.indexed { family.indexed_store_address } else { ports::STORE_ADDRESS };
    let flags = vector | if a.indexed { UopFlags::INDEXED } else { 0 };
    for (kind, set, srcs) in
        [(UopKind::StoreAddress, set, &a.address), (UopKind::StoreData, ports::STORE_DATA, data)]
    {
        let mut uop = to_uop(kind, set, 1, srcs, &none);
        uop.mem_operand = operand as u16;
        uop.flags.0 |= flags;
        uops.push(uop);
    }
}

/// Marks uops that share a slot with the previous one, so that the fused count matches the table.
fn mark_fused(insn: &Instruction, row: &Row, operands: &Operands, uops: &mut Vec<Uop>) {
    let fused = usize::from(row.fused).max(1);
    while uops.len() < fused {
        uops.push(empty_uop(&Names::default()));
    }
    let mut surplus = uops.len() - fused;
    let indexed = operands.memory.iter().any(|a| a.indexed);
    let stores = (1..uops.len()).filter(|&i| {
        uops[i].kind == UopKind::StoreData && uops[i - 1].kind == UopKind::StoreAddress
    });
    let loads = (1..uops.len())
        .rev()
        .filter(|&i| uops[i].kind == UopKind::Exec && uops[i - 1].kind == UopKind::Load);
    let rest = 1..uops.len();
    let order: Vec<usize> = stores.chain(loads).chain(rest).collect();
    for i in order {
        if surplus == 0 {
            break;
        }
        if uops[i].flags.has(UopFlags::FUSED) {
            continue;
        }
        uops[i].flags.0 |= UopFlags::FUSED;
        surplus -= 1;
        if indexed && uops[i - 1].kind == UopKind::Load && uops[i].kind == UopKind::Exec {
            let to = operands.dsts.iter().next();
            let rmw = to.is_some_and(|r| operands.srcs.contains(r));
            if !fuse::keeps_indexed_load(insn, !operands.flag_srcs.is_empty(), rmw) {
                uops[i].flags.0 |= UopFlags::UNLAMINATED;
            }
        }
    }
}

/// One iteration of a repeated `movs` or `stos` is only its load and store: the microcode moves the
/// pointers for many elements at once. Other repeated instructions keep the uops of a single
/// execution.
fn one_iteration(insn: &Instruction, uops: &mut Vec<Uop>) {
    use Mnemonic::*;
    if !matches!(insn.mnemonic(), Movsb | Movsw | Movsd | Movsq | Stosb | Stosw | Stosd | Stosq) {
        return;
    }
    uops.retain(|u| u.kind != UopKind::Exec);
    for uop in uops.iter_mut() {
        uop.flags.0 &= !UopFlags::FUSED;
        if uop.kind == UopKind::StoreData {
            uop.flags.0 |= UopFlags::FUSED;
        }
    }
}

/// The substitute for bytes that are not a valid instruction.
pub fn invalid() -> Emitted {
    let none = Names::default();
    let uop = to_uop(UopKind::Exec, ports::ALU, 1, &none, &none);
    Emitted { uops: vec![uop], mem_operands: Vec::new(), unknown: true }
}
