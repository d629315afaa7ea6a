//! Where memory goes: [`Metered`] counts the bytes requested from a heap and granted by it, and
//! [`Waste`] breaks the losses down by the causes of Figures 9 and 11.

use crate::arena::Arena;
use crate::engine::Survey;
use crate::error::{AllocError, FreeError};
use core::cell::Cell;
use core::ptr::NonNull;

/// Bytes lost, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waste {
    /// Lists, bitmap, tag positions, checks, pools and locks.
    pub state: usize,
    /// Size headers in live allocations.
    pub tags: usize,
    /// Live bytes beyond those requested, excluding headers.
    pub internal: usize,
    /// Free bytes in pieces too small for the request in question, and bytes after the last whole
    /// block.
    pub external: usize,
}

impl Waste {
    /// The sum of all causes.
    pub const fn total(&self) -> usize {
        self.state + self.tags + self.internal + self.external
    }
}

impl Survey {
    /// Free bytes in pieces too small for a request of `bytes`: external fragmentation from the
    /// view of that request. All free bytes if nothing fits and it is refused.
    pub fn unusable_bytes(&self, bytes: usize) -> usize {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let small = self.free_regions.iter().enumerate().map(|(class, &count)| {
            let size = self.granule_bytes << class;
            if size < bytes { count * size } else { 0 }
        });
        let blocks =
            if self.longest_run_blocks * self.block_bytes < bytes { self.free_blocks } else { 0 };
        (small.sum::<u32>() + blocks * self.block_bytes) as usize
    }
}

/// A heap that counts. For studies; it belongs to one core and is four words larger.
#[derive(Debug)]
pub struct Metered<A> {
    arena: A,
    header_bytes: usize,
    live: Cell<usize>,
    requested: Cell<usize>,
    granted: Cell<usize>,
    peak_requested: Cell<usize>,
}

impl<A: Arena> Metered<A> {
    /// Wraps a heap. `header_bytes` of every request belong to a header, not to the user: 0, or
    /// [`HEADER_BYTES`](crate::HEADER_BYTES).
    pub const fn new(arena: A, header_bytes: usize) -> Self {
        Self {
            arena,
            header_bytes,
            live: Cell::new(0),
            requested: Cell::new(0),
            granted: Cell::new(0),
            peak_requested: Cell::new(0),
        }
    }

    /// The heap below.
    pub const fn inner(&self) -> &A {
        &self.arena
    }

    /// Live allocations.
    pub fn live(&self) -> usize {
        self.live.get()
    }

    /// Bytes that the user requested and has not freed.
    pub fn requested_bytes(&self) -> usize {
        self.requested.get()
    }

    /// Bytes those allocations occupy.
    pub fn granted_bytes(&self) -> usize {
        self.granted.get()
    }

    /// The most bytes that the user ever had.
    pub fn peak_requested_bytes(&self) -> usize {
        self.peak_requested.get()
    }

    /// The losses at this moment, with external fragmentation from the view of a request of
    /// `bytes`. `survey` is the heap's.
    pub fn waste(&self, survey: &Survey, bytes: usize) -> Waste {
        let tags = self.live.get() * self.header_bytes;
        Waste {
            state: self.arena.total_state_bytes(),
            tags,
            internal: self.granted.get() - self.requested.get() - tags,
            external: survey.unusable_bytes(bytes + self.header_bytes),
        }
    }

    /// Allocates `bytes` for the user.
    ///
    /// # Errors
    /// As the heap below.
    pub fn alloc(&self, bytes: usize) -> Result<NonNull<u8>, AllocError> {
        if bytes == 0 {
            return Err(AllocError::ZeroSize);
        }
        let whole = bytes.saturating_add(self.header_bytes);
        let ptr = self.arena.alloc(whole)?;
        self.live.set(self.live.get() + 1);
        self.requested.set(self.requested.get() + bytes);
        self.granted.set(self.granted.get() + self.arena.usable_bytes(whole)?);
        self.peak_requested.set(self.peak_requested.get().max(self.requested.get()));
        Ok(ptr)
    }

    /// Frees `bytes` of the user's.
    ///
    /// # Errors
    /// As the heap below.
    ///
    /// # Safety
    /// As [`Arena::free`].
    pub unsafe fn free(&self, ptr: NonNull<u8>, bytes: usize) -> Result<(), FreeError> {
        let whole = bytes.saturating_add(self.header_bytes);
        // SAFETY: the caller's promise.
        unsafe { self.arena.free(ptr, whole)? };
        let granted = self.arena.usable_bytes(whole).map_err(|_| FreeError::Size { bytes })?;
        self.live.set(self.live.get() - 1);
        self.requested.set(self.requested.get() - bytes);
        self.granted.set(self.granted.get() - granted);
        Ok(())
    }
}
