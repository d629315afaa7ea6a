//! The slowest single operation on a 4 kB heap, without and with a pool, found by search.
//!
//! Random walks with hill climbing search for the states in which one operation touches the most
//! words: a count, the same on every machine. Each such operation is then timed alone, from a
//! restored copy of region and state. The time is the minimum of many repeats, because the machine
//! adds interruptions and the algorithm adds none.
#![allow(missing_docs)]

use rig::Rng;
use rig::memory::Memory;
use sma::{
    Arena, Classes, Counter, Deferred, Exact, Heap, Lm, Local, Pool, PowerOfTwo, Quick, Short,
    Size, ThreeQuarters, Unchecked, Watched, state_words,
};
use std::collections::BTreeMap;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::NonNull;
use std::time::Instant;

const BYTES: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Op {
    Alloc(usize),
    Free(usize),
}

/// No pool: nothing is kept.
struct Without;

impl Pool for Without {
    const REACH: u32 = u32::MAX;
    fn new() -> Self {
        Self
    }
    #[inline(always)]
    fn get(&self, _: Size, _: u32) -> Option<u32> {
        None
    }
    #[inline(always)]
    fn put(&self, _: u32, _: Size, _: u32, _: impl FnMut(u32, u32)) -> bool {
        false
    }
    fn release(&self, _: u32, _: u32) -> Option<(u32, u32)> {
        None
    }
}

type Plain<'m, C> = Heap<'m, 128, C, Unchecked>;
type Seen<'m, C> = Heap<'m, 128, C, Unchecked, Short, Watched<Local, Counter>>;

/// Applies an operation; live allocations are offsets and sizes, so that they apply to any heap.
fn apply(heap: &impl Arena, base: NonNull<u8>, live: &mut Vec<(usize, usize)>, op: Op) {
    match op {
        Op::Alloc(bytes) => {
            if let Ok(ptr) = heap.alloc(bytes) {
                live.push((ptr.as_ptr() as usize - base.as_ptr() as usize, bytes));
            }
        }
        Op::Free(index) if !live.is_empty() => {
            let (offset, bytes) = live.swap_remove(index % live.len());
            // SAFETY: a live allocation, forgotten here.
            unsafe { heap.free(base.add(offset), bytes).unwrap() };
        }
        Op::Free(_) => {}
    }
}

/// Words that each operation of a sequence touches; returns the largest count and its index.
fn worst_of<C: Classes, P: Pool>(ops: &[Op]) -> (u32, usize) {
    let mut memory = Memory::new(BYTES, state_words::<128, Unchecked>(BYTES));
    let base = memory.base();
    let (region, state) = memory.parts();
    let heap = Deferred::<_, P>::new(Seen::<C>::new(region, state).unwrap()).unwrap();
    let mut live = Vec::new();
    let mut worst = (0, 0);
    for (index, &op) in ops.iter().enumerate() {
        Counter::take();
        apply(&heap, base, &mut live, op);
        worst = worst.max((Counter::take().iter().sum(), index));
    }
    worst
}

fn random_op(rng: &mut Rng) -> Op {
    match rng.below(10) {
        0..3 => Op::Alloc(1 + rng.below(128)),
        3 => Op::Alloc(8),
        4 => Op::Alloc(1 + rng.below(1500)),
        5 => Op::Alloc(8 * (1 + rng.below(15))),
        _ => Op::Free(rng.below(1000)),
    }
}

/// Nanoseconds of the last operation of a sequence after running the others; minimum of the
/// repeats.
fn time_last<C: Classes, P: Pool>(ops: &[Op]) -> f64 {
    let mut memory = Memory::new(BYTES, state_words::<128, Unchecked>(BYTES));
    let base = memory.base();
    let words = memory.state.len();
    let state_at = memory.state.as_mut_ptr();
    let (region, state) = memory.parts();
    let heap = Plain::<C>::new(region, state).unwrap();
    let mut heap = ManuallyDrop::new(Deferred::<_, P>::new(heap).unwrap());
    let mut live = Vec::new();
    let (last, before) = ops.split_last().unwrap();
    before.iter().for_each(|&op| apply(&*heap, base, &mut live, op));
    // SAFETY: both lie in `memory`, at rest.
    let (region_copy, state_copy) = unsafe {
        (
            std::slice::from_raw_parts(base.as_ptr(), BYTES).to_vec(),
            std::slice::from_raw_parts(state_at, words).to_vec(),
        )
    };
    let mut heap_copy = MaybeUninit::<ManuallyDrop<Deferred<Plain<'_, C>, P>>>::uninit();
    // SAFETY: the copies are only copied back, and neither is dropped.
    unsafe { heap_copy.as_mut_ptr().copy_from_nonoverlapping(&raw const heap, 1) };
    let (mut best, mut overhead) = (f64::INFINITY, f64::INFINITY);
    let mut scratch = live.clone();
    for _ in 0..3000 {
        // SAFETY: as above; the heap is not in use.
        unsafe {
            base.as_ptr().copy_from_nonoverlapping(region_copy.as_ptr(), BYTES);
            state_at.copy_from_nonoverlapping(state_copy.as_ptr(), words);
            (&raw mut heap).copy_from_nonoverlapping(heap_copy.as_ptr(), 1);
        }
        scratch.clone_from(&live);
        let empty = Instant::now();
        overhead = overhead.min(std::hint::black_box(empty.elapsed()).as_nanos() as f64);
        let start = Instant::now();
        apply(&*heap, base, &mut scratch, std::hint::black_box(*last));
        best = best.min(start.elapsed().as_nanos() as f64);
    }
    best - overhead
}

fn search<C: Classes, P: Pool>(name: &str) {
    let mut rng = Rng(4);
    // The worst sequences by count, each cut after its worst operation.
    let mut found: BTreeMap<u32, Vec<Op>> = BTreeMap::new();
    for _ in 0..12 {
        let mut ops: Vec<Op> = (0..400).map(|_| random_op(&mut rng)).collect();
        let mut best = worst_of::<C, P>(&ops);
        for _ in 0..1500 {
            let mut next = ops.clone();
            for _ in 0..1 + rng.below(4) {
                let at = rng.below(next.len());
                next[at] = random_op(&mut rng);
            }
            let got = worst_of::<C, P>(&next);
            if got.0 >= best.0 {
                found.insert(got.0, next[..=got.1].to_vec());
                (ops, best) = (next, got);
            }
        }
    }
    let mut slowest = (0.0, 0, Op::Free(0));
    for (count, ops) in found.iter().rev().take(6) {
        let ns = time_last::<C, P>(ops);
        if ns > slowest.0 {
            slowest = (ns, *count, *ops.last().unwrap());
        }
    }
    let most = found.last_key_value().map_or(0, |(count, _)| *count);
    let (ns, count, op) = slowest;
    println!("{name:14} most words touched {most:3}; slowest {ns:.0} ns ({count} words, {op:?})");
}

fn main() {
    search::<PowerOfTwo, Without>("PowerOfTwo");
    search::<ThreeQuarters, Without>("ThreeQuarters");
    search::<Exact, Without>("Exact");
    search::<PowerOfTwo, Lm>("Lm");
    search::<PowerOfTwo, Quick>("Quick");
    search::<Exact, Quick<Exact>>("Quick, exact");
}
