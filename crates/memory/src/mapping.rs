//! What stands behind a data address. The default costs nothing: every address is a distinct
//! location, in the caches.

use params::ConfigError;

use crate::params::{MemoryParams, ScratchpadParams};

/// What a data address means.
pub trait Mapping: Clone + Send + Sized {
    /// Built from the parameters; an error where this mapping cannot do what they ask for.
    fn new(params: &MemoryParams) -> Result<Self, ConfigError>;

    /// The memory location of a data address. Keeps the offset within a page; translation still
    /// tells all pages apart.
    #[inline(always)]
    fn place(&self, addr: u64) -> u64 {
        addr
    }

    /// The device that answers an access beginning at this address, if there is one. Such an access
    /// bypasses caches and translation.
    #[inline(always)]
    fn device(&self, _addr: u64) -> Option<&dyn Device> {
        None
    }
}

/// Something that answers accesses in place of the caches. Accesses do not change its state, so
/// that warming can skip it.
pub trait Device {
    /// The cycle at which the data of a load at `cycle` can be used.
    fn load(&self, cycle: u64) -> u64;
    /// The cycle at which a store at `cycle` is written.
    fn store(&self, cycle: u64) -> u64;
}

/// Every address is a distinct location, in the caches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flat;

impl Mapping for Flat {
    fn new(params: &MemoryParams) -> Result<Self, ConfigError> {
        match params.scratchpad.size {
            0 => Ok(Self),
            size => Err(ConfigError::rule(
                "scratchpad.size",
                size,
                "must be 0 here, where every address lies in the caches",
                "leave [memory.scratchpad] out",
            )),
        }
    }
}

/// Several pages map to one frame, as in measurements of basic blocks.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    mask: u64,
}

impl Alias {
    /// From now on, data addresses that agree in the bits of `mask` are the same memory location.
    /// Different offsets in a page are always different locations.
    pub fn set(&mut self, mask: u64) {
        self.mask = mask | ((1 << crate::translate::PAGE_SHIFT) - 1);
    }
}

impl Mapping for Alias {
    fn new(params: &MemoryParams) -> Result<Self, ConfigError> {
        Flat::new(params)?;
        Ok(Self { mask: u64::MAX })
    }

    #[inline(always)]
    fn place(&self, addr: u64) -> u64 {
        addr & self.mask
    }
}

/// An address range with a device behind it.
#[derive(Clone, Copy, Debug)]
pub struct Ranged<D = Scratchpad> {
    base: u64,
    size: u64,
    device: D,
}

impl Mapping for Ranged {
    fn new(params: &MemoryParams) -> Result<Self, ConfigError> {
        let ScratchpadParams { base, size, latency } = params.scratchpad;
        let device = Scratchpad { latency, write_cycles: params.l1d.write_cycles };
        Ok(Self { base, size, device })
    }

    #[inline(always)]
    fn device(&self, addr: u64) -> Option<&dyn Device> {
        (addr.wrapping_sub(self.base) < self.size).then_some(&self.device)
    }
}

/// Memory beside the caches, with a single latency. Its contents are the program's business.
#[derive(Clone, Copy, Debug)]
pub struct Scratchpad {
    latency: u64,
    write_cycles: u64,
}

impl Device for Scratchpad {
    fn load(&self, cycle: u64) -> u64 {
        cycle + self.latency
    }

    fn store(&self, cycle: u64) -> u64 {
        cycle + self.write_cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Memory;

    fn params() -> MemoryParams {
        let mut params = MemoryParams::default();
        params.scratchpad.base = 0x10_0000;
        params.scratchpad.size = 0x1000;
        params.scratchpad.latency = 60;
        params
    }

    #[test]
    fn accesses_inside_the_range_take_the_latency_and_leave_the_caches_alone() {
        let params = params();
        let mut memory = Memory::<Ranged>::mapped(&params).unwrap();
        let before = memory.statistics();
        for addr in [0x10_0000, 0x10_0fff] {
            assert_eq!(memory.load(0, addr, 8, 1000).ready, 1000 + 60);
            assert_eq!(memory.store_address_tlb(addr, 8, 1000).ready, 1000);
            assert_eq!(memory.store(addr, 8, 1000).ready, 1000 + params.l1d.write_cycles);
            memory.prefetch(addr, 1000);
            memory.warm_load(0, addr, 8);
        }
        assert_eq!(memory.statistics(), before);
        // One byte before and after the range: pages never touched.
        for addr in [0x0f_ffff, 0x10_1000] {
            assert!(memory.load(0, addr, 1, 1000).page_fault);
        }
    }

    #[test]
    fn a_range_of_no_bytes_holds_no_address() {
        let mut memory = Memory::<Ranged>::mapped(&MemoryParams::default()).unwrap();
        for addr in [0, u64::MAX - 7] {
            assert!(memory.load(0, addr, 8, 0).page_fault);
        }
    }

    #[test]
    fn a_hierarchy_without_devices_refuses_a_machine_that_has_one() {
        let error = Memory::new(&params()).map(|_| ()).unwrap_err().0;
        assert!(error.starts_with("scratchpad.size = 4096: must be 0 here"), "{error}");
    }
}
