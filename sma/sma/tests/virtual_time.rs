//! Scaling in virtual time: cores that only allocate and free on one shared memory, as in Figure
//! 13, independent of how many cores the host has and how busy they are. See `rig::cores`.
#![allow(missing_docs)]
#![cfg(not(miri))]

use rig::cores::{Clocks, NoLock, OPERATION_CYCLES, Timed, TimedLock, on_core, pass};
use rig::memory::Memory;
use rig::trace::{Event, PROFILES, Profile, generate};
use sma::{Arena, Deferred, Heap, Lm, PowerOfTwo, Short, Unchecked, Watched, state_words};
use std::sync::Arc;

const BYTES: usize = 16384;
const PAIRS: usize = 1200;

type Kind<'m, S> = Heap<'m, 128, PowerOfTwo, Unchecked, Short, Watched<S, Timed>>;
type CoarseLock = sma::CoarseLock<TimedLock>;
type FineLocks = sma::HeadLocks<TimedLock>;

/// One core's share: its own trace of a profile, everything freed at the end.
fn work(arena: &dyn Arena, profile: &Profile, seed: u64, pairs: usize) {
    let mut live = vec![None; pairs];
    for event in generate(profile, pairs as u32, seed) {
        pass(OPERATION_CYCLES);
        match event {
            Event::Alloc { id, bytes } => {
                let bytes = bytes as usize;
                live[id as usize] = arena.alloc(bytes).ok().map(|ptr| (ptr, bytes));
            }
            Event::Free { id } => {
                if let Some((ptr, bytes)) = live[id as usize].take() {
                    // SAFETY: live, and forgotten here.
                    unsafe { arena.free(ptr, bytes).unwrap() };
                }
            }
        }
    }
}

/// Cycles until the last of `$cores` cores on a heap shared as `$sharing` has done its share.
macro_rules! cycles {
    ($sharing:ty, $profile:expr, $cores:expr, $pooled:expr) => {{
        let (cores, pooled): (usize, bool) = ($cores, $pooled);
        let mut memory = Memory::new(BYTES, state_words::<128, Unchecked>(BYTES));
        let (region, state) = memory.parts();
        let heap = Kind::<'_, $sharing>::new(region, state).unwrap();
        let clocks = Arc::new(Clocks::new(cores));
        std::thread::scope(|scope| {
            let run = |core: usize| {
                let (heap, clocks) = (&heap, Arc::clone(&clocks));
                scope.spawn(move || {
                    on_core(&clocks, core, || {
                        if pooled {
                            let pool = Deferred::<_, Lm>::new(heap).unwrap();
                            work(&pool, $profile, core as u64, PAIRS / cores);
                        } else {
                            work(heap, $profile, core as u64, PAIRS / cores);
                        }
                        clocks.now(core)
                    })
                })
            };
            let threads: Vec<_> = (0..cores).map(run).collect();
            threads.into_iter().map(|core| core.join().unwrap()).max().unwrap()
        })
    }};
}

/// Cycles with one lock and with fine-grained ones, first without pools and then with them.
fn four_ways(profile: &Profile, cores: usize) -> [u64; 4] {
    [
        cycles!(CoarseLock, profile, cores, false),
        cycles!(FineLocks, profile, cores, false),
        cycles!(CoarseLock, profile, cores, true),
        cycles!(FineLocks, profile, cores, true),
    ]
}

/// One lock stays faster where one size has nearly all the traffic ("tiny") or where blocks fill up
/// all the time, so that tags come and go under all locks ("steady").
#[test]
fn fine_locks_scale_further_than_one_lock_and_pools_beat_none() {
    println!("cycles for {PAIRS} pairs of each profile; speed-up over one core in brackets");
    println!("cores           coarse             fine        coarse_lm          fine_lm");
    let mut all = Vec::new();
    for cores in 1..=4 {
        let mut row = [0; 4];
        // Run in parallel: within each run only one core's thread is awake at a time.
        let measured = std::thread::scope(|scope| {
            let profiles = PROFILES.each_ref();
            let runs = profiles.map(|profile| scope.spawn(move || four_ways(profile, cores)));
            runs.map(|run| run.join().unwrap())
        });
        for (profile, each) in PROFILES.iter().zip(measured) {
            println!("{cores:5} {:9} {each:?}", profile.name);
            if cores > 1 && ["mixed", "stack"].contains(&profile.name) {
                assert!(each[1] < each[0] && each[3] < each[2], "fine beats coarse: {each:?}");
            }
            row.iter_mut().zip(each).for_each(|(sum, cycles)| *sum += cycles);
        }
        all.push(row);
        let cell = |i: usize| format!("{:9} ({:.2})", row[i], all[0][i] as f64 / row[i] as f64);
        println!("{cores:5} {}", [cell(0), cell(1), cell(2), cell(3)].join(" "));
    }
    let speed_up = |row: &[u64; 4], i: usize| all[0][i] as f64 / row[i] as f64;
    for row in &all[1..] {
        assert!(speed_up(row, 1) > speed_up(row, 0), "fine scales further than coarse: {row:?}");
        assert!(speed_up(row, 3) > speed_up(row, 2), "with pools too: {row:?}");
        assert!(row[3] < row[2], "fine beats coarse with pools: {row:?}");
        assert!(row[2] < row[0] && row[3] < row[1], "pools beat none: {row:?}");
    }
}

#[test]
fn locks_cost_a_single_core_their_own_accesses_only_and_runs_repeat_to_the_cycle() {
    let profile = &PROFILES[0];
    let none = cycles!(sma::CoarseLock<NoLock>, profile, 1, false);
    let coarse = cycles!(CoarseLock, profile, 1, false);
    let fine = cycles!(FineLocks, profile, 1, false);
    println!("one core: {none} cycles without locks, {coarse} coarse, {fine} fine");
    assert!(none < coarse && none < fine);
    let twice = [cycles!(FineLocks, profile, 3, true), cycles!(FineLocks, profile, 3, true)];
    assert_eq!(twice[0], twice[1]);
}
