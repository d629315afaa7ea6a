//! The state sizes of heaps, to the byte.
#![allow(missing_docs)]

use rig::memory::Memory;
use sma::{
    Arena, Cam, Checked, Coarse, Deferred, Fine, Heap, Lm, PowerOfTwo, Quick, SpinLock, Unchecked,
    state_words,
};

/// Tables 1 and 2: four list heads, a bit per block, and a full bit and a 4-bit tag position per
/// block.
fn paper_bytes(region: usize) -> usize {
    let blocks = region / 128;
    4 * 4 + blocks / 8 + blocks * 5 / 8
}

fn heap_bytes(region: usize) -> usize {
    let mut memory = Memory::new(region, state_words::<128, Unchecked>(region));
    let (bytes, state) = memory.parts();
    let heap = Heap::<128, PowerOfTwo, Unchecked>::new(bytes, state).unwrap();
    assert_eq!(heap.total_state_bytes(), state_words::<128, Unchecked>(region) * size_of::<u32>());
    assert_eq!(heap.capacity_bytes(), region, "the whole region is blocks");
    heap.total_state_bytes()
}

#[test]
fn four_kilobytes_need_40_bytes_and_sixteen_need_112() {
    assert_eq!((paper_bytes(4096), heap_bytes(4096)), (40, 40));
    assert_eq!((paper_bytes(16384), heap_bytes(16384)), (112, 112));
}

#[test]
fn the_state_needs_no_word_more_than_it_says() {
    for region in [1024, 4096, 16384, 65536] {
        let words = state_words::<128, Unchecked>(region);
        let mut memory = Memory::new(region, words - 1);
        let (bytes, state) = memory.parts();
        let short = Heap::<128, PowerOfTwo, Unchecked>::new(bytes, state);
        assert!(matches!(
            short.map(|_| ()),
            Err(sma::InitError::StateTooSmall { needed, .. }) if needed == words
        ));
    }
}

#[test]
fn local_memory_pools_add_16_bytes_a_cam_64_and_quick_lists_672() {
    // Table 1: 40, 56 and 104 bytes; Table 2: 112 and 128.
    for (region, plain) in [(4096, 40), (16384, 112)] {
        let mut memory = Memory::new(region, state_words::<128, Unchecked>(region));
        let (bytes, state) = memory.parts();
        let heap = Heap::<128, PowerOfTwo, Unchecked>::new(bytes, state).unwrap();
        // One word of three regions for each of 8, 16, 32 and 64 bytes.
        let lm = Deferred::<_, Lm<PowerOfTwo>>::new(&heap).unwrap();
        assert_eq!(lm.total_state_bytes(), plain + 4 * 4);
        // A block and the four sizes below it, and the same with one to three more blocks: seven
        // regions and their count each. For the four sizes also the rest of a block: two words.
        let quick = Deferred::<_, Quick>::new(&heap).unwrap();
        assert_eq!(quick.total_state_bytes(), plain + 4 * 5 * (7 + 1) * 4 + 4 * 2 * 4);
        // Without runs, three deep.
        let small = Deferred::<_, Quick<PowerOfTwo, 3, 1>>::new(&heap).unwrap();
        assert_eq!(small.total_state_bytes(), plain + 5 * (3 + 1) * 4 + 4 * 2 * 4);
        // Sixteen words.
        let cam = Deferred::<_, Cam>::new(&heap).unwrap();
        assert_eq!(cam.total_state_bytes(), plain + 16 * 4);
    }
}

#[test]
fn locks_weigh_what_the_lock_type_weighs() {
    let mut memory = Memory::new(16384, state_words::<128, Unchecked>(16384));
    let (bytes, state) = memory.parts();
    let coarse = Coarse::<128, PowerOfTwo, Unchecked>::new(bytes, state).unwrap();
    assert_eq!(coarse.total_state_bytes(), 112 + size_of::<SpinLock>());
    let (bytes, state) = memory.parts();
    // The list heads are their own locks; one more guards full blocks.
    let fine = Fine::<128, PowerOfTwo, Unchecked>::new(bytes, state).unwrap();
    assert_eq!(fine.total_state_bytes(), 112 + size_of::<SpinLock>());
    let (bytes, state) = memory.parts();
    type Own<'m> = Fine<'m, 128, PowerOfTwo, Unchecked, sma::Short, sma::FineLocks>;
    let own = Own::new(bytes, state).unwrap();
    assert_eq!(own.total_state_bytes(), 112 + (4 + 1) * size_of::<SpinLock>());
}

#[test]
fn checks_add_two_bits_per_granule() {
    let granules = 4096 / 8;
    assert_eq!(
        state_words::<128, Checked>(4096) * 4,
        state_words::<128, Unchecked>(4096) * 4 + 2 * granules / 8
    );
}

#[test]
fn small_blocks_need_fewer_position_bits() {
    // 4 kB in 32-byte blocks: 128 blocks of 4 units; two classes; 1 + 1 + 2 bits per block.
    assert_eq!(state_words::<32, Unchecked>(4096) * 4, 2 * 4 + 128 * (1 + 1 + 2) / 8);
}

#[test]
fn a_heap_in_place_loses_its_state_rounded_to_granules_and_nothing_else() {
    for region in [1024usize, 4096, 16384] {
        let mut memory = Memory::new(region, 0);
        let heap = Heap::<128, PowerOfTwo, Unchecked>::in_place(memory.region()).unwrap();
        let state = (state_words::<128, Unchecked>(region) * 4).next_multiple_of(8);
        assert_eq!(heap.survey().free_bytes() as usize, region - state);
        assert_eq!(heap.check(), Ok(()));
    }
}

#[test]
fn a_megabyte_needs_less_than_one_percent_of_state() {
    let bytes = state_words::<128, Unchecked>(1 << 20) * 4;
    // 8,192 blocks at 6 bits, and four heads.
    assert_eq!(bytes, 16 + 8192 * 6 / 8);
    assert!(bytes * 100 < 1 << 20);
}
