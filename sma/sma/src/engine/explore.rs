//! Explores every interleaving of two threads on a small heap, using loom (`RUSTFLAGS=--cfg loom`).
//! Each granule's owner cell is accessed without synchronisation of its own, so loom also reports
//! memory handed over without acquire and release.

use super::Engine;
use crate::bitmap::Bitmap;
use crate::classes::Exact;
use crate::geometry::Geometry;
use crate::links::{BUSY, Long, Short};
use crate::sharing::Sharing;
use crate::words::Words;
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::sync::{Arc, Condvar, Mutex};
use std::vec::Vec;

struct LoomWords(Vec<AtomicU32>);

impl LoomWords {
    fn new(count: u32) -> Self {
        Self((0..count).map(|_| AtomicU32::new(0)).collect())
    }
}

/// The same orderings as `words::Shared`.
impl Words for LoomWords {
    fn load(&self, index: u32) -> u32 {
        self.0[index as usize].load(Ordering::Relaxed)
    }
    fn store(&self, index: u32, value: u32) {
        self.0[index as usize].store(value, Ordering::Relaxed);
    }
    fn set(&self, index: u32, bits: u32) -> u32 {
        self.0[index as usize].fetch_or(bits, Ordering::AcqRel)
    }
    fn clear(&self, index: u32, bits: u32) -> u32 {
        self.0[index as usize].fetch_and(!bits, Ordering::AcqRel)
    }
    fn load_acquire(&self, index: u32) -> u32 {
        self.0[index as usize].load(Ordering::Acquire)
    }
    fn toggle(&self, index: u32, bits: u32) {
        self.0[index as usize].fetch_xor(bits, Ordering::AcqRel);
    }
}

/// A lock made of a mutex and a condition variable. (A mutex alone does not work: loom treats a
/// thread that is about to try it as one that waits for it. A spin lock has too many branches.)
struct LoomLock(Mutex<bool>, Condvar);

impl LoomLock {
    fn new() -> Self {
        Self(Mutex::new(false), Condvar::new())
    }
    fn lock(&self) {
        let mut closed = self.0.lock().unwrap();
        while *closed {
            closed = self.1.wait(closed).unwrap();
        }
        *closed = true;
    }
    fn try_lock(&self) -> bool {
        !std::mem::replace(&mut *self.0.lock().unwrap(), true)
    }
    fn unlock(&self) {
        *self.0.lock().unwrap() = false;
        self.1.notify_one();
    }
}

struct LoomFine([LoomLock; 5]);

impl Sharing for LoomFine {
    type Words = LoomWords;
    const FINE: bool = true;
    fn new() -> Self {
        Self(core::array::from_fn(|_| LoomLock::new()))
    }
    fn lock(&self, class: u32) {
        self.0[class as usize].lock();
    }
    fn try_lock(&self, class: u32) -> bool {
        self.0[class as usize].try_lock()
    }
    fn unlock(&self, class: u32) {
        self.0[class as usize].unlock();
    }
}

/// Heads that are marked while they are locked, as in `HeadLocks`; the waiting is done by the lock,
/// because loom cannot follow a spinning thread.
struct LoomHeads(LoomFine);

impl Sharing for LoomHeads {
    type Words = LoomWords;
    const FINE: bool = true;
    const BUSY: u32 = BUSY;
    fn new() -> Self {
        Self(LoomFine::new())
    }
    fn lock(&self, class: u32) {
        self.0.lock(class);
    }
    fn unlock(&self, class: u32) {
        self.0.unlock(class);
    }
    fn lock_head<W: Words>(&self, state: &W, class: u32) -> u32 {
        self.0.lock(class);
        let head = state.set(class, BUSY);
        assert_eq!(head & BUSY, 0);
        head
    }
    fn try_lock_head<W: Words>(&self, state: &W, class: u32) -> Option<u32> {
        let head = self.0.try_lock(class).then(|| state.set(class, BUSY))?;
        assert_eq!(head & BUSY, 0);
        Some(head)
    }
    fn unlock_head<W: Words>(&self, state: &W, class: u32, head: u32) {
        assert_eq!(head & BUSY, 0);
        state.publish(class, head);
        self.0.unlock(class);
    }
}

struct LoomCoarse(LoomLock);

impl Sharing for LoomCoarse {
    type Words = LoomWords;
    const FINE: bool = false;
    fn new() -> Self {
        Self(LoomLock::new())
    }
    fn enter(&self) {
        self.0.lock();
    }
    fn leave(&self) {
        self.0.unlock();
    }
}

/// Blocks of four units in two classes.
struct World<K: crate::Links, S: Sharing<Words = LoomWords>> {
    engine: Engine<32, Exact, K, S>,
    owners: Vec<UnsafeCell<u32>>,
}

impl<K: crate::Links, S: Sharing<Words = LoomWords>> World<K, S> {
    fn new(blocks: u32) -> Self {
        let granules = blocks * 4;
        let region = LoomWords::new(granules * Geometry::<32>::GRANULE_WORDS);
        let state = LoomWords::new(Geometry::<32>::state_words(blocks));
        let owners = (0..granules).map(|_| UnsafeCell::new(0)).collect();
        Self { engine: Engine::new(region, state, blocks), owners }
    }

    fn own(&self, granule: u32, units: u32, from: u32, to: u32) {
        for cell in &self.owners[granule as usize..(granule + units) as usize] {
            // SAFETY: loom checks that no other access is concurrent.
            cell.with_mut(|owner| unsafe {
                assert_eq!(*owner, from, "handed out twice");
                *owner = to;
            });
        }
    }

    fn take(&self, units: u32, me: u32) -> Option<(u32, u32)> {
        let granule = self.engine.take(units)?;
        self.own(granule, units, 0, me);
        Some((granule, units))
    }

    fn give(&self, (granule, units): (u32, u32), me: u32) {
        self.own(granule, units, me, 0);
        self.engine.give(granule, units);
    }

    fn is_whole(&self) {
        assert_eq!(self.engine.check(), Ok(()));
        let survey = self.engine.survey();
        assert_eq!(survey.free_blocks, self.engine.blocks());
        assert_eq!(survey.free_regions, [0; 4]);
    }
}

fn explore(scenario: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    // LOOM_MAX_PREEMPTIONS overrides this.
    model.preemption_bound = model.preemption_bound.or(Some(3));
    model.max_branches = 10_000;
    let runs = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = runs.clone();
    model.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        scenario();
    });
    // A model without choices would prove nothing.
    let runs = runs.load(Ordering::Relaxed);
    assert!(runs > 1, "only {runs} interleavings");
    std::println!("{runs} interleavings");
}

/// Two threads, each with its operations on the world and on what `setup` left there.
fn two<K, S>(
    blocks: u32,
    setup: fn(&World<K, S>) -> Vec<(u32, u32)>,
    first: fn(&World<K, S>, &[(u32, u32)]),
    second: fn(&World<K, S>, &[(u32, u32)]),
    finish: fn(&World<K, S>, &[(u32, u32)]),
) where
    K: crate::Links + 'static + Send + Sync,
    S: Sharing<Words = LoomWords> + 'static + Send + Sync,
{
    explore(move || {
        let world = Arc::new(World::<K, S>::new(blocks));
        let left = Arc::new(setup(&world));
        let thread = {
            let (world, left) = (world.clone(), left.clone());
            loom::thread::spawn(move || second(&world, &left))
        };
        first(&world, &left);
        thread.join().unwrap();
        finish(&world, &left);
        world.is_whole();
    });
}

fn nothing<K: crate::Links, S: Sharing<Words = LoomWords>>(_: &World<K, S>, _: &[(u32, u32)]) {}

fn churn<K: crate::Links, S: Sharing<Words = LoomWords>>(world: &World<K, S>, units: u32, me: u32) {
    if let Some(region) = world.take(units, me) {
        world.give(region, me);
    }
}

/// Blocks 30..34 are free, across two words; each thread takes and gives back runs of these
/// lengths.
fn runs(first: &'static [u32], second: &'static [u32]) {
    explore(move || {
        let words = Arc::new(LoomWords::new(2));
        let owners: Arc<Vec<_>> = Arc::new((0..4).map(|_| UnsafeCell::new(0)).collect());
        Bitmap::new(&*words, 0, 1, 64).give(30, 4);
        let run = |words: &LoomWords, owners: &[UnsafeCell<u32>], lens: &[u32], me: u32| {
            let map = Bitmap::new(words, 0, 1, 64);
            for &len in lens {
                let Some(start) = map.take(len) else { continue };
                let mine = &owners[start as usize - 30..][..len as usize];
                for (from, to) in [(0, me), (me, 0)] {
                    for cell in mine {
                        // SAFETY: loom checks that no other access is concurrent.
                        cell.with_mut(|owner| unsafe {
                            assert_eq!(*owner, from, "handed out twice");
                            *owner = to;
                        });
                    }
                }
                map.give(start, len);
            }
        };
        let other = (words.clone(), owners.clone());
        let thread = loom::thread::spawn(move || run(&other.0, &other.1, second, 2));
        run(&words, &owners, first, 1);
        thread.join().unwrap();
        assert_eq!(Bitmap::new(&*words, 0, 1, 64).survey(), (4, 4));
    });
}

#[test]
fn runs_across_words_are_claimed_by_one_thread_only_and_given_back_whole() {
    runs(&[3], &[3]);
    runs(&[2], &[1]);
    runs(&[3], &[1, 3]);
    runs(&[4], &[1, 2]);
}

#[test]
fn two_threads_split_and_merge_the_same_block() {
    two::<Short, LoomHeads>(
        1,
        |_| Vec::new(),
        |world, _| {
            churn(world, 1, 1);
            churn(world, 2, 1);
        },
        |world, _| {
            churn(world, 2, 2);
            churn(world, 1, 2);
        },
        nothing,
    );
}

#[test]
fn two_threads_want_the_regions_that_hold_the_tag() {
    // One unit is allocated, one unit and a pair are free; the thread that takes the pair moves the
    // tag.
    two::<Short, LoomHeads>(
        1,
        |world| [world.take(1, 9).unwrap()].to_vec(),
        |world, _| churn(world, 2, 1),
        |world, _| {
            churn(world, 1, 2);
            churn(world, 2, 2);
        },
        |world, left| world.give(left[0], 9),
    );
}

#[test]
fn two_first_frees_into_a_full_block_make_one_tag() {
    two::<Short, LoomHeads>(
        1,
        |world| [1, 1, 2].map(|units| world.take(units, 9).unwrap()).to_vec(),
        |world, left| world.give(left[0], 9),
        |world, left| world.give(left[2], 9),
        |world, left| world.give(left[1], 9),
    );
}

#[test]
fn buddies_freed_at_once_merge() {
    two::<Short, LoomFine>(
        1,
        |world| [1, 1].map(|units| world.take(units, 9).unwrap()).to_vec(),
        |world, left| {
            world.give(left[0], 9);
            churn(world, 1, 1);
        },
        |world, left| {
            world.give(left[1], 9);
            churn(world, 2, 2);
        },
        nothing,
    );
}

#[test]
fn a_free_and_an_allocation_that_fills_the_block_meet() {
    // Three units allocated, one free (with the tag): one thread takes it, the other frees a pair.
    two::<Short, LoomFine>(
        1,
        |world| [2, 1].map(|units| world.take(units, 9).unwrap()).to_vec(),
        |world, _| {
            churn(world, 1, 1);
            churn(world, 1, 1);
        },
        |world, left| {
            world.give(left[0], 9);
            churn(world, 1, 2);
        },
        |world, left| world.give(left[1], 9),
    );
}

#[test]
fn sizes_that_are_not_powers_of_two_and_long_links_meet() {
    two::<Long, LoomFine>(
        2,
        |world| [world.take(5, 9).unwrap()].to_vec(),
        |world, _| {
            churn(world, 3, 1);
            churn(world, 2, 1);
        },
        |world, left| {
            world.give(left[0], 9);
            churn(world, 1, 2);
        },
        nothing,
    );
}

#[test]
fn one_lock_protects_lists_and_tags() {
    two::<Short, LoomCoarse>(
        2,
        |world| [world.take(1, 9).unwrap()].to_vec(),
        |world, _| churn(world, 2, 1),
        |world, left| {
            world.give(left[0], 9);
            churn(world, 5, 2);
        },
        nothing,
    );
}
