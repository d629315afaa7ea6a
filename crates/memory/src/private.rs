//! The half of the hierarchy that belongs to one core, and what moves between all caches.
//!
//! Every function has a timed and an untimed form from one body (`TIMED`); no decision about
//! contents may depend on a cycle, or warming would leave another state than running.
//!
//! Arrivals are kept as load-to-use cycles at every level: the cycle at which a load that waits
//! for the line has its data.

use params::ConfigError;

use crate::access::Level;
use crate::array::{Slot, Victim};
use crate::cache::{Cache, Outer};
use crate::fill::Fill;
use crate::params::MemoryParams;
use crate::prefetch::Seen;
use crate::shared::{Place, Shared};

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// A load, store or fetch.
    Demand,
    /// The page walker: counted, but no pattern for a prefetcher.
    Walk,
    /// A prefetcher: a pattern for those further out, but not counted.
    Prefetch,
}

/// A cache of the hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    L1i,
    L1d,
    /// By its place in the list of levels.
    Outer(usize),
}

impl At {
    /// The level that it asks, or, beyond the last, memory.
    fn next(self) -> usize {
        match self {
            Self::L1i | Self::L1d => 0,
            Self::Outer(level) => level + 1,
        }
    }
}

/// The first-level caches and the private levels.
#[derive(Clone, Debug)]
pub(crate) struct Private {
    pub(crate) l1i: Cache,
    pub(crate) l1d: Cache,
    pub(crate) levels: Vec<Outer>,
    write_cycles: u64,
    /// Load-to-use of the last level: how long a line is expected to be on its way.
    expected: u64,
    line_shift: u32,
}

impl Private {
    /// Empty caches from checked parameters.
    pub(crate) fn new(p: &MemoryParams) -> Result<Self, ConfigError> {
        let levels = (0..p.private_levels()).map(|at| Outer::new(p, at));
        Ok(Self {
            l1i: Cache::l1i(p)?,
            l1d: Cache::l1d(p)?,
            levels: levels.collect::<Result<_, _>>()?,
            write_cycles: p.l1d.write_cycles,
            expected: p.level.last().map_or(0, |level| level.load_to_use()),
            line_shift: p.line.trailing_zeros(),
        })
    }

    /// A load of a line: the cycle at which a register can use it.
    #[inline(always)]
    pub(crate) fn load<const TIMED: bool>(
        &mut self,
        line: u64,
        cycle: u64,
        shared: &mut Place,
    ) -> (u64, Level) {
        self.l1d.statistics.accesses += 1;
        match self.l1d.newest_and_ready::<TIMED>(line, cycle) {
            Some(_) => (cycle + self.l1d.latency, Level::L1),
            None => self.load_search::<TIMED>(line, cycle, shared),
        }
    }

    /// The rest of [`Private::load`].
    #[inline(never)]
    fn load_search<const TIMED: bool>(
        &mut self,
        line: u64,
        cycle: u64,
        shared: &mut Place,
    ) -> (u64, Level) {
        let Some(slot) = self.l1d.array.lookup(line) else {
            self.l1d.statistics.misses += 1;
            let (_, ready, level) = self.l1d_miss::<TIMED>(line, cycle, Who::Demand, shared);
            return (ready, level);
        };
        let (ready, waits) = self.l1d.hit::<TIMED>(slot, cycle, true);
        (ready, if waits { Level::FillBuffer } else { Level::L1 })
    }

    /// A store to a line: the cycle at which it is written.
    #[inline(always)]
    pub(crate) fn store<const TIMED: bool>(
        &mut self,
        line: u64,
        cycle: u64,
        shared: &mut Place,
    ) -> (u64, Level) {
        self.l1d.statistics.accesses += 1;
        match self.l1d.newest_and_ready::<TIMED>(line, cycle) {
            Some(slot) => {
                self.l1d.array.set_dirty(slot);
                (cycle + self.write_cycles, Level::L1)
            }
            None => self.store_search::<TIMED>(line, cycle, shared),
        }
    }

    /// The rest of [`Private::store`].
    #[inline(never)]
    fn store_search<const TIMED: bool>(
        &mut self,
        line: u64,
        cycle: u64,
        shared: &mut Place,
    ) -> (u64, Level) {
        let Some(slot) = self.l1d.array.lookup(line) else {
            self.l1d.statistics.misses += 1;
            let (slot, ready, level) = self.l1d_miss::<TIMED>(line, cycle, Who::Demand, shared);
            self.l1d.array.set_dirty(slot);
            return (ready.max(cycle + self.write_cycles), level);
        };
        self.l1d.array.set_dirty(slot);
        let (ready, waits) = self.l1d.hit::<TIMED>(slot, cycle, true);
        let written = cycle + self.write_cycles;
        if waits { (ready.max(written), Level::FillBuffer) } else { (written, Level::L1) }
    }

    /// A read of the page walker, through the L1D but not counted there.
    pub(crate) fn walk<const TIMED: bool>(
        &mut self,
        line: u64,
        cycle: u64,
        shared: &mut Place,
    ) -> (u64, Level) {
        if let Some(slot) = self.l1d.array.lookup(line) {
            return (self.l1d.hit::<TIMED>(slot, cycle, false).0, Level::L1);
        }
        let (_, ready, level) = self.l1d_miss::<TIMED>(line, cycle, Who::Walk, shared);
        (ready, level)
    }

    #[cold]
    #[inline(never)]
    fn l1d_miss<const TIMED: bool>(
        &mut self,
        line: u64,
        cycle: u64,
        who: Who,
        shared: &mut Place,
    ) -> (Slot, u64, Level) {
        self.miss::<TIMED>(shared.get_mut(), At::L1d, line, cycle, who, false)
    }

    /// Shows a load to the L1D's prefetchers and brings in what they ask for: a prefetch follows
    /// the access that gave rise to it through the cache.
    #[inline(always)]
    pub(crate) fn train<const TIMED: bool>(&mut self, seen: Seen, cycle: u64, shared: &mut Place) {
        for prefetcher in &mut self.l1d.prefetchers {
            prefetcher.see(seen, &mut self.l1d.wanted);
        }
        if !self.l1d.wanted.is_empty() {
            self.prefetch_l1d::<TIMED>(cycle + self.l1d.latency, shared);
        }
    }

    #[inline(never)]
    fn prefetch_l1d<const TIMED: bool>(&mut self, cycle: u64, shared: &mut Place) {
        self.prefetch::<TIMED>(shared.get_mut(), At::L1d, cycle);
    }

    /// A fetch of an instruction line: the cycle at which its bytes are there.
    #[inline(always)]
    pub(crate) fn fetch<const TIMED: bool>(
        &mut self,
        line: u64,
        cycle: u64,
        shared: &mut Place,
    ) -> (u64, Level) {
        self.l1i.statistics.accesses += 1;
        match self.l1i.newest_and_ready::<TIMED>(line, cycle) {
            Some(_) => (cycle + self.l1i.latency, Level::L1),
            None => self.fetch_search::<TIMED>(line, cycle, shared),
        }
    }

    /// The rest of [`Private::fetch`]. The L1I's prefetchers see its misses alone.
    #[inline(never)]
    fn fetch_search<const TIMED: bool>(
        &mut self,
        line: u64,
        cycle: u64,
        shared: &mut Place,
    ) -> (u64, Level) {
        if let Some(slot) = self.l1i.array.lookup(line) {
            let (ready, waits) = self.l1i.hit::<TIMED>(slot, cycle, true);
            return (ready, if waits { Level::FillBuffer } else { Level::L1 });
        }
        self.l1i.statistics.misses += 1;
        let shared = shared.get_mut();
        let (_, ready, level) =
            self.miss::<TIMED>(shared, At::L1i, line, cycle, Who::Demand, false);
        let cycle_after = cycle + self.l1i.latency;
        self.show::<TIMED>(shared, At::L1i, line, true, cycle_after);
        (ready, level)
    }

    /// A level beyond the first; none is memory.
    #[inline]
    fn outer<'a>(&'a mut self, shared: &'a mut Shared, level: usize) -> Option<&'a mut Outer> {
        match level.checked_sub(self.levels.len()) {
            None => self.levels.get_mut(level),
            Some(level) => shared.levels.get_mut(level),
        }
    }

    /// A cache that exists.
    #[inline]
    fn cache<'a>(&'a mut self, shared: &'a mut Shared, at: At) -> &'a mut Cache {
        match at {
            At::L1i => &mut self.l1i,
            At::L1d => &mut self.l1d,
            At::Outer(level) => match level.checked_sub(self.levels.len()) {
                None => &mut self.levels[level].cache,
                Some(level) => &mut shared.levels[level].cache,
            },
        }
    }

    /// Brings a line into a cache: its place, the cycle of use and where it was. `own`: a
    /// prefetcher of this very cache asked.
    fn miss<const TIMED: bool>(
        &mut self,
        shared: &mut Shared,
        at: At,
        line: u64,
        cycle: u64,
        who: Who,
        own: bool,
    ) -> (Slot, u64, Level) {
        let expected = self.expected;
        let in_flight = if TIMED { self.cache(shared, at).in_flight.as_ref() } else { None };
        let grant = in_flight.map(|slots| slots.grant(cycle, expected));
        let start = grant.map_or(cycle, |grant| grant.start);
        let (ready, level) = self.request::<TIMED>(shared, at.next(), line, start, who);
        let cache = self.cache(shared, at);
        // A prefetch that has to wait does not stand in the way of demands.
        if let (Some(grant), Some(slots)) = (grant, &mut cache.in_flight)
            && (!own || start == cycle)
        {
            slots.hold(grant, ready);
        }
        let fill = if TIMED { Fill::new(start, ready) } else { Fill::PRESENT };
        let (slot, victim) = cache.bring(line, fill, own);
        if let Some(victim) = victim {
            self.leave::<TIMED>(shared, at, victim, ready);
        }
        (slot, ready, level)
    }

    /// A request to a level beyond the first, or to memory.
    fn request<const TIMED: bool>(
        &mut self,
        shared: &mut Shared,
        level: usize,
        line: u64,
        cycle: u64,
        who: Who,
    ) -> (u64, Level) {
        let expected = self.expected;
        let Some(outer) = self.outer(shared, level) else {
            return (shared.dram.read::<TIMED>(line, cycle + expected), Level::Dram);
        };
        let count = who != Who::Prefetch;
        let cycle = if TIMED { outer.port.book(cycle) } else { cycle };
        let pass = outer.pass;
        let cache = &mut outer.cache;
        cache.statistics.accesses += u64::from(count);
        let found = cache.array.lookup(line);
        let answer = if let Some(slot) = found {
            (cache.hit::<TIMED>(slot, cycle, count).0, Level::Outer(level as u8))
        } else {
            cache.statistics.misses += u64::from(count);
            let (_, ready, from) =
                self.miss::<TIMED>(shared, At::Outer(level), line, cycle, who, false);
            (ready, from)
        };
        if who != Who::Walk {
            self.show::<TIMED>(shared, At::Outer(level), line, found.is_none(), cycle + pass);
        }
        answer
    }

    /// Shows a line asked for to a cache's prefetchers; what they ask for follows at `cycle`.
    fn show<const TIMED: bool>(
        &mut self,
        shared: &mut Shared,
        at: At,
        line: u64,
        missed: bool,
        cycle: u64,
    ) {
        let seen = Seen { pc: 0, addr: line << self.line_shift, missed };
        let cache = self.cache(shared, at);
        for prefetcher in &mut cache.prefetchers {
            prefetcher.see(seen, &mut cache.wanted);
        }
        if !cache.wanted.is_empty() {
            self.prefetch::<TIMED>(shared, at, cycle);
        }
    }

    /// Brings in what a cache's prefetchers asked for, unless it is there.
    fn prefetch<const TIMED: bool>(&mut self, shared: &mut Shared, at: At, cycle: u64) {
        let mut wanted = std::mem::take(&mut self.cache(shared, at).wanted);
        for line in wanted.drain(..) {
            if self.cache(shared, at).array.find(line).is_none() {
                self.miss::<TIMED>(shared, at, line, cycle, Who::Prefetch, true);
            }
        }
        self.cache(shared, at).wanted = wanted;
    }

    /// A line leaves a cache: if dirty, the next level takes its data.
    fn leave<const TIMED: bool>(
        &mut self,
        shared: &mut Shared,
        at: At,
        victim: Victim,
        cycle: u64,
    ) {
        let Victim { key, mut dirty, .. } = victim;
        if self.cache(shared, at).inclusive {
            dirty |= self.leave_inner(shared, at, key);
        }
        if dirty {
            self.cache(shared, at).statistics.writebacks += 1;
            self.write_back::<TIMED>(shared, at.next(), key, cycle);
        }
    }

    /// What leaves an inclusive level leaves everything inside it; true if it takes newer data
    /// along.
    fn leave_inner(&mut self, shared: &mut Shared, at: At, line: u64) -> bool {
        let inner = [At::L1d, At::L1i].into_iter();
        let inner = inner.chain((0..at.next() - 1).map(At::Outer));
        inner.fold(false, |dirty, inner| {
            let array = &mut self.cache(shared, inner).array;
            dirty | array.remove(line).is_some_and(|victim| victim.dirty)
        })
    }

    /// A level takes a dirty line, in a new place if it has none for it. An inclusive one that has
    /// lost the line (with few ways a prefetch may have pushed it out before it arrived further
    /// in) lets it pass.
    fn write_back<const TIMED: bool>(
        &mut self,
        shared: &mut Shared,
        level: usize,
        line: u64,
        cycle: u64,
    ) {
        let Some(outer) = self.outer(shared, level) else {
            return shared.dram.write::<TIMED>(line, cycle);
        };
        if let Some(slot) = outer.cache.array.find(line) {
            return outer.cache.array.set_dirty(slot);
        }
        if outer.cache.inclusive {
            return self.write_back::<TIMED>(shared, level + 1, line, cycle);
        }
        if TIMED {
            outer.port.book(cycle);
        }
        let (slot, victim) = outer.cache.bring(line, Fill::PRESENT, false);
        outer.cache.array.set_dirty(slot);
        if let Some(victim) = victim {
            self.leave::<TIMED>(shared, At::Outer(level), victim, cycle);
        }
    }
}
