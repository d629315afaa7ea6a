//! What stands behind a data address. The default costs nothing: every address is a distinct
//! location, in the caches.

use params::ConfigError;

use crate::params::{MemoryParams, ScratchpadParams};
use crate::translate::{PAGE_NUMBERS, PAGE_SHIFT};
use crate::variation::Random;

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

    /// The location of an instruction address.
    #[inline(always)]
    fn code_place(&self, addr: u64) -> u64 {
        addr
    }

    /// The data address that a prefetcher sees which follows instructions across pages.
    #[inline(always)]
    fn followed(&self, addr: u64) -> u64 {
        self.place(addr)
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
        in_order(params)?;
        without_devices(params)?;
        Ok(Self)
    }
}

fn without_devices(params: &MemoryParams) -> Result<(), ConfigError> {
    let rule = "must be 0 here, where every address lies in the caches";
    absent("scratchpad.size", params.scratchpad.size, rule, "leave [memory.scratchpad] out")
}

fn in_order(params: &MemoryParams) -> Result<(), ConfigError> {
    let rule = "must be 0 here, where every page lies in the frame of its own number";
    absent("seed", params.seed, rule, "leave it out")
}

/// An error for a parameter that asks for what a mapping cannot do.
fn absent(path: &str, value: u64, rule: &str, remedy: &str) -> Result<(), ConfigError> {
    match value {
        0 => Ok(()),
        _ => Err(ConfigError::rule(path, value, rule, remedy)),
    }
}

/// Each page lies in a frame that the seed draws, code and data alike: the page colours of one of
/// many runs. No two pages share a frame.
#[derive(Clone, Copy, Debug)]
pub struct Scattered {
    /// Odd, so that multiplication permutes the page numbers.
    factors: [u64; 2],
}

impl Scattered {
    /// The frame's address. Every step permutes the numbers below 2^36: a right shift with an
    /// exclusive or, and a product with an odd number modulo 2^36.
    #[inline(always)]
    fn frame(&self, addr: u64) -> u64 {
        let mut page = addr >> PAGE_SHIFT & PAGE_NUMBERS;
        for factor in self.factors {
            page = (page ^ page >> 17).wrapping_mul(factor) & PAGE_NUMBERS;
        }
        (page ^ page >> 19) << PAGE_SHIFT | addr & ((1 << PAGE_SHIFT) - 1)
    }
}

impl Mapping for Scattered {
    fn new(params: &MemoryParams) -> Result<Self, ConfigError> {
        without_devices(params)?;
        let mut random = Random::new(params.seed);
        Ok(Self { factors: [random.draw() | 1, random.draw() | 1] })
    }

    #[inline(always)]
    fn place(&self, addr: u64) -> u64 {
        self.frame(addr)
    }

    #[inline(always)]
    fn code_place(&self, addr: u64) -> u64 {
        self.frame(addr)
    }

    #[inline(always)]
    fn followed(&self, addr: u64) -> u64 {
        addr
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
        self.mask = mask | ((1 << PAGE_SHIFT) - 1);
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
    fn scattered_pages_keep_their_offsets_and_share_no_frame() {
        let drawn = |seed| {
            let params = MemoryParams { seed, ..MemoryParams::default() };
            Scattered::new(&params).unwrap()
        };
        let mapping = drawn(1);
        let frames: std::collections::BTreeSet<u64> =
            (0..100_000_u64).map(|page| mapping.place(page << 12) >> 12).collect();
        assert_eq!(frames.len(), 100_000);
        assert!(frames.iter().all(|frame| *frame <= PAGE_NUMBERS));
        let place = mapping.place(0x7fff_1234_5678);
        assert_eq!(place & 0xfff, 0x678);
        assert_eq!(mapping.code_place(0x7fff_1234_5678), place, "one memory for code and data");
        assert_ne!(drawn(2).place(0x7fff_1234_5678), place);
    }

    /// The colour of a page is the set of a 256 KB 8-way L2 that it begins in: 8 of them. Of 8,000
    /// neighbouring pages each colour has 1,000 on average with a standard deviation of
    /// sqrt(8000 / 8 * 7 / 8) = 30; five of them.
    #[test]
    fn the_colours_of_neighbouring_pages_are_drawn_evenly() {
        for seed in 1..=20 {
            let params = MemoryParams { seed, ..MemoryParams::default() };
            let mapping = Scattered::new(&params).unwrap();
            let mut pages = [0_u32; 8];
            for page in 0x7f12_3000_u64..0x7f12_3000 + 8_000 {
                pages[(mapping.place(page << 12) >> 12 & 7) as usize] += 1;
            }
            assert!(pages.iter().all(|n| n.abs_diff(1_000) <= 150), "seed {seed}: {pages:?}");
        }
    }

    #[test]
    fn a_hierarchy_with_pages_in_order_refuses_a_seed() {
        let params = MemoryParams { seed: 3, ..MemoryParams::default() };
        let error = Memory::new(&params).map(|_| ()).unwrap_err().0;
        assert!(error.starts_with("seed = 3: must be 0 here"), "{error}");
    }

    #[test]
    fn a_hierarchy_without_devices_refuses_a_machine_that_has_one() {
        let error = Memory::new(&params()).map(|_| ()).unwrap_err().0;
        assert!(error.starts_with("scratchpad.size = 4096: must be 0 here"), "{error}");
    }
}
