//! Locks for shared heaps, behind a trait so that bare metal can plug in its own: a hardware
//! semaphore, a test-and-set word, masked interrupts.

use core::sync::atomic::{AtomicBool, Ordering};

/// Mutual exclusion.
///
/// # Safety
/// Between `lock` and `unlock` on one core, `lock` must not return on any other core, and
/// everything written before `unlock` must be visible after the next `lock`.
pub unsafe trait RawLock {
    /// An unlocked lock.
    fn new() -> Self;
    /// Waits until the lock is free and takes it.
    fn lock(&self);
    /// Takes the lock if it is free, and returns whether it did. It may fail spuriously.
    fn try_lock(&self) -> bool;
    /// Called while waiting for another core; a system with a scheduler yields here.
    #[inline]
    fn pause() {
        core::hint::spin_loop();
    }
    /// Releases the lock.
    ///
    /// # Safety
    /// The caller must hold it.
    unsafe fn unlock(&self);
}

/// Test-and-test-and-set, with increasing pauses. Its size is one byte.
#[derive(Debug, Default)]
pub struct SpinLock(AtomicBool);

/// Pauses of a waiting core double up to this many `spin_loop` hints.
const PAUSE_MAX: u32 = 64;

// SAFETY: only one swap can see `false`; acquire and release order everything in between.
unsafe impl RawLock for SpinLock {
    fn new() -> Self {
        Self::default()
    }

    #[inline]
    fn lock(&self) {
        let mut pause = 1;
        while self.0.swap(true, Ordering::Acquire) {
            while self.0.load(Ordering::Relaxed) {
                for _ in 0..pause {
                    core::hint::spin_loop();
                }
                pause = (pause * 2).min(PAUSE_MAX);
            }
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        !self.0.swap(true, Ordering::Acquire)
    }

    #[inline]
    unsafe fn unlock(&self) {
        self.0.store(false, Ordering::Release);
    }
}

/// A lock on cache lines of its own, for memories with caches. Scratch-pads have none and do not
/// need it (paper, section 4.4).
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Padded<L>(L);

// SAFETY: the inner lock's promise.
unsafe impl<L: RawLock> RawLock for Padded<L> {
    fn new() -> Self {
        Self(L::new())
    }

    #[inline]
    fn lock(&self) {
        self.0.lock();
    }

    #[inline]
    fn try_lock(&self) -> bool {
        self.0.try_lock()
    }

    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller's promise.
        unsafe { self.0.unlock() }
    }
}
