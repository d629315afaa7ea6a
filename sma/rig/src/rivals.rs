//! dlmalloc and talc on a fixed arena, behind the interface of a heap.

use crate::arena::Once;
use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::ptr::NonNull;

/// An allocator that a trace can be replayed on. Both calls take the size.
pub trait Subject {
    /// `None` when the allocator refuses.
    fn alloc(&self, bytes: usize) -> Option<NonNull<u8>>;
    /// Frees an allocation.
    ///
    /// # Safety
    /// `ptr` is a live allocation of `bytes`.
    unsafe fn free(&self, ptr: NonNull<u8>, bytes: usize);
}

/// No allocator: measures the cost of the replay itself.
pub struct Nothing;

impl Subject for Nothing {
    #[inline]
    fn alloc(&self, bytes: usize) -> Option<NonNull<u8>> {
        NonNull::new(std::ptr::without_provenance_mut(bytes))
    }

    #[inline]
    unsafe fn free(&self, ptr: NonNull<u8>, _: usize) {
        std::hint::black_box(ptr);
    }
}

/// A heap of this crate.
pub struct Ours<A>(pub A);

impl<A: sma::Arena> Subject for Ours<A> {
    #[inline]
    fn alloc(&self, bytes: usize) -> Option<NonNull<u8>> {
        self.0.alloc(bytes).ok()
    }

    #[inline]
    unsafe fn free(&self, ptr: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller's promise.
        let _ = unsafe { self.0.free(ptr, bytes) };
    }
}

/// The crate `dlmalloc`.
pub struct Dl(UnsafeCell<dlmalloc::Dlmalloc<Once>>);

impl Dl {
    /// One that manages exactly this many bytes from this address on.
    pub fn new(arena: NonNull<u8>, bytes: usize) -> Self {
        let once = Once::new(arena.as_ptr(), bytes);
        Self(UnsafeCell::new(dlmalloc::Dlmalloc::new_with_allocator(once)))
    }
}

impl Subject for Dl {
    #[inline]
    fn alloc(&self, bytes: usize) -> Option<NonNull<u8>> {
        // SAFETY: one thread, no reference is kept.
        NonNull::new(unsafe { (*self.0.get()).malloc(bytes, 8) })
    }

    #[inline]
    unsafe fn free(&self, ptr: NonNull<u8>, bytes: usize) {
        // SAFETY: one thread, no reference is kept; the caller's promise.
        unsafe { (*self.0.get()).free(ptr.as_ptr(), bytes, 8) };
    }
}

/// The crate `talc`.
pub struct Talc(UnsafeCell<talc::Talc<talc::ErrOnOom>>);

impl Talc {
    /// One that manages exactly this many bytes from this address on.
    pub fn new(arena: NonNull<u8>, bytes: usize) -> Self {
        let mut talc = talc::Talc::new(talc::ErrOnOom);
        // SAFETY: the arena outlives the allocator and is used by it alone.
        unsafe {
            talc.claim(talc::Span::from_base_size(arena.as_ptr(), bytes)).expect("arena too small");
        }
        Self(UnsafeCell::new(talc))
    }
}

impl Subject for Talc {
    #[inline]
    fn alloc(&self, bytes: usize) -> Option<NonNull<u8>> {
        let layout = Layout::from_size_align(bytes, 8).ok()?;
        // SAFETY: one thread, no reference is kept; the size is not zero.
        unsafe { (*self.0.get()).malloc(layout).ok() }
    }

    #[inline]
    unsafe fn free(&self, ptr: NonNull<u8>, bytes: usize) {
        let Ok(layout) = Layout::from_size_align(bytes, 8) else { return };
        // SAFETY: one thread, no reference is kept; the caller's promise.
        unsafe { (*self.0.get()).free(ptr, layout) };
    }
}
