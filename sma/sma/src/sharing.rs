//! Who may use a heap concurrently: one core, several with one lock, several with a lock per class.

use crate::words::{Plain, Words};

/// How a heap is shared. Implemented by [`Local`], [`CoarseLock`], [`FineLocks`], [`HeadLocks`] and
/// [`Watched`](crate::Watched); the type of the words cannot be named outside this crate.
pub trait Sharing {
    #[doc(hidden)]
    #[allow(private_bounds)]
    type Words: Words;
    #[doc(hidden)]
    const FINE: bool;
    #[doc(hidden)]
    fn new() -> Self;
    /// Begins an operation on lists and tags.
    #[doc(hidden)]
    #[inline(always)]
    fn enter(&self) {}
    /// Ends an operation on lists and tags.
    #[doc(hidden)]
    #[inline(always)]
    fn leave(&self) {}
    /// Locks one class.
    #[doc(hidden)]
    #[inline(always)]
    fn lock(&self, _class: u32) {}
    /// Locks one class if it is free.
    #[doc(hidden)]
    #[inline(always)]
    fn try_lock(&self, _class: u32) -> bool {
        true
    }
    /// Unlocks one class that this core has locked.
    #[doc(hidden)]
    #[inline(always)]
    fn unlock(&self, _class: u32) {}
    /// The lock bit of heads, if heads are locks.
    #[doc(hidden)]
    const BUSY: u32 = 0;
    /// Locks one class and returns its list's head.
    #[doc(hidden)]
    #[allow(private_bounds)]
    #[inline]
    fn lock_head<W: Words>(&self, state: &W, class: u32) -> u32 {
        self.lock(class);
        state.load(class)
    }
    /// Locks one class if it is free, and returns its list's head.
    #[doc(hidden)]
    #[allow(private_bounds)]
    #[inline]
    fn try_lock_head<W: Words>(&self, state: &W, class: u32) -> Option<u32> {
        self.try_lock(class).then(|| state.load(class))
    }
    /// Writes the head of a class that this core has locked, and unlocks it.
    #[doc(hidden)]
    #[allow(private_bounds)]
    #[inline]
    fn unlock_head<W: Words>(&self, state: &W, class: u32, head: u32) {
        state.store(class, head);
        self.unlock(class);
    }
}

/// One core.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local;

impl Sharing for Local {
    type Words = Plain;
    const FINE: bool = false;

    #[inline(always)]
    fn new() -> Self {
        Self
    }
}

#[cfg(target_has_atomic = "32")]
pub use shared::{CoarseLock, FineLocks, HeadLocks};

#[cfg(target_has_atomic = "32")]
mod shared {
    use super::Sharing;
    use crate::links::BUSY;
    use crate::lock::{RawLock, SpinLock};
    use crate::words::{Shared, Words};

    /// Several cores, one lock for lists and tags; blocks need none.
    #[derive(Debug, Default)]
    pub struct CoarseLock<L = SpinLock>(L);

    impl<L: RawLock> Sharing for CoarseLock<L> {
        type Words = Shared;
        const FINE: bool = false;

        fn new() -> Self {
            Self(L::new())
        }

        #[inline]
        fn enter(&self) {
            self.0.lock();
        }

        #[inline]
        fn leave(&self) {
            // SAFETY: `enter` locked it.
            unsafe { self.0.unlock() }
        }
    }

    /// Several cores, one lock per class and one for the first free into a full block; blocks
    /// need none.
    #[derive(Debug, Default)]
    pub struct FineLocks<L = SpinLock>([L; 5]);

    impl<L: RawLock> Sharing for FineLocks<L> {
        type Words = Shared;
        const FINE: bool = true;

        fn new() -> Self {
            Self(core::array::from_fn(|_| L::new()))
        }

        #[inline]
        fn lock(&self, class: u32) {
            self.0[class.min(4) as usize].lock();
        }

        #[inline]
        fn try_lock(&self, class: u32) -> bool {
            self.0[class.min(4) as usize].try_lock()
        }

        #[inline]
        fn unlock(&self, class: u32) {
            // SAFETY: the engine unlocks only what it has locked.
            unsafe { self.0[class.min(4) as usize].unlock() }
        }
    }

    /// Several cores, with the heads of the lists as their own locks: one test-and-set locks a
    /// class and reads its head, one store writes the head and unlocks it. So a class costs no more
    /// accesses than without locks, and no state. One `L` guards the first free into a full block.
    #[derive(Debug, Default)]
    pub struct HeadLocks<L = SpinLock>(L);

    impl<L: RawLock> Sharing for HeadLocks<L> {
        type Words = Shared;
        const FINE: bool = true;
        const BUSY: u32 = BUSY;

        fn new() -> Self {
            Self(L::new())
        }

        #[inline]
        fn lock(&self, _: u32) {
            self.0.lock();
        }

        #[inline]
        fn unlock(&self, _: u32) {
            // SAFETY: the engine unlocks only what it has locked.
            unsafe { self.0.unlock() }
        }

        #[inline]
        fn lock_head<W: Words>(&self, state: &W, class: u32) -> u32 {
            loop {
                let head = state.set(class, BUSY);
                if head & BUSY == 0 {
                    return head;
                }
                L::pause();
            }
        }

        #[inline]
        fn try_lock_head<W: Words>(&self, state: &W, class: u32) -> Option<u32> {
            let head = state.set(class, BUSY);
            (head & BUSY == 0).then_some(head)
        }

        #[inline]
        fn unlock_head<W: Words>(&self, state: &W, class: u32, head: u32) {
            state.publish(class, head);
        }
    }
}
