//! Pointer chases through the default hierarchy against latencies measured on an i7-4770:
//! random L1 4, L2 12, LLC 39-43, DRAM about 245 cycles; linear by 64 bytes about 20.

use mallacc_memory::{Memory, MemoryParams};

const KB: u64 = 1 << 10;
const MB: u64 = 1 << 20;
const BASE: u64 = 0x7f00_0000_0000;
/// Required agreement.
const WITHIN: f64 = 0.10;

/// The order in which a chase visits its elements: one cycle through all of them.
fn shuffled(places: u64) -> Vec<u64> {
    let mut order: Vec<u64> = (0..places).collect();
    let mut random = 0x1234_5678_9abc_def1_u64;
    for at in (1..order.len()).rev() {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        order.swap(at, (random >> 20) as usize % (at + 1));
    }
    order
}

/// Mean load-to-use of a chase over `size` bytes with a pointer every `stride`, after one round to
/// fill the caches.
fn chase(params: &MemoryParams, size: u64, stride: u64, random: bool, rounds: u64) -> f64 {
    let mut memory = Memory::new(params).unwrap();
    let places = size / stride;
    let order = if random { shuffled(places) } else { (0..places).collect() };
    let mut cycle = 0;
    let mut begin = 0;
    for _ in 0..=rounds {
        (begin, cycle) = (cycle, cycle);
        for place in &order {
            cycle = memory.load(0x40_1000, BASE + place * stride, 8, cycle).ready;
        }
    }
    (cycle - begin) as f64 / places as f64
}

fn close(what: &str, value: f64, least: f64, most: f64) {
    println!("{what}: {value:.1} cycles");
    let range = least * (1.0 - WITHIN)..=most * (1.0 + WITHIN);
    assert!(range.contains(&value), "{what}: {value:.1} is not in {range:?}");
}

#[test]
fn a_random_chase_takes_the_measured_latency_of_each_level() {
    let params = MemoryParams::default();
    for size in [4 * KB, 8 * KB, 16 * KB, 32 * KB] {
        close(&format!("{} KB", size / KB), chase(&params, size, 64, true, 2), 4.0, 4.0);
    }
    for size in [128 * KB, 192 * KB] {
        close(&format!("{} KB", size / KB), chase(&params, size, 64, true, 2), 12.0, 12.0);
    }
    for size in [2 * MB, 4 * MB] {
        close(&format!("{} MB", size / MB), chase(&params, size, 64, true, 1), 39.0, 43.0);
    }
    close("64 MB", chase(&params, 64 * MB, 64, true, 1), 245.0, 245.0);
}

#[test]
fn a_linear_chase_by_lines_takes_the_measured_latency() {
    let params = MemoryParams::default();
    close("linear 64 MB", chase(&params, 64 * MB, 64, false, 1), 20.0, 20.0);
}

#[test]
fn without_prefetchers_a_linear_chase_pays_memory_for_every_line() {
    let mut params = MemoryParams::default();
    params.l1d.prefetchers.clear();
    params.level.iter_mut().for_each(|level| level.prefetchers.clear());
    let d = &params.dram;
    let open_row = (d.path_ns + d.tcl_ns + d.burst_ns) * params.clock_mhz as f64 / 1000.0;
    let least = params.level[1].load_to_use() as f64 + open_row;
    let mean = chase(&params, 32 * MB, 64, false, 1);
    assert!(mean > least, "{mean:.1} against {least:.1}");
}

#[test]
#[ignore = "prints the whole curve: cargo test -p mallacc-memory -- --ignored --nocapture curve"]
fn the_curve_of_latency_over_size() {
    let params = MemoryParams::default();
    let mut size = 4 * KB;
    while size <= 64 * MB {
        let random = chase(&params, size, 64, true, 1);
        let linear = chase(&params, size, 64, false, 1);
        let pages = chase(&params, size, 4096 + 64, true, 1);
        println!("{:>6} KB {random:6.1} random {linear:6.1} linear {pages:6.1} pages", size / KB);
        size *= 2;
    }
}
