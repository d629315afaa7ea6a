//! Replayed traces, synthetic and recorded (`SMA_SUBSETS`): a malloc and free pair on SMA, dlmalloc
//! and talc, 4 kB and 64 kB.
#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sma::{Deferred, Exact, Heap, Lm, PowerOfTwo, Quick, Unchecked, state_words};
use sma_rig::memory::Memory;
use sma_rig::replay::Replay;
use sma_rig::rivals::{Dl, Ours, Talc};

fn bench(c: &mut Criterion) {
    for bytes in [4096usize, 65536] {
        for name in Replay::names(bytes) {
            let mut replay = Replay::named(&name, bytes);
            let mut group = c.benchmark_group(format!("{}k/{name}", bytes / 1024));
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
            {
                let (region, state) = memory.parts();
                let heap = Heap::<128, PowerOfTwo, Unchecked>::new(region, state).unwrap();
                let quick = Ours(Deferred::<_, Quick>::new(&heap).unwrap());
                group.bench_function("sma_quick", |b| b.iter(|| replay.run(&quick)));
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
