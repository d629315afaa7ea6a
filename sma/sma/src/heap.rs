//! [`Heap`]: the engine with a base address, ownership of memory and optional checks.

use crate::arena::RawArena;
use crate::classes::{Classes, PowerOfTwo};
use crate::engine::{Engine, Survey};
use crate::error::{Corruption, FreeError, InitError};
use crate::geometry::{Geometry, REGION_BYTES_MAX};
use crate::guard::{Checked, Guard, Misfit, Record, map_words};
use crate::links::{Links, Short};
use crate::probe::Space;
use crate::sharing::{Local, Sharing};
use crate::words::FromPointer;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

/// A scratch-pad heap.
///
/// - `BLOCK`: bytes of a block, a power of two from 32 to 1,024. Smaller blocks waste less,
///   larger ones need less state.
/// - `C`: the available sizes: [`PowerOfTwo`], [`ThreeQuarters`](crate::ThreeQuarters) or
///   [`Exact`](crate::Exact).
/// - `G`: [`Checked`] or [`Unchecked`](crate::Unchecked) frees.
/// - `K`: [`Short`] links up to 65,536 granules or [`Long`](crate::Long) ones up to 1 MB.
/// - `S`: [`Local`] to one core, or shared: [`Coarse`], [`Fine`].
pub struct Heap<
    'm,
    const BLOCK: usize = 128,
    C = PowerOfTwo,
    G = Checked,
    K = Short,
    S: Sharing = Local,
> {
    engine: Engine<BLOCK, C, K, S>,
    base: NonNull<u8>,
    memory: PhantomData<&'m mut [u8]>,
    rules: PhantomData<G>,
}

/// A heap for several cores with one lock for lists and tags.
#[cfg(target_has_atomic = "32")]
pub type Coarse<
    'm,
    const BLOCK: usize = 128,
    C = PowerOfTwo,
    G = Checked,
    K = Short,
    L = crate::SpinLock,
> = Heap<'m, BLOCK, C, G, K, crate::CoarseLock<L>>;

/// A heap for several cores with one lock per size class: the list heads themselves
/// ([`HeadLocks`](crate::HeadLocks)), or locks of your own ([`FineLocks`](crate::FineLocks)).
#[cfg(target_has_atomic = "32")]
pub type Fine<
    'm,
    const BLOCK: usize = 128,
    C = PowerOfTwo,
    G = Checked,
    K = Short,
    S = crate::HeadLocks,
> = Heap<'m, BLOCK, C, G, K, S>;

// SAFETY: a local heap owns its memory exclusively and may move to another core; shared ones
// consist of atomics and locks.
unsafe impl<const BLOCK: usize, C, G, K, S: Sharing + Send> Send for Heap<'_, BLOCK, C, G, K, S> {}
// SAFETY: shared words are atomic, and `Engine` orders the rest by locks.
#[cfg(target_has_atomic = "32")]
unsafe impl<const BLOCK: usize, C, G, K, S: Sharing + Sync> Sync for Heap<'_, BLOCK, C, G, K, S> where
    S::Words: Sync
{
}

/// Words of state that a heap of `region_bytes` needs.
///
/// With `BLOCK` 128 and unchecked frees: 10 words (40 bytes) at 4 kB, 28 words at 16 kB.
pub const fn state_words<const BLOCK: usize, G: Guard>(region_bytes: usize) -> usize {
    let blocks = (region_bytes / BLOCK) as u32;
    let checks = if G::CHECKED { 2 * map_words(blocks * Geometry::<BLOCK>::UNITS) } else { 0 };
    (Geometry::<BLOCK>::state_words(blocks) + checks) as usize
}

impl<'m, const BLOCK: usize, C, G, K, S> Heap<'m, BLOCK, C, G, K, S>
where
    C: Classes,
    G: Guard,
    K: Links,
    S: Sharing,
    S::Words: FromPointer,
{
    /// The largest region that this type manages.
    pub const REGION_BYTES_MAX: usize = {
        let reach = Geometry::<BLOCK>::GRANULE << K::BITS;
        if reach < REGION_BYTES_MAX { reach } else { REGION_BYTES_MAX }
    };

    /// Manages `region`, with the state in separate memory: the paper's layout.
    ///
    /// # Errors
    /// A region without a whole block or beyond [`Self::REGION_BYTES_MAX`], or too little state.
    pub fn new(
        region: &'m mut [MaybeUninit<u8>],
        state: &'m mut [MaybeUninit<u32>],
    ) -> Result<Self, InitError> {
        let (base, bytes) = trim(NonNull::from(&mut *region).cast(), region.len(), 0);
        // SAFETY: both slices are borrowed for the heap's lifetime; `trim` stays inside.
        unsafe { Self::build(base, bytes, NonNull::from(&mut *state).cast(), state.len()) }
    }

    /// Manages `region`, with the state in its first bytes. The rest of the state's last block
    /// is used for small regions.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn in_place(region: &'m mut [MaybeUninit<u8>]) -> Result<Self, InitError> {
        // SAFETY: the region is borrowed for the heap's lifetime.
        unsafe { Self::from_raw(NonNull::from(&mut *region).cast(), region.len()) }
    }

    /// As [`Self::in_place`] for a fixed address, such as that of a scratch-pad.
    ///
    /// # Errors
    /// As [`Self::new`].
    ///
    /// # Safety
    /// `base..base + bytes` must be memory that nobody else uses during the heap's lifetime.
    pub unsafe fn from_raw(base: NonNull<u8>, bytes: usize) -> Result<Self, InitError> {
        // SAFETY: the caller's promise.
        unsafe { Self::in_place_skewed(base, bytes, 0) }
    }

    /// As [`Self::in_place`], placed so that payloads after the 4-byte headers of
    /// [`Headed`](crate::Headed) are aligned to 8.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn in_place_for_headers(region: &'m mut [MaybeUninit<u8>]) -> Result<Self, InitError> {
        // SAFETY: the region is borrowed for the heap's lifetime.
        unsafe { Self::in_place_skewed(NonNull::from(&mut *region).cast(), region.len(), 4) }
    }

    /// As [`Self::from_raw`], placed as [`Self::in_place_for_headers`] says.
    ///
    /// # Errors
    /// As [`Self::new`].
    ///
    /// # Safety
    /// As [`Self::from_raw`].
    pub unsafe fn from_raw_for_headers(base: NonNull<u8>, bytes: usize) -> Result<Self, InitError> {
        // SAFETY: the caller's promise.
        unsafe { Self::in_place_skewed(base, bytes, 4) }
    }

    /// As [`Self::new`], placed as [`Self::in_place_for_headers`] says.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn new_for_headers(
        region: &'m mut [MaybeUninit<u8>],
        state: &'m mut [MaybeUninit<u32>],
    ) -> Result<Self, InitError> {
        let (base, bytes) = trim(NonNull::from(&mut *region).cast(), region.len(), 4);
        // SAFETY: both slices are borrowed for the heap's lifetime; `trim` stays inside.
        unsafe { Self::build(base, bytes, NonNull::from(&mut *state).cast(), state.len()) }
    }

    /// As [`Self::from_raw`] with the state elsewhere.
    ///
    /// # Errors
    /// As [`Self::new`].
    ///
    /// # Safety
    /// As [`Self::from_raw`], and also for `state_words` words at `state`, aligned to 4.
    pub unsafe fn from_raw_parts(
        base: NonNull<u8>,
        bytes: usize,
        state: NonNull<u32>,
        words: usize,
    ) -> Result<Self, InitError> {
        let (base, bytes) = trim(base, bytes, 0);
        // SAFETY: the caller's promise.
        unsafe { Self::build(base, bytes, state, words) }
    }

    /// In place, with a base that is `skew` bytes past a multiple of 8.
    unsafe fn in_place_skewed(
        base: NonNull<u8>,
        bytes: usize,
        skew: usize,
    ) -> Result<Self, InitError> {
        let (base, bytes) = trim(base, bytes, skew);
        let words = state_words::<BLOCK, G>(bytes.min(REGION_BYTES_MAX));
        let needed = words * 4 + Geometry::<BLOCK>::GRANULE;
        if bytes - bytes % BLOCK < needed {
            return Err(InitError::TooSmall { bytes, needed: needed.next_multiple_of(BLOCK) });
        }
        // SAFETY: the caller's promise; the state lies in the region, which `trim` has aligned.
        let heap = unsafe { Self::build(base, bytes, base.cast(), words)? };
        // The first allocation in an empty heap is its front: the state itself, never freed.
        let units = (words * 4).div_ceil(Geometry::<BLOCK>::GRANULE) as u32;
        let front = heap.engine.take_blocks(units);
        debug_assert_eq!(front, Some(0));
        Ok(heap)
    }

    unsafe fn build(
        base: NonNull<u8>,
        bytes: usize,
        state: NonNull<u32>,
        words: usize,
    ) -> Result<Self, InitError> {
        if bytes < BLOCK {
            return Err(InitError::TooSmall { bytes, needed: BLOCK });
        }
        if bytes > Self::REGION_BYTES_MAX {
            return Err(InitError::TooLarge { bytes, limit: Self::REGION_BYTES_MAX });
        }
        let needed = state_words::<BLOCK, G>(bytes);
        if words < needed {
            return Err(InitError::StateTooSmall { words, needed });
        }
        // SAFETY: the caller provides both for the heap's lifetime, aligned to 4; the engine
        // accesses only words of whole blocks and the `state_words`.
        let (region, state) = unsafe {
            (
                S::Words::from_pointer(base.cast(), Space::Region),
                S::Words::from_pointer(state, Space::State),
            )
        };
        let engine = Engine::new(region, state, (bytes / BLOCK) as u32);
        let heap = Self { engine, base, memory: PhantomData, rules: PhantomData };
        if G::CHECKED {
            heap.record().reset();
        }
        Ok(heap)
    }
}

impl<const BLOCK: usize, C: Classes, G: Guard, K: Links, S: Sharing> Heap<'_, BLOCK, C, G, K, S> {
    fn record(&self) -> Record<'_, S::Words> {
        let blocks = self.engine.blocks();
        let first = Geometry::<BLOCK>::state_words(blocks);
        Record::new(self.engine.state(), first, blocks * Geometry::<BLOCK>::UNITS)
    }

    /// What is free. No other core may use the heap meanwhile.
    pub fn survey(&self) -> Survey {
        self.engine.survey()
    }

    /// Whether lists, tags and bitmap agree. No other core may use the heap meanwhile.
    ///
    /// # Errors
    /// The first contradiction.
    pub fn check(&self) -> Result<(), Corruption> {
        self.engine.check()
    }
}

/// Moves the start up to the next multiple of 8, plus `skew`.
fn trim(base: NonNull<u8>, bytes: usize, skew: usize) -> (NonNull<u8>, usize) {
    let lost = (skew.wrapping_sub(base.as_ptr() as usize) & 7).min(bytes);
    // SAFETY: `lost` is at most the region's size.
    (unsafe { base.add(lost) }, bytes - lost)
}

// SAFETY: the engine hands out every granule once.
unsafe impl<const BLOCK: usize, C: Classes, G: Guard, K: Links, S: Sharing> RawArena
    for Heap<'_, BLOCK, C, G, K, S>
{
    const GRANULE: usize = Geometry::<BLOCK>::GRANULE;
    const BLOCK: usize = BLOCK;
    type Classes = C;

    #[inline(always)]
    fn base(&self) -> NonNull<u8> {
        self.base
    }

    #[inline(always)]
    fn granules(&self) -> u32 {
        self.engine.blocks() * Geometry::<BLOCK>::UNITS
    }

    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline)]
    fn take(&self, units: u32) -> Option<u32> {
        self.engine.take(units)
    }

    #[inline]
    fn take_apart(&self, units: u32) -> Option<u32> {
        if units.is_power_of_two() { self.engine.take_apart() } else { None }
    }

    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline)]
    unsafe fn give(&self, granule: u32, units: u32) {
        self.engine.give(granule, units);
    }

    #[inline]
    fn mark(&self, granule: u32, units: u32) {
        if G::CHECKED {
            self.record().mark(granule, units);
        }
    }

    #[inline]
    fn unmark(&self, granule: u32, units: u32) -> Result<(), FreeError> {
        if !G::CHECKED {
            return Ok(());
        }
        let offset = granule as usize * Self::GRANULE;
        self.record().unmark(granule, units).map_err(|misfit| match misfit {
            Misfit::Free => FreeError::DoubleFree { offset },
            Misfit::Interior => FreeError::Interior { offset },
            Misfit::Size => {
                FreeError::SizeMismatch { offset, bytes: units as usize * Self::GRANULE }
            }
        })
    }

    #[inline(always)]
    fn is_checked(&self) -> bool {
        G::CHECKED
    }

    fn is_start(&self, granule: u32) -> bool {
        !G::CHECKED || self.record().starts_at(granule)
    }

    fn state_bytes(&self) -> usize {
        state_words::<BLOCK, G>(self.engine.blocks() as usize * BLOCK) * 4
            + self.engine.lock_bytes()
    }
}
