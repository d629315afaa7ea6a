//! Figure 13: several cores on one shared memory, in virtual time.
//!
//! ```text
//! subset ──> each operation to a core drawn by lot ──> cores, one thread each ──> cycles in all
//!                              every word touched, every lock: time passes on that core's clock,
//!                              and the core whose clock is lowest goes on
//! ```
//! So the result depends neither on how many cores the host has nor on how busy they are. The
//! simulator has one core; this stands in for it and models only accesses and locks.

use crate::paper;
use crate::subset::{Op, Random, Subset};
use crate::table::{Cell, Table};
use rig::cores::{
    ACCESS_CYCLES, Clocks, NoLock, OPERATION_CYCLES, STORE_CYCLES, Timed, TimedLock, on_core, pass,
};
use sma::{
    Arena, CoarseLock, Deferred, HeadLocks, Heap, Lm, PowerOfTwo, Short, Unchecked, Watched,
    state_words,
};
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The paper's shared memory (section 5.1).
pub const BYTES: u32 = 16 << 10;
/// How often a core checks whether another has allocated what it has to free.
const POLL_CYCLES: u64 = 10;

/// How a heap is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locking {
    /// Not shared: for a single core.
    None,
    /// One lock.
    Coarse,
    /// One lock per class.
    Fine,
}

/// An operation of one core: the allocation's number, its bytes, whether it is freed.
type Step = (usize, usize, bool);

/// The operations of each core: every operation goes to a randomly drawn core (section 5.5).
fn shares(subset: &Subset, limit: usize, cores: usize, seed: u64) -> (Vec<Vec<Step>>, usize) {
    let mut random = Random(seed);
    let mut shares = vec![Vec::new(); cores];
    let mut held = vec![None; subset.slots as usize];
    let mut count = 0;
    for op in subset.ops.iter().take(limit) {
        let core = random.below(cores as u64) as usize;
        match *op {
            Op::Alloc { slot, bytes } => {
                held[slot as usize] = Some((count, bytes as usize));
                shares[core].push((count, bytes as usize, false));
                count += 1;
            }
            Op::Free { slot } => {
                if let Some((number, bytes)) = held[slot as usize].take() {
                    shares[core].push((number, bytes, true));
                }
            }
        }
    }
    (shares, count)
}

/// Not allocated yet, and refused.
const PENDING: usize = 0;
const REFUSED: usize = 1;

fn work(arena: &dyn Arena, steps: &[Step], places: &[AtomicUsize]) {
    for &(number, bytes, free) in steps {
        pass(OPERATION_CYCLES);
        let place = &places[number];
        if !free {
            let got = arena.alloc(bytes).map_or(REFUSED, |ptr| ptr.as_ptr() as usize);
            place.store(got, Ordering::Release);
            continue;
        }
        let address = loop {
            match place.load(Ordering::Acquire) {
                PENDING => pass(POLL_CYCLES),
                address => break address,
            }
        };
        if let Some(ptr) = NonNull::new(address as *mut u8).filter(|_| address != REFUSED) {
            // SAFETY: allocated with this size, freed by this step alone.
            let freed = unsafe { arena.free(ptr, bytes) };
            debug_assert!(freed.is_ok());
        }
    }
}

type Shared<'m, S> = Heap<'m, 128, PowerOfTwo, Unchecked, Short, Watched<S, Timed>>;

/// Aligned memory.
#[repr(C, align(4096))]
struct Region([MaybeUninit<u8>; BYTES as usize]);

/// A run on a heap shared as `$sharing`, a type that only a macro can pass on.
macro_rules! run {
    ($sharing:ty, $subset:expr, $limit:expr, $cores:expr, $pooled:expr) => {{
        let mut region = Box::new(Region([MaybeUninit::uninit(); BYTES as usize]));
        let words = state_words::<128, Unchecked>(BYTES as usize);
        let mut state = vec![MaybeUninit::uninit(); words];
        let heap = Shared::<'_, $sharing>::new(&mut region.0, &mut state).ok()?;
        let (shares, count) = shares($subset, $limit, $cores, $cores as u64);
        let places: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(PENDING)).collect();
        let clocks = Arc::new(Clocks::new($cores));
        std::thread::scope(|scope| {
            let start = |(core, steps): (usize, &Vec<Step>)| {
                let (heap, places, clocks) = (&heap, &places, Arc::clone(&clocks));
                let steps: Vec<Step> = steps.clone();
                let now = move |clocks: &Clocks| clocks.now(core);
                scope.spawn(move || {
                    on_core(&clocks, core, || {
                        // The pool is dropped here: its regions go back in virtual time.
                        match Deferred::<_, Lm>::new(heap).ok().filter(|_| $pooled) {
                            Some(pool) => {
                                work(&pool, &steps, places);
                                now(&clocks)
                            }
                            None => {
                                work(heap, &steps, places);
                                now(&clocks)
                            }
                        }
                    })
                })
            };
            let threads: Vec<_> = shares.iter().enumerate().map(start).collect();
            threads.into_iter().filter_map(|core| core.join().ok()).max()
        })
    }};
}

/// Cycles until `cores` cores have executed at most `limit` operations of a subset for [`BYTES`].
pub fn cycles(
    subset: &Subset,
    limit: usize,
    cores: usize,
    locking: Locking,
    pooled: bool,
) -> Option<u64> {
    match locking {
        Locking::None => run!(CoarseLock<NoLock>, subset, limit, cores, pooled),
        Locking::Coarse => run!(CoarseLock<TimedLock>, subset, limit, cores, pooled),
        Locking::Fine => run!(HeadLocks<TimedLock>, subset, limit, cores, pooled),
    }
}

/// The columns of Figure 13.
const COLUMNS: [(&str, Locking, bool); 4] = [
    ("Coarse", Locking::Coarse, false),
    ("Fine", Locking::Fine, false),
    ("Coarse, LM", Locking::Coarse, true),
    ("Fine, LM", Locking::Fine, true),
];

/// Figure 13: the mean over subsets of the speed-up over one core of the same kind.
pub fn scaling(subsets: &[Subset], limit: usize) -> Table {
    let mut table = Table {
        id: "fig13",
        title: "Figure 13: speed-up of cores that only allocate and free, 16 kB shared".into(),
        unit: "over one core",
        decimals: 2,
        columns: COLUMNS.iter().map(|(name, ..)| (*name).to_owned()).collect(),
        rows: Vec::new(),
        notes: vec![format!(
            "Virtual time: {ACCESS_CYCLES} cycles for a word or lock of the shared memory, \
             {STORE_CYCLES} for a posted store, {OPERATION_CYCLES} for an operation."
        )],
    };
    let time = |cores: usize, locking, pooled| -> Vec<f64> {
        let of = |subset| cycles(subset, limit, cores, locking, pooled).map(|cycles| cycles as f64);
        subsets.iter().filter_map(of).collect()
    };
    let ratio = |base: &[f64], other: &[f64]| {
        let ratios: Vec<f64> = base.iter().zip(other).map(|(base, other)| base / other).collect();
        Cell::mean(&ratios)
    };
    let single = COLUMNS.map(|(_, locking, pooled)| time(1, locking, pooled));
    for cores in 2..=4 {
        let cells = COLUMNS.iter().zip(&single).zip(paper::SPEEDUP_4).map(|(column, paper)| {
            let ((_, locking, pooled), single) = column;
            let cell = ratio(single, &time(cores, *locking, *pooled));
            Cell { paper: (cores == 4).then_some(paper), ..cell }
        });
        table.row(format!("{cores} cores"), cells.collect());
    }
    let free = [false, true].map(|pooled| time(1, Locking::None, pooled));
    let over = COLUMNS.iter().zip(&single).map(|((_, _, pooled), single)| {
        let cell = ratio(single, &free[usize::from(*pooled)]);
        let percent = cell.value.map(|ratio| (ratio - 1.0) * 100.0);
        Cell { value: percent, spread: None, paper: Some(paper::LOCK_OVERHEAD) }
    });
    table.row("one core over no locks, %", over.collect());
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subset() -> Subset {
        let mut random = Random(3);
        let (mut ops, mut live) = (Vec::new(), vec![false; 12]);
        for _ in 0..120 {
            let slot = random.below(12) as u32;
            let bytes = 8 + random.below(200) as u32;
            let busy = &mut live[slot as usize];
            ops.push(if *busy { Op::Free { slot } } else { Op::Alloc { slot, bytes } });
            *busy = !*busy;
        }
        Subset { ops, slots: 12, peak_bytes: 0 }
    }

    #[test]
    fn every_operation_is_done_once_by_some_core_in_its_order() {
        let (shares, count) = shares(&subset(), 100, 3, 1);
        let mut steps: Vec<Step> = shares.concat();
        assert_eq!(steps.len(), 100);
        for share in &shares {
            assert!(share.len() > 15, "{} of 100", share.len());
        }
        steps.sort_by_key(|&(number, _, free)| (number, free));
        let allocations = steps.iter().filter(|step| !step.2).count();
        assert_eq!(allocations, count);
        // A free has the number and the size of an earlier allocation.
        for pair in steps.windows(2).filter(|pair| pair[1].2) {
            assert_eq!((pair[0].0, pair[0].1, pair[0].2), (pair[1].0, pair[1].1, false));
        }
    }

    #[test]
    fn runs_repeat_to_the_cycle_and_more_cores_are_faster() {
        let subset = subset();
        let time = |cores| cycles(&subset, 120, cores, Locking::Fine, true).unwrap();
        let (one, three) = (time(1), time(3));
        for _ in 0..20 {
            assert_eq!(three, time(3));
        }
        assert!(three < one, "{three} with three cores, {one} with one");
        // Nothing waits on a single core, so locks cost only their accesses.
        let free = cycles(&subset, 120, 1, Locking::None, false).unwrap();
        let locked = cycles(&subset, 120, 1, Locking::Coarse, false).unwrap();
        let per_lock = ACCESS_CYCLES + STORE_CYCLES;
        assert!(locked > free && (locked - free).is_multiple_of(per_lock), "{locked} and {free}");
    }
}
