//! A 4-byte size header before each allocation: for plain pointers when the caller does not keep
//! sizes (the paper's "size tag elimination turned off").

use crate::arena::{Arena, RawArena};
use crate::error::{AllocError, FreeError};
use core::ptr::NonNull;

/// Bytes of a header.
pub const HEADER_BYTES: usize = 4;

/// A heap whose `free` needs only the pointer.
///
/// Build the heap below with [`Heap::in_place_for_headers`](crate::Heap::in_place_for_headers) or
/// [`Heap::new_for_headers`](crate::Heap::new_for_headers); then allocations are aligned to 8,
/// otherwise to 4.
#[derive(Debug)]
pub struct Headed<A>(A);

impl<A: RawArena> Headed<A> {
    /// Wraps a heap.
    pub const fn new(arena: A) -> Self {
        Self(arena)
    }

    /// The heap below.
    pub const fn inner(&self) -> &A {
        &self.0
    }

    /// Allocates.
    ///
    /// # Errors
    /// See [`AllocError`].
    #[inline]
    pub fn alloc(&self, bytes: usize) -> Result<NonNull<u8>, AllocError> {
        if bytes == 0 {
            return Err(AllocError::ZeroSize);
        }
        let limit = self.0.capacity_bytes();
        let whole = bytes.checked_add(HEADER_BYTES).ok_or(AllocError::TooLarge { bytes, limit })?;
        let units = self.0.units(whole)?;
        let region =
            self.0.pointer_to(self.0.take_marked(units).ok_or_else(|| self.0.exhausted(units))?);
        // SAFETY: the region is this call's and has room for header and payload.
        unsafe {
            region.cast::<u32>().write(units);
            Ok(region.add(HEADER_BYTES))
        }
    }

    /// Frees.
    ///
    /// # Errors
    /// In a checked heap, every misuse by name, an overwritten header included.
    ///
    /// # Safety
    /// The memory must not be used afterwards. In an unchecked heap `ptr` must come from `alloc` of
    /// this heap and not be freed yet.
    #[inline]
    pub unsafe fn free(&self, ptr: NonNull<u8>) -> Result<(), FreeError> {
        let address = ptr.as_ptr() as usize;
        let region = NonNull::new(ptr.as_ptr().wrapping_sub(HEADER_BYTES))
            .ok_or(FreeError::Foreign { address })?;
        let granule = self.0.granule_of(region)?;
        if !self.0.is_start(granule) {
            // Refused whatever the size: the error says whether it is free or inside an allocation.
            self.0.unmark(granule, 1)?;
        }
        // SAFETY: an allocation of this heap starts here, or so the caller promises.
        let units = unsafe { region.cast::<u32>().read() };
        if self.0.is_checked() && self.0.units(units as usize * A::GRANULE) != Ok(units) {
            return Err(FreeError::Size { bytes: units as usize * A::GRANULE });
        }
        self.0.unmark(granule, units)?;
        // SAFETY: recorded as allocated in a checked heap; promised by the caller otherwise.
        unsafe { self.0.give(granule, units) };
        Ok(())
    }

    /// The payload bytes of an allocation of `bytes`.
    ///
    /// # Errors
    /// Sizes that cannot be allocated.
    pub fn usable_bytes(&self, bytes: usize) -> Result<usize, AllocError> {
        self.0.usable_bytes(bytes.saturating_add(HEADER_BYTES)).map(|all| all - HEADER_BYTES)
    }
}
