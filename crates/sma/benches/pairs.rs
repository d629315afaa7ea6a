//! One malloc and free pair: nanoseconds, or instructions under callgrind.
//!
//! `cargo bench --bench pairs` prints the least time of many replays for every trace and
//! allocator, at 4 kB. `pairs count TRACE ALLOCATOR` replays once more than ten times, for
//! `count.sh`, which runs it under callgrind and counts what lies inside `called_alloc` and
//! `called_free`.
#![allow(missing_docs)]

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "support/replay.rs"]
mod replay;
#[path = "support/rivals.rs"]
mod rivals;

use common::memory::Memory;
use replay::Replay;
use rivals::{Dl, Nothing, Ours, Subject, Talc};
use sma::{Deferred, Heap, Lm, PowerOfTwo, Unchecked, state_words};
use std::time::Instant;

const BYTES: usize = 4096;
const REPLAYS: u32 = 2000;
const COUNTED: u32 = 10;
const ALLOCATORS: [&str; 5] = ["nothing", "dlmalloc", "talc", "sma", "sma_lm"];

/// The least nanoseconds of a pair; rounds go around the allocators, so that a noisy minute of the
/// machine hits all of them.
fn time(replay: &mut Replay, subject: &impl Subject) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..REPLAYS {
        let start = Instant::now();
        replay.run(subject);
        best = best.min(start.elapsed().as_nanos() as f64);
    }
    best / replay.pairs as f64
}

fn count(replay: &mut Replay, subject: &impl Subject) -> f64 {
    (0..COUNTED).for_each(|_| replay.run_called(subject));
    (replay.pairs * u64::from(COUNTED)) as f64
}

fn with(allocator: &str, replay: &mut Replay, timed: bool) -> f64 {
    fn go(replay: &mut Replay, subject: &impl Subject, timed: bool) -> f64 {
        if timed { time(replay, subject) } else { count(replay, subject) }
    }
    let mut memory = Memory::new(BYTES, state_words::<128, Unchecked>(BYTES));
    match allocator {
        "nothing" => return go(replay, &Nothing, timed),
        "dlmalloc" => return go(replay, &Dl::new(memory.base(), BYTES), timed),
        "talc" => return go(replay, &Talc::new(memory.base(), BYTES), timed),
        _ => {}
    }
    let (region, state) = memory.parts();
    let heap = Heap::<128, PowerOfTwo, Unchecked>::new(region, state).unwrap();
    if allocator == "sma" {
        go(replay, &Ours(&heap), timed)
    } else {
        go(replay, &Ours(Deferred::<_, Lm>::new(&heap).unwrap()), timed)
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["names"] => Replay::all(BYTES).for_each(|(name, _)| println!("{name}")),
        ["count", trace, allocator] => {
            let (_, mut replay) =
                Replay::all(BYTES).find(|(name, _)| *name == trace).expect("no such trace");
            println!("{}", with(allocator, &mut replay, false));
        }
        _ => {
            println!("ns per pair     {}", ALLOCATORS.map(|name| format!("{name:>9}")).join(""));
            for (name, mut replay) in Replay::all(BYTES) {
                let mut least = [f64::INFINITY; ALLOCATORS.len()];
                for _ in 0..3 {
                    for (least, allocator) in least.iter_mut().zip(ALLOCATORS) {
                        *least = least.min(with(allocator, &mut replay, true));
                    }
                }
                println!("{name:16}{}", least.map(|ns| format!("{ns:9.1}")).join(""));
            }
        }
    }
}
