//! Cores in virtual time, one thread each: every word accessed and every lock operation costs its
//! core some cycles, and the core with the lowest clock always runs next. So a run depends neither
//! on how many cores the host has nor on how busy they are, and is the same every time.
//!
//! Both the scaling test and the study's Figure 13 run on them.

use sma::{Access, Probe, RawLock, Space};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The paper's shared memory (section 5.1) responds in 50 to 100 cycles.
pub const ACCESS_CYCLES: u64 = 75;
/// A store is posted, and so is an atomic operation whose result is not used: the core does not
/// wait.
pub const STORE_CYCLES: u64 = 4;
/// The remaining computation of an operation; a pool in local memory costs no more than that.
pub const OPERATION_CYCLES: u64 = 40;

/// The cores' clocks; a finished core's clock is at the end of time.
pub struct Clocks {
    at: Mutex<Vec<u64>>,
    turn: Vec<Condvar>,
}

thread_local! {
    static CORE: RefCell<Option<(Arc<Clocks>, usize)>> = const { RefCell::new(None) };
}

impl Clocks {
    /// All clocks at 0.
    pub fn new(cores: usize) -> Self {
        let turn = (0..cores).map(|_| Condvar::new()).collect();
        Self { at: Mutex::new(vec![0; cores]), turn }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u64>> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(at: &[u64]) -> usize {
        (0..at.len()).min_by_key(|&core| at[core]).unwrap_or(0)
    }

    /// The time of a core's clock.
    pub fn now(&self, core: usize) -> u64 {
        self.lock()[core]
    }

    /// Advances a core's clock and waits until no other core is behind it.
    fn pass(&self, core: usize, cycles: u64) -> u64 {
        let mut at = self.lock();
        at[core] = at[core].saturating_add(cycles);
        let now = at[core];
        let next = Self::next(&at);
        if next != core {
            self.turn[next].notify_one();
            while now != u64::MAX && Self::next(&at) != core {
                at = self.turn[core].wait(at).unwrap_or_else(PoisonError::into_inner);
            }
        }
        now
    }
}

/// Advances the clock of the core that this thread runs, if any.
pub fn pass(cycles: u64) {
    CORE.with_borrow(|core| {
        if let Some((clocks, core)) = core {
            clocks.pass(*core, cycles);
        }
    });
}

/// Charges the time of every access.
pub struct Timed;

impl Probe for Timed {
    fn touch(_: Space, _: u32, access: Access) {
        let posted = matches!(access, Access::Store | Access::Post);
        pass(if posted { STORE_CYCLES } else { ACCESS_CYCLES });
    }
}

/// A test-and-set word in the shared memory.
pub struct TimedLock(AtomicBool);

// SAFETY: only one swap can see `false`; acquire and release order what is between.
unsafe impl RawLock for TimedLock {
    fn new() -> Self {
        Self(AtomicBool::new(false))
    }
    fn lock(&self) {
        loop {
            pass(ACCESS_CYCLES);
            if !self.0.swap(true, Ordering::Acquire) {
                return;
            }
        }
    }
    fn try_lock(&self) -> bool {
        pass(ACCESS_CYCLES);
        !self.0.swap(true, Ordering::Acquire)
    }
    unsafe fn unlock(&self) {
        pass(STORE_CYCLES);
        self.0.store(false, Ordering::Release);
    }
}

/// No lock at all, for a single core.
pub struct NoLock;

// SAFETY: used by one core only.
unsafe impl RawLock for NoLock {
    fn new() -> Self {
        Self
    }
    fn lock(&self) {}
    fn try_lock(&self) -> bool {
        true
    }
    unsafe fn unlock(&self) {}
}

/// Runs one core's part with the core's clock; returns the cycle at which `part` reports that it
/// was done. What `part` does after that, such as giving a pool back, takes time too, but delays no
/// other core.
pub fn on_core(clocks: &Arc<Clocks>, core: usize, part: impl FnOnce() -> u64) -> u64 {
    CORE.set(Some((Arc::clone(clocks), core)));
    pass(0);
    let end = part();
    CORE.take();
    clocks.pass(core, u64::MAX);
    end
}
