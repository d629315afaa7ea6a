//! Memory of the right alignment.

use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};

/// Memory for a heap, aligned to 8. A heap moves its start up to a multiple of 8 and uses whole
/// blocks only, so that up to a block of an array of bytes can be lost.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct Region<const BYTES: usize>([MaybeUninit<u8>; BYTES]);

impl<const BYTES: usize> Region<BYTES> {
    /// Uninitialised memory.
    pub const fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; BYTES])
    }
}

impl<const BYTES: usize> Default for Region<BYTES> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const BYTES: usize> Deref for Region<BYTES> {
    type Target = [MaybeUninit<u8>];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<const BYTES: usize> DerefMut for Region<BYTES> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Region;
    use crate::{Heap, Local, PowerOfTwo, Short, Unchecked};

    type Small<'m> = Heap<'m, 128, PowerOfTwo, Unchecked, Short, Local>;

    #[test]
    fn a_region_loses_nothing_and_unaligned_bytes_lose_a_block() {
        let mut region = Region::<{ 4096 + 8 }>::new();
        // 4 kB with blocks of 128 bytes have 40 bytes of state.
        let free = |memory: &mut [_]| Small::in_place(memory).unwrap().survey().free_bytes();
        assert_eq!(free(&mut region[..4096]), 4096 - 40);
        assert_eq!(free(&mut region[1..4097]), 4096 - 40 - 128);
    }
}
