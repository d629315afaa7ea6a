//! The interfaces of heaps: [`RawArena`] in units for the layers of this crate, [`Arena`] in bytes
//! and pointers for users.

use crate::error::{AllocError, FreeError};
use core::ptr::NonNull;

/// A heap in units and granule numbers: the basis of pools, handles and headers.
///
/// # Safety
/// `take` must return granules whose memory is used by nobody else until they are given back.
pub unsafe trait RawArena {
    /// Bytes of a unit.
    const GRANULE: usize;
    /// Bytes of a block.
    const BLOCK: usize;
    /// The rule for sizes.
    type Classes: crate::Classes;

    /// Units of a block.
    const PER_BLOCK: u32 = (Self::BLOCK / Self::GRANULE) as u32;

    /// Requests up to this many bytes are served on the fast path, whether there is room for them
    /// or not.
    const SHORT_BYTES: usize = Self::BLOCK;

    /// Address of granule 0.
    fn base(&self) -> NonNull<u8>;
    /// Number of granules, at least one block.
    fn granules(&self) -> u32;
    /// Takes `units`, a rounded size, without recording it.
    fn take(&self, units: u32) -> Option<u32>;
    /// Takes a request's units, which are not rounded yet. Layers that look a size up by the
    /// requested one start here.
    #[inline(always)]
    fn take_asked(&self, asked: u32) -> Option<u32> {
        self.take(Self::rounded(asked))
    }
    /// Takes a block as regions of `units` each, a rounded size below a block; each is given back
    /// separately. `None` if there is no block, or if regions of this size do not fill one exactly.
    #[inline]
    fn take_apart(&self, units: u32) -> Option<u32> {
        let _ = units;
        None
    }
    /// Gives back what `take` returned.
    ///
    /// # Safety
    /// `granule` and `units` must be those of one `take`, and the memory must no longer be used.
    unsafe fn give(&self, granule: u32, units: u32);
    /// Gives back what `take_asked` returned.
    ///
    /// # Safety
    /// As `give`, for `take_asked`.
    #[inline(always)]
    unsafe fn give_asked(&self, granule: u32, asked: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.give(granule, Self::rounded(asked)) }
    }
    /// Records an allocation, in checked heaps.
    fn mark(&self, granule: u32, units: u32);
    /// Removes the record of an allocation, or refuses, in checked heaps; always succeeds
    /// otherwise.
    ///
    /// # Errors
    /// The misuse, by name.
    fn unmark(&self, granule: u32, units: u32) -> Result<(), FreeError>;
    /// True if wrong frees are refused.
    fn is_checked(&self) -> bool;
    /// Whether a recorded allocation starts at the granule; true in unchecked heaps.
    fn is_start(&self, granule: u32) -> bool;
    /// Bytes of state, of this layer and those below it.
    fn state_bytes(&self) -> usize;

    /// The size to which a request's units are rounded.
    #[inline(always)]
    fn rounded(asked: u32) -> u32 {
        <Self::Classes as crate::Classes>::round(asked, Self::PER_BLOCK)
    }

    /// A request of at least one byte and at most `SHORT_BYTES`, in units, not rounded.
    #[inline(always)]
    fn short_units(bytes: usize) -> Option<u32> {
        let last = bytes.wrapping_sub(1);
        (last < Self::SHORT_BYTES).then(|| (last / Self::GRANULE) as u32 + 1)
    }

    /// Any request in units, not rounded.
    ///
    /// # Errors
    /// Zero, or more than the region.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    fn long_units(&self, bytes: usize) -> Result<u32, AllocError> {
        let limit = self.granules() as usize * Self::GRANULE;
        if bytes == 0 {
            return Err(AllocError::ZeroSize);
        }
        if bytes > limit {
            return Err(AllocError::TooLarge { bytes, limit });
        }
        Ok(bytes.div_ceil(Self::GRANULE) as u32)
    }

    /// Rounds a request to units.
    ///
    /// # Errors
    /// Zero, or more than the region.
    #[inline(always)]
    fn units(&self, bytes: usize) -> Result<u32, AllocError> {
        self.long_units(bytes).map(Self::rounded)
    }

    /// The granule of a pointer.
    ///
    /// # Errors
    /// A pointer that is not a granule's address.
    #[inline]
    fn granule_of(&self, ptr: NonNull<u8>) -> Result<u32, FreeError> {
        let address = ptr.as_ptr() as usize;
        let offset = address.wrapping_sub(self.base().as_ptr() as usize);
        if offset / Self::GRANULE >= self.granules() as usize {
            return Err(FreeError::Foreign { address });
        }
        if !offset.is_multiple_of(Self::GRANULE) {
            return Err(FreeError::Misaligned { offset, granule: Self::GRANULE });
        }
        Ok((offset / Self::GRANULE) as u32)
    }

    /// The pointer to a granule.
    #[inline]
    fn pointer_to(&self, granule: u32) -> NonNull<u8> {
        // SAFETY: a granule number of this heap lies in the region.
        unsafe { self.base().add(granule as usize * Self::GRANULE) }
    }

    /// The error for a `take` that found nothing.
    #[cold]
    fn exhausted(&self, units: u32) -> AllocError {
        AllocError::Exhausted { bytes: units as usize * Self::GRANULE }
    }

    /// `take` and `mark`.
    #[inline(always)]
    fn take_marked(&self, units: u32) -> Option<u32> {
        let granule = self.take(units)?;
        self.mark(granule, units);
        Some(granule)
    }

    /// The size and alignment with which a request is served.
    ///
    /// # Errors
    /// An alignment that this region cannot provide.
    #[inline]
    fn fit(&self, bytes: usize, align: usize) -> Result<usize, AllocError> {
        // Small regions are aligned to their rounded size, counted from the region's start; large
        // ones are aligned to the block.
        let of_base = 1usize << (self.base().as_ptr() as usize).trailing_zeros();
        let limit = of_base.min(Self::BLOCK);
        if !align.is_power_of_two() || align > limit {
            return Err(AllocError::Alignment { align, limit });
        }
        if bytes == 0 {
            return Err(AllocError::ZeroSize);
        }
        Ok(bytes.max(align))
    }
}

/// A heap in bytes. Callers keep the size of what they allocated, or use [`Tagged`] or [`Headed`],
/// which keep it for them.
///
/// [`Tagged`]: crate::Tagged
/// [`Headed`]: crate::Headed
pub trait Arena {
    /// Allocates `bytes`, aligned to 8 if the region is.
    ///
    /// # Errors
    /// See [`AllocError`].
    fn alloc(&self, bytes: usize) -> Result<NonNull<u8>, AllocError>;

    /// Frees an allocation of `bytes`.
    ///
    /// # Errors
    /// In a checked heap, every misuse by name; the heap is unchanged.
    ///
    /// # Safety
    /// The memory must not be used afterwards. In an unchecked heap, `ptr` must come from `alloc`
    /// of this heap with the same `bytes` (or one rounded to the same size) and not be freed yet.
    unsafe fn free(&self, ptr: NonNull<u8>, bytes: usize) -> Result<(), FreeError>;

    /// Allocates with an alignment of up to a block, as far as the region itself is aligned.
    ///
    /// # Errors
    /// See [`AllocError`].
    fn alloc_aligned(&self, bytes: usize, align: usize) -> Result<NonNull<u8>, AllocError>;

    /// Frees what `alloc_aligned` returned.
    ///
    /// # Errors
    /// As `free`.
    ///
    /// # Safety
    /// As `free`, with the same `align` too.
    unsafe fn free_aligned(
        &self,
        ptr: NonNull<u8>,
        bytes: usize,
        align: usize,
    ) -> Result<(), FreeError>;

    /// The bytes that an allocation of `bytes` actually has.
    ///
    /// # Errors
    /// Sizes that cannot be allocated.
    fn usable_bytes(&self, bytes: usize) -> Result<usize, AllocError>;

    /// Whether an address lies in the region.
    fn contains(&self, ptr: NonNull<u8>) -> bool;

    /// Bytes under management.
    fn capacity_bytes(&self) -> usize;

    /// Bytes of state, inside the region or not.
    fn total_state_bytes(&self) -> usize;
}

/// `alloc` of more than a block, out of line to keep the fast path short.
#[inline(never)]
fn take_long<A: RawArena>(arena: &A, bytes: usize) -> Option<u32> {
    let asked = arena.long_units(bytes).ok()?;
    // More than a block: the request implies it, and here the compiler learns it.
    take_asked_marked(arena, asked.max(A::PER_BLOCK))
}

/// `take_asked` and `mark`.
#[inline(always)]
fn take_asked_marked<A: RawArena>(arena: &A, asked: u32) -> Option<u32> {
    let granule = arena.take_asked(asked)?;
    arena.mark(granule, A::rounded(asked));
    Some(granule)
}

/// Why a request failed.
#[cold]
#[inline(never)]
fn refusal<A: RawArena>(arena: &A, bytes: usize) -> AllocError {
    match arena.units(bytes) {
        Ok(units) => arena.exhausted(units),
        Err(error) => error,
    }
}

/// `free` of more than a block.
///
/// # Safety
/// As `Arena::free`.
#[inline(never)]
unsafe fn give_long<A: RawArena>(arena: &A, granule: u32, bytes: usize) -> Result<(), FreeError> {
    let asked = arena.long_units(bytes).map_err(|_| FreeError::Size { bytes })?;
    // SAFETY: the caller's promise.
    unsafe { give_marked(arena, granule, asked.max(A::PER_BLOCK)) }
}

/// `unmark` and `give_asked`.
///
/// # Safety
/// As `Arena::free`.
#[inline(always)]
unsafe fn give_marked<A: RawArena>(arena: &A, granule: u32, asked: u32) -> Result<(), FreeError> {
    arena.unmark(granule, A::rounded(asked))?;
    // SAFETY: recorded as allocated in a checked heap; promised by the caller otherwise.
    unsafe { arena.give_asked(granule, asked) };
    Ok(())
}

impl<A: RawArena> Arena for A {
    #[inline]
    fn alloc(&self, bytes: usize) -> Result<NonNull<u8>, AllocError> {
        let found = match Self::short_units(bytes) {
            Some(asked) => take_asked_marked(self, asked),
            None => take_long(self, bytes),
        };
        found.map(|granule| self.pointer_to(granule)).ok_or_else(|| refusal(self, bytes))
    }

    #[inline]
    unsafe fn free(&self, ptr: NonNull<u8>, bytes: usize) -> Result<(), FreeError> {
        let granule = if self.is_checked() {
            let _ = self.units(bytes).map_err(|_| FreeError::Size { bytes })?;
            self.granule_of(ptr)?
        } else {
            ((ptr.as_ptr() as usize - self.base().as_ptr() as usize) / A::GRANULE) as u32
        };
        match Self::short_units(bytes) {
            // SAFETY: the caller's promise.
            Some(asked) => unsafe { give_marked(self, granule, asked) },
            // SAFETY: the caller's promise.
            None => unsafe { give_long(self, granule, bytes) },
        }
    }

    #[inline]
    fn alloc_aligned(&self, bytes: usize, align: usize) -> Result<NonNull<u8>, AllocError> {
        self.alloc(self.fit(bytes, align)?)
    }

    #[inline]
    unsafe fn free_aligned(
        &self,
        ptr: NonNull<u8>,
        bytes: usize,
        align: usize,
    ) -> Result<(), FreeError> {
        let bytes = self.fit(bytes, align).map_err(|_| FreeError::Size { bytes })?;
        // SAFETY: the caller's promise.
        unsafe { self.free(ptr, bytes) }
    }

    fn usable_bytes(&self, bytes: usize) -> Result<usize, AllocError> {
        self.units(bytes).map(|units| units as usize * A::GRANULE)
    }

    fn contains(&self, ptr: NonNull<u8>) -> bool {
        let offset = (ptr.as_ptr() as usize).wrapping_sub(self.base().as_ptr() as usize);
        offset < self.capacity_bytes()
    }

    fn capacity_bytes(&self) -> usize {
        self.granules() as usize * A::GRANULE
    }

    fn total_state_bytes(&self) -> usize {
        self.state_bytes()
    }
}

// SAFETY: the same heap.
unsafe impl<A: RawArena> RawArena for &A {
    const GRANULE: usize = A::GRANULE;
    const BLOCK: usize = A::BLOCK;
    type Classes = A::Classes;

    #[inline(always)]
    fn base(&self) -> NonNull<u8> {
        A::base(self)
    }

    #[inline(always)]
    fn granules(&self) -> u32 {
        A::granules(self)
    }

    #[inline(always)]
    fn take(&self, units: u32) -> Option<u32> {
        A::take(self, units)
    }

    #[inline(always)]
    fn take_asked(&self, asked: u32) -> Option<u32> {
        A::take_asked(self, asked)
    }

    #[inline(always)]
    fn take_apart(&self, units: u32) -> Option<u32> {
        A::take_apart(self, units)
    }

    #[inline(always)]
    unsafe fn give(&self, granule: u32, units: u32) {
        // SAFETY: the caller's promise.
        unsafe { A::give(self, granule, units) }
    }

    #[inline(always)]
    unsafe fn give_asked(&self, granule: u32, asked: u32) {
        // SAFETY: the caller's promise.
        unsafe { A::give_asked(self, granule, asked) }
    }

    #[inline]
    fn mark(&self, granule: u32, units: u32) {
        A::mark(self, granule, units);
    }

    #[inline]
    fn unmark(&self, granule: u32, units: u32) -> Result<(), FreeError> {
        A::unmark(self, granule, units)
    }

    fn is_checked(&self) -> bool {
        A::is_checked(self)
    }

    fn is_start(&self, granule: u32) -> bool {
        A::is_start(self, granule)
    }

    fn state_bytes(&self) -> usize {
        A::state_bytes(self)
    }
}
