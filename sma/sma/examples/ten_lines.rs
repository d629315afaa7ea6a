//! A heap in 4 kB, in ten lines.

use core::mem::MaybeUninit;
use sma::{Heap, Tagged};

/// Runs it.
pub fn main() {
    let mut memory = [const { MaybeUninit::uninit() }; 4096];
    let heap = Tagged::new(Heap::<'_, 128>::in_place(&mut memory).expect("4 kB are enough"));
    let message = heap.alloc(20).expect("there is room");
    let matrix = heap.alloc(1000).expect("there is room");
    // SAFETY: the allocations are ours, of these sizes, and not used after their frees.
    unsafe {
        heap.pointer(&message).cast::<[u8; 20]>().write(*b"hello, scratch-pad!!");
        println!("{} bytes free", heap.inner().survey().free_bytes());
        heap.free(message).and(heap.free(matrix)).expect("both are live");
    }
    assert_eq!(heap.inner().check(), Ok(()));
}
