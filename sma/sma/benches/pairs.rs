//! One malloc and free pair: nanoseconds, or instructions under callgrind.
//!
//! `cargo bench --bench pairs` prints the minimum time of many replays for every trace and
//! allocator, at 4 kB and 64 kB, without the cost of the replay itself. All allocators do the same
//! work: requests that any of them refuses are left out. A heap is used for all replays, and
//! regions in its pool at the end of one replay stay there for the next.
//!
//! `pairs count TRACE ALLOCATOR` replays 4 kB of a trace twice, for `count.sh`, which runs it under
//! callgrind and counts instructions inside `called_alloc` and `called_free`.
//!
//! `SMA_SUBSETS` names a folder of recorded traces, as written by the study's `plain_subsets`.
#![allow(missing_docs)]

use rig::memory::Memory;
use rig::replay::Replay;
use rig::rivals::{Dl, Nothing, Ours, Subject, Talc};
use sma::{Deferred, Heap, Lm, PowerOfTwo, Quick, Unchecked, state_words};
use std::time::Instant;

const COUNTED: u32 = 2;
/// Pairs executed to find a minimum time.
const PAIRS: u64 = 1_000_000;
const ROUNDS: u32 = 5;
const ALLOCATORS: [&str; 6] = ["nothing", "dlmalloc", "talc", "sma", "sma_lm", "quick"];

/// What to do with a replay.
#[derive(Clone, Copy)]
enum Job {
    /// The minimum nanoseconds per pair.
    Time,
    /// Makes calls for a profiler; returns the number of pairs.
    Count,
    /// Leaves refused requests out; returns how many.
    Drop,
}

fn go(replay: &mut Replay, subject: &impl Subject, job: Job) -> f64 {
    match job {
        Job::Time => {
            let mut best = f64::INFINITY;
            for _ in 0..(PAIRS / replay.pairs.max(1)).clamp(5, 200) {
                let start = Instant::now();
                replay.run(subject);
                best = best.min(start.elapsed().as_nanos() as f64);
            }
            best / replay.pairs as f64
        }
        Job::Count => {
            (0..COUNTED).for_each(|_| replay.run_called(subject));
            (replay.pairs * u64::from(COUNTED)) as f64
        }
        Job::Drop => replay.drop_refused(subject) as f64,
    }
}

fn with(allocator: &str, bytes: usize, replay: &mut Replay, job: Job) -> f64 {
    let mut memory = Memory::new(bytes, state_words::<128, Unchecked>(bytes));
    match allocator {
        "nothing" => return go(replay, &Nothing, job),
        "dlmalloc" => return go(replay, &Dl::new(memory.base(), bytes), job),
        "talc" => return go(replay, &Talc::new(memory.base(), bytes), job),
        _ => {}
    }
    let (region, state) = memory.parts();
    let heap = Heap::<128, PowerOfTwo, Unchecked>::new(region, state).unwrap();
    match allocator {
        "sma" => go(replay, &Ours(&heap), job),
        "sma_lm" if bytes <= 16384 => {
            go(replay, &Ours(Deferred::<_, Lm>::new(&heap).unwrap()), job)
        }
        "sma_lm" => go(replay, &Ours(Deferred::<_, Lm<PowerOfTwo, u64>>::new(&heap).unwrap()), job),
        "quick" => go(replay, &Ours(Deferred::<_, Quick>::new(&heap).unwrap()), job),
        _ => panic!("no allocator {allocator}"),
    }
}

/// Leaves out requests that any allocator refuses.
fn drop_refused(bytes: usize, replay: &mut Replay) {
    // A request left out makes room for others, and a pool may then hold other regions: repeat.
    while ALLOCATORS[1..].iter().any(|name| with(name, bytes, replay, Job::Drop) > 0.0) {}
}

/// Rounds cycle through the allocators, so that a noisy minute of the machine affects all of them.
fn line(name: &str, bytes: usize, mut replay: Replay) {
    let whole = replay.pairs;
    drop_refused(bytes, &mut replay);
    let mut least = [f64::INFINITY; ALLOCATORS.len()];
    for _ in 0..ROUNDS {
        for (least, allocator) in least.iter_mut().zip(ALLOCATORS) {
            *least = least.min(with(allocator, bytes, &mut replay, Job::Time));
        }
    }
    let net = least.map(|ns| ns - least[0]);
    println!(
        "{name:16}{}{}{:9.1}",
        net[1..].iter().map(|ns| format!("{ns:9.1}")).collect::<String>(),
        net[3..].iter().map(|ns| format!("{:9.2}", ns / net[1])).collect::<String>(),
        100.0 - replay.pairs as f64 / whole as f64 * 100.0
    );
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["names"] => Replay::countable(4096).iter().for_each(|name| println!("{name}")),
        ["count", trace, allocator] => {
            let mut replay = Replay::named(trace, 4096);
            drop_refused(4096, &mut replay);
            println!("{}", with(allocator, 4096, &mut replay, Job::Count));
        }
        _ => {
            for bytes in [4096, 65536] {
                let columns = ALLOCATORS[1..].iter().chain(&["sma/dl", "lm/dl", "quick/dl"]);
                println!(
                    "{:16}{}  left out, %",
                    format!("{} kB, ns a pair", bytes / 1024),
                    columns.map(|name| format!("{name:>9}")).collect::<String>()
                );
                for name in Replay::names(bytes) {
                    line(&name, bytes, Replay::named(&name, bytes));
                }
            }
        }
    }
}
