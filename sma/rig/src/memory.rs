//! Aligned memory for a heap.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// A region aligned to 4 kB, and words for the state.
pub struct Memory {
    base: NonNull<u8>,
    bytes: usize,
    /// Words for a heap's state, prefilled with a value that no heap would write.
    pub state: Vec<MaybeUninit<u32>>,
}

impl Memory {
    /// This many bytes, at least one, and words.
    pub fn new(bytes: usize, state_words: usize) -> Self {
        let layout = Layout::from_size_align(bytes, 4096).unwrap();
        // SAFETY: the size is not zero in any test.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap();
        Self { base, bytes, state: vec![MaybeUninit::new(0xdead_beef); state_words] }
    }

    /// The first byte of the region.
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Region and state, for a heap.
    pub fn parts(&mut self) -> (&mut [MaybeUninit<u8>], &mut [MaybeUninit<u32>]) {
        // SAFETY: the memory is this value's, borrowed for the slice's lifetime.
        let region =
            unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr().cast(), self.bytes) };
        (region, &mut self.state)
    }

    /// The region alone.
    pub fn region(&mut self) -> &mut [MaybeUninit<u8>] {
        self.parts().0
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout in `new`.
        unsafe {
            dealloc(self.base.as_ptr(), Layout::from_size_align(self.bytes, 4096).unwrap());
        }
    }
}
