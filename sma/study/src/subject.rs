//! The allocators under study, behind one interface.
//!
//! Each manages a region of the same size; its state lies outside, as in the paper, but is counted.

use crate::model::Model;
use rig::arena::Once;
use sma::{
    Arena, Cam, Deferred, Exact, HEADER_BYTES, Heap, Lm, Long, Pool, PowerOfTwo, RawArena,
    ThreeQuarters, Unchecked, state_words,
};
use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// Bytes occupied by live allocations, by purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupied {
    /// All bytes.
    pub bytes: u64,
    /// Headers and boundary tags among them.
    pub tags: u64,
}

/// An allocator that a subset can be replayed on.
pub trait Subject {
    /// Allocates; returns the offset in the region.
    fn alloc(&mut self, bytes: u32) -> Option<u32>;
    /// Frees the allocation at this offset, which has this size.
    fn free(&mut self, offset: u32, bytes: u32);
    /// What the live allocations occupy.
    fn occupied(&self) -> Occupied;
    /// Bytes of state, independent of what is live.
    fn state_bytes(&self) -> u64;
    /// The part of them that lies in the region.
    fn reserved_bytes(&self) -> u64 {
        0
    }
}

/// The allocators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// SMA with blocks of this many bytes and power-of-two sizes.
    Sma(u32),
    /// SMA with a pool of three regions for each small size.
    Lm,
    /// SMA with a table of recently freed sizes.
    Cam,
    /// SMA with a header in front of each allocation instead of the size in the address.
    Headed,
    /// SMA with sizes of powers of two and three quarters of them.
    ThreeQuarters,
    /// SMA with every multiple of eight bytes as a size, and blocks of this many bytes.
    Exact(u32),
    /// dlmalloc on a 32-bit processor: the model of this crate.
    Dlmalloc,
    /// dlmalloc, the crate, on the 64-bit host.
    Dlmalloc64,
    /// talc, the crate, on the 64-bit host.
    Talc64,
}

impl Kind {
    /// The name in tables.
    pub fn name(self) -> String {
        match self {
            Self::Sma(128) => "SMA".into(),
            Self::Sma(block) => format!("SMA ({block}B)"),
            Self::Lm => "SMA (LM)".into(),
            Self::Cam => "SMA (CAM)".into(),
            Self::Headed => "SMA (header)".into(),
            Self::ThreeQuarters => "SMA (3/4)".into(),
            Self::Exact(128) => "SMA (exact)".into(),
            Self::Exact(block) => format!("SMA (exact, {block}B)"),
            Self::Dlmalloc => "DLmalloc".into(),
            Self::Dlmalloc64 => "DLmalloc, 64-bit".into(),
            Self::Talc64 => "talc, 64-bit".into(),
        }
    }
}

/// Passes a new allocator of a kind over `bytes` to `work`; `None` if it cannot manage so few
/// bytes.
pub fn with<R>(kind: Kind, bytes: u32, work: impl FnOnce(&mut dyn Subject) -> R) -> Option<R> {
    match kind {
        Kind::Sma(32) => plain::<32, PowerOfTwo, R>(bytes, 0, work),
        Kind::Sma(64) => plain::<64, PowerOfTwo, R>(bytes, 0, work),
        Kind::Sma(256) => plain::<256, PowerOfTwo, R>(bytes, 0, work),
        Kind::Sma(512) => plain::<512, PowerOfTwo, R>(bytes, 0, work),
        Kind::Sma(1024) => plain::<1024, PowerOfTwo, R>(bytes, 0, work),
        Kind::Sma(_) => plain::<128, PowerOfTwo, R>(bytes, 0, work),
        Kind::Headed => plain::<128, PowerOfTwo, R>(bytes, HEADER_BYTES as u32, work),
        Kind::ThreeQuarters => plain::<128, ThreeQuarters, R>(bytes, 0, work),
        Kind::Exact(32) => plain::<32, Exact, R>(bytes, 0, work),
        Kind::Exact(_) => plain::<128, Exact, R>(bytes, 0, work),
        Kind::Lm if bytes <= 16384 => pooled::<Lm, R>(bytes, work),
        Kind::Lm => pooled::<Lm<PowerOfTwo, u64>, R>(bytes, work),
        Kind::Cam if bytes <= 16384 => pooled::<Cam, R>(bytes, work),
        Kind::Cam => pooled::<Cam<u64>, R>(bytes, work),
        Kind::Dlmalloc => Some(work(&mut Modelled::new(bytes))),
        Kind::Dlmalloc64 => Some(work(&mut Dl::new(bytes))),
        Kind::Talc64 => Talc::new(bytes).map(|mut talc| work(&mut talc)),
    }
}

/// The reach of 16-bit links: 65,536 granules of 8 bytes.
const SHORT_LINKS_BYTES_MAX: u32 = 1 << 19;

/// Memory for a region, aligned to the largest block.
struct Region(NonNull<u8>, Layout);

impl Region {
    fn new(bytes: u32) -> Self {
        let layout = Layout::from_size_align(bytes.max(1) as usize, 4096);
        let layout = layout.expect("a region is far below the address space");
        // SAFETY: the size is not zero.
        let ptr = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) });
        Self(ptr.unwrap_or_else(|| std::alloc::handle_alloc_error(layout)), layout)
    }

    fn memory(&mut self) -> &mut [MaybeUninit<u8>] {
        // SAFETY: this value's own memory, borrowed for the slice's lifetime.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_ptr().cast(), self.1.size()) }
    }

    fn offset(&self, ptr: NonNull<u8>) -> u32 {
        (ptr.as_ptr() as usize - self.0.as_ptr() as usize) as u32
    }

    fn at(&self, offset: u32) -> NonNull<u8> {
        // SAFETY: offsets come from `offset`, so they lie in the region.
        unsafe { self.0.add(offset as usize) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { std::alloc::dealloc(self.0.as_ptr(), self.1) };
    }
}

fn plain<const BLOCK: usize, C: sma::Classes, R>(
    bytes: u32,
    header: u32,
    work: impl FnOnce(&mut dyn Subject) -> R,
) -> Option<R> {
    let mut region = Region::new(bytes);
    let base = region.0;
    let mut state = vec![MaybeUninit::uninit(); state_words::<BLOCK, Unchecked>(bytes as usize)];
    if bytes > SHORT_LINKS_BYTES_MAX {
        let heap = Heap::<BLOCK, C, Unchecked, Long>::new(region.memory(), &mut state).ok()?;
        return Some(work(&mut Ours::new(heap, base, header)));
    }
    let heap = Heap::<BLOCK, C, Unchecked>::new(region.memory(), &mut state).ok()?;
    Some(work(&mut Ours::new(heap, base, header)))
}

fn pooled<P: Pool, R>(bytes: u32, work: impl FnOnce(&mut dyn Subject) -> R) -> Option<R> {
    let mut region = Region::new(bytes);
    let base = region.0;
    let mut state = vec![MaybeUninit::uninit(); state_words::<128, Unchecked>(bytes as usize)];
    if bytes > SHORT_LINKS_BYTES_MAX {
        let heap = Heap::<128, PowerOfTwo, Unchecked, Long>::new(region.memory(), &mut state);
        let heap = heap.ok()?;
        let pool = Deferred::<_, P>::new(&heap).ok()?;
        return Some(work(&mut Ours::new(pool, base, 0)));
    }
    let heap = Heap::<128, PowerOfTwo, Unchecked>::new(region.memory(), &mut state).ok()?;
    let pool = Deferred::<_, P>::new(&heap).ok()?;
    Some(work(&mut Ours::new(pool, base, 0)))
}

/// A heap of `sma`.
struct Ours<A> {
    arena: A,
    base: NonNull<u8>,
    header: u32,
    occupied: Occupied,
}

impl<A: RawArena> Ours<A> {
    fn new(arena: A, base: NonNull<u8>, header: u32) -> Self {
        Self { arena, base, header, occupied: Occupied::default() }
    }

    fn usable(&self, bytes: u32) -> u64 {
        self.arena.usable_bytes((bytes + self.header) as usize).unwrap_or(0) as u64
    }
}

impl<A: RawArena> Subject for Ours<A> {
    fn alloc(&mut self, bytes: u32) -> Option<u32> {
        let ptr = self.arena.alloc((bytes + self.header) as usize).ok()?;
        self.occupied.bytes += self.usable(bytes);
        self.occupied.tags += u64::from(self.header);
        Some((ptr.as_ptr() as usize - self.base.as_ptr() as usize) as u32)
    }

    fn free(&mut self, offset: u32, bytes: u32) {
        self.occupied.bytes -= self.usable(bytes);
        self.occupied.tags -= u64::from(self.header);
        // SAFETY: the replay frees what it allocated, once, with its size.
        let freed = unsafe {
            let ptr = self.base.add(offset as usize);
            self.arena.free(ptr, (bytes + self.header) as usize)
        };
        debug_assert!(freed.is_ok());
    }

    fn occupied(&self) -> Occupied {
        self.occupied
    }

    fn state_bytes(&self) -> u64 {
        self.arena.state_bytes() as u64
    }
}

/// dlmalloc with words of 4 bytes.
struct Modelled {
    model: Model,
    occupied: Occupied,
}

impl Modelled {
    const WORD: u64 = 4;

    fn new(bytes: u32) -> Self {
        Self { model: Model::new(bytes.into(), Self::WORD), occupied: Occupied::default() }
    }
}

impl Subject for Modelled {
    fn alloc(&mut self, bytes: u32) -> Option<u32> {
        let place = self.model.alloc(bytes.into())?;
        self.occupied.bytes += self.model.occupied(place).unwrap_or(0);
        self.occupied.tags += Self::WORD;
        Some(place as u32)
    }

    fn free(&mut self, offset: u32, _: u32) {
        self.occupied.bytes -= self.model.occupied(offset.into()).unwrap_or(0);
        self.occupied.tags -= Self::WORD;
        self.model.free(offset.into());
    }

    fn occupied(&self) -> Occupied {
        self.occupied
    }

    fn state_bytes(&self) -> u64 {
        crate::paper::DLMALLOC_STATE_BYTES + self.reserved_bytes()
    }

    fn reserved_bytes(&self) -> u64 {
        Model::foot_bytes(Self::WORD)
    }
}

/// The crate `dlmalloc`.
struct Dl {
    heap: dlmalloc::Dlmalloc<Once>,
    region: Region,
    occupied: Occupied,
}

impl Dl {
    const WORD: u64 = size_of::<usize>() as u64;

    fn new(bytes: u32) -> Self {
        let region = Region::new(bytes);
        let once = Once::new(region.0.as_ptr(), bytes as usize);
        let heap = dlmalloc::Dlmalloc::new_with_allocator(once);
        Self { heap, region, occupied: Occupied::default() }
    }

    /// The size of a live chunk, stored in all but the lowest three bits of its header.
    fn chunk(&self, ptr: NonNull<u8>) -> u64 {
        // SAFETY: a live allocation's header is the word before it.
        let header = unsafe { ptr.as_ptr().cast::<usize>().sub(1).read() };
        (header & !7) as u64
    }
}

impl Subject for Dl {
    fn alloc(&mut self, bytes: u32) -> Option<u32> {
        // SAFETY: the size is not zero, and every chunk has this alignment.
        let ptr = NonNull::new(unsafe { self.heap.malloc(bytes as usize, 8) })?;
        self.occupied.bytes += self.chunk(ptr);
        self.occupied.tags += Self::WORD;
        Some(self.region.offset(ptr))
    }

    fn free(&mut self, offset: u32, bytes: u32) {
        let ptr = self.region.at(offset);
        self.occupied.bytes -= self.chunk(ptr);
        self.occupied.tags -= Self::WORD;
        // SAFETY: the replay frees what it allocated, once, with its size.
        unsafe { self.heap.free(ptr.as_ptr(), bytes as usize, 8) };
    }

    fn occupied(&self) -> Occupied {
        self.occupied
    }

    fn state_bytes(&self) -> u64 {
        size_of::<dlmalloc::Dlmalloc<()>>() as u64 + self.reserved_bytes()
    }

    fn reserved_bytes(&self) -> u64 {
        Model::foot_bytes(Self::WORD)
    }
}

/// The crate `talc`, without its counters, which would count within the calls.
struct Talc {
    heap: talc::Talc<talc::ErrOnOom>,
    region: Region,
    /// Bytes of the region that never belong to the user, even when nothing is live.
    fixed: u64,
    occupied: Occupied,
}

impl Talc {
    /// The word at the end of each allocation.
    const TAG: u64 = size_of::<usize>() as u64;

    fn new(bytes: u32) -> Option<Self> {
        let region = Region::new(bytes);
        let mut heap = talc::Talc::new(talc::ErrOnOom);
        let span = talc::Span::from_base_size(region.0.as_ptr(), bytes as usize);
        // SAFETY: the region outlives the heap and is used by it alone.
        let claimed = unsafe { heap.claim(span) }.ok()?;
        // SAFETY: the span was claimed just now.
        let bins = unsafe { heap.get_allocated_span(claimed) };
        let fixed = (bins.size() + bytes as usize - claimed.size()) as u64;
        Some(Self { heap, region, fixed, occupied: Occupied::default() })
    }

    fn layout(bytes: u32) -> Option<Layout> {
        Layout::from_size_align(bytes as usize, 8).ok()
    }

    /// The size of a live chunk: from the allocation to the end of its tag. After the requested
    /// words comes either the tag, which points down to the chunk, or a pointer up to the tag.
    fn chunk(ptr: NonNull<u8>, bytes: u32) -> u64 {
        let words = (bytes as usize).div_ceil(size_of::<usize>());
        // SAFETY: a live allocation's tag or the pointer to it is the word after it.
        let (after, word) = unsafe {
            let after = ptr.cast::<*mut u8>().add(words);
            (after.addr().get(), after.read().addr())
        };
        (after.max(word) - ptr.addr().get()) as u64 + Self::TAG
    }
}

impl Subject for Talc {
    fn alloc(&mut self, bytes: u32) -> Option<u32> {
        // SAFETY: the size is not zero.
        let ptr = unsafe { self.heap.malloc(Self::layout(bytes)?) }.ok()?;
        self.occupied.bytes += Self::chunk(ptr, bytes);
        self.occupied.tags += Self::TAG;
        Some(self.region.offset(ptr))
    }

    fn free(&mut self, offset: u32, bytes: u32) {
        let Some(layout) = Self::layout(bytes) else { return };
        let ptr = self.region.at(offset);
        self.occupied.bytes -= Self::chunk(ptr, bytes);
        self.occupied.tags -= Self::TAG;
        // SAFETY: the replay frees what it allocated, once, with its size.
        unsafe { self.heap.free(ptr, layout) };
    }

    fn occupied(&self) -> Occupied {
        self.occupied
    }

    fn state_bytes(&self) -> u64 {
        // Its struct, and its bins in the region.
        size_of::<talc::Talc<talc::ErrOnOom>>() as u64 + self.fixed
    }

    fn reserved_bytes(&self) -> u64 {
        self.fixed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subset::Random;
    use proptest::prelude::*;

    /// The offsets that a random walk receives.
    fn walk(subject: &mut dyn Subject, seed: u64, sizes: u64) -> Vec<Option<u32>> {
        let (mut random, mut live, mut offsets) = (Random(seed), Vec::new(), Vec::new());
        for _ in 0..600 {
            if live.is_empty() || random.below(5) < 3 {
                let bytes = 1 + random.below(sizes) as u32;
                let offset = subject.alloc(bytes);
                offsets.push(offset);
                live.extend(offset.map(|offset| (offset, bytes)));
            } else {
                let (offset, bytes) = live.swap_remove(random.below(live.len() as u64) as usize);
                subject.free(offset, bytes);
            }
        }
        for (offset, bytes) in live {
            subject.free(offset, bytes);
        }
        assert_eq!(subject.occupied(), Occupied::default());
        offsets
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn the_model_of_dlmalloc_puts_everything_where_dlmalloc_does(
            seed: u64, sizes in prop_oneof![8..64u64, 64..700u64, 700..3000u64],
            bytes in prop_oneof![Just(4096u32), Just(16384), Just(65536)]
        ) {
            let mut model = Modelled {
                model: Model::new(bytes.into(), 8),
                occupied: Occupied::default(),
            };
            // Words of 8 bytes, but tags as with 4: only the offsets are compared.
            let ours = walk(&mut model, seed, sizes);
            let theirs = walk(&mut Dl::new(bytes), seed, sizes);
            prop_assert_eq!(ours, theirs);
        }
    }

    #[test]
    fn talcs_chunks_fill_the_region_when_not_even_the_smallest_request_fits() {
        for seed in 0..64 {
            let mut talc = Talc::new(16384).unwrap();
            let mut random = Random(seed);
            let mut live = Vec::new();
            // Every second one is freed, so that gaps of many sizes arise.
            for at in 0..60 {
                let bytes = 1 + random.below(400) as u32;
                live.extend(talc.alloc(bytes).map(|offset| (at, offset, bytes)));
            }
            for &(_, offset, bytes) in live.iter().filter(|(at, ..)| at % 2 == 1) {
                talc.free(offset, bytes);
            }
            live.retain(|(at, ..)| at % 2 == 0);
            // talc's smallest chunk is three words; free memory is in chunks of at least that size.
            while let Some(offset) = talc.alloc(8) {
                live.push((0, offset, 8));
            }
            let occupied = talc.occupied();
            assert_eq!(occupied.bytes, 16384 - talc.fixed);
            assert_eq!(occupied.tags, 8 * live.len() as u64);
            for (_, offset, bytes) in live {
                talc.free(offset, bytes);
            }
            assert_eq!(talc.occupied(), Occupied::default());
            // Everything that it does not reserve is one chunk again.
            let most = (16384 - talc.fixed - Talc::TAG) as u32;
            assert!(talc.alloc(most + 1).is_none() && talc.alloc(most).is_some());
        }
    }

    #[test]
    fn talc_counts_nothing_in_its_calls() {
        // Two words for the bins in use and the pointer to them; counters would add ten words.
        assert_eq!(size_of::<talc::Talc<talc::ErrOnOom>>(), 3 * size_of::<usize>());
    }

    #[test]
    fn every_kind_gives_back_what_it_took_and_states_what_it_keeps() {
        let kinds = [
            Kind::Sma(32),
            Kind::Sma(128),
            Kind::Sma(1024),
            Kind::Lm,
            Kind::Cam,
            Kind::Headed,
            Kind::ThreeQuarters,
            Kind::Exact(32),
            Kind::Exact(128),
            Kind::Dlmalloc,
            Kind::Dlmalloc64,
            Kind::Talc64,
        ];
        for (kind, bytes) in kinds.iter().flat_map(|&kind| [(kind, 8192), (kind, 1 << 20)]) {
            let tried = with(kind, bytes, |subject| {
                let got = walk(subject, 7, 300).iter().flatten().count();
                assert!(got > 20, "{}: {got} of {bytes}", kind.name());
                subject.state_bytes()
            });
            assert!(tried.is_some_and(|state| state > 0), "{} at {bytes}", kind.name());
        }
    }

    #[test]
    fn the_states_are_those_of_the_papers_tables() {
        let state = |kind, bytes| with(kind, bytes, |subject| subject.state_bytes()).unwrap();
        // Table 1: 40, 56, 104. Table 2: 112, 128.
        let small = [Kind::Sma(128), Kind::Lm, Kind::Cam].map(|kind| state(kind, 4096));
        assert_eq!(small, [40, 56, 104]);
        assert_eq!([Kind::Sma(128), Kind::Lm].map(|kind| state(kind, 16384)), [112, 128]);
    }
}
