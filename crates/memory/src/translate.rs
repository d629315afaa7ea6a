//! Translation: the TLBs and the page walker.

use crate::access::{Depth, Level, TlbLevel};
use crate::array::Array;
use crate::caches::Caches;
use crate::fill::Fill;
use crate::params::MemoryParams;
use crate::replacement::Policy;
use crate::resources::Resources;
use crate::shared::{Place, Shared};
use crate::statistics::{TlbStatistics, WalkStatistics};

/// 4 KB pages.
pub(crate) const PAGE_SHIFT: u32 = 12;
/// Log2 of the pages that a page-directory entry covers.
const PDE_SHIFT: u32 = 9;
/// Page-table entries take eight bytes (Intel system manual, "4-Level Paging").
const ENTRY_BYTES: u64 = 8;
/// Where the tables lie: one linear table per level, above every program address, so that the
/// entries of neighbouring pages share lines, as they do in real tables.
pub(crate) const PAGE_TABLES: u64 = 0xff00_0000_0000_0000;
pub(crate) const PAGE_DIRECTORIES: u64 = 0xfe00_0000_0000_0000;
/// Page numbers of 48-bit addresses.
pub(crate) const PAGE_NUMBERS: u64 = (1 << 36) - 1;

/// No page found yet.
const NO_PAGE: (u64, u64) = (u64::MAX, 0);

/// A translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Translated {
    /// The cycle at which the access can proceed; its own cycle on a first-level hit.
    pub(crate) cycle: u64,
    pub(crate) level: TlbLevel,
    pub(crate) page_fault: bool,
}

/// Which first-level TLB is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Data,
    Code,
}

/// A TLB and its counters.
#[derive(Clone, Debug)]
struct Tlb {
    array: Array,
    statistics: TlbStatistics,
}

impl Tlb {
    fn new(entries: u32, assoc: u32) -> Self {
        let array = Array::new(u64::from(entries / assoc), assoc, true, Policy::Lru);
        Self { array, statistics: TlbStatistics::default() }
    }

    /// Looks up a page: the cycle at which the translation is known, with `latency` on a hit.
    #[inline]
    fn find<const TIMED: bool>(&mut self, page: u64, cycle: u64, latency: u64) -> Option<u64> {
        self.statistics.accesses += 1;
        let Some(entry) = self.array.lookup(page) else {
            self.statistics.misses += 1;
            return None;
        };
        self.statistics.hits += 1;
        let ready = cycle + latency;
        let fill = self.array.fill(entry);
        if !TIMED || fill.ready() <= ready {
            return Some(ready);
        }
        let (usable, fill) = fill.used_at(cycle);
        self.array.set_fill(entry, fill);
        Some(usable.max(ready))
    }
}

/// The TLBs and the walker of a core; the set of touched pages belongs to the shared half.
#[derive(Clone, Debug)]
pub(crate) struct Translation {
    /// The pages last found in the DTLB and the ITLB, with the cycle since which they are present:
    /// what most accesses need. They are the most recently used of their sets, so a hit changes no
    /// other state.
    last_data: (u64, u64),
    last_code: (u64, u64),
    dtlb: Tlb,
    itlb: Tlb,
    stlb: Tlb,
    pde: Array,
    walkers: Resources,
    stlb_latency: u64,
    walk_cycles: u64,
    code_pages: u64,
    line_shift: u32,
    /// The last level of the list.
    last_level: Depth,
    walk: WalkStatistics,
}

impl Translation {
    /// Empty TLBs from checked parameters.
    pub(crate) fn new(p: &MemoryParams) -> Self {
        Self {
            last_data: NO_PAGE,
            last_code: NO_PAGE,
            dtlb: Tlb::new(p.dtlb.entries, p.dtlb.assoc),
            itlb: Tlb::new(p.itlb.entries, p.itlb.assoc),
            stlb: Tlb::new(p.stlb.entries, p.stlb.assoc),
            pde: Tlb::new(p.walk.pde_entries, p.walk.pde_assoc).array,
            walkers: Resources::new(p.walk.walkers),
            stlb_latency: p.stlb.latency,
            walk_cycles: p.walk.cycles,
            code_pages: p.page_fault.code_pages,
            line_shift: p.line.trailing_zeros(),
            last_level: Depth::of(p.level.len().saturating_sub(1)),
            walk: WalkStatistics::default(),
        }
    }

    /// Translates a data address.
    #[inline(always)]
    pub(crate) fn data<const TIMED: bool>(
        &mut self,
        addr: u64,
        cycle: u64,
        caches: &mut Caches,
    ) -> Translated {
        let page = addr >> PAGE_SHIFT;
        if page == self.last_data.0 && (!TIMED || self.last_data.1 <= cycle) {
            self.dtlb.statistics.accesses += 1;
            self.dtlb.statistics.hits += 1;
            return Translated { cycle, level: TlbLevel::L1, page_fault: false };
        }
        self.search::<TIMED>(page, cycle, Side::Data, caches)
    }

    /// Translates an instruction address.
    #[inline(always)]
    pub(crate) fn code<const TIMED: bool>(
        &mut self,
        addr: u64,
        cycle: u64,
        caches: &mut Caches,
    ) -> Translated {
        let page = addr >> PAGE_SHIFT;
        if page == self.last_code.0 && (!TIMED || self.last_code.1 <= cycle) {
            self.itlb.statistics.accesses += 1;
            self.itlb.statistics.hits += 1;
            return Translated { cycle, level: TlbLevel::L1, page_fault: false };
        }
        self.search::<TIMED>(page, cycle, Side::Code, caches)
    }

    /// When the data address that was last searched for was translated.
    pub(crate) fn translated(&self) -> u64 {
        self.last_data.1
    }

    /// True if the page of `addr` was touched before; otherwise a software prefetch is dropped.
    pub(crate) fn touched(&self, addr: u64, shared: &Place) -> bool {
        let page = addr >> PAGE_SHIFT;
        self.dtlb.array.find(page).is_some() || shared.get().pages.contains(page)
    }

    /// Records the page as touched and puts it into the second level.
    pub(crate) fn warm_second_level(&mut self, addr: u64, shared: &mut Place) {
        let page = addr >> PAGE_SHIFT;
        self.touch(page, Side::Data, shared.get_mut());
        if self.stlb.array.find(page).is_none() {
            self.stlb.array.insert(page, Fill::PRESENT);
        }
    }

    /// Looks up a page other than the last one.
    #[inline(never)]
    fn search<const TIMED: bool>(
        &mut self,
        page: u64,
        cycle: u64,
        side: Side,
        caches: &mut Caches,
    ) -> Translated {
        let first = match side {
            Side::Data => &mut self.dtlb,
            Side::Code => &mut self.itlb,
        };
        let found = first.find::<TIMED>(page, cycle, 0);
        let translated = match found {
            // Already in flight for an earlier access: this one waits as that one does.
            Some(ready) if ready > cycle => {
                Translated { cycle: ready, level: TlbLevel::OnItsWay, page_fault: false }
            }
            Some(cycle) => Translated { cycle, level: TlbLevel::L1, page_fault: false },
            None => self.miss::<TIMED>(page, cycle, side, caches),
        };
        let last = (page, if TIMED { translated.cycle } else { 0 });
        match side {
            Side::Data => self.last_data = last,
            Side::Code => self.last_code = last,
        }
        translated
    }

    #[cold]
    #[inline(never)]
    fn miss<const TIMED: bool>(
        &mut self,
        page: u64,
        cycle: u64,
        side: Side,
        caches: &mut Caches,
    ) -> Translated {
        let found = self.stlb.find::<TIMED>(page, cycle, self.stlb_latency);
        let (ready, level, page_fault) = match found {
            Some(ready) => (ready, TlbLevel::Stlb, false),
            None => {
                let ready = self.walk::<TIMED>(page, cycle + self.stlb_latency, caches);
                let fill = if TIMED { Fill::new(cycle, ready) } else { Fill::PRESENT };
                self.stlb.array.insert(page, fill);
                (ready, TlbLevel::Walk, self.touch(page, side, caches.shared.get_mut()))
            }
        };
        let fill = if TIMED { Fill::new(cycle, ready) } else { Fill::PRESENT };
        let first = match side {
            Side::Data => &mut self.dtlb,
            Side::Code => &mut self.itlb,
        };
        first.array.insert(page, fill);
        Translated { cycle: ready, level, page_fault }
    }

    /// Reads the page tables: the cycle at which the translation is known. The entries above the
    /// page directory cover 1 GB and 512 GB each and are assumed to be always cached.
    fn walk<const TIMED: bool>(&mut self, page: u64, cycle: u64, caches: &mut Caches) -> u64 {
        let page = page & PAGE_NUMBERS;
        let grant = self.walkers.grant(cycle, self.walk_cycles);
        let mut now = grant.start + self.walk_cycles;
        let directory = page >> PDE_SHIFT;
        if self.pde.lookup(directory).is_none() {
            now = self.read::<TIMED>(PAGE_DIRECTORIES + directory * ENTRY_BYTES, now, caches);
            self.pde.insert(directory, Fill::PRESENT);
        }
        now = self.read::<TIMED>(PAGE_TABLES + page * ENTRY_BYTES, now, caches);
        self.walk.walks += 1;
        if TIMED {
            self.walkers.hold(grant, now);
            self.walk.cycles += now - grant.start;
        }
        now
    }

    fn read<const TIMED: bool>(&mut self, addr: u64, cycle: u64, caches: &mut Caches) -> u64 {
        let (ready, level) = caches.walk::<TIMED>(addr >> self.line_shift, cycle);
        *match level {
            Level::L1 | Level::FillBuffer => &mut self.walk.reads_l1d,
            Level::Outer(level) if level == self.last_level => &mut self.walk.reads_llc,
            Level::Outer(Depth::First) => &mut self.walk.reads_l2,
            Level::Outer(_) => &mut self.walk.reads_l3,
            Level::Dram => &mut self.walk.reads_dram,
        } += 1;
        ready
    }

    /// Records a touch of the page; true if the operating system had to provide it.
    fn touch(&mut self, page: u64, side: Side, shared: &mut Shared) -> bool {
        let first = shared.pages.touch(page);
        if first && side == Side::Code {
            let start = page & !(self.code_pages - 1);
            for around in start..start + self.code_pages {
                shared.pages.touch(around);
            }
        }
        self.walk.page_faults += u64::from(first);
        first
    }

    /// Empties the TLBs and the walker's cache.
    fn flush(&mut self) {
        (self.last_data, self.last_code) = (NO_PAGE, NO_PAGE);
        for array in
            [&mut self.dtlb.array, &mut self.itlb.array, &mut self.stlb.array, &mut self.pde]
        {
            array.clear();
        }
    }

    /// Forgets the pages that lie wholly in the range: their next touch is a first touch.
    pub(crate) fn unmap(&mut self, addr: u64, len: u64, shared: &mut Place) {
        let first = addr.div_ceil(1 << PAGE_SHIFT);
        let end = addr.saturating_add(len) >> PAGE_SHIFT;
        if first >= end {
            return;
        }
        shared.get_mut().pages.forget(first, end);
        if end - first > FLUSH_CEILING {
            self.flush();
            return;
        }
        (self.last_data, self.last_code) = (NO_PAGE, NO_PAGE);
        for page in first..end {
            for array in [&mut self.dtlb.array, &mut self.itlb.array, &mut self.stlb.array] {
                array.remove(page);
            }
        }
    }

    pub(crate) fn statistics(&self) -> [TlbStatistics; 3] {
        [self.itlb.statistics, self.dtlb.statistics, self.stlb.statistics]
    }

    pub(crate) fn walk_statistics(&self) -> WalkStatistics {
        self.walk
    }
}

/// Linux flushes the whole TLB rather than invalidate more single pages than this
/// (`tlb_single_page_flush_ceiling`).
const FLUSH_CEILING: u64 = 33;
