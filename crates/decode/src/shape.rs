//! How the executing uops of an instruction depend on each other.
//!
//! The table gives port sets and the smallest and largest latency over all operand pairs. The
//! structure behind them is inferred. By default it is a chain whose latencies add up to the
//! largest, with one cycle per uop and the excess on the multi-cycle units (ports 0 and 1).
//! Operands with the smallest latency enter at the end of the chain. Instructions with another
//! known structure have their own rules.

use iced_x86::Mnemonic;

use crate::family::ports;
use crate::operands::Names;
use crate::uop::Reg;

/// An executing uop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exec {
    /// Ports; 0 if it only occupies a slot.
    pub ports: u8,
    /// Latency of the result in cycles.
    pub latency: u8,
    /// Cycles that the divider stays busy.
    pub busy: u8,
    /// What it waits for.
    pub srcs: Names,
    /// What it produces.
    pub dsts: Names,
}

/// The properties that determine the structure.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The mnemonic.
    pub mnemonic: Mnemonic,
    /// Whether it is a string instruction.
    pub string: bool,
    /// Whether it is locked: one chain that lasts as long as the whole operation.
    pub locked: bool,
    /// Port sets of the executing uops, in the table's order.
    pub ports: Vec<u8>,
    /// Smallest and largest latency from register to register.
    pub latency: (u8, u8),
    /// Cycles for which the divider is busy in total; 0 without a division.
    pub busy: u8,
    /// Register sources.
    pub srcs: Names,
    /// Flag sources.
    pub flag_srcs: Names,
    /// Loaded values.
    pub loads: Names,
    /// Register results.
    pub dsts: Names,
    /// Flag results.
    pub flag_dsts: Names,
    /// The name of the value to store, if the uops compute one.
    pub stored: Names,
    /// First register operand, if it is a source of which only the upper part is passed on.
    pub merged: Option<Reg>,
    /// Operand registers in order, for rules that distinguish them.
    pub operands: [Reg; 4],
}

/// Names of values between the uops of one instruction. 0 and 1 are loaded values, 6 the value to
/// store.
const CHAIN: [Reg; 2] = [Reg::temp(2), Reg::temp(3)];
const SIDE: [Reg; 2] = [Reg::temp(4), Reg::temp(5)];

/// The executing uops of an instruction.
pub fn dataflow(recipe: &Recipe) -> Vec<Exec> {
    use Mnemonic::*;
    let n = recipe.ports.len();
    match recipe.mnemonic {
        Mul | Imul | Mulx if n >= 2 && recipe.dsts.len() >= 2 => multiply(recipe),
        Xchg if n == 3 && recipe.loads.is_empty() => exchange(recipe),
        Xadd if n >= 2 && !recipe.locked => exchange_add(recipe),
        Shl | Sal | Shr | Sar | Rol | Ror if n == 3 => shift_by_register(recipe),
        Rol | Ror if n == 2 => rotate_by_one(recipe),
        _ if recipe.string => string(recipe),
        _ => general(recipe),
    }
}

fn one(ports: u8, latency: u8, srcs: Names, dsts: Names) -> Exec {
    Exec { ports, latency, busy: 0, srcs, dsts }
}

fn join(sets: &[Names]) -> Names {
    let mut all = Names::default();
    for set in sets {
        all.extend(set.iter());
    }
    all
}

/// Everything that the instruction reads.
fn inputs(recipe: &Recipe) -> Names {
    join(&[recipe.loads, recipe.srcs, recipe.flag_srcs])
}

/// Everything that the instruction produces.
fn outputs(recipe: &Recipe) -> Names {
    join(&[recipe.dsts, recipe.stored, recipe.flag_dsts])
}

/// A chain; see the module's description.
fn general(recipe: &Recipe) -> Vec<Exec> {
    let ordered = ordered_ports(recipe);
    let n = ordered.len();
    let total = usize::from(recipe.latency.1.max(1));
    let depth = n.min(total);
    let (side, chain) = ordered.split_at(n - depth);
    let latencies = distribute(chain, total);
    let late = late_sources(recipe);
    let mut early = Names::default();
    early.extend(inputs(recipe).iter().filter(|r| depth == 1 || !late.contains(*r)));
    let mut uops: Vec<Exec> = side.iter().map(|&p| one(p, 1, early, Names::default())).collect();
    for (i, &ports) in chain.iter().enumerate() {
        let (first, last) = (i == 0, i + 1 == depth);
        let mut srcs = Names::default();
        if first {
            srcs.extend(early.iter());
        } else {
            srcs.push(CHAIN[(i + 1) % 2]);
        }
        if last && depth > 1 {
            srcs.extend(late.iter());
        }
        let dsts = if last { outputs(recipe) } else { Names::of(&[CHAIN[i % 2]]) };
        uops.push(one(ports, latencies[i], srcs, dsts));
    }
    spill(&mut uops);
    divide(recipe, &mut uops);
    uops
}

/// Sources that enter at the end of the chain.
fn late_sources(recipe: &Recipe) -> Names {
    use Mnemonic::*;
    match recipe.mnemonic {
        // One uop adds the operands, the second adds the carry: carry-to-carry is the smallest
        // latency of the form (1), operand-to-result the largest (2).
        Adc | Sbb => recipe.flag_srcs,
        // The old value waits only one cycle; the condition and the source are combined first.
        m if is_conditional(m) => {
            let old = recipe.operands[0];
            if recipe.dsts.contains(old) { Names::of(&[old]) } else { Names::default() }
        }
        _ if recipe.latency.0 < recipe.latency.1 => {
            recipe.merged.map(|r| Names::of(&[r])).unwrap_or_default()
        }
        _ => Names::default(),
    }
}

/// `cmov` and `set` with any condition.
fn is_conditional(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        mnemonic,
        Cmova
            | Cmovae
            | Cmovb
            | Cmovbe
            | Cmove
            | Cmovg
            | Cmovge
            | Cmovl
            | Cmovle
            | Cmovne
            | Cmovno
            | Cmovnp
            | Cmovns
            | Cmovo
            | Cmovp
            | Cmovs
            | Seta
            | Setae
            | Setb
            | Setbe
            | Sete
            | Setg
            | Setge
            | Setl
            | Setle
            | Setne
            | Setno
            | Setnp
            | Setns
            | Seto
            | Setp
            | Sets
    )
}

/// The order of the units: shuffles of sources first, then the multi-cycle units, then single-cycle
/// integer ones. Narrowing conversions shuffle last.
fn ordered_ports(recipe: &Recipe) -> Vec<u8> {
    use Mnemonic::*;
    let narrows = matches!(
        recipe.mnemonic,
        Cvtpd2ps
            | Vcvtpd2ps
            | Cvtsd2ss
            | Vcvtsd2ss
            | Cvtpd2dq
            | Vcvtpd2dq
            | Cvttpd2dq
            | Vcvttpd2dq
            | Vcvtps2ph
            | Cvtpd2pi
            | Cvttpd2pi
    );
    let rank = |p: u8| match p {
        ports::P5 if narrows => 9,
        ports::P5 => 0,
        ports::P1 => 1,
        ports::P0 => 2,
        0b0000_0011 => 3,
        ports::VECTOR => 4,
        ports::ALU => 5,
        _ => 6,
    };
    let mut list = recipe.ports.clone();
    list.sort_by_key(|&p| rank(p));
    // Conversion of a 64-bit integer to single precision: in, convert, shuffle into the rest.
    if list == [ports::P5, ports::P5, ports::P1] && converts_integer(recipe.mnemonic) {
        list.swap(1, 2);
    }
    list
}

fn converts_integer(mnemonic: Mnemonic) -> bool {
    matches!(mnemonic, Mnemonic::Cvtsi2ss | Mnemonic::Vcvtsi2ss)
}

/// Distributes a total latency over a chain: one cycle each, the rest over the multi-cycle units
/// (or on the last uop if there is none).
fn distribute(chain: &[u8], total: usize) -> Vec<u8> {
    let n = chain.len();
    let mut latencies = vec![1usize; n];
    let mut rest = total.saturating_sub(n);
    let heavy: Vec<usize> = (0..n).filter(|&i| chain[i] & !0b11 == 0 && chain[i] != 0).collect();
    if heavy.is_empty() {
        if let Some(last) = latencies.last_mut() {
            *last += rest;
        }
    } else {
        for (k, &i) in heavy.iter().enumerate() {
            let share = rest.div_ceil(heavy.len() - k);
            latencies[i] += share;
            rest -= share;
        }
    }
    latencies.into_iter().map(|l| l.min(255) as u8).collect()
}

/// A uop holds at most three results; the others move to earlier uops.
fn spill(uops: &mut [Exec]) {
    for i in (1..uops.len()).rev() {
        while uops[i].dsts.len() > 3 {
            let Some(first) = uops[i].dsts.iter().next() else { break };
            uops[i].dsts = uops[i].dsts.without(first);
            uops[i - 1].dsts.push(first);
        }
    }
}

/// Distributes the divider's busy cycles over the uops on port 0, or on port 1 (integer division on
/// Golden Cove).
fn divide(recipe: &Recipe, uops: &mut [Exec]) {
    let mut rest = recipe.busy;
    let at = |port| uops.iter().filter(|u| u.ports == port).count() as u8;
    let (port, mut units) = match at(ports::P0) {
        0 => (ports::P1, at(ports::P1)),
        units => (ports::P0, units),
    };
    for uop in uops.iter_mut().filter(|u| u.ports == port) {
        uop.busy = rest.div_ceil(units);
        rest -= uop.busy;
        units -= 1;
    }
}

/// Widening multiplication: the multiplier produces the low half, and a further uop the high half
/// (table: 3 and 4 cycles).
fn multiply(recipe: &Recipe) -> Vec<Exec> {
    let latency = 3;
    let dsts: Vec<Reg> = recipe.dsts.iter().collect();
    let (high, low) = match recipe.mnemonic {
        Mnemonic::Mulx => (recipe.operands[0], recipe.operands[1]),
        _ => (Reg::gpr(2), Reg::gpr(0)),
    };
    let mut product = Names::of(&[low, CHAIN[0]]);
    let mut uops = Vec::new();
    let others: Vec<u8> = recipe.ports.iter().copied().filter(|&p| p != ports::P1).collect();
    if dsts.contains(&low) && others.len() < 2 {
        product.extend(recipe.flag_dsts.iter().take(1));
    }
    uops.push(one(ports::P1, latency, inputs(recipe), product));
    for (i, &ports) in others.iter().enumerate() {
        let last = i + 1 == others.len();
        let dsts = if last {
            join(&[Names::of(&[high]), recipe.flag_dsts])
        } else {
            Names::of(&[SIDE[i % 2]])
        };
        uops.push(one(ports, 1, Names::of(&[CHAIN[0]]), dsts));
    }
    uops
}

/// `xchg` of registers: three moves through a scratch register.
fn exchange(recipe: &Recipe) -> Vec<Exec> {
    let [a, b, ..] = recipe.operands;
    let p = &recipe.ports;
    vec![
        one(p[0], 1, Names::of(&[a]), Names::of(&[CHAIN[0]])),
        one(p[1], 1, Names::of(&[b, a]), Names::of(&[a])),
        one(p[2], 1, Names::of(&[CHAIN[0], b]), Names::of(&[b])),
    ]
}

/// `xadd`: the sum, the old value into the source register, the sum into the destination.
fn exchange_add(recipe: &Recipe) -> Vec<Exec> {
    let p = &recipe.ports;
    let [a, b, ..] = recipe.operands;
    let old = recipe.loads.iter().next().unwrap_or(a);
    let sum = join(&[Names::of(&[CHAIN[0]]), recipe.stored]);
    let back = join(&[Names::of(&[b]), recipe.flag_dsts]);
    let mut uops = vec![
        one(p[0], 1, Names::of(&[old, b]), sum),
        one(p[1], 1, Names::of(&[old, CHAIN[0]]), back),
    ];
    for &ports in &p[2..] {
        uops.push(one(ports, 1, Names::of(&[CHAIN[0]]), Names::of(&[a])));
    }
    uops
}

/// Shift or rotate by a register: one uop shifts, two merge the flags, which are unchanged if the
/// count is zero (Agner Fog, instruction tables: 3 uops, 2 cycles through the flags).
fn shift_by_register(recipe: &Recipe) -> Vec<Exec> {
    let p = &recipe.ports;
    let values = join(&[recipe.loads, recipe.srcs]);
    let flags = Names::of(&[Reg::CF, Reg::SPAZO]);
    let count = Names::of(&[Reg::gpr(1)]);
    vec![
        one(p[0], 1, values, join(&[recipe.dsts, recipe.stored, Names::of(&[CHAIN[0]])])),
        one(p[1], 1, join(&[count, flags]), Names::of(&[CHAIN[1]])),
        one(p[2], 1, Names::of(&CHAIN), flags),
    ]
}

/// The short encoding of a rotate: a uop for the result, one for the flags.
fn rotate_by_one(recipe: &Recipe) -> Vec<Exec> {
    let p = &recipe.ports;
    let values = join(&[recipe.loads, recipe.srcs]);
    let flags = Names::of(&[CHAIN[0], Reg::SPAZO]);
    vec![
        one(p[0], 1, values, join(&[recipe.dsts, recipe.stored, Names::of(&[CHAIN[0]])])),
        one(p[1], 1, flags, recipe.flag_dsts),
    ]
}

/// String instructions without a repeat prefix: one uop per pointer update, separate from the data.
fn string(recipe: &Recipe) -> Vec<Exec> {
    const POINTERS: [Reg; 2] = [Reg::gpr(6), Reg::gpr(7)];
    let mut moved = POINTERS.into_iter().filter(|&r| recipe.dsts.contains(r));
    let mut dsts = recipe.dsts;
    let mut data = recipe.srcs;
    for r in POINTERS {
        dsts = dsts.without(r);
        data = data.without(r);
    }
    let work = join(&[dsts, recipe.flag_dsts, recipe.stored]);
    let moves = POINTERS.iter().filter(|&&r| recipe.dsts.contains(r)).count();
    let computing = recipe.ports.len().saturating_sub(moves);
    let mut uops = Vec::new();
    for (i, &ports) in recipe.ports.iter().enumerate() {
        if i < computing {
            let last = i + 1 == computing;
            let mut srcs = join(&[recipe.loads, data]);
            if i > 0 {
                srcs.push(CHAIN[(i + 1) % 2]);
            }
            uops.push(one(ports, 1, srcs, if last { work } else { Names::of(&[CHAIN[i % 2]]) }));
        } else if let Some(r) = moved.next() {
            uops.push(one(ports, 1, Names::of(&[r]), Names::of(&[r])));
        }
    }
    uops
}
