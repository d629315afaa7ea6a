//! Speed of the model's operations, which run inside simulators for every marker.
#![allow(missing_docs)] // The benchmark macros expand to public functions.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use mcache::{Config, Fill, MallocCache};

fn filled(entries: u8) -> MallocCache {
    let mut cache = MallocCache::new(Config::with_entries(entries)).expect("valid");
    for class in 0..u32::from(entries) {
        let size = 16 * (u64::from(class) + 1);
        cache.update(size - 15, size, class);
        cache.push(class, 0x1000);
        cache.push(class, 0x2000);
    }
    cache
}

fn ops(c: &mut Criterion) {
    for entries in [4, 16, 32] {
        let mut cache = filled(entries);
        let mut size = 0;
        c.bench_function(&format!("lookup hit, {entries} entries"), |b| {
            b.iter(|| {
                size = (size + 37) % (16 * u64::from(entries));
                cache.lookup(black_box(size + 1))
            })
        });
        c.bench_function(&format!("pop, prefetch, push, {entries} entries"), |b| {
            b.iter(|| {
                let pop = cache.pop(black_box(1));
                cache.prefetch(1, Fill::Next, 0x1000, 0);
                cache.push(1, 0x2000);
                pop
            })
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().measurement_time(std::time::Duration::from_millis(500))
        .warm_up_time(std::time::Duration::from_millis(100));
    targets = ops
}
criterion_main!(benches);
