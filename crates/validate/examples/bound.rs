//! A rough throughput bound for a list of measured blocks, to find errors of the decoder: the
//! maximum of slots / 4, port pressure, and the longest dependency chain around the loop. `bound
//! FILE.csv [N]` prints the error and the N worst blocks.

use decode::{Block, DecodeClass, Decoder, Family, Reg, Uop, UopFlags, UopKind};
use iced_x86::{Decoder as Bytes, DecoderOptions, Formatter, NasmFormatter};
use mallacc_validate::values::Values;
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

/// Allocation cycles: four slots each; an unlaminated pair needs the same cycle, a merge a cycle of
/// its own.
fn allocate(block: &Block) -> f64 {
    let own = |u: &Uop| !u.flags.has(UopFlags::FUSED) || u.flags.has(UopFlags::UNLAMINATED);
    let rounds = 32;
    let (mut cycles, mut room) = (0.0, 0u32);
    for _ in 0..rounds {
        for (i, uop) in block.uops.iter().enumerate().filter(|(_, u)| own(u)) {
            let next = block.uops.get(i + 1);
            let pair = next.is_some_and(|n| n.flags.has(UopFlags::UNLAMINATED));
            let need = if uop.flags.has(UopFlags::MERGE) { 4 } else { 1 + u32::from(pair) };
            if room < need {
                cycles += 1.0;
                room = 4;
            }
            room -= if need == 4 { 4 } else { 1 };
        }
    }
    cycles / f64::from(rounds)
}

/// Cycles that predecode and the decoders take for the unrolled block: lines of 16 bytes; five
/// instructions per cycle, where one that crosses lines with its opcode in the first counts in
/// both; a queue of 20; four decoders, of which the first takes any instruction, the others only
/// simple ones, and the last none that might fuse.
fn decode(block: &Block) -> f64 {
    let rounds = 64;
    let lines = predecoded(block, rounds);
    let all = rounds as usize * block.insns.len();
    let (mut cycles, mut stall, mut queued, mut done, mut line) = (0u32, 0u32, 0, 0, 0);
    let mut marks = Vec::new();
    while done < all && cycles < 100_000 {
        cycles += 1;
        let (mut taken, mut left) = (0, 4u8);
        while left > 0 && done < queued && stall == 0 {
            let insn = &block.insns[done % block.insns.len()];
            let simple = insn.class == DecodeClass::Simple;
            if taken > 0 && !simple || insn.macro_fusible && taken == 3 {
                break;
            }
            left = if simple { left - 1 } else { insn.decoders_beside };
            stall = u32::from(insn.fused_uops.div_ceil(4).max(1)) - 1;
            taken += 1;
            done += 1;
        }
        stall = stall.saturating_sub(u32::from(taken == 0));
        if line < lines.len() && queued - done <= 15 {
            queued += lines[line];
            line += 1;
        }
        marks.push(done);
    }
    let at = |share: usize| marks.iter().position(|&d| d >= all * share / 10).unwrap_or(0);
    let (from, to) = (at(3), at(9));
    let iterations = (marks[to] - marks[from]) as f64 / block.insns.len() as f64;
    (to - from) as f64 / iterations
}

/// Offset of the measurements' unrolled code in its 16-byte line: the published profiler's assembly
/// places it 0x1df bytes into a page. (This also fits best.)
const START: u64 = 0x1df % 16;

/// Number of instructions that predecode delivers in each cycle.
fn predecoded(block: &Block, rounds: u64) -> Vec<usize> {
    let mut flow = Vec::new();
    let (mut line, mut ends, mut work, mut stall) = (0, 0usize, 0usize, 0usize);
    let mut close = |ends: &mut usize, work: &mut usize, stall: &mut usize| {
        for k in 0..work.div_ceil(5).max(1) {
            flow.push(ends.saturating_sub(5 * k).min(5));
        }
        flow.extend(std::iter::repeat_n(0, *stall));
        (*ends, *work, *stall) = (0, 0, 0);
    };
    for round in 0..rounds {
        for insn in &block.insns {
            let start = START + round * u64::from(block.len) + u64::from(insn.offset);
            let opcode = (start + u64::from(insn.opcode_offset)) / 16;
            let end = (start + u64::from(insn.len) - 1) / 16;
            while line < end {
                work += usize::from(opcode == line);
                close(&mut ends, &mut work, &mut stall);
                line += 1;
            }
            ends += 1;
            work += 1;
            stall += usize::from(insn.lcp) * 3;
        }
    }
    close(&mut ends, &mut work, &mut stall);
    flow
}

/// Largest pressure over all port sets: uops that can issue nowhere else, per port.
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

/// Cycles per iteration of the dependency chains, determined by running them for a while with the
/// addresses that the block accesses in the measurements.
fn chain(block: &Block, def: &BlockDef) -> f64 {
    let mut ready = [0.0f64; Reg::COUNT];
    // For each byte of the page: when the data of its last store was ready, and which store that
    // was.
    let mut stored = vec![(0.0f64, 0u32); 4096];
    let mut stores = 0u32;
    let mut from_load = [true; Reg::COUNT];
    let mut values = Values::new();
    let (rounds, mut at) = (50, 0.0);
    for round in 0..rounds * 2 {
        let addresses = values.run(def);
        for uop in &block.uops {
            let inputs = uop.srcs.iter().map(|r| ready[usize::from(r.0)]).fold(0.0, f64::max);
            let vector = usize::from(uop.flags.has(UopFlags::VECTOR));
            let place = addresses.get(usize::from(uop.mem_operand)).copied().flatten();
            let size = block
                .mem_operands
                .get(usize::from(uop.mem_operand))
                .map_or(0, |s| u64::from(s.size));
            let bytes = place.map(|p| (0..size).map(move |i| ((p + i) % 4096) as usize));
            let done = match uop.kind {
                UopKind::Load => {
                    let short = uop.flags.has(UopFlags::SIMPLE_ADDRESS)
                        && vector == 0
                        && from_load[usize::from(uop.srcs[0].0)];
                    let plain = inputs + LOAD[vector] - f64::from(u8::from(short));
                    plain.max(bytes.map_or(0.0, |b| forwarded(&stored, b))) + f64::from(uop.latency)
                }
                UopKind::StoreData => {
                    stores += 1;
                    for b in bytes.into_iter().flatten() {
                        stored[b] = (inputs, stores);
                    }
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
        if round + 1 == rounds {
            at = latest(&ready, &stored);
        }
    }
    (latest(&ready, &stored) - at) / f64::from(rounds)
}

fn latest(ready: &[f64], stored: &[(f64, u32)]) -> f64 {
    ready.iter().copied().chain(stored.iter().map(|s| s.0)).fold(0.0, f64::max)
}

/// Cycle at which a load of these bytes gets its value from earlier stores: five cycles after the
/// data of a store that wrote all of them, or, if several stores did, about 13 cycles after the
/// last, through the cache.
fn forwarded(stored: &[(f64, u32)], bytes: impl Iterator<Item = usize>) -> f64 {
    let list: Vec<(f64, u32)> = bytes.map(|b| stored[b]).collect();
    let last = list.iter().map(|s| s.0).fold(0.0, f64::max);
    let (first, whole) = list.first().map_or((0, true), |f| (f.1, list.iter().all(|s| s.1 == f.1)));
    match (first, whole) {
        (0, true) => 0.0,
        (_, true) => last + 5.0,
        _ => last + 13.0,
    }
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
    let decoder = Decoder::new(<&Family>::default(), 64);
    let mut results = Vec::new();
    let (mut unknown, mut total) = (0u32, 0u32);
    for line in std::fs::read_to_string(file).expect("readable file").lines().skip(1) {
        let Some((hex, cycles)) = line.split_once(',') else { continue };
        let code: Vec<u8> = (0..hex.len() / 2)
            .filter_map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).ok())
            .collect();
        let measured = cycles.trim().parse::<f64>().unwrap_or(0.0) / 100.0;
        let def = def(&code);
        let block = decoder.block(&def);
        unknown += u32::from(block.unknown);
        total += u32::from(block.insn_count);
        let chain = chain(&block, &def);
        let parts = [allocate(&block), pressure(&block), chain, decode(&block)];
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
