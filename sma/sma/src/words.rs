//! Memory as an array of 32-bit words: the only module that dereferences raw pointers for the
//! algorithm. Everything above it refers to words by number.

use core::ptr::NonNull;

/// An array of 32-bit words. `set` and `clear` are read-modify-write operations that return the
/// word as it was before.
pub trait Words {
    /// True if an extra access costs less than a branch that may be mispredicted.
    const NEAR: bool = false;

    /// Reads word `index`.
    fn load(&self, index: u32) -> u32;
    /// Writes word `index`.
    fn store(&self, index: u32, value: u32);
    /// Sets `bits` and returns the previous word.
    fn set(&self, index: u32, bits: u32) -> u32;
    /// Clears `bits` and returns the previous word.
    fn clear(&self, index: u32, bits: u32) -> u32;

    /// Reads word `index`; what others wrote before their last update of it is visible afterwards.
    #[inline(always)]
    fn load_acquire(&self, index: u32) -> u32 {
        self.load(index)
    }

    /// Sets `bits` without returning the previous word.
    #[inline(always)]
    fn raise(&self, index: u32, bits: u32) {
        self.set(index, bits);
    }

    /// Clears `bits` without returning the previous word.
    #[inline(always)]
    fn lower(&self, index: u32, bits: u32) {
        self.clear(index, bits);
    }

    /// Writes word `index` after all earlier writes.
    #[inline(always)]
    fn publish(&self, index: u32, value: u32) {
        self.store(index, value);
    }

    /// Inverts `bits`.
    #[inline(always)]
    fn toggle(&self, index: u32, bits: u32) {
        self.store(index, self.load(index) ^ bits);
    }

    /// Clears some bits and sets others. On shared words these are two updates.
    #[inline(always)]
    fn update(&self, index: u32, clear: u32, set: u32) {
        self.clear(index, clear);
        self.set(index, set);
    }

    /// Reads the low (`false`) or high (`true`) half of word `index`. Packed links are halves;
    /// accesses to them never race with accesses to the whole word.
    #[inline(always)]
    fn load_half(&self, index: u32, high: bool) -> u32 {
        let word = self.load(index);
        if high { word >> 16 } else { word & 0xffff }
    }

    /// Writes one half of word `index`.
    #[inline(always)]
    fn store_half(&self, index: u32, high: bool, value: u32) {
        let word = self.load(index);
        let value = value & 0xffff;
        let word = if high { (word & 0xffff) | value << 16 } else { (word & 0xffff_0000) | value };
        self.store(index, word);
    }
}

/// The number of the half word that is the low or high half of word `index`.
#[inline(always)]
const fn half(index: u32, high: bool) -> usize {
    index as usize * 2 + (high != cfg!(target_endian = "big")) as usize
}

/// Words that can be made from a pointer.
pub trait FromPointer {
    /// Wraps memory.
    ///
    /// # Safety
    /// `start` must be aligned to 4 and point to memory that is valid for reads and writes of every
    /// word ever accessed through this value, for as long as the value lives, and that nobody else
    /// writes at the same time except through the same kind of words.
    unsafe fn from_pointer(start: NonNull<u32>, space: crate::Space) -> Self;
}

/// Plain memory of one core.
#[derive(Debug)]
pub struct Plain(NonNull<u32>);

impl Plain {
    #[inline(always)]
    fn at(&self, index: u32) -> *mut u32 {
        // SAFETY: `from_pointer` promises that every accessed word lies in the memory.
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
    const NEAR: bool = cfg!(target_pointer_width = "64");

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

    #[inline(always)]
    fn update(&self, index: u32, clear: u32, set: u32) {
        self.store(index, self.load(index) & !clear | set);
    }

    #[inline(always)]
    fn load_half(&self, index: u32, high: bool) -> u32 {
        // SAFETY: a half of a valid word.
        u32::from(unsafe { self.0.as_ptr().cast::<u16>().add(half(index, high)).read() })
    }

    #[inline(always)]
    fn store_half(&self, index: u32, high: bool, value: u32) {
        // SAFETY: a half of a valid word.
        unsafe { self.0.as_ptr().cast::<u16>().add(half(index, high)).write(value as u16) }
    }
}

/// Memory that several cores use at once.
///
/// Loads and stores are relaxed: lists, tags and positions are ordered by the locks, and the bitmap
/// is only trusted after its read-modify-write, which acquires and releases.
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
    use super::{FromPointer, NonNull, Shared, Words, half};
    use core::sync::atomic::{AtomicU16, AtomicU32, Ordering};

    impl Shared {
        #[inline(always)]
        fn at(&self, index: u32) -> &AtomicU32 {
            // SAFETY: `from_pointer` promises that every accessed word lies in the memory, is
            // aligned, lives as long as `self`, and is accessed by atomics only.
            unsafe { AtomicU32::from_ptr(self.0.as_ptr().add(index as usize)) }
        }

        #[inline(always)]
        fn half_at(&self, index: u32, high: bool) -> &AtomicU16 {
            // SAFETY: half of a word as in `at`; callers hold the lock that orders accesses to
            // halves with accesses to the whole word.
            unsafe { AtomicU16::from_ptr(self.0.as_ptr().cast::<u16>().add(half(index, high))) }
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

        #[inline(always)]
        fn load_acquire(&self, index: u32) -> u32 {
            self.at(index).load(Ordering::Acquire)
        }

        #[inline(always)]
        fn publish(&self, index: u32, value: u32) {
            self.at(index).store(value, Ordering::Release);
        }

        #[inline(always)]
        fn toggle(&self, index: u32, bits: u32) {
            self.at(index).fetch_xor(bits, Ordering::AcqRel);
        }

        #[inline(always)]
        fn load_half(&self, index: u32, high: bool) -> u32 {
            u32::from(self.half_at(index, high).load(Ordering::Relaxed))
        }

        #[inline(always)]
        fn store_half(&self, index: u32, high: bool, value: u32) {
            self.half_at(index, high).store(value as u16, Ordering::Relaxed);
        }
    }
}
