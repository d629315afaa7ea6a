//! A fixed arena for the `dlmalloc` crate, which asks for memory as from an operating system.

use std::cell::Cell;
use std::ptr::null_mut;

/// Gives dlmalloc a single arena, once.
pub struct Once(Cell<Option<(*mut u8, usize)>>);

impl Once {
    /// An arena of this many bytes.
    pub fn new(base: *mut u8, bytes: usize) -> Self {
        Self(Cell::new(Some((base, bytes))))
    }
}

// SAFETY: used on one thread.
unsafe impl Send for Once {}

// SAFETY: the arena is handed out once and never taken back.
unsafe impl dlmalloc::Allocator for Once {
    fn alloc(&self, _: usize) -> (*mut u8, usize, u32) {
        self.0.take().map_or((null_mut(), 0, 0), |(ptr, bytes)| (ptr, bytes, 0))
    }
    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        null_mut()
    }
    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }
    fn free(&self, _: *mut u8, _: usize) -> bool {
        false
    }
    fn can_release_part(&self, _: u32) -> bool {
        false
    }
    fn allocates_zeros(&self) -> bool {
        false
    }
    fn page_size(&self) -> usize {
        4096
    }
}
