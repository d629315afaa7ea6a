//! Memory as an array of 32-bit words: the only module that dereferences raw pointers for the
//! algorithm. Everything above names words by number.

use core::ptr::NonNull;

/// An array of 32-bit words. `set` and `clear` are read-modify-write operations that return the
/// word as it was before.
pub trait Words {
    /// Reads word `index`.
    fn load(&self, index: u32) -> u32;
    /// Writes word `index`.
    fn store(&self, index: u32, value: u32);
    /// Sets `bits` and returns the word before.
    fn set(&self, index: u32, bits: u32) -> u32;
    /// Clears `bits` and returns the word before.
    fn clear(&self, index: u32, bits: u32) -> u32;
}

/// Words that can be made from a pointer.
pub trait FromPointer {
    /// Wraps memory.
    ///
    /// # Safety
    /// `start` must be aligned to 4 and point to memory that is valid for reads and writes of
    /// every word this value is ever asked for, for as long as the value lives, and that nobody
    /// else writes at the same time except through the same kind of words.
    unsafe fn from_pointer(start: NonNull<u32>, space: crate::Space) -> Self;
}

/// Plain memory of one core.
#[derive(Debug)]
pub struct Plain(NonNull<u32>);

impl Plain {
    #[inline(always)]
    fn at(&self, index: u32) -> *mut u32 {
        // SAFETY: `from_pointer` promises that every word asked for lies in the memory.
        unsafe { self.0.as_ptr().add(index as usize) }
    }
}

impl FromPointer for Plain {
    #[inline(always)]
    unsafe fn from_pointer(start: NonNull<u32>, _: crate::Space) -> Self {
        Self(start)
    }
}

impl Words for Plain {
    #[inline(always)]
    fn load(&self, index: u32) -> u32 {
        // SAFETY: valid and aligned by the promise of `from_pointer`.
        unsafe { self.at(index).read() }
    }

    #[inline(always)]
    fn store(&self, index: u32, value: u32) {
        // SAFETY: valid and aligned by the promise of `from_pointer`.
        unsafe { self.at(index).write(value) }
    }

    #[inline(always)]
    fn set(&self, index: u32, bits: u32) -> u32 {
        let before = self.load(index);
        self.store(index, before | bits);
        before
    }

    #[inline(always)]
    fn clear(&self, index: u32, bits: u32) -> u32 {
        let before = self.load(index);
        self.store(index, before & !bits);
        before
    }
}

/// Memory that several cores use at once.
///
/// Loads and stores are relaxed: lists, tags and positions are ordered by the locks, and the
/// bitmap is only trusted after its read-modify-write, which acquires and releases.
#[cfg(target_has_atomic = "32")]
#[derive(Debug)]
pub struct Shared(NonNull<u32>);

// SAFETY: every access is atomic.
#[cfg(target_has_atomic = "32")]
unsafe impl Send for Shared {}
// SAFETY: every access is atomic.
#[cfg(target_has_atomic = "32")]
unsafe impl Sync for Shared {}

#[cfg(target_has_atomic = "32")]
mod shared {
    use super::{FromPointer, NonNull, Shared, Words};
    use core::sync::atomic::{AtomicU32, Ordering};

    impl Shared {
        #[inline(always)]
        fn at(&self, index: u32) -> &AtomicU32 {
            // SAFETY: `from_pointer` promises that every word asked for lies in the memory, is
            // aligned, lives as long as `self`, and is accessed by atomics only.
            unsafe { AtomicU32::from_ptr(self.0.as_ptr().add(index as usize)) }
        }
    }

    impl FromPointer for Shared {
        #[inline(always)]
        unsafe fn from_pointer(start: NonNull<u32>, _: crate::Space) -> Self {
            Self(start)
        }
    }

    impl Words for Shared {
        #[inline(always)]
        fn load(&self, index: u32) -> u32 {
            self.at(index).load(Ordering::Relaxed)
        }

        #[inline(always)]
        fn store(&self, index: u32, value: u32) {
            self.at(index).store(value, Ordering::Relaxed);
        }

        #[inline(always)]
        fn set(&self, index: u32, bits: u32) -> u32 {
            self.at(index).fetch_or(bits, Ordering::AcqRel)
        }

        #[inline(always)]
        fn clear(&self, index: u32, bits: u32) -> u32 {
            self.at(index).fetch_and(!bits, Ordering::AcqRel)
        }
    }
}
