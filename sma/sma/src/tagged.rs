//! The size in unused address bits (paper, section 4.3): no header, and no size to keep.

use crate::arena::RawArena;
use crate::error::{AllocError, FreeError};
use core::num::NonZeroU32;
use core::ptr::NonNull;

/// Bits of the byte offset in a handle; the size code lies above.
pub const OFFSET_BITS: u32 = 20;

/// The 12-bit code of a size in units, rounded up: exact below 512, a float with 8 bits of fraction
/// above. Codes increase with sizes.
const fn encode(units: u32) -> u32 {
    if units < 512 {
        return units;
    }
    let exponent = crate::tag::log2(units) - 8;
    // A fraction that rounds up to 512 is 256 with the next exponent: the same code.
    exponent * 256 + units.div_ceil(1 << exponent)
}

/// The size of a code.
const fn decode(code: u32) -> u32 {
    if code < 512 {
        return code;
    }
    let exponent = code / 256 - 1;
    (code - exponent * 256) << exponent
}

/// An allocation: 20 bits of offset into the region and 12 bits of size, in the 4 bytes of a
/// pointer on a 32-bit core.
///
/// It can be neither copied nor cloned, so safe code frees it at most once.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an allocation that nobody can free"]
pub struct Handle(NonZeroU32);

impl Handle {
    /// Bytes from the start of the region.
    pub const fn offset(&self) -> usize {
        self.0.get() as usize & ((1 << OFFSET_BITS) - 1)
    }

    /// The size code.
    const fn units(&self) -> u32 {
        decode(self.0.get() >> OFFSET_BITS)
    }

    /// The 32 bits, as C's `sma_ref`.
    pub const fn into_raw(self) -> u32 {
        self.0.get()
    }

    /// A handle from its bits; `None` for zero.
    ///
    /// # Safety
    /// The bits must come from [`Handle::into_raw`] and be used once.
    pub const unsafe fn from_raw(bits: u32) -> Option<Self> {
        match NonZeroU32::new(bits) {
            Some(bits) => Some(Self(bits)),
            None => None,
        }
    }
}

/// A heap that hands out [`Handle`]s.
#[derive(Debug)]
pub struct Tagged<A>(A);

impl<A: RawArena> Tagged<A> {
    /// Wraps a heap.
    pub const fn new(arena: A) -> Self {
        Self(arena)
    }

    /// The heap below.
    pub const fn inner(&self) -> &A {
        &self.0
    }

    /// Allocates. Beyond 511 granules the size is rounded up by at most 1/256.
    ///
    /// # Errors
    /// See [`AllocError`].
    #[inline]
    pub fn alloc(&self, bytes: usize) -> Result<Handle, AllocError> {
        self.0.units(bytes)?;
        let code = encode(bytes.div_ceil(A::GRANULE) as u32);
        let units = self.units_of(decode(code))?;
        let granule = self.0.take_marked(units).ok_or_else(|| self.0.exhausted(units))?;
        let bits = (code << OFFSET_BITS) | (granule * A::GRANULE as u32);
        // A size is at least one unit, so the bits are not zero.
        NonZeroU32::new(bits).map(Handle).ok_or(AllocError::ZeroSize)
    }

    /// The address of an allocation.
    #[inline]
    pub fn pointer(&self, handle: &Handle) -> NonNull<u8> {
        // SAFETY: handles have offsets inside the region.
        unsafe { self.0.base().add(handle.offset()) }
    }

    /// The bytes of an allocation, at least those requested.
    pub fn usable_bytes(&self, handle: &Handle) -> usize {
        self.units_of(handle.units()).map_or(0, |units| units as usize * A::GRANULE)
    }

    /// Frees.
    ///
    /// # Errors
    /// In a checked heap, a handle that is not this heap's.
    ///
    /// # Safety
    /// The memory must not be used afterwards. In an unchecked heap the handle must be this heap's.
    #[inline]
    pub unsafe fn free(&self, handle: Handle) -> Result<(), FreeError> {
        // SAFETY: the caller's promise.
        unsafe { self.free_bits(handle.0.get()) }
    }

    /// Frees the allocation that a handle's bits describe; for C.
    ///
    /// # Errors
    /// In a checked heap, every misuse by name.
    ///
    /// # Safety
    /// As [`Self::free`]; in an unchecked heap the bits must be those of a live handle.
    #[inline]
    pub unsafe fn free_bits(&self, bits: u32) -> Result<(), FreeError> {
        let code = bits >> OFFSET_BITS;
        let bytes = decode(code) as usize * A::GRANULE;
        let units = self.units_of(decode(code)).map_err(|_| FreeError::Size { bytes })?;
        let offset = bits as usize & ((1 << OFFSET_BITS) - 1);
        let granule = if self.0.is_checked() {
            if offset / A::GRANULE >= self.0.granules() as usize {
                let address = self.0.base().as_ptr() as usize + offset;
                return Err(FreeError::Foreign { address });
            }
            if !offset.is_multiple_of(A::GRANULE) {
                return Err(FreeError::Misaligned { offset, granule: A::GRANULE });
            }
            (offset / A::GRANULE) as u32
        } else {
            (offset / A::GRANULE) as u32
        };
        self.0.unmark(granule, units)?;
        // SAFETY: recorded as allocated in a checked heap; promised by the caller otherwise.
        unsafe { self.0.give(granule, units) };
        Ok(())
    }

    #[inline]
    fn units_of(&self, units: u32) -> Result<u32, AllocError> {
        self.0.units(units as usize * A::GRANULE)
    }
}

#[cfg(test)]
mod tests {
    use super::{OFFSET_BITS, decode, encode};

    #[test]
    fn every_size_of_a_megabyte_fits_twelve_bits_and_grows_by_at_most_one_256th() {
        let mut before = 0;
        let last = if cfg!(miri) { 1500 } else { 1u32 << 17 };
        for units in 1..=last {
            let code = encode(units);
            let size = decode(code);
            assert!(code < 1 << (32 - OFFSET_BITS), "{units}");
            assert!(code >= before, "codes grow with sizes");
            assert!(size >= units && size - units <= units / 256, "{units} became {size}");
            assert_eq!(encode(size), code, "a rounded size keeps its code");
            before = code;
        }
    }

    #[test]
    fn sizes_below_512_units_are_exact() {
        for units in 1..512 {
            assert_eq!(decode(encode(units)), units);
        }
    }
}
