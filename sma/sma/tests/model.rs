//! Heaps against a naive allocator: placement, overlap, alignment, accounting, coalescing.
#![allow(missing_docs)]

use proptest::prelude::*;
use rig::drive::{Driver, Op, Strict, Walk};
use rig::memory::Memory;
use rig::{Rng, operations};
use sma::{
    Cam, Checked, Classes, Deferred, Exact, Fine, Guard, Heap, Links, Lm, Local, Long, Pool,
    PowerOfTwo, Quick, Short, ThreeQuarters, Unchecked, state_words,
};

/// A walk of `quick` operations over a heap of this kind; returns how many were refused.
fn walk<const B: usize, C, G, K>(bytes: usize, quick: usize, seed: u64)
where
    C: Classes,
    G: Guard,
    K: Links,
{
    let mut memory = Memory::new(bytes, state_words::<B, G>(bytes));
    let (region, state) = memory.parts();
    let heap = Heap::<B, C, G, K, Local>::new(region, state).unwrap();
    let empty = heap.survey();
    assert_eq!(empty.longest_run_blocks as usize, bytes / B);
    let mut driver = Driver::new(&heap, Strict::Places);
    let mut walk = Walk::new(seed, bytes);
    for step in 0..operations(quick) {
        driver.apply(walk.op());
        if G::CHECKED && walk.rng.below(8) == 0 {
            driver.apply(Op::Abuse(walk.rng.draw() as usize, walk.rng.below(200)));
        }
        if step % 97 == 0 {
            driver.compare(heap.survey(), heap.check());
        }
    }
    // In a small region random offsets cover every case, including foreign pointers.
    if G::CHECKED && bytes <= 8192 && operations(quick) >= 30_000 {
        assert!(
            driver.refused.iter().all(|&n| n > 0),
            "some misuse never met: {:?}",
            driver.refused
        );
    }
    driver.free_all();
    assert_eq!(heap.survey(), empty, "one free region again");
}

#[test]
fn power_of_two_heaps_do_what_a_naive_allocator_says_at_every_block_size() {
    walk::<32, PowerOfTwo, Unchecked, Short>(4096, 80_000, 1);
    walk::<64, PowerOfTwo, Unchecked, Short>(4096, 80_000, 2);
    walk::<128, PowerOfTwo, Unchecked, Short>(4096, 150_000, 3);
    walk::<128, PowerOfTwo, Unchecked, Short>(16384, 60_000, 4);
    walk::<256, PowerOfTwo, Unchecked, Short>(16384, 60_000, 5);
    walk::<512, PowerOfTwo, Unchecked, Short>(16384, 60_000, 6);
    walk::<1024, PowerOfTwo, Unchecked, Short>(65536, 60_000, 7);
    walk::<128, PowerOfTwo, Unchecked, Short>(1024, 60_000, 8);
}

#[test]
fn finer_sizes_do_what_a_naive_allocator_says() {
    walk::<128, Exact, Unchecked, Short>(4096, 100_000, 11);
    walk::<128, ThreeQuarters, Unchecked, Short>(4096, 100_000, 12);
    walk::<32, Exact, Unchecked, Short>(4096, 60_000, 13);
    walk::<1024, ThreeQuarters, Unchecked, Short>(65536, 60_000, 14);
}

#[test]
fn checked_heaps_refuse_every_wrong_free_by_name_and_stay_whole() {
    walk::<128, PowerOfTwo, Checked, Short>(4096, 100_000, 21);
    walk::<128, Exact, Checked, Short>(4096, 60_000, 22);
    walk::<32, ThreeQuarters, Checked, Short>(4096, 60_000, 23);
}

#[test]
fn a_region_with_an_odd_number_of_blocks_is_used_to_its_last_block() {
    walk::<128, PowerOfTwo, Checked, Short>(128 * 37 + 100, 30_000, 31);
    walk::<64, Exact, Unchecked, Short>(64 * 65, 30_000, 32);
}

#[test]
fn long_links_do_what_a_naive_allocator_says_small_and_at_a_megabyte() {
    walk::<128, PowerOfTwo, Unchecked, Long>(4096, 60_000, 41);
    walk::<32, Exact, Checked, Long>(4096, 30_000, 42);
    walk::<128, PowerOfTwo, Checked, Long>(1 << 20, 600, 43);
}

/// The far end of a megabyte, where links need their 17th bit.
#[test]
fn long_links_reach_the_last_granule_of_a_megabyte() {
    const BYTES: usize = 1 << 20;
    let mut memory = Memory::new(BYTES, state_words::<128, Unchecked>(BYTES));
    let (region, state) = memory.parts();
    let heap = Heap::<128, PowerOfTwo, Unchecked, Long>::new(region, state).unwrap();
    let empty = heap.survey();
    use sma::Arena;
    let filler = heap.alloc(BYTES - 4096).unwrap();
    let mut rng = Rng(5);
    let mut live: Vec<_> = Vec::new();
    for _ in 0..operations(200_000) {
        if rng.below(2) == 0 {
            let bytes = 1 + rng.below(100);
            live.extend(heap.alloc(bytes).map(|p| (p, bytes)));
        } else if !live.is_empty() {
            let (ptr, bytes) = live.swap_remove(rng.below(live.len()));
            // SAFETY: a live allocation, forgotten here.
            unsafe { heap.free(ptr, bytes).unwrap() };
        }
    }
    assert_eq!(heap.check(), Ok(()));
    live.push((filler, BYTES - 4096));
    for (ptr, bytes) in live {
        // SAFETY: a live allocation, forgotten here.
        unsafe { heap.free(ptr, bytes).unwrap() };
    }
    assert_eq!(heap.survey(), empty);
}

#[test]
fn a_fine_heap_on_one_core_does_what_a_naive_allocator_says() {
    const BYTES: usize = 4096;
    let mut memory = Memory::new(BYTES, state_words::<128, Checked>(BYTES));
    let (region, state) = memory.parts();
    let heap = Fine::<128, Exact, Checked>::new(region, state).unwrap();
    let mut driver = Driver::new(&heap, Strict::Places);
    let mut walk = Walk::new(51, BYTES);
    for step in 0..operations(100_000) {
        driver.apply(walk.op());
        if step % 97 == 0 {
            driver.compare(heap.survey(), heap.check());
        }
    }
    driver.free_all();
    driver.compare(heap.survey(), heap.check());
    assert_eq!(heap.survey().longest_run_blocks, 32);
}

fn pooled<P: Pool, C: Classes>(seed: u64) {
    const BYTES: usize = 4096;
    let mut memory = Memory::new(BYTES, state_words::<128, Checked>(BYTES));
    let (region, state) = memory.parts();
    let heap = Heap::<128, C, Checked>::new(region, state).unwrap();
    let pool = Deferred::<_, P>::new(&heap).unwrap();
    let mut driver = Driver::new(&pool, Strict::Refusals);
    let mut walk = Walk::new(seed, BYTES);
    for step in 0..operations(80_000) {
        driver.apply(walk.op());
        if walk.rng.below(8) == 0 {
            driver.apply(Op::Abuse(walk.rng.draw() as usize, walk.rng.below(200)));
        }
        if step % 997 == 0 {
            pool.flush();
            driver.compare(heap.survey(), heap.check());
        }
    }
    driver.free_all();
    drop(pool);
    assert_eq!(heap.survey().longest_run_blocks, 32, "a dropped pool leaves nothing behind");
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn pools_refuse_only_what_an_allocator_without_pools_would_refuse() {
    pooled::<Lm<PowerOfTwo>, PowerOfTwo>(61);
    pooled::<Lm<PowerOfTwo, u64>, PowerOfTwo>(62);
    pooled::<Lm<Exact>, Exact>(63);
    pooled::<Lm<ThreeQuarters>, ThreeQuarters>(64);
    pooled::<Cam, PowerOfTwo>(65);
    pooled::<Cam<u64>, Exact>(66);
    pooled::<Quick, PowerOfTwo>(67);
    pooled::<Quick<Exact, 1>, Exact>(68);
    pooled::<Quick<ThreeQuarters, 20>, ThreeQuarters>(69);
    pooled::<Quick<PowerOfTwo, 3, 1>, PowerOfTwo>(70);
    pooled::<Quick<Exact, 2, 9>, Exact>(72);
}

/// The fuzz target's entry on random bytes, for toolchains without a fuzzer.
#[test]
fn the_fuzz_entry_holds_on_random_bytes() {
    let mut rng = Rng(71);
    for _ in 0..operations(600) {
        let bytes: Vec<u8> = (0..1 + 3 * 200).map(|_| rng.draw() as u8).collect();
        rig::entry::run(&bytes);
    }
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        4 => (1usize..130).prop_map(Op::Alloc),
        1 => (1usize..1500).prop_map(Op::Alloc),
        4 => any::<usize>().prop_map(Op::Free),
        1 => (0usize..1200, 0usize..300).prop_map(|(o, b)| Op::Abuse(o, b)),
    ];
    prop::collection::vec(op, 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: operations(600) as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_sequence_on_a_kilobyte_agrees_after_every_step(ops in ops()) {
        let mut memory = Memory::new(1024, state_words::<128, Checked>(1024));
        let (region, state) = memory.parts();
        let heap = Heap::<128, PowerOfTwo, Checked>::new(region, state).unwrap();
        let mut driver = Driver::new(&heap, Strict::Places);
        for op in ops {
            driver.apply(op);
            driver.compare(heap.survey(), heap.check());
        }
    }

    #[test]
    fn any_sequence_of_exact_sizes_in_tiny_blocks_agrees_after_every_step(ops in ops()) {
        let mut memory = Memory::new(1024, state_words::<32, Checked>(1024));
        let (region, state) = memory.parts();
        let heap = Heap::<32, Exact, Checked, Long>::new(region, state).unwrap();
        let mut driver = Driver::new(&heap, Strict::Places);
        for op in ops {
            driver.apply(op);
            driver.compare(heap.survey(), heap.check());
        }
    }
}
