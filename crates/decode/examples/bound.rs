//! A rough throughput bound for a list of measured blocks, to find errors of the decoder: the
//! largest of slots / 4, port pressure, and the longest dependency chain around the loop.
//! `bound FILE.csv [N]` prints the error and the N worst blocks.

use std::collections::HashMap;

use iced_x86::{Decoder as Bytes, DecoderOptions, Formatter, NasmFormatter};
use mallacc_decode::{Block, DecodeClass, Decoder, Reg, Uop, UopFlags, UopKind};
use stream::BlockDef;

/// Start address of every block.
const BASE: u64 = 0x40_0000;
/// Load-to-use latency of the first-level cache: integer and vector.
const LOAD: [f64; 2] = [5.0, 6.0];

fn def(code: &[u8]) -> BlockDef {
    let lens = Bytes::with_ip(64, code, BASE, DecoderOptions::NONE)
        .iter()
        .map(|i| i.len() as u8)
        .collect();
    BlockDef { id: 0, addr: BASE, lens, bytes: code.to_vec() }
}

/// Slots at allocation.
fn slots(block: &Block) -> f64 {
    let n = block
        .uops
        .iter()
        .filter(|u| !u.flags.has(UopFlags::FUSED) || u.flags.has(UopFlags::UNLAMINATED))
        .count();
    n as f64
}

/// Cycles in which predecoding gets through the block when it is unrolled: a 16-byte line a cycle
/// of at most six instructions, and three cycles for a length-changing prefix.
fn predecode(block: &Block) -> f64 {
    let rounds = 16;
    let mut lines: HashMap<u64, f64> = HashMap::new();
    let mut stalls = 0.0;
    for round in 0..rounds {
        for insn in &block.insns {
            let end = round * u64::from(block.len) + u64::from(insn.offset) + u64::from(insn.len);
            *lines.entry((end - 1) / 16).or_default() += 1.0;
            stalls += f64::from(u8::from(insn.lcp)) * 3.0;
        }
    }
    let count = rounds as f64 * f64::from(block.len) / 16.0;
    let cycles: f64 = lines.values().map(|n| (n / 6.0).ceil()).sum();
    (cycles.max(count) + stalls) / rounds as f64
}

/// Cycles in which the decoders get through the block: the first takes any instruction, the others
/// simple ones.
fn decode(block: &Block) -> f64 {
    let rounds = 32;
    let (mut cycles, mut left, mut taken) = (0.0, 0u8, 0u8);
    for _ in 0..rounds {
        for insn in block.insns.iter().filter(|i| !i.fused_with_previous) {
            let last = insn.macro_fusible && taken == 3;
            if left == 0 || insn.class != DecodeClass::Simple || last {
                cycles += f64::from(insn.slots.div_ceil(4).max(1));
                left = insn.decoders_beside;
                taken = 1;
            } else {
                left -= 1;
                taken += 1;
            }
        }
    }
    predecode(block).max(cycles / f64::from(rounds))
}

/// Largest pressure over all sets of ports: uops that fit nowhere else, per port.
fn pressure(block: &Block) -> f64 {
    (1u32..256)
        .map(|set| {
            let inside = |u: &&Uop| {
                u.ports != 0 && u32::from(u.ports) & !set == 0 && !u.flags.has(UopFlags::MOVE)
            };
            let n: usize =
                block.uops.iter().filter(inside).map(|u| usize::from(u.busy.max(1))).sum();
            n as f64 / f64::from(set.count_ones())
        })
        .fold(0.0, f64::max)
}

/// Cycles per iteration of the dependency chains, by running them for a while.
fn chain(block: &Block, addresses: &[String]) -> f64 {
    let mut ready = [0.0f64; Reg::COUNT];
    let mut stored: HashMap<&str, f64> = HashMap::new();
    let mut from_load = [true; Reg::COUNT];
    let mut at = [0.0; 2];
    let rounds = 40;
    for round in 0..rounds * 2 {
        for uop in &block.uops {
            let inputs = uop.srcs.iter().map(|r| ready[usize::from(r.0)]).fold(0.0, f64::max);
            let address = addresses.get(usize::from(uop.slot)).map_or("", String::as_str);
            let vector = usize::from(uop.flags.has(UopFlags::VECTOR));
            let done = match uop.kind {
                UopKind::Load => {
                    let short = uop.flags.has(UopFlags::SIMPLE_ADDRESS)
                        && vector == 0
                        && from_load[usize::from(uop.srcs[0].0)];
                    let plain = inputs + LOAD[vector] - f64::from(u8::from(short));
                    let forwarded = stored.get(address).map_or(0.0, |t| t + 5.0);
                    plain.max(forwarded) + f64::from(uop.latency)
                }
                UopKind::StoreData => {
                    stored.insert(address, inputs);
                    inputs
                }
                UopKind::StoreAddress => inputs,
                UopKind::Exec if uop.flags.has(UopFlags::NO_EXEC) => 0.0,
                UopKind::Exec if uop.flags.has(UopFlags::MOVE) => inputs,
                UopKind::Exec => inputs + f64::from(uop.latency),
            };
            for r in uop.dsts.iter().filter(|&&r| r != Reg::NONE) {
                ready[usize::from(r.0)] = done;
                from_load[usize::from(r.0)] = uop.kind == UopKind::Load;
            }
        }
        if round + 1 == rounds || round + 1 == 2 * rounds {
            let all = ready.iter().chain(stored.values()).copied().fold(0.0, f64::max);
            at[usize::from(round + 1 != rounds)] = all;
        }
    }
    (at[1] - at[0]) / f64::from(rounds)
}

/// Text of the address of each slot: equal text means the same place.
fn addresses(block: &Block, code: &[u8]) -> Vec<String> {
    let insns: Vec<_> = Bytes::with_ip(64, code, BASE, DecoderOptions::NONE).iter().collect();
    block
        .slots
        .iter()
        .map(|slot| {
            let i = &insns[usize::from(slot.insn)];
            // A place that moves from iteration to iteration is never the same as another.
            let moves = block.uops.iter().any(|u| {
                u.slot == Uop::NO_SLOT && u.dsts.iter().any(|&d| d != Reg::NONE && uses(i, d))
                    || u.kind == UopKind::Load && u.dsts.iter().any(|&d| uses(i, d))
            });
            if moves {
                return format!("moving {} {}", slot.insn, slot.store);
            }
            format!(
                "{:?} {:?} {} {:x} {}",
                i.memory_base(),
                i.memory_index(),
                i.memory_index_scale(),
                i.memory_displacement64(),
                if i.is_stack_instruction() { usize::from(slot.insn) } else { 0 }
            )
        })
        .collect()
}

/// Whether the address of an instruction contains the register of this name.
fn uses(insn: &iced_x86::Instruction, name: Reg) -> bool {
    [insn.memory_base(), insn.memory_index()]
        .iter()
        .any(|r| r.is_gpr() && Reg::gpr(r.number() as u8) == name)
}

fn text(code: &[u8]) -> String {
    let mut formatter = NasmFormatter::new();
    let mut lines = Vec::new();
    for insn in &mut Bytes::with_ip(64, code, BASE, DecoderOptions::NONE) {
        let mut line = String::new();
        formatter.format(&insn, &mut line);
        lines.push(line);
    }
    lines.join("; ")
}

struct Result {
    error: f64,
    predicted: f64,
    measured: f64,
    parts: [f64; 4],
    line: String,
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let file = args.get(1).expect("usage: bound FILE.csv [N]");
    let worst: usize = args.get(2).and_then(|n| n.parse().ok()).unwrap_or(40);
    let decoder = Decoder::haswell();
    let mut results = Vec::new();
    let (mut unknown, mut total) = (0u32, 0u32);
    for line in std::fs::read_to_string(file).expect("readable file").lines().skip(1) {
        let Some((hex, cycles)) = line.split_once(',') else { continue };
        let code: Vec<u8> = (0..hex.len() / 2)
            .filter_map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).ok())
            .collect();
        let measured = cycles.trim().parse::<f64>().unwrap_or(0.0) / 100.0;
        let block = decoder.block(&def(&code));
        unknown += u32::from(block.unknown);
        total += u32::from(block.insn_count);
        let chain = chain(&block, &addresses(&block, &code));
        let parts = [slots(&block) / 4.0, pressure(&block), chain, decode(&block)];
        let predicted = parts.iter().copied().fold(0.25, f64::max);
        let error = (predicted - measured).abs() / measured;
        results.push(Result { error, predicted, measured, parts, line: text(&code) });
    }
    report(&mut results, worst);
    println!("unknown {unknown} of {total} instructions");
}

fn report(results: &mut [Result], worst: usize) {
    results.sort_by(|a, b| b.error.total_cmp(&a.error));
    for r in results.iter().take(worst) {
        println!(
            "{:6.2} {:7.2} measured {:7.2} [slots {:.2} ports {:.2} chain {:.2} decode {:.2}] {}",
            r.error,
            r.predicted,
            r.measured,
            r.parts[0],
            r.parts[1],
            r.parts[2],
            r.parts[3],
            r.line
        );
    }
    let n = results.len() as f64;
    let mean = results.iter().map(|r| r.error).sum::<f64>() / n;
    let under = results.iter().filter(|r| r.error <= 0.05).count() as f64 / n;
    let (mut same, mut different) = (0i64, 0i64);
    for (i, a) in results.iter().enumerate() {
        for b in &results[..i] {
            let s = (a.predicted - b.predicted) * (a.measured - b.measured);
            same += i64::from(s > 0.0);
            different += i64::from(s < 0.0);
        }
    }
    println!(
        "blocks {n}, mean {:.2} %, median {:.2} %, within 5 %: {:.1} %, tau {:.3}",
        100.0 * mean,
        100.0 * results[results.len() / 2].error,
        100.0 * under,
        (same - different) as f64 / (n * (n - 1.0) / 2.0)
    );
}
