//! The hierarchy as the core sees it.

use crate::access::{Access, Level, TlbLevel};
use crate::caches::Caches;
use crate::params::MemoryParams;
use crate::scratchpad::Scratchpad;
use crate::statistics::{CacheStatistics, DramStatistics, MemoryStatistics};
use crate::translate::{PAGE_SHIFT, Translated, Translation};
use params::ConfigError;

/// Caches, TLBs, prefetchers and DRAM of one core.
///
/// Calls come in program order, each with its own cycle; cycles need not rise. For a **store**
/// the core calls [`Memory::store_address_tlb`] when the address is generated and
/// [`Memory::store`] when the store leaves the store buffer; the latter does no translation.
///
/// `ready` of a load is load-to-use: cycle plus [`crate::L1dParams::latency`] on an L1 hit, plus
/// [`crate::L2Params::latency`] on an L2 hit, and so on, plus what translation, in-flight lines,
/// full buffers and busy ports add.
#[derive(Clone, Debug)]
pub struct Memory {
    caches: Caches,
    translation: Translation,
    line_shift: u32,
    line_mask: u64,
    /// Bits of a data address that tell places in memory apart.
    place_mask: u64,
    line_split: u64,
    page_split: u64,
    scratchpad: Scratchpad,
}

impl Memory {
    /// An empty hierarchy, or the first broken rule of the parameters.
    pub fn new(params: &MemoryParams) -> Result<Self, ConfigError> {
        params.validate()?;
        Ok(Self {
            caches: Caches::new(params),
            translation: Translation::new(params),
            line_shift: params.line.trailing_zeros(),
            line_mask: params.line - 1,
            place_mask: u64::MAX,
            line_split: params.l1d.line_split_cycles,
            page_split: params.l1d.page_split_cycles,
            scratchpad: Scratchpad::new(&params.scratchpad, params.l1d.write_cycles),
        })
    }

    /// From now on data addresses that agree in the bits of `mask` are the same place in memory,
    /// whatever their pages: several pages are mapped to one frame. The mask must keep the offset
    /// in a page. Translation still tells all pages apart.
    pub fn alias(&mut self, mask: u64) {
        self.place_mask = mask | ((1 << PAGE_SHIFT) - 1);
    }

    /// The place in memory of a data address: the address itself unless pages are aliases.
    #[inline(always)]
    pub fn place(&self, addr: u64) -> u64 {
        addr & self.place_mask
    }

    /// After a load that missed the first-level TLB: the cycle in which its address (the last page
    /// of it) was translated.
    pub fn translated(&self) -> u64 {
        self.translation.translated()
    }

    /// Puts the translation of a data address into the second-level TLB, as of a page touched some
    /// time ago.
    pub fn warm_translation(&mut self, addr: u64) {
        self.translation.warm_second_level(addr);
    }

    /// A load of `size` bytes by the instruction at `pc`: `ready` is the cycle at which an
    /// integer load with a simple address has its result (an L1 hit: cycle + latency).
    #[inline]
    pub fn load(&mut self, pc: u64, addr: u64, size: u32, cycle: u64) -> Access {
        self.load_as::<true>(pc, addr, size, cycle)
    }

    /// [`Memory::load`] without times.
    #[inline]
    pub fn warm_load(&mut self, pc: u64, addr: u64, size: u32) {
        self.load_as::<false>(pc, addr, size, 0);
    }

    /// Translates the address of a store when it is generated; `ready` is the cycle at which the
    /// translation is known (its own cycle on a DTLB hit).
    #[inline]
    pub fn store_address_tlb(&mut self, addr: u64, size: u32, cycle: u64) -> Access {
        self.store_address_as::<true>(addr, size, cycle)
    }

    /// A store of `size` bytes leaves the store buffer at `cycle` or as soon as it can: `ready`
    /// is the cycle at which it is written. A miss brings the line in for ownership. Does no
    /// translation, see [`Memory::store_address_tlb`]. Asking with the cycle of retirement, and
    /// letting stores be written in order, models a store buffer that asks for ownership ahead.
    #[inline]
    pub fn store(&mut self, _pc: u64, addr: u64, size: u32, cycle: u64) -> Access {
        self.store_as::<true>(addr, size, cycle)
    }

    /// [`Memory::store_address_tlb`] and [`Memory::store`] without times.
    #[inline]
    pub fn warm_store(&mut self, _pc: u64, addr: u64, size: u32) {
        self.store_address_as::<false>(addr, size, 0);
        self.store_as::<false>(addr, size, 0);
    }

    /// A fetch of the instruction line of `addr`: `ready` is cycle + [`crate::L1iParams::latency`]
    /// on a hit.
    #[inline]
    pub fn fetch(&mut self, addr: u64, cycle: u64) -> Access {
        self.fetch_as::<true>(addr, cycle)
    }

    /// [`Memory::fetch`] without times.
    #[inline]
    pub fn warm_fetch(&mut self, addr: u64) {
        self.fetch_as::<false>(addr, 0);
    }

    /// A fetch down a wrong path: like [`Memory::fetch`], but a page never touched ends it without
    /// a fault (`ready` is its own cycle, and nothing is brought in).
    pub fn fetch_wrong_path(&mut self, addr: u64, cycle: u64) -> Access {
        if self.translation.touched(addr) {
            return self.fetch_as::<true>(addr, cycle);
        }
        Access { ready: cycle, level: Level::L1, tlb: TlbLevel::L1, page_fault: false }
    }

    /// A software prefetch into the L1D, counted as a load but shown to no prefetcher. Dropped
    /// (`ready` is its own cycle) when the page was never touched.
    pub fn prefetch(&mut self, addr: u64, cycle: u64) -> Access {
        self.prefetch_as::<true>(addr, cycle)
    }

    /// [`Memory::prefetch`] without times.
    pub fn warm_prefetch(&mut self, addr: u64) {
        self.prefetch_as::<false>(addr, 0);
    }

    #[inline]
    fn splits(&self, addr: u64, size: u32) -> bool {
        (addr & self.line_mask) + u64::from(size) > self.line_mask + 1
    }

    #[inline(always)]
    fn load_as<const TIMED: bool>(&mut self, pc: u64, addr: u64, size: u32, cycle: u64) -> Access {
        if self.scratchpad.holds(addr) {
            return self.scratchpad.load(cycle);
        }
        if self.splits(addr, size) {
            return self.split_load::<TIMED>(pc, addr, size, cycle);
        }
        let access = self.load_line::<TIMED>(addr, cycle);
        self.caches.train::<TIMED>(pc, self.place(addr), cycle);
        access
    }

    #[inline(always)]
    fn load_line<const TIMED: bool>(&mut self, addr: u64, cycle: u64) -> Access {
        let t = self.translation.data::<TIMED>(addr, cycle, &mut self.caches);
        let line = self.place(addr) >> self.line_shift;
        let (ready, level) = self.caches.load::<TIMED>(line, t.cycle);
        Access { ready, level, tlb: t.level, page_fault: t.page_fault }
    }

    #[cold]
    #[inline(never)]
    fn split_load<const TIMED: bool>(
        &mut self,
        pc: u64,
        addr: u64,
        size: u32,
        cycle: u64,
    ) -> Access {
        let second = addr.wrapping_add(u64::from(size) - 1) & !self.line_mask;
        let crosses_page = (addr ^ second) >> PAGE_SHIFT != 0;
        let t = self.translation.data::<TIMED>(addr, cycle, &mut self.caches);
        let u = match crosses_page {
            true => self.translation.data::<TIMED>(second, cycle, &mut self.caches),
            false => t,
        };
        let half = |caches: &mut Caches, addr: u64, t: Translated| {
            let (ready, level) = caches.load::<TIMED>(addr >> self.line_shift, t.cycle);
            Access { ready, level, tlb: t.level, page_fault: t.page_fault }
        };
        let (addr, second) = (self.place(addr), self.place(second));
        let first = half(&mut self.caches, addr, t);
        let mut access = first.join(half(&mut self.caches, second, u));
        access.ready += if crosses_page { self.page_split } else { self.line_split };
        self.caches.train::<TIMED>(pc, addr, cycle);
        access
    }

    #[inline]
    fn store_address_as<const TIMED: bool>(&mut self, addr: u64, size: u32, cycle: u64) -> Access {
        if self.scratchpad.holds(addr) {
            return Scratchpad::at(cycle);
        }
        let t = self.translation.data::<TIMED>(addr, cycle, &mut self.caches);
        let access =
            Access { ready: t.cycle, level: Level::L1, tlb: t.level, page_fault: t.page_fault };
        let last = addr.wrapping_add(u64::from(size.max(1)) - 1);
        if (addr ^ last) >> PAGE_SHIFT == 0 {
            return access;
        }
        let t = self.translation.data::<TIMED>(last, cycle, &mut self.caches);
        access.join(Access {
            ready: t.cycle,
            level: Level::L1,
            tlb: t.level,
            page_fault: t.page_fault,
        })
    }

    #[inline]
    fn store_as<const TIMED: bool>(&mut self, addr: u64, size: u32, cycle: u64) -> Access {
        if self.scratchpad.holds(addr) {
            return self.scratchpad.store(cycle);
        }
        let (ready, level) = self.caches.store::<TIMED>(self.place(addr) >> self.line_shift, cycle);
        let access = Access { ready, level, tlb: TlbLevel::L1, page_fault: false };
        if !self.splits(addr, size) {
            return access;
        }
        let last = addr.wrapping_add(u64::from(size) - 1);
        let (ready, level) = self.caches.store::<TIMED>(self.place(last) >> self.line_shift, cycle);
        // The two halves are written one after the other.
        let ready = ready.max(access.ready + 1);
        access.join(Access { ready, level, ..access })
    }

    #[inline]
    fn fetch_as<const TIMED: bool>(&mut self, addr: u64, cycle: u64) -> Access {
        let t = self.translation.code::<TIMED>(addr, cycle, &mut self.caches);
        let (ready, level) = self.caches.fetch::<TIMED>(addr >> self.line_shift, t.cycle);
        Access { ready, level, tlb: t.level, page_fault: t.page_fault }
    }

    fn prefetch_as<const TIMED: bool>(&mut self, addr: u64, cycle: u64) -> Access {
        if self.scratchpad.holds(addr) || !self.translation.touched(addr) {
            return Scratchpad::at(cycle);
        }
        self.load_line::<TIMED>(addr, cycle)
    }

    /// The antagonist: in each set of L1D and L2 the less recently used half of the ways becomes
    /// invalid; what was dirty in them is lost, not written back.
    pub fn trash_lru_half(&mut self) {
        self.caches.l1d.array.trash_lru_half();
        self.caches.l2.array.trash_lru_half();
    }

    /// Empties all TLBs and the walker's cache.
    pub fn flush_tlbs(&mut self) {
        self.translation.flush();
    }

    /// Another process ran: the TLBs are empty (Linux on Haswell without process-context
    /// identifiers writes CR3), the caches keep what they hold.
    pub fn context_switch(&mut self) {
        self.flush_tlbs();
    }

    /// The program unmapped, or gave back, a range: the next touch of a page wholly in it is a
    /// first one. The caches keep its lines; the kernel clears a page before it hands it out
    /// again, so a new mapping finds its lines cached as well.
    pub fn unmap(&mut self, addr: u64, len: u64) {
        self.translation.unmap(addr, len);
    }

    /// The counters since the last reset.
    pub fn statistics(&self) -> MemoryStatistics {
        let [itlb, dtlb, stlb] = self.translation.statistics();
        MemoryStatistics {
            l1i: self.caches.l1i.statistics,
            l1d: self.caches.l1d.statistics,
            l2: self.caches.l2.statistics,
            llc: self.caches.llc.statistics,
            itlb,
            dtlb,
            stlb,
            walk: self.translation.walk_statistics(),
            dram: self.caches.dram.statistics,
        }
    }

    /// Sets all counters to zero; contents stay.
    pub fn reset_statistics(&mut self) {
        let c = &mut self.caches;
        for cache in [&mut c.l1i, &mut c.l1d, &mut c.l2, &mut c.llc] {
            cache.statistics = CacheStatistics::default();
        }
        c.dram.statistics = DramStatistics::default();
        self.translation.reset_statistics();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_one_frame_share_lines_but_not_translations() {
        let params = MemoryParams::default();
        let mut memory = Memory::new(&params).unwrap();
        memory.alias(0xfff);
        memory.warm_load(0, 0x1040, 8);
        memory.warm_translation(0x7040);
        let access = memory.load(0, 0x7040, 8, 1000);
        assert_eq!((access.level, access.tlb), (Level::L1, TlbLevel::Stlb));
        assert_eq!(access.ready, 1000 + params.stlb.latency + params.l1d.latency);
        assert!(!access.page_fault, "it was touched some time ago");
        // A second load while the translation is on its way waits for it too.
        let access = memory.load(0, 0x7048, 8, 1001);
        assert_eq!(access.tlb, TlbLevel::OnItsWay);
        assert_eq!(access.ready, 1000 + params.stlb.latency + params.l1d.latency);
    }
}
