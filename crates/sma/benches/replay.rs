//! Replayed synthetic traces: a malloc and free pair on SMA, dlmalloc and talc, 4 kB and 64 kB.
#![allow(missing_docs)]

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "support/rivals.rs"]
mod rivals;

use common::memory::Memory;
use common::trace::{Event, PROFILES, generate, subset};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rivals::{Dl, Ours, Subject, Talc};
use sma::{Deferred, Exact, Heap, Lm, PowerOfTwo, Unchecked, state_words};
use std::ptr::NonNull;

/// A trace with its allocations in slots, so that a replay does nothing but allocate and free.
struct Replay {
    /// Slot and size; a negative size frees.
    steps: Vec<(u32, i32)>,
    slots: Vec<Option<NonNull<u8>>>,
    pairs: u64,
}

impl Replay {
    fn new(events: &[Event]) -> Self {
        let mut free: Vec<u32> = Vec::new();
        let (mut high, mut at) = (0, std::collections::HashMap::new());
        let steps = events.iter().map(|event| match *event {
            Event::Alloc { id, bytes } => {
                let slot = free.pop().unwrap_or_else(|| {
                    high += 1;
                    high - 1
                });
                at.insert(id, (slot, bytes as i32));
                (slot, bytes as i32)
            }
            Event::Free { id } => {
                let (slot, bytes) = at[&id];
                free.push(slot);
                (slot, -bytes)
            }
        });
        let steps: Vec<_> = steps.collect();
        Self { pairs: steps.len() as u64 / 2, steps, slots: vec![None; high as usize] }
    }

    #[inline]
    fn run(&mut self, subject: &impl Subject) {
        for &(slot, bytes) in &self.steps {
            let slot = &mut self.slots[slot as usize];
            if bytes > 0 {
                *slot = subject.alloc(bytes as usize);
            } else if let Some(ptr) = slot.take() {
                // SAFETY: allocated by this replay with this size.
                unsafe { subject.free(ptr, bytes.unsigned_abs() as usize) };
            }
        }
    }
}

fn bench(c: &mut Criterion) {
    for bytes in [4096usize, 65536] {
        for profile in &PROFILES {
            let events = subset(&generate(profile, 4000, 1), bytes as u32, 1);
            let mut replay = Replay::new(&events);
            let mut group = c.benchmark_group(format!("{}k/{}", bytes / 1024, profile.name));
            group.throughput(Throughput::Elements(replay.pairs));
            let mut memory = Memory::new(bytes, state_words::<128, Unchecked>(bytes));
            let dl = Dl::new(memory.base(), bytes);
            group.bench_function("dlmalloc", |b| b.iter(|| replay.run(&dl)));
            let talc = Talc::new(memory.base(), bytes);
            group.bench_function("talc", |b| b.iter(|| replay.run(&talc)));
            {
                let (region, state) = memory.parts();
                let heap = Heap::<128, PowerOfTwo, Unchecked>::new(region, state).unwrap();
                let sma = Ours(&heap);
                group.bench_function("sma", |b| b.iter(|| replay.run(&sma)));
                if bytes <= 16384 {
                    let lm = Ours(Deferred::<_, Lm>::new(&heap).unwrap());
                    group.bench_function("sma_lm", |b| b.iter(|| replay.run(&lm)));
                } else {
                    let lm = Ours(Deferred::<_, Lm<PowerOfTwo, u64>>::new(&heap).unwrap());
                    group.bench_function("sma_lm", |b| b.iter(|| replay.run(&lm)));
                }
            }
            let (region, state) = memory.parts();
            let heap = Heap::<128, Exact, Unchecked>::new(region, state).unwrap();
            let sma = Ours(&heap);
            group.bench_function("sma_exact", |b| b.iter(|| replay.run(&sma)));
        }
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
