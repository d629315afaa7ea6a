//! [`Global`]: a shared heap as a `#[global_allocator]`, and any heap as an `Allocator` of
//! `allocator_api2` (feature `allocator-api2`).

use crate::arena::Arena;
use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicU8, Ordering};

const EMPTY: u8 = 0;
const FILLING: u8 = 1;
const READY: u8 = 2;

/// A heap for a `static`, filled in at start-up. Until then it refuses every allocation.
///
/// Layouts carry their sizes, so no header is needed.
pub struct Global<A> {
    state: AtomicU8,
    arena: UnsafeCell<MaybeUninit<A>>,
}

// SAFETY: the cell is written once, before `READY` is published, and read afterwards.
unsafe impl<A: Sync + Send> Sync for Global<A> {}

impl<A> Global<A> {
    /// Creates it without a heap.
    pub const fn empty() -> Self {
        Self { state: AtomicU8::new(EMPTY), arena: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    /// Fills in the heap; returns it if there is one already.
    ///
    /// # Errors
    /// The heap that came too late.
    pub fn fill(&self, arena: A) -> Result<(), A> {
        // Load and store instead of a compare-and-swap: cores without one call this once, at
        // start-up.
        #[cfg(target_has_atomic = "8")]
        if self
            .state
            .compare_exchange(EMPTY, FILLING, Ordering::Acquire, Ordering::Acquire)
            .is_err()
        {
            return Err(arena);
        }
        #[cfg(not(target_has_atomic = "8"))]
        if self.state.load(Ordering::Acquire) != EMPTY {
            return Err(arena);
        }
        // SAFETY: `FILLING` excludes all others, and nobody reads before `READY`.
        unsafe { (*self.arena.get()).write(arena) };
        self.state.store(READY, Ordering::Release);
        Ok(())
    }

    /// The heap, once there is one.
    pub fn get(&self) -> Option<&A> {
        // SAFETY: `READY` is published after the heap is written, and never withdrawn.
        (self.state.load(Ordering::Acquire) == READY)
            .then(|| unsafe { (*self.arena.get()).assume_init_ref() })
    }
}

// SAFETY: memory comes from the heap, which hands out each byte once and honours layouts.
unsafe impl<A: Arena> GlobalAlloc for Global<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(arena) = self.get() else { return null_mut() };
        arena.alloc_aligned(layout.size(), layout.align()).map_or(null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        if let (Some(arena), Some(ptr)) = (self.get(), NonNull::new(ptr)) {
            // SAFETY: the caller's promise. If a checked heap refuses, it is unchanged, and
            // `dealloc` has no way to report the refusal.
            let _ = unsafe { arena.free_aligned(ptr, layout.size(), layout.align()) };
        }
    }
}

/// Any heap as an `Allocator` of `allocator_api2`.
#[cfg(feature = "allocator-api2")]
pub struct In<'a, A: ?Sized>(pub &'a A);

#[cfg(feature = "allocator-api2")]
impl<A: ?Sized> Clone for In<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

#[cfg(feature = "allocator-api2")]
impl<A: ?Sized> Copy for In<'_, A> {}

#[cfg(feature = "allocator-api2")]
mod api2 {
    use super::{Arena, In, Layout, NonNull};
    use allocator_api2::alloc::{AllocError, Allocator};

    // SAFETY: memory stays valid until freed; copies of `In` share one heap.
    unsafe impl<A: Arena + ?Sized> Allocator for In<'_, A> {
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
            if layout.size() == 0 {
                let dangling = core::ptr::without_provenance_mut(layout.align());
                let dangling = NonNull::new(dangling).ok_or(AllocError)?;
                return Ok(NonNull::slice_from_raw_parts(dangling, 0));
            }
            let ptr =
                self.0.alloc_aligned(layout.size(), layout.align()).map_err(|_| AllocError)?;
            Ok(NonNull::slice_from_raw_parts(ptr, layout.size()))
        }

        unsafe fn deallocate(&self, ptr: NonNull<u8>, layout: Layout) {
            if layout.size() != 0 {
                // SAFETY: the caller's promise; a refusal leaves the heap unchanged.
                let _ = unsafe { self.0.free_aligned(ptr, layout.size(), layout.align()) };
            }
        }
    }
}
