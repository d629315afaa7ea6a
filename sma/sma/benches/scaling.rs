//! Threads that only allocate and free on one shared heap, as in Figure 13: speed-up of Coarse and
//! Fine, with and without a pool per thread, over one thread on Coarse.
#![allow(missing_docs)]

use rig::Rng;
use rig::memory::Memory;
use sma::{
    Arena, Coarse, Deferred, Fine, Lm, Padded, PowerOfTwo, Short, SpinLock, Unchecked, state_words,
};
use std::sync::Barrier;
use std::time::{Duration, Instant};

const BYTES: usize = 16384;
const PAIRS: usize = 24_000;
const ROUNDS: usize = 150;

/// One thread's share: a window of live allocations of the paper's small sizes and some blocks.
fn work(arena: &impl Arena, seed: u64, pairs: usize) {
    let mut rng = Rng(seed);
    let mut live = [None; 12];
    for _ in 0..pairs {
        let slot = rng.below(live.len());
        if let Some((ptr, bytes)) = live[slot].take() {
            // SAFETY: live, and forgotten here.
            let _ = unsafe { arena.free(ptr, bytes) };
        }
        let bytes = [8, 12, 16, 24, 32, 48, 64, 200][rng.below(8)];
        live[slot] = arena.alloc(bytes).ok().map(|ptr| (ptr, bytes));
    }
    for (ptr, bytes) in live.into_iter().flatten() {
        // SAFETY: live, and forgotten here.
        let _ = unsafe { arena.free(ptr, bytes) };
    }
}

/// The minimum time of several short rounds in which `threads` share the pairs, from the first
/// start to the last end. Rounds are short, so that even on a busy machine some are not
/// interrupted.
fn measure(threads: usize, run: impl Fn(u64, usize) + Sync) -> Duration {
    let round = |round: usize| {
        let barrier = Barrier::new(threads);
        std::thread::scope(|scope| {
            let spawn = |seed: usize| {
                let (barrier, run) = (&barrier, &run);
                scope.spawn(move || {
                    barrier.wait();
                    let start = Instant::now();
                    run(seed as u64, PAIRS / threads);
                    (start, Instant::now())
                })
            };
            let handles: Vec<_> = (0..threads).map(|n| spawn(round * 8 + n)).collect();
            let times: Vec<_> = handles.into_iter().map(|h| h.join().unwrap()).collect();
            let start = times.iter().map(|t| t.0).min().unwrap();
            times.iter().map(|t| t.1).max().unwrap() - start
        })
    };
    (0..ROUNDS).map(round).min().unwrap_or_default()
}

fn main() {
    println!(
        "{} cores; ns per malloc and free pair",
        std::thread::available_parallelism().map_or(0, |n| n.get())
    );
    println!("threads  coarse   fine  coarse_lm  fine_lm");
    for threads in 1..=4 {
        let mut times = [Duration::ZERO; 4];
        let mut memory = Memory::new(BYTES, state_words::<128, Unchecked>(BYTES));
        {
            let (region, state) = memory.parts();
            type Kind<'m> = Coarse<'m, 128, PowerOfTwo, Unchecked, Short, Padded<SpinLock>>;
            let heap = Kind::new(region, state).unwrap();
            times[0] = measure(threads, |seed, pairs| work(&heap, seed, pairs));
            times[2] = measure(threads, |seed, pairs| {
                work(&Deferred::<_, Lm>::new(&heap).unwrap(), seed, pairs);
            });
        }
        let (region, state) = memory.parts();
        type Kind<'m> = Fine<'m, 128, PowerOfTwo, Unchecked>;
        let heap = Kind::new(region, state).unwrap();
        times[1] = measure(threads, |seed, pairs| work(&heap, seed, pairs));
        times[3] = measure(threads, |seed, pairs| {
            work(&Deferred::<_, Lm>::new(&heap).unwrap(), seed, pairs);
        });
        let ns = times.map(|t| t.as_nanos() as f64 / PAIRS as f64);
        println!("{threads:7} {:7.1} {:6.1} {:10.1} {:8.1}", ns[0], ns[1], ns[2], ns[3]);
    }
}
