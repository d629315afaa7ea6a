//! Threads on one shared heap, with canaries in every allocation and frees by other threads.
#![allow(missing_docs)]

use rig::memory::Memory;
use rig::{Rng, operations};
use sma::{
    Arena, Checked, Coarse, Deferred, Exact, Fine, FineLocks, HeadLocks, Lm, Padded, PowerOfTwo,
    RawLock, Short, SpinLock, state_words,
};
use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

const THREADS: u64 = 4;

/// A lock for a system with a scheduler: waiting threads yield.
struct Yielding(AtomicBool);

// SAFETY: only one swap can see `false`; acquire and release order everything in between.
unsafe impl RawLock for Yielding {
    fn new() -> Self {
        Self(AtomicBool::new(false))
    }
    fn lock(&self) {
        while self.0.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
    }
    fn try_lock(&self) -> bool {
        !self.0.swap(true, Ordering::Acquire)
    }
    fn pause() {
        std::thread::yield_now();
    }
    unsafe fn unlock(&self) {
        self.0.store(false, Ordering::Release);
    }
}

struct Item {
    ptr: NonNull<u8>,
    bytes: usize,
    canary: u8,
}

// SAFETY: the memory belongs to the holder of the item.
unsafe impl Send for Item {}
// SAFETY: an item is only read.
unsafe impl Sync for Item {}

impl Item {
    fn new(arena: &dyn Arena, rng: &mut Rng) -> Option<Self> {
        let bytes = match rng.below(10) {
            0 => 1 + rng.below(700),
            1..4 => 1 + rng.below(128),
            _ => 1 + rng.below(40),
        };
        let ptr = arena.alloc(bytes).ok()?;
        let canary = rng.draw() as u8;
        // SAFETY: a fresh allocation of that many bytes.
        unsafe { ptr.as_ptr().write_bytes(canary, bytes) };
        Some(Self { ptr, bytes, canary })
    }

    fn free(self, arena: &dyn Arena) {
        // SAFETY: a live allocation of that many bytes, consumed with `self`.
        unsafe {
            let bytes = std::slice::from_raw_parts(self.ptr.as_ptr(), self.bytes);
            assert!(bytes.iter().all(|&b| b == self.canary), "the canary died");
            assert_eq!(arena.free(self.ptr, self.bytes), Ok(()));
        }
    }
}

/// Where threads leave allocations for each other. Not a std mutex: the thread sanitizer sees only
/// locks that are compiled with it.
struct Market(Yielding, UnsafeCell<Vec<Item>>);

// SAFETY: the lock is held for every access.
unsafe impl Sync for Market {}

impl Market {
    fn with<T>(&self, deal: impl FnOnce(&mut Vec<Item>) -> T) -> T {
        self.0.lock();
        // SAFETY: the lock is held.
        let result = deal(unsafe { &mut *self.1.get() });
        // SAFETY: locked above.
        unsafe { self.0.unlock() };
        result
    }
}

/// One thread: fills, drains and swaps allocations with the others.
fn work(arena: &dyn Arena, market: &Market, seed: u64) {
    let mut rng = Rng(seed);
    let mut own = Vec::new();
    for _ in 0..operations(40_000) {
        match rng.below(100) {
            0..45 => own.extend(Item::new(arena, &mut rng)),
            45..90 if !own.is_empty() => {
                let at = rng.below(own.len());
                own.swap_remove(at).free(arena);
            }
            90..95 if !own.is_empty() => {
                let at = rng.below(own.len());
                let item = own.swap_remove(at);
                market.with(|items| items.push(item));
            }
            _ => own.extend(market.with(Vec::pop)),
        }
    }
    own.into_iter().for_each(|item| item.free(arena));
}

/// Runs the threads over a heap made by `$kind`, each with its own `$view` of it.
macro_rules! stress {
    ($name:ident, $kind:ty, $bytes:expr, |$heap:ident| $view:expr) => {
        #[test]
        fn $name() {
            let mut memory = Memory::new($bytes, state_words::<128, Checked>($bytes));
            let (region, state) = memory.parts();
            let heap = <$kind>::new(region, state).unwrap();
            let empty = heap.survey();
            let market = Market(Yielding::new(), Vec::new().into());
            std::thread::scope(|scope| {
                let spawn = |seed| {
                    let ($heap, market) = (&heap, &market);
                    scope.spawn(move || work(&$view, market, seed))
                };
                let threads: Vec<_> = (0..THREADS).map(spawn).collect();
                // Joined explicitly: the thread sanitizer does not see the end of a scope as an
                // event.
                threads.into_iter().for_each(|thread| thread.join().unwrap());
            });
            for item in market.1.into_inner() {
                item.free(&heap);
            }
            assert_eq!(heap.check(), Ok(()));
            assert_eq!(heap.survey(), empty, "one free region again");
        }
    };
}

type CoarseHeap<'m, C, L> = Coarse<'m, 128, C, Checked, Short, L>;
type FineHeap<'m, C, L> = Fine<'m, 128, C, Checked, Short, HeadLocks<L>>;
type OwnLocks<'m, C, L> = Fine<'m, 128, C, Checked, Short, FineLocks<L>>;

stress!(one_lock_holds, CoarseHeap<'_, PowerOfTwo, Yielding>, 16384, |heap| heap);
stress!(class_locks_hold, FineHeap<'_, PowerOfTwo, Yielding>, 16384, |heap| heap);
stress!(class_locks_hold_when_memory_is_short, FineHeap<'_, PowerOfTwo, Yielding>, 2048, |heap| {
    heap
});
stress!(class_locks_hold_with_exact_sizes, FineHeap<'_, Exact, Yielding>, 8192, |heap| heap);
stress!(locks_of_ones_own_hold, OwnLocks<'_, Exact, Yielding>, 4096, |heap| heap);
stress!(spin_locks_hold, FineHeap<'_, Exact, Padded<SpinLock>>, 4096, |heap| heap);
stress!(pools_per_thread_hold, FineHeap<'_, PowerOfTwo, Yielding>, 16384, |heap| {
    Deferred::<_, Lm>::new(heap).unwrap()
});
stress!(pools_over_one_lock_hold, CoarseHeap<'_, PowerOfTwo, Yielding>, 8192, |heap| {
    Deferred::<_, sma::Cam>::new(heap).unwrap()
});
stress!(quick_lists_per_thread_hold, FineHeap<'_, PowerOfTwo, Yielding>, 16384, |heap| {
    Deferred::<_, sma::Quick>::new(heap).unwrap()
});
stress!(quick_lists_hold_when_memory_is_short, FineHeap<'_, Exact, Yielding>, 4096, |heap| {
    Deferred::<_, sma::Quick<Exact, 2>>::new(heap).unwrap()
});

/// Two threads free the same allocation: exactly one succeeds.
#[test]
fn of_two_racing_frees_one_is_refused() {
    let mut memory = Memory::new(4096, state_words::<128, Checked>(4096));
    let (region, state) = memory.parts();
    let heap = FineHeap::<PowerOfTwo, Yielding>::new(region, state).unwrap();
    let empty = heap.survey();
    for round in 0..operations(500) {
        let bytes = 1 + round % 300;
        let item = Item { ptr: heap.alloc(bytes).unwrap(), bytes, canary: 0 };
        // The other thread gets a reference to the item.
        let item = &item;
        let free = || {
            // SAFETY: a checked heap; the memory is not used.
            unsafe { heap.free(item.ptr, item.bytes) }.is_ok()
        };
        let (first, second) = std::thread::scope(|scope| {
            let other = scope.spawn(free);
            (free(), other.join().unwrap())
        });
        assert!(first ^ second, "{first} {second}");
    }
    assert_eq!(heap.survey(), empty);
}
