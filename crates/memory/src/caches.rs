//! The caches as the core and the page walker see them: the first level and everything behind it.

use params::ConfigError;

use crate::access::Level;
use crate::params::MemoryParams;
use crate::prefetch::Seen;
use crate::private::{Brought, L1d, L1i, Private, Who};
use crate::shared::{Place, Shared};

/// A private half and the place of the shared one, which a first-level hit never looks at.
#[derive(Clone, Debug)]
pub(crate) struct Caches {
    pub(crate) private: Private,
    pub(crate) shared: Place,
}

impl Caches {
    /// Empty caches from checked parameters.
    pub(crate) fn new(p: &MemoryParams) -> Result<Self, ConfigError> {
        let shared = Place(Some(Box::new(Shared::new(p)?)));
        Ok(Self { private: Private::new(p)?, shared })
    }

    /// A load of a line: the cycle at which a register can use it.
    #[inline(always)]
    pub(crate) fn load<const TIMED: bool>(&mut self, line: u64, cycle: u64) -> (u64, Level) {
        self.private.l1d.statistics.accesses += 1;
        match self.private.l1d.newest_and_ready::<TIMED>(line, cycle) {
            Some(_) => (cycle + self.private.l1d.latency, Level::L1),
            None => self.load_search::<TIMED>(line, cycle),
        }
    }

    /// The slow path of [`Caches::load`].
    #[inline(never)]
    fn load_search<const TIMED: bool>(&mut self, line: u64, cycle: u64) -> (u64, Level) {
        let Some(entry) = self.private.l1d.array.lookup(line) else {
            self.private.l1d.statistics.misses += 1;
            let brought = self.l1d_miss::<TIMED>(line, cycle, Who::Demand);
            return (brought.ready, brought.level);
        };
        let (ready, waits) = self.private.l1d.hit::<TIMED>(entry, cycle, true);
        (ready, if waits { Level::FillBuffer } else { Level::L1 })
    }

    /// A store to a line: the cycle at which it is written.
    #[inline(always)]
    pub(crate) fn store<const TIMED: bool>(&mut self, line: u64, cycle: u64) -> (u64, Level) {
        self.private.l1d.statistics.accesses += 1;
        match self.private.l1d.newest_and_ready::<TIMED>(line, cycle) {
            Some(entry) => {
                self.private.l1d.array.set_dirty(entry);
                (cycle + self.private.write_cycles, Level::L1)
            }
            None => self.store_search::<TIMED>(line, cycle),
        }
    }

    /// The slow path of [`Caches::store`].
    #[inline(never)]
    fn store_search<const TIMED: bool>(&mut self, line: u64, cycle: u64) -> (u64, Level) {
        let Some(entry) = self.private.l1d.array.lookup(line) else {
            self.private.l1d.statistics.misses += 1;
            let brought = self.l1d_miss::<TIMED>(line, cycle, Who::Demand);
            self.private.l1d.array.set_dirty(brought.entry);
            return (brought.ready.max(cycle + self.private.write_cycles), brought.level);
        };
        self.private.l1d.array.set_dirty(entry);
        let (ready, waits) = self.private.l1d.hit::<TIMED>(entry, cycle, true);
        let written = cycle + self.private.write_cycles;
        if waits { (ready.max(written), Level::FillBuffer) } else { (written, Level::L1) }
    }

    /// A read by the page walker, through the L1D but not counted there.
    pub(crate) fn walk<const TIMED: bool>(&mut self, line: u64, cycle: u64) -> (u64, Level) {
        if let Some(entry) = self.private.l1d.array.lookup(line) {
            return (self.private.l1d.hit::<TIMED>(entry, cycle, false).0, Level::L1);
        }
        let brought = self.l1d_miss::<TIMED>(line, cycle, Who::Walk);
        (brought.ready, brought.level)
    }

    #[cold]
    #[inline(never)]
    fn l1d_miss<const TIMED: bool>(&mut self, line: u64, cycle: u64, who: Who) -> Brought {
        let own = who == Who::Prefetch;
        let shared = self.shared.get_mut();
        self.private.miss::<L1d, TIMED>(shared, L1d, line, cycle, who, own)
    }

    /// Shows a load to the L1D's prefetchers and fills what they ask for: a prefetch follows the
    /// access that triggered it through the cache. `followed` is the address as the prefetcher by
    /// instruction address sees it, in the page of `addr` but perhaps under another number.
    #[inline(always)]
    pub(crate) fn train<const TIMED: bool>(
        &mut self,
        pc: u64,
        addr: u64,
        followed: u64,
        level: Level,
        cycle: u64,
    ) {
        let cycle = cycle + self.private.l1d.latency;
        let line = addr >> self.private.line_shift;
        let chain = &mut self.private.l1d.prefetchers;
        if let Some(line) = chain.ip_stride.as_mut().and_then(|p| p.load(pc, followed)) {
            let apart = addr.wrapping_sub(followed).cast_signed() >> self.private.line_shift;
            self.prefetch_l1d::<TIMED>(line.wrapping_add_signed(apart), cycle);
        }
        let chain = &mut self.private.l1d.prefetchers;
        if let Some(line) = chain.next_line.as_mut().and_then(|p| p.load(line)) {
            self.prefetch_l1d::<TIMED>(line, cycle);
        }
        if !self.private.l1d.prefetchers.list.is_empty() {
            self.train_others::<TIMED>(pc, addr, level, cycle);
        }
    }

    #[inline(never)]
    fn prefetch_l1d<const TIMED: bool>(&mut self, line: u64, cycle: u64) {
        if self.private.l1d.array.find(line).is_none() {
            self.l1d_miss::<TIMED>(line, cycle, Who::Prefetch);
        }
    }

    #[inline(never)]
    fn train_others<const TIMED: bool>(&mut self, pc: u64, addr: u64, level: Level, cycle: u64) {
        let missed = level > Level::FillBuffer;
        if self.private.l1d.show(Seen { pc, addr, line: addr >> self.private.line_shift, missed }) {
            let shared = self.shared.get_mut();
            self.private.prefetch_wanted::<L1d, TIMED>(shared, L1d, cycle);
        }
    }

    /// A fetch of an instruction line: the cycle at which its bytes are available.
    #[inline(always)]
    pub(crate) fn fetch<const TIMED: bool>(&mut self, line: u64, cycle: u64) -> (u64, Level) {
        self.private.l1i.statistics.accesses += 1;
        match self.private.l1i.newest_and_ready::<TIMED>(line, cycle) {
            Some(_) => (cycle + self.private.l1i.latency, Level::L1),
            None => self.fetch_search::<TIMED>(line, cycle),
        }
    }

    /// The slow path of [`Caches::fetch`]. The L1I's prefetchers see only its misses.
    #[inline(never)]
    fn fetch_search<const TIMED: bool>(&mut self, line: u64, cycle: u64) -> (u64, Level) {
        if let Some(entry) = self.private.l1i.array.lookup(line) {
            let (ready, waits) = self.private.l1i.hit::<TIMED>(entry, cycle, true);
            return (ready, if waits { Level::FillBuffer } else { Level::L1 });
        }
        self.private.l1i.statistics.misses += 1;
        let shared = self.shared.get_mut();
        let brought = self.private.miss::<L1i, TIMED>(shared, L1i, line, cycle, Who::Demand, false);
        let seen = Seen { pc: 0, addr: line << self.private.line_shift, line, missed: true };
        if self.private.l1i.show(seen) {
            let shared = self.shared.get_mut();
            self.private.prefetch_wanted::<L1i, TIMED>(
                shared,
                L1i,
                cycle + self.private.l1i.latency,
            );
        }
        (brought.ready, brought.level)
    }
}
