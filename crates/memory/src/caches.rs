//! The caches and what moves between them.
//!
//! Every function has a timed and an untimed form from one body (`TIMED`); no decision about
//! contents may depend on a cycle, or warming would leave another state than running.
//!
//! Arrivals are kept as load-to-use cycles at every level: the cycle at which a load that waits
//! for the line has its data.

use crate::access::Level;
use crate::array::{Array, Slot, Victim};
use crate::calendar::Calendar;
use crate::dram::Dram;
use crate::fill::Fill;
use crate::params::MemoryParams;
use crate::prefetch::{IpStride, NextLine, Streamer};
use crate::slots::Slots;
use crate::statistics::CacheStatistics;

/// Who asks the second level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// A load, store or fetch.
    Demand,
    /// The page walker: counted, but no pattern for a prefetcher.
    Walk,
    /// A first-level prefetcher: a pattern, but not counted.
    Prefetch,
}

/// One cache: contents, load-to-use time and counters.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    pub(crate) array: Array,
    pub(crate) latency: u64,
    pub(crate) statistics: CacheStatistics,
}

impl Cache {
    fn new(size: u64, assoc: u32, line: u64, latency: u64, fills: bool) -> Self {
        let array = Array::new(size / line / u64::from(assoc), assoc, fills);
        Self { array, latency, statistics: CacheStatistics::default() }
    }

    /// The common case of a demand access, counted as a hit: the line is the most recently used
    /// of its set, ready, and no prefetcher is to be credited.
    #[inline(always)]
    fn newest_and_ready<const TIMED: bool>(&mut self, line: u64, cycle: u64) -> Option<Slot> {
        let by = if TIMED { cycle + self.latency } else { u64::MAX };
        let slot = self.array.newest_settled(line, by)?;
        self.statistics.hits += 1;
        Some(slot)
    }

    /// A hit at `slot`: the cycle of use, and whether it waited for the line.
    #[inline]
    fn hit<const TIMED: bool>(&mut self, slot: Slot, cycle: u64, count: bool) -> (u64, bool) {
        self.statistics.hits += u64::from(count);
        let ready = cycle + self.latency;
        let fill = self.array.fill(slot);
        let waits = TIMED && fill.ready() > ready;
        if self.array.prefetched(slot) {
            self.array.set_prefetched(slot, false);
            self.statistics.prefetch_hits += 1;
            self.statistics.prefetches_late += u64::from(waits);
        }
        if !waits {
            return (ready, false);
        }
        let (usable, fill) = fill.used_at(cycle);
        self.array.set_fill(slot, fill);
        let waits = usable > ready;
        self.statistics.hits_in_flight += u64::from(waits && count);
        (usable.max(ready), waits)
    }

    /// Brings a line in; the answer is what had to leave.
    fn bring(&mut self, line: u64, fill: Fill, prefetch: bool) -> (Slot, Option<Victim>) {
        let (slot, victim) = self.array.insert(line, fill);
        self.array.set_prefetched(slot, prefetch);
        self.statistics.prefetches += u64::from(prefetch);
        self.statistics.evictions += u64::from(victim.is_some());
        (slot, victim)
    }
}

/// All caches, their prefetchers and memory.
#[derive(Clone, Debug)]
pub(crate) struct Caches {
    pub(crate) l1i: Cache,
    pub(crate) l1d: Cache,
    pub(crate) l2: Cache,
    pub(crate) llc: Cache,
    pub(crate) dram: Dram,
    write_cycles: u64,
    /// The way of a request through the L2, after which its prefetches follow.
    l2_pass: u64,
    line_shift: u32,
    fetch_buffers: Slots,
    fill_buffers: Slots,
    superqueue: Slots,
    l2_port: Calendar,
    llc_port: Calendar,
    ip_stride: Option<IpStride>,
    next_line: Option<NextLine>,
    next_line_code: bool,
    streamer: Option<Streamer>,
    adjacent: bool,
}

impl Caches {
    /// Empty caches from checked parameters.
    pub(crate) fn new(p: &MemoryParams) -> Self {
        let (line, f) = (p.line, &p.prefetch);
        Self {
            l1i: Cache::new(p.l1i.size, p.l1i.assoc, line, p.l1i.latency, true),
            l1d: Cache::new(p.l1d.size, p.l1d.assoc, line, p.l1d.latency, true),
            l2: Cache::new(p.l2.size, p.l2.assoc, line, p.l2.latency, true),
            llc: Cache::new(p.llc.size, p.llc.assoc, line, p.llc.latency + p.llc.path, false),
            dram: Dram::new(p),
            write_cycles: p.l1d.write_cycles,
            l2_pass: p.l2.latency - p.l1d.latency,
            line_shift: line.trailing_zeros(),
            fetch_buffers: Slots::new(p.l1i.fill_buffers),
            fill_buffers: Slots::new(p.l1d.fill_buffers),
            superqueue: Slots::new(p.l2.superqueue),
            l2_port: Calendar::new(p.l2.interval),
            llc_port: Calendar::new(p.llc.interval),
            ip_stride: f
                .ip_stride
                .then(|| IpStride::new(f.ip_stride_entries, f.ip_stride_bytes_max, line)),
            next_line: f.next_line.then(|| NextLine::new(line)),
            next_line_code: f.next_line_code,
            streamer: f.streamer.then(|| Streamer::new(f, line)),
            adjacent: f.adjacent,
        }
    }

    /// A load of a line: the cycle at which a register can use it.
    #[inline(always)]
    pub(crate) fn load<const TIMED: bool>(&mut self, line: u64, cycle: u64) -> (u64, Level) {
        self.l1d.statistics.accesses += 1;
        match self.l1d.newest_and_ready::<TIMED>(line, cycle) {
            Some(_) => (cycle + self.l1d.latency, Level::L1),
            None => self.load_search::<TIMED>(line, cycle),
        }
    }

    /// The rest of [`Caches::load`].
    #[inline(never)]
    fn load_search<const TIMED: bool>(&mut self, line: u64, cycle: u64) -> (u64, Level) {
        let Some(slot) = self.l1d.array.lookup(line) else {
            self.l1d.statistics.misses += 1;
            let (_, ready, level) = self.l1d_miss::<TIMED>(line, cycle, Who::Demand);
            return (ready, level);
        };
        let (ready, waits) = self.l1d.hit::<TIMED>(slot, cycle, true);
        (ready, if waits { Level::FillBuffer } else { Level::L1 })
    }

    /// A store to a line: the cycle at which it is written.
    #[inline(always)]
    pub(crate) fn store<const TIMED: bool>(&mut self, line: u64, cycle: u64) -> (u64, Level) {
        self.l1d.statistics.accesses += 1;
        match self.l1d.newest_and_ready::<TIMED>(line, cycle) {
            Some(slot) => {
                self.l1d.array.set_dirty(slot);
                (cycle + self.write_cycles, Level::L1)
            }
            None => self.store_search::<TIMED>(line, cycle),
        }
    }

    /// The rest of [`Caches::store`].
    #[inline(never)]
    fn store_search<const TIMED: bool>(&mut self, line: u64, cycle: u64) -> (u64, Level) {
        let Some(slot) = self.l1d.array.lookup(line) else {
            self.l1d.statistics.misses += 1;
            let (slot, ready, level) = self.l1d_miss::<TIMED>(line, cycle, Who::Demand);
            self.l1d.array.set_dirty(slot);
            return (ready.max(cycle + self.write_cycles), level);
        };
        self.l1d.array.set_dirty(slot);
        let (ready, waits) = self.l1d.hit::<TIMED>(slot, cycle, true);
        let written = cycle + self.write_cycles;
        if waits { (ready.max(written), Level::FillBuffer) } else { (written, Level::L1) }
    }

    /// A read of the page walker, through the L1D but not counted there.
    pub(crate) fn walk<const TIMED: bool>(&mut self, line: u64, cycle: u64) -> (u64, Level) {
        if let Some(slot) = self.l1d.array.lookup(line) {
            return (self.l1d.hit::<TIMED>(slot, cycle, false).0, Level::L1);
        }
        let (_, ready, level) = self.l1d_miss::<TIMED>(line, cycle, Who::Walk);
        (ready, level)
    }

    /// Shows a load to the L1D's prefetchers and brings in what they ask for: a prefetch follows
    /// the access that gave rise to it through the cache.
    #[inline(always)]
    pub(crate) fn train<const TIMED: bool>(&mut self, pc: u64, addr: u64, cycle: u64) {
        let cycle = cycle + self.l1d.latency;
        if let Some(addr) = self.ip_stride.as_mut().and_then(|p| p.load(pc, addr)) {
            self.l1d_prefetch::<TIMED>(addr >> self.line_shift, cycle);
        }
        let line = addr >> self.line_shift;
        if let Some(line) = self.next_line.as_mut().and_then(|p| p.load(line)) {
            self.l1d_prefetch::<TIMED>(line, cycle);
        }
    }

    #[inline(never)]
    fn l1d_prefetch<const TIMED: bool>(&mut self, line: u64, cycle: u64) {
        if self.l1d.array.find(line).is_none() {
            self.l1d_miss::<TIMED>(line, cycle, Who::Prefetch);
        }
    }

    /// Brings a line into the L1D: its place, the cycle of use and where it was.
    #[cold]
    #[inline(never)]
    fn l1d_miss<const TIMED: bool>(
        &mut self,
        line: u64,
        cycle: u64,
        who: Who,
    ) -> (Slot, u64, Level) {
        let (start, ready, level);
        if TIMED {
            let grant = self.fill_buffers.grant(cycle, self.llc.latency);
            start = grant.start;
            (ready, level) = self.l2::<TIMED>(line, start, who);
            // A prefetch that has to wait does not stand in the way of demands.
            if who != Who::Prefetch || start == cycle {
                self.fill_buffers.hold(grant, ready);
            }
        } else {
            start = cycle;
            (ready, level) = self.l2::<TIMED>(line, cycle, who);
        }
        let fill = if TIMED { Fill::new(start, ready) } else { Fill::PRESENT };
        let (slot, victim) = self.l1d.bring(line, fill, who == Who::Prefetch);
        if let Some(Victim { key, dirty: true, .. }) = victim {
            self.l1d.statistics.writebacks += 1;
            self.write_back_to_l2::<TIMED>(key, ready);
        }
        (slot, ready, level)
    }

    /// A fetch of an instruction line: the cycle at which its bytes are there.
    #[inline(always)]
    pub(crate) fn fetch<const TIMED: bool>(&mut self, line: u64, cycle: u64) -> (u64, Level) {
        self.l1i.statistics.accesses += 1;
        match self.l1i.newest_and_ready::<TIMED>(line, cycle) {
            Some(_) => (cycle + self.l1i.latency, Level::L1),
            None => self.fetch_search::<TIMED>(line, cycle),
        }
    }

    /// The rest of [`Caches::fetch`].
    #[inline(never)]
    fn fetch_search<const TIMED: bool>(&mut self, line: u64, cycle: u64) -> (u64, Level) {
        if let Some(slot) = self.l1i.array.lookup(line) {
            let (ready, waits) = self.l1i.hit::<TIMED>(slot, cycle, true);
            return (ready, if waits { Level::FillBuffer } else { Level::L1 });
        }
        self.l1i.statistics.misses += 1;
        let answer = self.l1i_miss::<TIMED>(line, cycle, Who::Demand);
        let page_shift = crate::translate::PAGE_SHIFT - self.line_shift;
        let next = line.wrapping_add(1);
        let same_page = (line ^ next) >> page_shift == 0;
        if self.next_line_code && same_page && self.l1i.array.find(next).is_none() {
            self.l1i_miss::<TIMED>(next, cycle + self.l1i.latency, Who::Prefetch);
        }
        answer
    }

    #[cold]
    #[inline(never)]
    fn l1i_miss<const TIMED: bool>(&mut self, line: u64, cycle: u64, who: Who) -> (u64, Level) {
        let (start, ready, level);
        if TIMED {
            let grant = self.fetch_buffers.grant(cycle, self.llc.latency);
            start = grant.start;
            (ready, level) = self.l2::<TIMED>(line, start, who);
            if who != Who::Prefetch || start == cycle {
                self.fetch_buffers.hold(grant, ready);
            }
        } else {
            start = cycle;
            (ready, level) = self.l2::<TIMED>(line, cycle, who);
        }
        let fill = if TIMED { Fill::new(start, ready) } else { Fill::PRESENT };
        self.l1i.bring(line, fill, who == Who::Prefetch);
        (ready, level)
    }

    /// A request to the second level.
    fn l2<const TIMED: bool>(&mut self, line: u64, cycle: u64, who: Who) -> (u64, Level) {
        let count = who != Who::Prefetch;
        let cycle = if TIMED { self.l2_port.book(cycle) } else { cycle };
        self.l2.statistics.accesses += u64::from(count);
        let found = self.l2.array.lookup(line);
        let answer = if let Some(slot) = found {
            (self.l2.hit::<TIMED>(slot, cycle, count).0, Level::L2)
        } else {
            self.l2.statistics.misses += u64::from(count);
            self.l2_miss::<TIMED>(line, cycle, count, false)
        };
        if who != Who::Walk {
            let cycle = cycle + self.l2_pass;
            if let Some(streamer) = &mut self.streamer {
                let run = streamer.request(line);
                for n in 0..run.count {
                    self.l2_prefetch::<TIMED>(run.line(n), cycle);
                }
            }
            if self.adjacent && found.is_none() {
                self.l2_prefetch::<TIMED>(line ^ 1, cycle);
            }
        }
        answer
    }

    fn l2_prefetch<const TIMED: bool>(&mut self, line: u64, cycle: u64) {
        if self.l2.array.find(line).is_none() {
            self.l2_miss::<TIMED>(line, cycle, false, true);
        }
    }

    /// Brings a line into the L2.
    fn l2_miss<const TIMED: bool>(
        &mut self,
        line: u64,
        cycle: u64,
        count: bool,
        prefetch: bool,
    ) -> (u64, Level) {
        let (start, ready, level);
        if TIMED {
            let grant = self.superqueue.grant(cycle, self.llc.latency);
            start = grant.start;
            (ready, level) = self.llc::<TIMED>(line, start, count);
            if !prefetch || start == cycle {
                self.superqueue.hold(grant, ready);
            }
        } else {
            start = cycle;
            (ready, level) = self.llc::<TIMED>(line, cycle, count);
        }
        let fill = if TIMED { Fill::new(start, ready) } else { Fill::PRESENT };
        let (_, victim) = self.l2.bring(line, fill, prefetch);
        self.l2_victim::<TIMED>(victim, ready);
        (ready, level)
    }

    /// A request to the last level, and to memory when it misses.
    fn llc<const TIMED: bool>(&mut self, line: u64, cycle: u64, count: bool) -> (u64, Level) {
        let cycle = if TIMED { self.llc_port.book(cycle) } else { cycle };
        self.llc.statistics.accesses += u64::from(count);
        if let Some(slot) = self.llc.array.lookup(line) {
            return (self.llc.hit::<TIMED>(slot, cycle, count).0, Level::Llc);
        }
        self.llc.statistics.misses += u64::from(count);
        let ready = self.dram.read::<TIMED>(line, cycle + self.llc.latency);
        // No arrival is kept here: whoever asked keeps it, and is asked before this level is.
        let (_, victim) = self.llc.bring(line, Fill::PRESENT, false);
        if let Some(Victim { key, dirty, .. }) = victim {
            // Inclusive: what leaves here leaves everywhere, and takes the newest data along.
            let mut dirty = dirty;
            for inner in [&mut self.l1d, &mut self.l2, &mut self.l1i] {
                dirty |= inner.array.remove(key).is_some_and(|v| v.dirty);
            }
            if dirty {
                self.llc.statistics.writebacks += 1;
                self.dram.write::<TIMED>(key, ready);
            }
        }
        (ready, Level::Dram)
    }

    /// A dirty line leaves the L1D: the L2 takes it, in a new place if it has none for it.
    fn write_back_to_l2<const TIMED: bool>(&mut self, line: u64, cycle: u64) {
        if let Some(slot) = self.l2.array.find(line) {
            self.l2.array.set_dirty(slot);
            return;
        }
        if TIMED {
            self.l2_port.book(cycle);
        }
        let (slot, victim) = self.l2.bring(line, Fill::PRESENT, false);
        self.l2.array.set_dirty(slot);
        self.l2_victim::<TIMED>(victim, cycle);
    }

    /// A line leaves the L2: if dirty, the LLC takes its data. With few ways a prefetch may have
    /// pushed the line out of the LLC before it arrived here; then memory takes it.
    fn l2_victim<const TIMED: bool>(&mut self, victim: Option<Victim>, cycle: u64) {
        if let Some(Victim { key, dirty: true, .. }) = victim {
            self.l2.statistics.writebacks += 1;
            match self.llc.array.find(key) {
                Some(slot) => self.llc.array.set_dirty(slot),
                None => self.dram.write::<TIMED>(key, cycle),
            }
        }
    }
}
