//! The hierarchy as the core sees it.

use crate::access::{Access, Level, TlbLevel};
use crate::caches::Caches;
use crate::mapping::{Alias, Flat, Mapping};
use crate::params::MemoryParams;
use crate::shared::Shared;
use crate::statistics::{LevelStatistics, MemoryStatistics};
use crate::translate::{PAGE_SHIFT, Translated, Translation};
use params::ConfigError;

/// Caches, TLBs, prefetchers and DRAM of one core.
///
/// Calls come in program order, each with its own cycle; cycles need not increase. For a **store**
/// the core calls [`Memory::store_address_tlb`] when the address is generated and [`Memory::store`]
/// when the store leaves the store buffer; the latter does no translation.
///
/// `ready` of a load is its load-to-use time: cycle plus [`crate::L1dParams::latency`] on an L1
/// hit, otherwise plus [`crate::LevelParams::load_to_use`] of the level that has the line, plus
/// whatever translation, in-flight lines, full buffers and busy ports add.
///
/// # Panics
/// Accesses and statistics panic while the shared half is lent, see [`Memory::take_shared`].
#[derive(Clone, Debug)]
pub struct Memory<M: Mapping = Flat> {
    caches: Caches,
    translation: Translation,
    mapping: M,
    line_shift: u32,
    line_mask: u64,
    line_split: u64,
    page_split: u64,
}

impl Memory {
    /// An empty hierarchy, or an error for the first rule that the parameters break.
    pub fn new(params: &MemoryParams) -> Result<Self, ConfigError> {
        Self::mapped(params)
    }
}

impl Memory<Alias> {
    /// From now on, data addresses that agree in the bits of `mask` are the same memory location,
    /// whatever their pages: several pages are mapped to one frame.
    pub fn alias(&mut self, mask: u64) {
        self.mapping.set(mask);
    }

    /// Puts the translation of a data address into the second-level TLB, as if the page had been
    /// touched some time ago.
    pub fn warm_translation(&mut self, addr: u64) {
        self.translation.warm_second_level(addr, &mut self.caches.shared);
    }
}

impl<M: Mapping> Memory<M> {
    /// An empty hierarchy with this mapping of data addresses, or an error for the first rule that
    /// the parameters break.
    pub fn mapped(params: &MemoryParams) -> Result<Self, ConfigError> {
        params.validate()?;
        Ok(Self {
            caches: Caches::new(params)?,
            translation: Translation::new(params),
            mapping: M::new(params)?,
            line_shift: params.line.trailing_zeros(),
            line_mask: params.line - 1,
            line_split: params.l1d.line_split_cycles,
            page_split: params.l1d.page_split_cycles,
        })
    }

    /// Line size of every cache in bytes: a power of two.
    #[inline]
    pub fn line_bytes(&self) -> u64 {
        self.line_mask + 1
    }

    /// Takes the shared half out, to lend it to another core; `None` if it is already out.
    pub fn take_shared(&mut self) -> Option<Box<Shared>> {
        self.caches.shared.0.take()
    }

    /// Puts in a shared half, which must come from a memory of equal parameters; returns the one
    /// that was here.
    pub fn put_shared(&mut self, shared: Box<Shared>) -> Option<Box<Shared>> {
        self.caches.shared.0.replace(shared)
    }

    /// The memory location of a data address: the address itself unless pages are aliases.
    #[inline(always)]
    pub fn place(&self, addr: u64) -> u64 {
        self.mapping.place(addr)
    }

    /// After a load that missed the first-level TLB: the cycle at which its address (its last page,
    /// if split) was translated.
    pub fn translated(&self) -> u64 {
        self.translation.translated()
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

    /// A store of `size` bytes leaves the store buffer at `cycle` or as soon as it can: `ready` is
    /// the cycle at which it is written. A miss fetches the line for ownership. Does no
    /// translation, see [`Memory::store_address_tlb`]. Asking with the cycle of retirement and
    /// writing stores in order models a store buffer that requests ownership ahead of time.
    #[inline]
    pub fn store(&mut self, addr: u64, size: u32, cycle: u64) -> Access {
        self.store_as::<true>(addr, size, cycle)
    }

    /// [`Memory::store_address_tlb`] and [`Memory::store`] without times.
    #[inline]
    pub fn warm_store(&mut self, addr: u64, size: u32) {
        self.store_address_as::<false>(addr, size, 0);
        self.store_as::<false>(addr, size, 0);
    }

    /// A fetch of the instruction line of `addr`: `ready` is cycle + [`crate::L1iParams::latency`]
    /// on a hit.
    #[inline]
    pub fn fetch(&mut self, addr: u64, cycle: u64) -> Access {
        let caches = &mut self.caches;
        let t = self.translation.code::<true>(addr, cycle, caches);
        let (ready, level) =
            caches.fetch::<true>(self.mapping.code_place(addr) >> self.line_shift, t.cycle);
        Access { ready, level, tlb: t.level, page_fault: t.page_fault }
    }

    /// [`Memory::fetch`] without times.
    #[inline(always)]
    pub fn warm_fetch(&mut self, addr: u64) {
        self.translation.code::<false>(addr, 0, &mut self.caches);
        self.caches.fetch::<false>(self.mapping.code_place(addr) >> self.line_shift, 0);
    }

    /// A fetch on the wrong path: like [`Memory::fetch`], but a page never touched ends it without
    /// a fault (`ready` is its own cycle, and nothing is filled).
    pub fn fetch_wrong_path(&mut self, addr: u64, cycle: u64) -> Access {
        if self.translation.touched(addr, &self.caches.shared) {
            return self.fetch(addr, cycle);
        }
        beside_the_caches(cycle)
    }

    /// A software prefetch into the L1D, counted as a load but not shown to the prefetchers.
    /// Dropped (`ready` is its own cycle) when the page was never touched. Warming treats it as a
    /// load.
    pub fn prefetch(&mut self, addr: u64, cycle: u64) -> Access {
        if self.mapping.device(addr).is_some()
            || !self.translation.touched(addr, &self.caches.shared)
        {
            return beside_the_caches(cycle);
        }
        self.load_line::<true>(addr, cycle)
    }

    #[inline]
    fn splits(&self, addr: u64, size: u32) -> bool {
        (addr & self.line_mask) + u64::from(size) > self.line_mask + 1
    }

    #[inline(always)]
    fn load_as<const TIMED: bool>(&mut self, pc: u64, addr: u64, size: u32, cycle: u64) -> Access {
        if let Some(device) = self.mapping.device(addr) {
            return beside_the_caches(device.load(cycle));
        }
        if self.splits(addr, size) {
            return self.split_load::<TIMED>(pc, addr, size, cycle);
        }
        let access = self.load_line::<TIMED>(addr, cycle);
        self.train::<TIMED>(pc, addr, access.level, cycle);
        access
    }

    #[inline(always)]
    fn train<const TIMED: bool>(&mut self, pc: u64, addr: u64, level: Level, cycle: u64) {
        let (place, followed) = (self.mapping.place(addr), self.mapping.followed(addr));
        self.caches.train::<TIMED>(pc, place, followed, level, cycle);
    }

    #[inline(always)]
    fn load_line<const TIMED: bool>(&mut self, addr: u64, cycle: u64) -> Access {
        let caches = &mut self.caches;
        let t = self.translation.data::<TIMED>(addr, cycle, caches);
        let line = self.mapping.place(addr) >> self.line_shift;
        let (ready, level) = caches.load::<TIMED>(line, t.cycle);
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
        let caches = &mut self.caches;
        let t = self.translation.data::<TIMED>(addr, cycle, caches);
        let u = match crosses_page {
            true => self.translation.data::<TIMED>(second, cycle, caches),
            false => t,
        };
        let mut half = |addr: u64, t: Translated| {
            let (ready, level) = caches.load::<TIMED>(addr >> self.line_shift, t.cycle);
            Access { ready, level, tlb: t.level, page_fault: t.page_fault }
        };
        let first = half(self.mapping.place(addr), t);
        let mut access = first.join(half(self.mapping.place(second), u));
        access.ready += if crosses_page { self.page_split } else { self.line_split };
        self.train::<TIMED>(pc, addr, access.level, cycle);
        access
    }

    #[inline]
    fn store_address_as<const TIMED: bool>(&mut self, addr: u64, size: u32, cycle: u64) -> Access {
        if self.mapping.device(addr).is_some() {
            return beside_the_caches(cycle);
        }
        let caches = &mut self.caches;
        let t = self.translation.data::<TIMED>(addr, cycle, caches);
        let access =
            Access { ready: t.cycle, level: Level::L1, tlb: t.level, page_fault: t.page_fault };
        let last = addr.wrapping_add(u64::from(size.max(1)) - 1);
        if (addr ^ last) >> PAGE_SHIFT == 0 {
            return access;
        }
        let t = self.translation.data::<TIMED>(last, cycle, caches);
        access.join(Access {
            ready: t.cycle,
            level: Level::L1,
            tlb: t.level,
            page_fault: t.page_fault,
        })
    }

    #[inline]
    fn store_as<const TIMED: bool>(&mut self, addr: u64, size: u32, cycle: u64) -> Access {
        if let Some(device) = self.mapping.device(addr) {
            return beside_the_caches(device.store(cycle));
        }
        let line = self.place(addr) >> self.line_shift;
        let (ready, level) = self.caches.store::<TIMED>(line, cycle);
        let access = Access { ready, level, tlb: TlbLevel::L1, page_fault: false };
        if !self.splits(addr, size) {
            return access;
        }
        let line = self.place(addr.wrapping_add(u64::from(size) - 1)) >> self.line_shift;
        let (ready, level) = self.caches.store::<TIMED>(line, cycle);
        // The two halves are written one after the other.
        let ready = ready.max(access.ready + 1);
        access.join(Access { ready, level, ..access })
    }

    /// The antagonist: in each set of the L1D and of the private levels, invalidates the less
    /// recently used half of the ways; dirty data in them is lost, not written back.
    pub fn trash_lru_half(&mut self) {
        self.caches.private.l1d.array.trash_lru_half();
        for level in &mut self.caches.private.levels {
            level.cache.array.trash_lru_half();
        }
    }

    /// The program unmapped, or gave back, a range: the next touch of a page wholly inside it is a
    /// first touch. The caches keep its lines; the kernel clears a page before handing it out
    /// again, so a new mapping finds its lines cached as well.
    pub fn unmap(&mut self, addr: u64, len: u64) {
        self.translation.unmap(addr, len, &mut self.caches.shared);
    }

    /// The counters since the hierarchy was created.
    pub fn statistics(&self) -> MemoryStatistics {
        let [itlb, dtlb, stlb] = self.translation.statistics();
        let shared = self.caches.shared.get();
        let levels = self.caches.private.levels.iter().chain(&shared.levels);
        let levels = levels.map(|outer| LevelStatistics {
            name: outer.name.clone(),
            cache: outer.cache.statistics,
        });
        MemoryStatistics {
            l1i: self.caches.private.l1i.statistics,
            l1d: self.caches.private.l1d.statistics,
            levels: levels.collect(),
            itlb,
            dtlb,
            stlb,
            walk: self.translation.walk_statistics(),
            dram: shared.dram.statistics,
        }
    }
}

/// An access that neither caches nor TLBs see.
const fn beside_the_caches(ready: u64) -> Access {
    Access { ready, level: Level::L1, tlb: TlbLevel::L1, page_fault: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_one_frame_share_lines_but_not_translations() {
        let params = MemoryParams::default();
        let mut memory = Memory::<Alias>::mapped(&params).unwrap();
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
