//! Counts what the algorithm touches: a [`Probe`] sees every word read or written, by address
//! space. A heap without one is a different type and has no overhead.

use crate::sharing::Sharing;
use crate::words::{FromPointer, Words};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering};

/// Where a word lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The managed region: links and tags in free memory.
    Region,
    /// The state: list heads, bitmap, full bits, tag positions, checks.
    State,
}

/// What was done to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A read.
    Load,
    /// A write.
    Store,
    /// A read-modify-write whose result is used: one atomic instruction on a shared heap, otherwise
    /// a load and a store.
    Update,
    /// A read-modify-write whose result is not used, so that the core need not wait for it.
    Post,
}

/// Sees every access of a [`Watched`] heap. It has no state of its own, to keep heaps small: keep
/// counts in a static or in a thread-local.
pub trait Probe {
    /// Called before the access. The default does nothing and is compiled away.
    #[inline(always)]
    fn touch(_space: Space, _word: u32, _access: Access) {}
}

/// The probe that sees nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Blind;

impl Probe for Blind {}

/// Counts accesses by kind in four process-wide counters per space.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counter;

static COUNTS: [AtomicU32; 8] = [const { AtomicU32::new(0) }; 8];

impl Counter {
    /// Reads and resets the counts: loads, stores, updates and posts of the region, then of the
    /// state.
    pub fn take() -> [u32; 8] {
        core::array::from_fn(|i| {
            let count = COUNTS[i].load(Ordering::Relaxed);
            COUNTS[i].store(0, Ordering::Relaxed);
            count
        })
    }
}

impl Probe for Counter {
    fn touch(space: Space, _word: u32, access: Access) {
        let cell = &COUNTS[space as usize * 4 + access as usize];
        // Load and store instead of an atomic addition: cores without one can count too, on one
        // thread.
        cell.store(cell.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
}

/// The sharing `S` with a probe on every word.
#[derive(Debug, Default)]
pub struct Watched<S, P>(S, core::marker::PhantomData<P>);

/// Words with a probe.
#[derive(Debug)]
pub struct WatchedWords<W, P>(W, Space, core::marker::PhantomData<P>);

impl<W: FromPointer, P> FromPointer for WatchedWords<W, P> {
    unsafe fn from_pointer(start: NonNull<u32>, space: Space) -> Self {
        // SAFETY: the caller's promise is passed on.
        Self(unsafe { W::from_pointer(start, space) }, space, core::marker::PhantomData)
    }
}

impl<W: Words, P: Probe> Words for WatchedWords<W, P> {
    #[inline(always)]
    fn load(&self, index: u32) -> u32 {
        P::touch(self.1, index, Access::Load);
        self.0.load(index)
    }

    #[inline(always)]
    fn store(&self, index: u32, value: u32) {
        P::touch(self.1, index, Access::Store);
        self.0.store(index, value);
    }

    #[inline(always)]
    fn set(&self, index: u32, bits: u32) -> u32 {
        P::touch(self.1, index, Access::Update);
        self.0.set(index, bits)
    }

    #[inline(always)]
    fn clear(&self, index: u32, bits: u32) -> u32 {
        P::touch(self.1, index, Access::Update);
        self.0.clear(index, bits)
    }

    #[inline(always)]
    fn load_acquire(&self, index: u32) -> u32 {
        P::touch(self.1, index, Access::Load);
        self.0.load_acquire(index)
    }

    #[inline(always)]
    fn publish(&self, index: u32, value: u32) {
        P::touch(self.1, index, Access::Store);
        self.0.publish(index, value);
    }

    #[inline(always)]
    fn toggle(&self, index: u32, bits: u32) {
        P::touch(self.1, index, Access::Post);
        self.0.toggle(index, bits);
    }

    #[inline(always)]
    fn raise(&self, index: u32, bits: u32) {
        P::touch(self.1, index, Access::Post);
        self.0.raise(index, bits);
    }

    #[inline(always)]
    fn lower(&self, index: u32, bits: u32) {
        P::touch(self.1, index, Access::Post);
        self.0.lower(index, bits);
    }

    #[inline(always)]
    fn update(&self, index: u32, clear: u32, set: u32) {
        P::touch(self.1, index, Access::Post);
        self.0.update(index, clear, set);
    }

    #[inline(always)]
    fn load_half(&self, index: u32, high: bool) -> u32 {
        P::touch(self.1, index, Access::Load);
        self.0.load_half(index, high)
    }

    #[inline(always)]
    fn store_half(&self, index: u32, high: bool, value: u32) {
        P::touch(self.1, index, Access::Store);
        self.0.store_half(index, high, value);
    }
}

impl<S: Sharing, P: Probe> Sharing for Watched<S, P> {
    type Words = WatchedWords<S::Words, P>;
    const FINE: bool = S::FINE;
    const BUSY: u32 = S::BUSY;

    fn new() -> Self {
        Self(S::new(), core::marker::PhantomData)
    }

    fn enter(&self) {
        self.0.enter();
    }

    fn leave(&self) {
        self.0.leave();
    }

    fn lock(&self, class: u32) {
        self.0.lock(class);
    }

    fn try_lock(&self, class: u32) -> bool {
        self.0.try_lock(class)
    }

    fn unlock(&self, class: u32) {
        self.0.unlock(class);
    }

    fn lock_head<W: Words>(&self, state: &W, class: u32) -> u32 {
        self.0.lock_head(state, class)
    }

    fn try_lock_head<W: Words>(&self, state: &W, class: u32) -> Option<u32> {
        self.0.try_lock_head(state, class)
    }

    fn unlock_head<W: Words>(&self, state: &W, class: u32, head: u32) {
        self.0.unlock_head(state, class, head);
    }
}
