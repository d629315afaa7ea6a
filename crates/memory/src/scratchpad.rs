//! Memory beside the caches: an address range with one latency.

use crate::access::{Access, Level, TlbLevel};
use crate::params::ScratchpadParams;

/// The range and its times. What it holds is the program's business.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scratchpad {
    base: u64,
    size: u64,
    latency: u64,
    write_cycles: u64,
}

impl Scratchpad {
    pub(crate) fn new(params: &ScratchpadParams, write_cycles: u64) -> Self {
        let ScratchpadParams { base, size, latency } = *params;
        Self { base, size, latency, write_cycles }
    }

    /// Whether an access belongs here: the one that begins here.
    #[inline(always)]
    pub(crate) fn holds(&self, addr: u64) -> bool {
        addr.wrapping_sub(self.base) < self.size
    }

    pub(crate) fn load(&self, cycle: u64) -> Access {
        Self::at(cycle + self.latency)
    }

    pub(crate) fn store(&self, cycle: u64) -> Access {
        Self::at(cycle + self.write_cycles)
    }

    /// An access that neither caches nor TLBs see.
    pub(crate) const fn at(ready: u64) -> Access {
        Access { ready, level: Level::L1, tlb: TlbLevel::L1, page_fault: false }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Memory, MemoryParams};

    #[test]
    fn accesses_inside_take_the_latency_and_leave_the_caches_alone() {
        let mut params = MemoryParams::default();
        params.scratchpad.base = 0x10_0000;
        params.scratchpad.size = 0x1000;
        params.scratchpad.latency = 60;
        let mut memory = Memory::new(&params).unwrap();
        let before = memory.statistics();
        for addr in [0x10_0000, 0x10_0fff] {
            assert_eq!(memory.load(0, addr, 8, 1000).ready, 1000 + 60);
            assert_eq!(memory.store_address_tlb(addr, 8, 1000).ready, 1000);
            assert_eq!(memory.store(0, addr, 8, 1000).ready, 1000 + params.l1d.write_cycles);
            memory.prefetch(addr, 1000);
            memory.warm_load(0, addr, 8);
        }
        assert_eq!(memory.statistics(), before);
        // One byte before and after it: pages never touched.
        for addr in [0x0f_ffff, 0x10_1000] {
            assert!(memory.load(0, addr, 1, 1000).page_fault);
        }
    }

    #[test]
    fn there_is_none_by_default() {
        let mut memory = Memory::new(&MemoryParams::default()).unwrap();
        assert!(
            memory.load(0, 0, 8, 0).page_fault && memory.load(0, u64::MAX - 7, 8, 0).page_fault
        );
    }
}
