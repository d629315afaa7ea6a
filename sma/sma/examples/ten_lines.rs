//! A heap in 4 kB, in ten lines.

use sma::{Heap, PowerOfTwo, Region, Tagged, Unchecked};

/// Runs it.
pub fn main() {
    let mut memory = Region::<4096>::new();
    let heap = Heap::<'_, 128, PowerOfTwo, Unchecked>::in_place(&mut memory);
    let heap = Tagged::new(heap.expect("4 kB are enough"));
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
