//! The layers on top of a heap: handles, headers, hierarchies, adapters, counters.
#![allow(missing_docs)]

use rig::memory::Memory;
use rig::{Rng, operations, trace};
use sma::{
    Arena, Checked, Counter, Deferred, Exact, Global, HEADER_BYTES, Headed, Heap, Hierarchy, Hint,
    Level, Lm, Local, Metered, PowerOfTwo, Short, Tagged, ThreeQuarters, Unchecked, Watched,
    state_words,
};
use std::alloc::{GlobalAlloc, Layout};

#[test]
fn handles_carry_size_and_place_through_a_long_walk() {
    let mut memory = Memory::new(16384, state_words::<128, Checked>(16384));
    let base = memory.base();
    let (region, state) = memory.parts();
    let heap = Heap::<128, ThreeQuarters, Checked>::new(region, state).unwrap();
    let tagged = Tagged::new(Deferred::<_, Lm<ThreeQuarters>>::new(&heap).unwrap());
    let (mut rng, mut live) = (Rng(1), Vec::new());
    for _ in 0..operations(200_000) {
        if rng.below(2) == 0 {
            let bytes = 1 + if rng.below(10) == 0 { rng.below(8000) } else { rng.below(300) };
            if let Ok(handle) = tagged.alloc(bytes) {
                let ptr = tagged.pointer(&handle);
                assert_eq!(ptr.as_ptr() as usize, base.as_ptr() as usize + handle.offset());
                assert!(tagged.usable_bytes(&handle) >= bytes);
                live.push(handle);
            }
        } else if !live.is_empty() {
            let handle = live.swap_remove(rng.below(live.len()));
            // SAFETY: this heap's, and its memory is not used.
            assert_eq!(unsafe { tagged.free(handle) }, Ok(()));
        }
    }
    for handle in live {
        // SAFETY: this heap's, and its memory is not used.
        assert_eq!(unsafe { tagged.free(handle) }, Ok(()));
    }
    drop(tagged);
    assert_eq!(heap.survey().longest_run_blocks, 128);
}

#[test]
fn a_handle_to_a_whole_megabyte_is_still_four_bytes() {
    let mut memory = Memory::new(1 << 20, state_words::<256, Unchecked>(1 << 20));
    let (region, state) = memory.parts();
    let tagged = Tagged::new(Heap::<256, PowerOfTwo, Unchecked>::new(region, state).unwrap());
    assert_eq!(size_of::<Option<sma::Handle>>(), 4);
    let all = tagged.alloc(1 << 20).unwrap();
    assert_eq!(tagged.usable_bytes(&all), 1 << 20);
    // SAFETY: this heap's.
    assert_eq!(unsafe { tagged.free(all) }, Ok(()));
    assert!(tagged.inner().survey().free_blocks == 4096);
}

#[test]
fn headers_need_no_size_and_keep_payloads_aligned_to_eight() {
    let mut memory = Memory::new(4096, 0);
    let heap = Heap::<128, Exact, Checked>::in_place_for_headers(memory.region()).unwrap();
    let headed = Headed::new(heap);
    let empty = headed.inner().survey();
    let (mut rng, mut live) = (Rng(2), Vec::new());
    for _ in 0..operations(100_000) {
        if rng.below(2) == 0 {
            let bytes = 1 + rng.below(200);
            if let Ok(ptr) = headed.alloc(bytes) {
                assert_eq!(ptr.as_ptr() as usize % 8, 0);
                assert!(headed.usable_bytes(bytes).unwrap() >= bytes);
                // SAFETY: a fresh allocation of that many bytes.
                unsafe { ptr.as_ptr().write_bytes(0xa5, bytes) };
                live.push(ptr);
            }
        } else if !live.is_empty() {
            // SAFETY: live, and forgotten here.
            assert_eq!(unsafe { headed.free(live.swap_remove(rng.below(live.len()))) }, Ok(()));
        }
    }
    for ptr in live {
        // SAFETY: live, and forgotten here.
        assert_eq!(unsafe { headed.free(ptr) }, Ok(()));
    }
    assert_eq!(headed.inner().survey(), empty);
}

#[test]
fn a_hierarchy_serves_the_hint_and_falls_back_when_a_level_is_full() {
    let (mut fast, mut middle, mut slow) =
        (Memory::new(1024, 0), Memory::new(4096, 0), Memory::new(16384, 0));
    let fast = Heap::<32>::in_place(fast.region()).unwrap();
    let middle = Heap::<128>::in_place(middle.region()).unwrap();
    let slow = Heap::<256, Exact>::in_place(slow.region()).unwrap();
    let memories = Hierarchy::new([
        Level { arena: &slow, latency_cycles: 200 },
        Level { arena: &fast, latency_cycles: 2 },
        Level { arena: &middle, latency_cycles: 60 },
    ]);
    let at = |hint, bytes| {
        let ptr = memories.alloc_with(bytes, 8, hint).unwrap();
        (memories.level_of(ptr).unwrap(), ptr, bytes)
    };
    let mut live = vec![
        at(Hint::Fastest, 100),
        at(Hint::LatencyAtMost(100), 100),
        at(Hint::Slowest, 100),
        at(Hint::LatencyAtMost(1), 100),
        // Too large for the fast memory, then for all but the slow one.
        at(Hint::Fastest, 2000),
        at(Hint::Fastest, 8000),
    ];
    let levels: Vec<usize> = live.iter().map(|l| l.0).collect();
    assert_eq!(levels, [0, 1, 2, 0, 1, 2]);
    // Slowest falls back to faster memories, nearest first, once it is full.
    while let Ok(ptr) = memories.alloc_with(1000, 8, Hint::Slowest) {
        live.push((memories.level_of(ptr).unwrap(), ptr, 1000));
    }
    let order: Vec<usize> = live[6..].iter().map(|l| l.0).collect();
    assert!(order.is_sorted_by(|a, b| a >= b) && order.contains(&2) && order.contains(&1));
    for (_, ptr, bytes) in live {
        // SAFETY: live, and forgotten here.
        assert_eq!(unsafe { memories.free_aligned(ptr, bytes, 8) }, Ok(()));
    }
    let elsewhere = std::ptr::NonNull::from(&0u8);
    // SAFETY: refused.
    let foreign = unsafe { memories.free(elsewhere, 1) };
    assert!(matches!(foreign, Err(sma::FreeError::Foreign { .. })));
    for check in [fast.check(), middle.check(), slow.check()] {
        assert_eq!(check, Ok(()));
    }
}

#[test]
fn the_global_adapter_refuses_until_filled_and_honours_layouts() {
    static HEAP: Global<sma::Fine<'static, 128, PowerOfTwo, Checked>> = Global::empty();
    static mut REGION: Aligned = Aligned([0; 4096]);
    #[repr(align(128))]
    struct Aligned(#[allow(dead_code)] [u8; 4096]);
    let layout = Layout::from_size_align(48, 64).unwrap();
    // SAFETY: a valid layout, and memory that only this test uses.
    unsafe {
        assert!(HEAP.alloc(layout).is_null());
        let region = std::ptr::NonNull::new(&raw mut REGION).unwrap().cast();
        assert!(HEAP.fill(Heap::from_raw(region, 4096).unwrap()).is_ok());
        let again = Heap::from_raw(std::ptr::NonNull::from(&mut [0u64; 64]).cast(), 512);
        assert!(HEAP.fill(again.unwrap()).is_err());
        let heap = HEAP.get().unwrap();
        let empty = heap.survey();
        for align in [1, 8, 16, 64, 128] {
            let layout = Layout::from_size_align(48, align).unwrap();
            let ptr = HEAP.alloc(layout);
            assert!(!ptr.is_null() && (ptr as usize).is_multiple_of(align));
            ptr.write_bytes(7, 48);
            let larger = HEAP.realloc(ptr, layout, 300);
            assert!(!larger.is_null());
            assert_eq!(std::slice::from_raw_parts(larger, 48), [7; 48]);
            HEAP.dealloc(larger, Layout::from_size_align(300, align).unwrap());
        }
        assert!(HEAP.alloc(Layout::from_size_align(8, 4096).unwrap()).is_null());
        assert_eq!(heap.survey(), empty);
    }
}

#[cfg(feature = "allocator-api2")]
#[test]
fn collections_of_allocator_api2_live_in_a_heap() {
    let mut memory = Memory::new(4096, 0);
    let heap = Heap::<128>::in_place(memory.region()).unwrap();
    let empty = heap.survey();
    {
        let mut numbers = allocator_api2::vec::Vec::new_in(sma::In(&heap));
        for n in 0..100u64 {
            numbers.push(n);
        }
        let boxed = allocator_api2::boxed::Box::new_in([1u8; 33], sma::In(&heap));
        assert_eq!(numbers.iter().sum::<u64>(), 99 * 100 / 2);
        assert!(heap.contains(std::ptr::NonNull::from(&numbers[0]).cast()));
        assert!(heap.contains(std::ptr::NonNull::from(&*boxed).cast()));
    }
    assert_eq!(heap.survey(), empty);
}

#[test]
fn waste_adds_up_to_what_is_neither_free_nor_asked_for() {
    for seed in 0..operations(20) as u64 {
        let mut memory = Memory::new(4096, state_words::<128, Unchecked>(4096));
        let (region, state) = memory.parts();
        let heap = Heap::<128, PowerOfTwo, Unchecked>::new(region, state).unwrap();
        let metered = Metered::new(&heap, HEADER_BYTES);
        let events = trace::subset(&trace::generate(&trace::PROFILES[1], 400, seed), 4096, seed);
        let mut live = std::collections::HashMap::new();
        for event in events {
            match event {
                trace::Event::Alloc { id, bytes } => {
                    let bytes = bytes as usize;
                    if let Ok(ptr) = metered.alloc(bytes) {
                        live.insert(id, (ptr, bytes));
                    }
                }
                trace::Event::Free { id } => {
                    if let Some((ptr, bytes)) = live.remove(&id) {
                        // SAFETY: live, and forgotten here.
                        unsafe { metered.free(ptr, bytes).unwrap() };
                    }
                }
            }
            let survey = heap.survey();
            let waste = metered.waste(&survey, 4096 - HEADER_BYTES);
            assert_eq!(metered.requested_bytes(), live.values().map(|l| l.1).sum::<usize>());
            assert_eq!(waste.state, 40);
            assert_eq!(waste.tags, live.len() * 4);
            // Every byte of the region is requested, lost inside, in a header, or free.
            let free = survey.free_bytes() as usize;
            assert_eq!(metered.requested_bytes() + waste.internal + waste.tags + free, 4096);
            // Nothing can serve a request for the whole region unless all of it is free.
            assert_eq!(waste.external, if live.is_empty() { 0 } else { free });
            assert_eq!(survey.unusable_bytes(1), 0, "one byte fits wherever anything is free");
        }
    }
}

#[test]
fn finer_size_rules_lose_less_inside() {
    fn internal<C: sma::Classes>() -> usize {
        let mut memory = Memory::new(65536, state_words::<128, Unchecked>(65536));
        let (region, state) = memory.parts();
        let heap = Heap::<128, C, Unchecked>::new(region, state).unwrap();
        (1..=300).map(|bytes| heap.usable_bytes(bytes).unwrap() - bytes).sum()
    }
    let (two, three, exact) =
        (internal::<PowerOfTwo>(), internal::<ThreeQuarters>(), internal::<Exact>());
    assert!(exact < three && three < two);
    // Exact loses only the rest of the last granule: bytes up to the next multiple of 8.
    assert_eq!(exact, (1..=300usize).map(|b| b.next_multiple_of(8) - b).sum());
}

#[test]
fn a_probe_sees_the_words_an_operation_touches_and_a_pool_saves_them() {
    type Seen<'m> = Heap<'m, 128, PowerOfTwo, Unchecked, Short, Watched<Local, Counter>>;
    let mut memory = Memory::new(4096, state_words::<128, Unchecked>(4096));
    let (region, state) = memory.parts();
    let heap = Seen::new(region, state).unwrap();
    Counter::take();
    let block = heap.alloc(128).unwrap();
    // The search reads the bitmap's only word; the claim updates it; no word of the region is
    // touched.
    assert_eq!(Counter::take(), [0, 0, 0, 0, 1, 0, 1, 0]);
    // SAFETY: live, and forgotten here.
    unsafe { heap.free(block, 128).unwrap() };
    assert_eq!(Counter::take(), [0, 0, 0, 0, 0, 0, 0, 1]);
    let pool = Deferred::<_, Lm>::new(&heap).unwrap();
    let ptr = pool.alloc(8).unwrap();
    let first: u32 = Counter::take().iter().sum();
    assert!(first > 8, "the first small allocation splits a block: {first}");
    // SAFETY: live, and forgotten here.
    unsafe { pool.free(ptr, 8).unwrap() };
    let again = pool.alloc(8).unwrap();
    assert_eq!(again, ptr);
    assert_eq!(Counter::take(), [0; 8], "pools touch neither region nor state");
    // SAFETY: live, and forgotten here.
    unsafe { pool.free(again, 8).unwrap() };
}

#[test]
fn the_papers_subset_rule_keeps_pairs_and_stays_below_95_percent() {
    for profile in &trace::PROFILES {
        let allocs = operations(3000).max(60);
        let events = trace::generate(profile, allocs as u32, 7);
        assert_eq!(events.len(), 2 * allocs);
        let cut = trace::subset(&events, 4096, 7);
        assert!(trace::peak(&cut) * 100 < 4096 * 95);
        assert_eq!(cut.len() % 2, 0);
        assert_eq!(cut, trace::subset(&events, 4096, 7), "the same seed, the same subset");
    }
}
