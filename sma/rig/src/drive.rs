//! Runs operations on a heap and on the model side by side.

use crate::Rng;
use crate::model::Model;
use sma::{AllocError, Arena, Classes, Corruption, FreeError, RawArena, Survey};
use std::ptr::NonNull;

/// An operation. Numbers are reduced modulo the valid range.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// Allocates this many bytes.
    Alloc(usize),
    /// Frees a live allocation by its index.
    Free(usize),
    /// Frees any offset with any size: usually wrong, and then the free must be refused.
    Abuse(usize, usize),
}

/// A live allocation.
#[derive(Clone, Copy, Debug)]
struct Live {
    ptr: NonNull<u8>,
    bytes: usize,
    granule: u32,
    units: u32,
    mark: u8,
}

/// How strictly the model can predict the heap.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Strict {
    /// The place of every allocation is predicted.
    Places,
    /// A pool is asked first, and may return a region that is not a power of two and could not be
    /// cut from the rest: only refusals are predicted.
    Refusals,
}

/// A heap, its model, and the live allocations.
pub struct Driver<'h, A: RawArena> {
    heap: &'h A,
    model: Model,
    live: Vec<Live>,
    strict: Strict,
    next: u8,
    /// Wrong frees that the heap refused: size, foreign, misaligned, double, interior, other.
    pub refused: [usize; 6],
}

impl<'h, A: RawArena> Driver<'h, A> {
    /// A heap with nothing allocated.
    pub fn new(heap: &'h A, strict: Strict) -> Self {
        let units = (A::BLOCK / A::GRANULE) as u32;
        let model = Model::new((heap.granules() / units) as usize, units);
        Self { heap, model, live: Vec::new(), strict, next: 0, refused: [0; 6] }
    }

    fn offset(&self, ptr: NonNull<u8>) -> usize {
        ptr.as_ptr() as usize - self.heap.base().as_ptr() as usize
    }

    /// The size of a request by the documented rule: whole granules, with the last block's part
    /// rounded by the classes.
    fn units(&self, bytes: usize) -> u32 {
        A::Classes::round(bytes.div_ceil(A::GRANULE) as u32, self.model.units)
    }

    /// Allocates on both and compares; returns whether the request was served.
    pub fn alloc(&mut self, bytes: usize) -> bool {
        let capacity = self.heap.capacity_bytes();
        let got = self.heap.alloc(bytes);
        if bytes == 0 {
            assert_eq!(got, Err(AllocError::ZeroSize));
            return false;
        }
        if bytes > capacity {
            assert_eq!(got, Err(AllocError::TooLarge { bytes, limit: capacity }));
            return false;
        }
        let units = self.units(bytes);
        let places = self.model.places(units);
        let Ok(ptr) = got else {
            assert_eq!(got, Err(AllocError::Exhausted { bytes: units as usize * A::GRANULE }));
            assert!(places.is_empty(), "{bytes} bytes refused with room at {places:?}");
            return false;
        };
        let offset = self.offset(ptr);
        assert_eq!(offset % A::GRANULE, 0, "aligned to the granule");
        let granule = (offset / A::GRANULE) as u32;
        if units < self.model.units {
            assert_eq!(granule % units.next_power_of_two(), 0, "aligned to its class");
        } else {
            assert_eq!(granule % self.model.units, 0, "aligned to the block");
        }
        assert!(granule + units <= self.heap.granules(), "inside the region");
        assert!(self.model.is_all(granule, units, true), "{bytes} bytes at {offset} overlap");
        if self.strict == Strict::Places {
            assert!(!places.is_empty(), "{bytes} bytes served without room");
            assert!(places.contains(&granule), "{units} units at {granule}, not in {places:?}");
        }
        self.model.set(granule, units, false);
        self.next = self.next.wrapping_add(1);
        // SAFETY: the allocation is this driver's.
        unsafe { ptr.as_ptr().write_bytes(self.next, units as usize * A::GRANULE) };
        self.live.push(Live { ptr, bytes, granule, units, mark: self.next });
        true
    }

    /// Frees the live allocation with this index, modulo their number.
    pub fn free(&mut self, index: usize) {
        if self.live.is_empty() {
            return;
        }
        let live = self.live.swap_remove(index % self.live.len());
        self.verify(&live);
        // SAFETY: a live allocation of this heap, forgotten here.
        assert_eq!(unsafe { self.heap.free(live.ptr, live.bytes) }, Ok(()));
        assert!(self.model.is_all(live.granule, live.units, false));
        self.model.set(live.granule, live.units, true);
    }

    /// The written contents are intact: neither neighbours nor the heap touched them.
    fn verify(&self, live: &Live) {
        // SAFETY: a live allocation of this heap.
        let bytes = unsafe {
            std::slice::from_raw_parts(live.ptr.as_ptr(), live.units as usize * A::GRANULE)
        };
        assert!(bytes.iter().all(|&b| b == live.mark), "{live:?} was overwritten");
    }

    /// A free that is most likely wrong, on a checked heap.
    pub fn abuse(&mut self, offset: usize, bytes: usize) {
        let capacity = self.heap.capacity_bytes();
        let offset = offset % (capacity + 64);
        let ptr = NonNull::new(self.heap.base().as_ptr().wrapping_add(offset)).unwrap();
        let granule = (offset / A::GRANULE) as u32;
        let right = self.live.iter().position(|l| self.offset(l.ptr) == offset);
        // SAFETY: a checked heap refuses whatever does not match, and a free that matches is
        // recorded below.
        let got = unsafe { self.heap.free(ptr, bytes) };
        let expected = if bytes == 0 || bytes > capacity {
            Err(FreeError::Size { bytes })
        } else if offset >= capacity {
            Err(FreeError::Foreign { address: ptr.as_ptr() as usize })
        } else if !offset.is_multiple_of(A::GRANULE) {
            Err(FreeError::Misaligned { offset, granule: A::GRANULE })
        } else if let Some(index) = right {
            let units = self.units(bytes);
            if units == self.live[index].units {
                let live = self.live.swap_remove(index);
                self.model.set(live.granule, live.units, true);
                Ok(())
            } else {
                Err(FreeError::SizeMismatch { offset, bytes: units as usize * A::GRANULE })
            }
        } else if self.model.is_all(granule, 1, true) {
            Err(FreeError::DoubleFree { offset })
        } else {
            Err(FreeError::Interior { offset })
        };
        assert_eq!(got, expected, "free of {bytes} bytes at {offset}");
        let case = match got {
            Ok(()) => return,
            Err(FreeError::Size { .. }) => 0,
            Err(FreeError::Foreign { .. }) => 1,
            Err(FreeError::Misaligned { .. }) => 2,
            Err(FreeError::DoubleFree { .. }) => 3,
            Err(FreeError::Interior { .. }) => 4,
            Err(_) => 5,
        };
        self.refused[case] += 1;
    }

    /// Does one operation.
    pub fn apply(&mut self, op: Op) {
        match op {
            Op::Alloc(bytes) => drop(self.alloc(bytes)),
            Op::Free(index) => self.free(index),
            Op::Abuse(offset, bytes) => self.abuse(offset, bytes),
        }
    }

    /// Compares the heap's own account with the model's, down to single regions.
    pub fn compare(&self, survey: Survey, check: Result<(), Corruption>) {
        assert_eq!(check, Ok(()));
        assert_eq!(survey.free_blocks, self.model.free_blocks());
        assert_eq!(survey.free_regions, self.model.regions());
        assert_eq!(survey.free_bytes(), self.model.free_units() * A::GRANULE as u32);
    }

    /// Frees all live allocations.
    pub fn free_all(&mut self) {
        while !self.live.is_empty() {
            self.free(0);
        }
    }

    /// The number of live allocations.
    pub fn live(&self) -> usize {
        self.live.len()
    }
}

/// A walk through all fill levels: it fills the heap until it refuses, drains it, and dwells in
/// between.
pub struct Walk {
    /// Generates the operations.
    pub rng: Rng,
    /// Whether it allocates more than it frees.
    pub filling: bool,
    /// The heap's size in bytes.
    pub capacity: usize,
}

impl Walk {
    /// A walk that begins by filling.
    pub fn new(seed: u64, capacity: usize) -> Self {
        Self { rng: Rng(seed), filling: true, capacity }
    }

    /// Mostly small sizes, some of a few blocks, a few large ones.
    fn size(&mut self) -> usize {
        match self.rng.below(100) {
            0..60 => 1 + self.rng.below(64),
            60..85 => 1 + self.rng.below(300),
            85..97 => 1 + self.rng.below(self.capacity / 8),
            97..99 => 1 + self.rng.below(self.capacity),
            _ => [0, usize::MAX, self.capacity + 1][self.rng.below(3)],
        }
    }

    /// The next operation.
    pub fn op(&mut self) -> Op {
        if self.rng.below(200) == 0 {
            self.filling = !self.filling;
        }
        let allocs = if self.filling { 65 } else { 35 };
        if self.rng.below(100) < allocs {
            Op::Alloc(self.size())
        } else {
            Op::Free(self.rng.draw() as usize)
        }
    }
}

/// Operations from the bytes of a fuzzer: three bytes each.
pub fn decode(bytes: &[u8]) -> impl Iterator<Item = Op> + '_ {
    bytes.chunks_exact(3).map(|c| {
        let number = usize::from(u16::from_le_bytes([c[1], c[2]]));
        match c[0] % 8 {
            0..=2 => Op::Alloc(number % 200),
            3 => Op::Alloc(number),
            4..=6 => Op::Free(number),
            _ => Op::Abuse(number, usize::from(c[0] / 8) * 8),
        }
    })
}
