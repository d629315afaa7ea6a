//! Time per access: the minimum of several rounds, since other processes disturb the measurement.
//! `cargo run --release -p mallacc-memory --example memory_speed`

use mallacc_memory::{Memory, MemoryParams};
use std::hint::black_box;
use std::time::Instant;

const ACCESSES: u64 = 4_000_000;
const ROUNDS: u64 = 40;

fn next(random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random
}

fn time(name: &str, mut step: impl FnMut(&mut Memory, u64)) {
    let mut memory = Memory::new(&MemoryParams::default()).expect("the default is valid");
    for n in 0..ACCESSES / 4 {
        step(&mut memory, n);
    }
    let before = memory.statistics().l1d;
    let mut ns = f64::MAX;
    for round in 0..ROUNDS {
        let start = Instant::now();
        for n in round * ACCESSES / ROUNDS..(round + 1) * ACCESSES / ROUNDS {
            step(&mut memory, n);
        }
        ns = ns.min(start.elapsed().as_nanos() as f64 / (ACCESSES / ROUNDS) as f64);
    }
    let l1d = memory.statistics().l1d;
    let accesses = (l1d.accesses - before.accesses).max(1);
    let share = 100.0 * (l1d.misses - before.misses) as f64 / accesses as f64;
    println!("{name:<34} {ns:6.2} ns  (L1D misses {share:.1} %)");
}

/// A typical program's address: mostly stack and hot objects, some of a warm heap, a few far away.
fn mixed(random: &mut u64) -> u64 {
    let r = next(random);
    let (base, span) = match r % 100 {
        0..=49 => (0x7fff_0000, 4 << 10),
        50..=84 => (0x10_0000, 16 << 10),
        85..=97 => (0x20_0000, 192 << 10),
        _ => (0x1000_0000, 16 << 20),
    };
    base + (r >> 16) % span / 8 * 8
}

fn main() {
    time("load, L1 hit, same line", |m, n| {
        black_box(m.load(0x400, 0x1000 + n % 8 * 8, 8, n));
    });
    time("load, L1 hit, 16 KB random", |m, n| {
        let addr = 0x10_0000 + n.wrapping_mul(0x9e37_79b9) % (16 << 10) / 8 * 8;
        black_box(m.load(0x400 + n % 64 * 4, addr, 8, n));
    });
    time("warm load, 16 KB random", |m, n| {
        let addr = 0x10_0000 + n.wrapping_mul(0x9e37_79b9) % (16 << 10) / 8 * 8;
        m.warm_load(0x400 + n % 64 * 4, addr, 8);
    });
    time("fetch, L1 hit, 8 KB in order", |m, n| {
        black_box(m.fetch(0x40_0000 + n * 16 % (8 << 10), n));
    });
    let mut random = 0x1234_5678_9abc_def1;
    time("mixed: 2 loads to 1 store", |m, n| {
        let addr = mixed(&mut random);
        if n % 3 == 0 {
            m.store_address_tlb(addr, 8, 2 * n);
            black_box(m.store(addr, 8, 2 * n));
        } else {
            black_box(m.load(0x400 + n % 64 * 4, addr, 8, 2 * n));
        }
    });
    let mut random = 0x1234_5678_9abc_def1;
    time("warm mixed: 2 loads to 1 store", |m, n| {
        let addr = mixed(&mut random);
        if n % 3 == 0 {
            m.warm_store(addr, 8);
        } else {
            m.warm_load(0x400 + n % 64 * 4, addr, 8);
        }
    });
    let mut random = 0x1234_5678_9abc_def1;
    time("load, 64 MB random", |m, n| {
        black_box(m.load(0x400, 0x1000_0000 + next(&mut random) % (64 << 20) / 8 * 8, 8, 50 * n));
    });
    time("load, linear by 8", |m, n| {
        black_box(m.load(0x400, 0x1000_0000 + 8 * n, 8, 3 * n));
    });
}
