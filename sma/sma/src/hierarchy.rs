//! Several memories of different latency as one: the run-time system that section 1 of the paper
//! envisages.

use crate::arena::Arena;
use crate::error::{AllocError, FreeError};
use core::ptr::NonNull;

/// One memory.
#[derive(Clone, Copy)]
pub struct Level<'a> {
    /// Its heap, of any block size and kind.
    pub arena: &'a dyn Arena,
    /// Access latency in cycles, or any other figure of merit: smaller is better.
    pub latency_cycles: u32,
}

/// Where an allocation should lie. Only a preference: exhausted memories are skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hint {
    /// In the fastest memory that has room.
    #[default]
    Fastest,
    /// In the slowest memory whose latency is at most this, so that faster ones stay free for
    /// allocations that need them; failing that, in slower ones.
    LatencyAtMost(u32),
    /// In the slowest memory.
    Slowest,
}

/// `N` memories, fastest first.
pub struct Hierarchy<'a, const N: usize> {
    levels: [Level<'a>; N],
}

impl<'a, const N: usize> Hierarchy<'a, N> {
    /// Orders the memories by latency.
    pub fn new(mut levels: [Level<'a>; N]) -> Self {
        levels.sort_unstable_by_key(|level| level.latency_cycles);
        Self { levels }
    }

    /// The memories, fastest first.
    pub fn levels(&self) -> &[Level<'a>; N] {
        &self.levels
    }

    /// The level that contains an address.
    pub fn level_of(&self, ptr: NonNull<u8>) -> Option<usize> {
        self.levels.iter().position(|level| level.arena.contains(ptr))
    }

    /// The order in which levels are tried: the preferred one, the slower ones, and last the faster
    /// ones, nearest first.
    fn order(&self, hint: Hint) -> impl Iterator<Item = &Level<'a>> {
        let start = match hint {
            Hint::Fastest => 0,
            Hint::Slowest => N.saturating_sub(1),
            Hint::LatencyAtMost(limit) => {
                self.levels.iter().rposition(|l| l.latency_cycles <= limit).unwrap_or(0)
            }
        };
        self.levels[start..].iter().chain(self.levels[..start].iter().rev())
    }

    /// Allocates where the hint says or, if there is no room, in the next memory.
    ///
    /// # Errors
    /// The first level's error if all refuse.
    pub fn alloc_with(
        &self,
        bytes: usize,
        align: usize,
        hint: Hint,
    ) -> Result<NonNull<u8>, AllocError> {
        let mut first = None;
        for level in self.order(hint) {
            match level.arena.alloc_aligned(bytes, align) {
                Ok(ptr) => return Ok(ptr),
                Err(error) => first = first.or(Some(error)),
            }
        }
        Err(first.unwrap_or(AllocError::Exhausted { bytes }))
    }

    fn owner(&self, ptr: NonNull<u8>) -> Result<&dyn Arena, FreeError> {
        let level = self.level_of(ptr);
        level
            .map(|level| self.levels[level].arena)
            .ok_or(FreeError::Foreign { address: ptr.as_ptr() as usize })
    }
}

impl<const N: usize> Arena for Hierarchy<'_, N> {
    fn alloc(&self, bytes: usize) -> Result<NonNull<u8>, AllocError> {
        self.alloc_with(bytes, 1, Hint::Fastest)
    }

    unsafe fn free(&self, ptr: NonNull<u8>, bytes: usize) -> Result<(), FreeError> {
        // SAFETY: the caller's promise.
        unsafe { self.owner(ptr)?.free_aligned(ptr, bytes, 1) }
    }

    fn alloc_aligned(&self, bytes: usize, align: usize) -> Result<NonNull<u8>, AllocError> {
        self.alloc_with(bytes, align, Hint::Fastest)
    }

    unsafe fn free_aligned(
        &self,
        ptr: NonNull<u8>,
        bytes: usize,
        align: usize,
    ) -> Result<(), FreeError> {
        // SAFETY: the caller's promise.
        unsafe { self.owner(ptr)?.free_aligned(ptr, bytes, align) }
    }

    fn usable_bytes(&self, bytes: usize) -> Result<usize, AllocError> {
        let limit = self.capacity_bytes();
        let all = self.levels.iter().filter_map(|level| level.arena.usable_bytes(bytes).ok());
        // The minimum over the levels that could serve the request.
        all.min().ok_or(if bytes == 0 {
            AllocError::ZeroSize
        } else {
            AllocError::TooLarge { bytes, limit }
        })
    }

    fn contains(&self, ptr: NonNull<u8>) -> bool {
        self.level_of(ptr).is_some()
    }

    fn capacity_bytes(&self) -> usize {
        self.levels.iter().map(|level| level.arena.capacity_bytes()).sum()
    }

    fn total_state_bytes(&self) -> usize {
        self.levels.iter().map(|level| level.arena.total_state_bytes()).sum()
    }
}
