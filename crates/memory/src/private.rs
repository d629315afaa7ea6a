//! The half of the hierarchy that belongs to one core, and what moves between the caches of both.
//!
//! Every function has a timed and an untimed form from one body (`TIMED`); no decision about
//! contents may depend on a cycle, or warming would leave a different state from running.
//!
//! Arrivals are kept as load-to-use cycles at every level: the cycle at which a load that waits for
//! the line has its data.

use params::ConfigError;

use crate::access::Level;
use crate::array::{Entry, Victim};
use crate::cache::{Cache, Outer};
use crate::fill::Fill;
use crate::params::MemoryParams;
use crate::prefetch::Seen;
use crate::shared::Shared;

/// Who makes the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// A load, store or fetch.
    Demand,
    /// The page walker: counted, but not shown to prefetchers.
    Walk,
    /// A prefetcher: shown to the prefetchers farther out, but not counted.
    Prefetch,
}

/// A cache of the hierarchy. The miss path is written once and compiled once for each kind of site,
/// so that the position of a first-level cache is known at compile time.
pub(crate) trait Site: Copy {
    /// The cache.
    fn cache<'a>(self, private: &'a mut Private, shared: &'a mut Shared) -> &'a mut Cache;
    /// The index of the level that it asks; past the last level, memory.
    fn next(self) -> usize;
}

#[derive(Clone, Copy)]
pub(crate) struct L1i;

impl Site for L1i {
    #[inline(always)]
    fn cache<'a>(self, private: &'a mut Private, _: &'a mut Shared) -> &'a mut Cache {
        &mut private.l1i
    }

    #[inline(always)]
    fn next(self) -> usize {
        0
    }
}

#[derive(Clone, Copy)]
pub(crate) struct L1d;

impl Site for L1d {
    #[inline(always)]
    fn cache<'a>(self, private: &'a mut Private, _: &'a mut Shared) -> &'a mut Cache {
        &mut private.l1d
    }

    #[inline(always)]
    fn next(self) -> usize {
        0
    }
}

/// An existing level beyond the first, by its index in the list.
#[derive(Clone, Copy)]
struct Beyond(usize);

impl Site for Beyond {
    #[inline(always)]
    fn cache<'a>(self, private: &'a mut Private, shared: &'a mut Shared) -> &'a mut Cache {
        match self.0.checked_sub(private.levels.len()) {
            None => &mut private.levels[self.0].cache,
            Some(level) => &mut shared.levels[level].cache,
        }
    }

    #[inline(always)]
    fn next(self) -> usize {
        self.0 + 1
    }
}

/// A line that was filled.
#[derive(Clone, Copy)]
pub(crate) struct Brought {
    /// The cycle at which it can be used.
    pub(crate) ready: u64,
    /// Its entry in the cache.
    pub(crate) entry: Entry,
    /// Where it was found.
    pub(crate) level: Level,
}

/// The first-level caches and the private levels.
#[derive(Clone, Debug)]
pub(crate) struct Private {
    pub(crate) l1i: Cache,
    pub(crate) l1d: Cache,
    pub(crate) levels: Vec<Outer>,
    pub(crate) write_cycles: u64,
    /// Load-to-use of the last level: how long a line is expected to be in flight.
    expected: u64,
    pub(crate) line_shift: u32,
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

    /// A level beyond the first; `None` is memory.
    #[inline]
    fn outer<'a>(&'a mut self, shared: &'a mut Shared, level: usize) -> Option<&'a mut Outer> {
        match level.checked_sub(self.levels.len()) {
            None => self.levels.get_mut(level),
            Some(level) => shared.levels.get_mut(level),
        }
    }

    /// Fills a line into a cache. `own`: one of this cache's own prefetchers asked.
    pub(crate) fn miss<S: Site, const TIMED: bool>(
        &mut self,
        shared: &mut Shared,
        site: S,
        line: u64,
        cycle: u64,
        who: Who,
        own: bool,
    ) -> Brought {
        let expected = self.expected;
        let in_flight = if TIMED { site.cache(self, shared).in_flight.as_ref() } else { None };
        let grant = in_flight.map(|resources| resources.grant(cycle, expected));
        let start = grant.map_or(cycle, |grant| grant.start);
        let (ready, level) = self.request::<TIMED>(shared, site.next(), line, start, who);
        let cache = site.cache(self, shared);
        // A prefetch that has to wait does not hold an entry, so it never delays demand accesses.
        if let (Some(grant), Some(resources)) = (grant, &mut cache.in_flight)
            && (!own || start == cycle)
        {
            resources.hold(grant, ready);
        }
        let fill = if TIMED { Fill::new(start, ready) } else { Fill::PRESENT };
        let inclusive = cache.inclusive;
        let (entry, victim) = cache.bring(line, fill, own);
        if let Some(victim) = victim
            && (victim.dirty || inclusive)
        {
            self.leave::<S, TIMED>(shared, site, victim, ready);
        }
        Brought { ready, entry, level }
    }

    /// A request to a level beyond the first, or to memory.
    #[inline(always)]
    fn request<const TIMED: bool>(
        &mut self,
        shared: &mut Shared,
        level: usize,
        line: u64,
        cycle: u64,
        who: Who,
    ) -> (u64, Level) {
        let (expected, line_shift) = (self.expected, self.line_shift);
        let Some(outer) = self.outer(shared, level) else {
            return (shared.dram.read::<TIMED>(line, cycle + expected), Level::Dram);
        };
        let count = who != Who::Prefetch;
        let cycle = if TIMED { outer.port.book(cycle) } else { cycle };
        let (depth, prefetches_at) = (outer.depth, cycle + outer.pass);
        let cache = &mut outer.cache;
        cache.statistics.accesses += u64::from(count);
        let found = cache.array.lookup(line);
        let wants = who != Who::Walk && !cache.prefetchers.list.is_empty() && {
            let seen = Seen { pc: 0, addr: line << line_shift, line, missed: found.is_none() };
            cache.show(seen)
        };
        let answer = if let Some(entry) = found {
            (cache.hit::<TIMED>(entry, cycle, count).0, Level::Outer(depth))
        } else {
            cache.statistics.misses += u64::from(count);
            let site = Beyond(level);
            let brought = self.miss::<Beyond, TIMED>(shared, site, line, cycle, who, false);
            (brought.ready, brought.level)
        };
        if wants {
            self.prefetch_wanted::<Beyond, TIMED>(shared, Beyond(level), prefetches_at);
        }
        answer
    }

    /// Fills the lines that a cache's prefetchers asked for, unless they are present.
    #[inline(never)]
    pub(crate) fn prefetch_wanted<S: Site, const TIMED: bool>(
        &mut self,
        shared: &mut Shared,
        site: S,
        cycle: u64,
    ) {
        // The list does not grow meanwhile: a prefetch asks only the caches farther out.
        let mut next = 0;
        loop {
            let cache = site.cache(self, shared);
            let Some(&line) = cache.wanted.get(next) else { break };
            next += 1;
            if cache.array.find(line).is_none() {
                self.miss::<S, TIMED>(shared, site, line, cycle, Who::Prefetch, true);
            }
        }
        site.cache(self, shared).wanted.clear();
    }

    /// A line is evicted from a cache: if dirty, it is written back to the next level.
    #[inline(never)]
    fn leave<S: Site, const TIMED: bool>(
        &mut self,
        shared: &mut Shared,
        site: S,
        victim: Victim,
        cycle: u64,
    ) {
        let Victim { key, mut dirty, .. } = victim;
        if site.cache(self, shared).inclusive {
            dirty |= self.leave_inner(shared, site.next() - 1, key);
        }
        if dirty {
            site.cache(self, shared).statistics.writebacks += 1;
            self.write_back::<TIMED>(shared, site.next(), key, cycle);
        }
    }

    /// Evicts from every inner cache what leaves an inclusive level; true if one of them held newer
    /// data.
    fn leave_inner(&mut self, shared: &mut Shared, level: usize, line: u64) -> bool {
        let first = self.l1d.give_up(line) | self.l1i.give_up(line);
        let inner = |inner| Beyond(inner).cache(self, shared).give_up(line);
        (0..level).map(inner).fold(first, |any, dirty| any | dirty)
    }

    /// Writes a dirty line back to a level, allocating an entry if the level does not have it. An
    /// inclusive level that has lost the line (with few ways, a prefetch may have evicted it before
    /// it arrived further in) passes it on.
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
        if let Some(entry) = outer.cache.array.find(line) {
            return outer.cache.array.set_dirty(entry);
        }
        if outer.cache.inclusive {
            return self.write_back::<TIMED>(shared, level + 1, line, cycle);
        }
        if TIMED {
            outer.port.book(cycle);
        }
        let (entry, victim) = outer.cache.bring(line, Fill::PRESENT, false);
        outer.cache.array.set_dirty(entry);
        if let Some(victim) = victim
            && victim.dirty
        {
            self.leave::<Beyond, TIMED>(shared, Beyond(level), victim, cycle);
        }
    }
}
