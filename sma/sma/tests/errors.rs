//! Misuse: each case has its error and leaves the heap unchanged.
#![allow(missing_docs)]

use rig::memory::Memory;
use sma::{
    AllocError, Arena, Checked, Deferred, FreeError, Headed, Heap, InitError, Lm, Long, PowerOfTwo,
    Short, Tagged, Unchecked, state_words,
};
use std::ptr::NonNull;

type Kilo<'m> = Heap<'m, 128, PowerOfTwo, Checked>;

fn with_heap(test: impl FnOnce(&Kilo<'_>)) {
    let mut memory = Memory::new(1024, state_words::<128, Checked>(1024));
    let (region, state) = memory.parts();
    test(&Kilo::new(region, state).unwrap());
}

/// Frees and asserts the error and that nothing has changed.
fn refused(heap: &Kilo<'_>, ptr: NonNull<u8>, bytes: usize, error: FreeError) {
    let before = heap.survey();
    // SAFETY: a checked heap; every call here is wrong and must be refused.
    assert_eq!(unsafe { heap.free(ptr, bytes) }, Err(error));
    assert_eq!(heap.survey(), before);
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn zero_sizes_and_sizes_beyond_the_region_are_refused_without_overflow() {
    with_heap(|heap| {
        assert_eq!(heap.alloc(0), Err(AllocError::ZeroSize));
        for bytes in [1025, usize::MAX, usize::MAX - 7, isize::MAX as usize] {
            assert_eq!(heap.alloc(bytes), Err(AllocError::TooLarge { bytes, limit: 1024 }));
        }
        assert!(heap.alloc(1024).is_ok(), "the whole region is one allocation");
        assert_eq!(heap.alloc(1), Err(AllocError::Exhausted { bytes: 8 }));
    });
}

#[test]
fn a_second_free_is_a_double_free_even_after_coalescing() {
    with_heap(|heap| {
        let ptr = heap.alloc(40).unwrap();
        // SAFETY: live, and not used afterwards.
        unsafe { heap.free(ptr, 40).unwrap() };
        refused(heap, ptr, 40, FreeError::DoubleFree { offset: 0 });
        let large = heap.alloc(600).unwrap();
        // SAFETY: live, and not used afterwards.
        unsafe { heap.free(large, 600).unwrap() };
        refused(heap, large, 600, FreeError::DoubleFree { offset: 0 });
    });
}

#[test]
fn foreign_misaligned_interior_and_wrong_size_are_told_apart() {
    with_heap(|heap| {
        let ptr = heap.alloc(300).unwrap();
        let outside = NonNull::from(&1u64).cast();
        let address = outside.as_ptr() as usize;
        refused(heap, outside, 8, FreeError::Foreign { address });
        // SAFETY: inside the allocation.
        let at = |n| unsafe { ptr.add(n) };
        refused(heap, at(4), 300, FreeError::Misaligned { offset: 4, granule: 8 });
        refused(heap, at(64), 64, FreeError::Interior { offset: 64 });
        // 300 bytes are two blocks and 44, rounded to 64; 128 are one block.
        refused(heap, ptr, 128, FreeError::SizeMismatch { offset: 0, bytes: 128 });
        refused(heap, ptr, 0, FreeError::Size { bytes: 0 });
        refused(heap, ptr, 5000, FreeError::Size { bytes: 5000 });
        // SAFETY: live, and not used afterwards. 320 is rounded to the same size.
        assert_eq!(unsafe { heap.free(ptr, 320) }, Ok(()));
    });
}

#[test]
fn a_size_that_covers_two_allocations_is_refused() {
    with_heap(|heap| {
        let (first, second) = (heap.alloc(8).unwrap(), heap.alloc(8).unwrap());
        assert_eq!(second.as_ptr() as usize - first.as_ptr() as usize, 8);
        refused(heap, first, 16, FreeError::SizeMismatch { offset: 0, bytes: 16 });
    });
}

#[test]
fn a_region_waiting_in_a_pool_counts_as_freed() {
    let mut memory = Memory::new(1024, state_words::<128, Checked>(1024));
    let (region, state) = memory.parts();
    let heap = Kilo::new(region, state).unwrap();
    let pool = Deferred::<_, Lm>::new(&heap).unwrap();
    let ptr = pool.alloc(16).unwrap();
    // SAFETY: a checked heap; the second call must be refused.
    unsafe {
        assert_eq!(pool.free(ptr, 16), Ok(()));
        assert_eq!(pool.free(ptr, 16), Err(FreeError::DoubleFree { offset: 0 }));
    }
    assert_eq!(pool.flush(), 1);
}

#[test]
fn a_handle_of_another_heap_or_with_changed_bits_is_refused() {
    let mut memory = Memory::new(1024, state_words::<128, Checked>(1024));
    let (region, state) = memory.parts();
    let tagged = Tagged::new(Kilo::new(region, state).unwrap());
    let handle = tagged.alloc(24).unwrap();
    let bits = handle.into_raw();
    // 24 bytes are three units: code 3 above 20 bits of offset 0.
    assert_eq!(bits, 3 << 20);
    // SAFETY: a checked heap; the first calls must be refused.
    unsafe {
        assert_eq!(tagged.free_bits(1 << 20), Err(FreeError::SizeMismatch { offset: 0, bytes: 8 }));
        assert_eq!(
            tagged.free_bits(bits + 4),
            Err(FreeError::Misaligned { offset: 4, granule: 8 })
        );
        assert_eq!(tagged.free_bits(bits + 8), Err(FreeError::Interior { offset: 8 }));
        assert_eq!(tagged.free_bits(0), Err(FreeError::Size { bytes: 0 }));
        assert!(matches!(tagged.free_bits(bits + 2048), Err(FreeError::Foreign { .. })));
        assert!(matches!(tagged.free_bits(u32::MAX), Err(FreeError::Size { .. })));
        assert_eq!(tagged.free_bits(bits), Ok(()));
        assert_eq!(tagged.free_bits(bits), Err(FreeError::DoubleFree { offset: 0 }));
    }
}

#[test]
fn an_overwritten_header_is_found_when_it_is_freed() {
    let mut memory = Memory::new(1024, 0);
    let heap = Kilo::in_place_for_headers(memory.region()).unwrap();
    let headed = Headed::new(heap);
    let ptr = headed.alloc(20).unwrap();
    let header = ptr.as_ptr().wrapping_sub(4).cast::<u32>();
    // SAFETY: a checked heap; the header lies in the region.
    unsafe {
        let units = header.read();
        // 24 bytes with the header: three units, rounded to four.
        assert_eq!(units, 4);
        for wrong in [0, 2, 8, 3, u32::MAX] {
            header.write(wrong);
            assert!(headed.free(ptr).is_err(), "header {wrong}");
        }
        header.write(units);
        assert!(matches!(headed.free(ptr.add(8)), Err(FreeError::Interior { .. })));
        assert!(matches!(headed.free(NonNull::dangling()), Err(FreeError::Foreign { .. })));
        assert_eq!(headed.free(ptr), Ok(()));
        assert!(matches!(headed.free(ptr), Err(FreeError::DoubleFree { .. })));
    }
    assert_eq!(headed.inner().check(), Ok(()));
}

#[test]
fn alignments_beyond_block_or_region_are_refused() {
    with_heap(|heap| {
        for align in [256, 3, 0, 1 << 40] {
            let limit = 128;
            assert_eq!(heap.alloc_aligned(8, align), Err(AllocError::Alignment { align, limit }));
        }
        for align in [1, 2, 8, 16, 32, 64, 128] {
            let ptr = heap.alloc_aligned(5, align).unwrap();
            assert_eq!(ptr.as_ptr() as usize % align, 0);
            // SAFETY: live, and not used afterwards.
            assert_eq!(unsafe { heap.free_aligned(ptr, 5, align) }, Ok(()));
        }
    });
}

#[test]
fn regions_that_cannot_make_a_heap_are_refused_with_the_limits() {
    fn error<const B: usize, K: sma::Links>(bytes: usize) -> Option<InitError> {
        let mut memory = Memory::new(bytes, 1 << 16);
        let (region, state) = memory.parts();
        Heap::<B, PowerOfTwo, Unchecked, K>::new(region, state).err()
    }
    assert_eq!(error::<128, Short>(127), Some(InitError::TooSmall { bytes: 127, needed: 128 }));
    // 16-bit links reach 65,536 granules of 8 bytes; 17-bit ones and larger granules a megabyte.
    let limit = 8 << 16;
    assert_eq!(error::<128, Short>(limit), None);
    assert_eq!(
        error::<128, Short>(limit + 128),
        Some(InitError::TooLarge { bytes: limit + 128, limit })
    );
    assert_eq!(error::<128, Long>(1 << 20), None);
    assert_eq!(error::<256, Short>(1 << 20), None);
    assert_eq!(error::<32, Long>(1 << 20), None);
    let bytes = (1 << 20) + 128;
    assert_eq!(error::<128, Long>(bytes), Some(InitError::TooLarge { bytes, limit: 1 << 20 }));
}

#[test]
fn a_region_too_small_for_its_own_state_is_refused() {
    let mut memory = Memory::new(128, 0);
    // Checked: 4 heads, 1 + 1 + 4 words of maps, two words of checks are 48 bytes; one block is
    // enough for that, but 96 bytes are not a block.
    let needed = 128;
    assert_eq!(
        Kilo::in_place(&mut memory.region()[..96]).err(),
        Some(InitError::TooSmall { bytes: 96, needed })
    );
    assert!(Kilo::in_place(memory.region()).is_ok());
}

#[test]
fn pools_too_narrow_for_a_region_are_refused() {
    let mut memory = Memory::new(32768, 0);
    let heap = Heap::<128>::in_place(memory.region()).unwrap();
    // 11 bits of granule number.
    let limit = 2048 * 8;
    assert_eq!(
        Deferred::<_, Lm>::new(&heap).err(),
        Some(InitError::TooLarge { bytes: 32768, limit })
    );
    assert!(Deferred::<_, Lm<PowerOfTwo, u64>>::new(&heap).is_ok());
}

#[test]
fn every_message_names_its_value() {
    let messages = [
        InitError::TooSmall { bytes: 71, needed: 128 }.to_string(),
        InitError::TooLarge { bytes: 71, limit: 9 }.to_string(),
        InitError::StateTooSmall { words: 71, needed: 9 }.to_string(),
        AllocError::TooLarge { bytes: 71, limit: 9 }.to_string(),
        AllocError::Alignment { align: 71, limit: 9 }.to_string(),
        AllocError::Exhausted { bytes: 71 }.to_string(),
        FreeError::Size { bytes: 71 }.to_string(),
        FreeError::Foreign { address: 0x71 }.to_string(),
        FreeError::Misaligned { offset: 71, granule: 8 }.to_string(),
        FreeError::DoubleFree { offset: 71 }.to_string(),
        FreeError::Interior { offset: 71 }.to_string(),
        FreeError::SizeMismatch { offset: 71, bytes: 8 }.to_string(),
        sma::Corruption::List { class: 1, granule: 71 }.to_string(),
        sma::Corruption::Tag { block: 71 }.to_string(),
    ];
    for message in messages {
        assert!(message.contains("71"), "{message}");
    }
}

#[test]
fn a_write_after_a_free_is_found_by_the_check() {
    with_heap(|heap| {
        let keep = heap.alloc(8).unwrap();
        let ptr = heap.alloc(64).unwrap();
        // SAFETY: live; the write afterwards is the misuse under test, inside the region.
        unsafe {
            heap.free(ptr, 64).unwrap();
            ptr.as_ptr().write_bytes(0x5a, 64);
        }
        assert!(heap.check().is_err());
        let _ = keep;
    });
}
