//! One cache: contents, arrival times, prefetchers and counters. What moves between caches is in
//! [`crate::private`].

use crate::access::Depth;
use crate::array::{Array, Entry, Victim};
use crate::calendar::Calendar;
use crate::fill::Fill;
use crate::params::{L1dParams, L1iParams, LevelParams, MemoryParams};
use crate::prefetch::{Chain, Seen};
use crate::replacement::Policy;
use crate::resources::Resources;
use crate::statistics::CacheStatistics;
use params::ConfigError;

/// A cache of any level.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    pub(crate) array: Array,
    /// Load-to-use latency of a hit.
    pub(crate) latency: u64,
    /// Bounds its lines in flight; without it, the requester keeps their arrivals.
    pub(crate) in_flight: Option<Resources>,
    /// A line evicted from it is evicted from every cache inside it.
    pub(crate) inclusive: bool,
    pub(crate) prefetchers: Chain,
    /// Lines that its prefetchers asked for and that have not been looked up yet.
    pub(crate) wanted: Vec<u64>,
    pub(crate) statistics: CacheStatistics,
}

/// What caches of all levels have in common in a machine file.
struct Common<'a> {
    key: &'a str,
    size: u64,
    assoc: u32,
    latency: u64,
    in_flight: u32,
    replacement: &'a str,
    prefetchers: &'a [String],
    every_load: bool,
}

impl Cache {
    fn new(p: &MemoryParams, common: &Common) -> Result<Self, ConfigError> {
        let sets = common.size / p.line / u64::from(common.assoc);
        let policy = Policy::find(&format!("{}.replacement", common.key), common.replacement)?;
        Ok(Self {
            array: Array::new(sets, common.assoc, common.in_flight > 0, policy),
            latency: common.latency,
            in_flight: (common.in_flight > 0).then(|| Resources::new(common.in_flight)),
            inclusive: false,
            prefetchers: Chain::new(common.key, common.prefetchers, common.every_load, p)?,
            wanted: Vec::new(),
            statistics: CacheStatistics::default(),
        })
    }

    pub(crate) fn l1i(p: &MemoryParams) -> Result<Self, ConfigError> {
        let L1iParams { size, assoc, latency, fill_buffers, replacement, prefetchers } = &p.l1i;
        let common = Common {
            key: "l1i",
            every_load: false,
            size: *size,
            assoc: *assoc,
            latency: *latency,
            in_flight: *fill_buffers,
            replacement,
            prefetchers,
        };
        Self::new(p, &common)
    }

    pub(crate) fn l1d(p: &MemoryParams) -> Result<Self, ConfigError> {
        let L1dParams { size, assoc, latency, fill_buffers, replacement, prefetchers, .. } = &p.l1d;
        let common = Common {
            key: "l1d",
            every_load: true,
            size: *size,
            assoc: *assoc,
            latency: *latency,
            in_flight: *fill_buffers,
            replacement,
            prefetchers,
        };
        Self::new(p, &common)
    }

    /// The common case of a demand access, counted as a hit: the line is the most recently used of
    /// its set and ready, and no prefetcher is to be credited.
    #[inline(always)]
    pub(crate) fn newest_and_ready<const TIMED: bool>(
        &mut self,
        line: u64,
        cycle: u64,
    ) -> Option<Entry> {
        let by = if TIMED { cycle + self.latency } else { u64::MAX };
        let entry = self.array.newest_settled(line, by)?;
        self.statistics.hits += 1;
        Some(entry)
    }

    /// A hit at `entry`: the cycle at which the data can be used, and whether the access waited for
    /// the line.
    #[inline]
    pub(crate) fn hit<const TIMED: bool>(
        &mut self,
        entry: Entry,
        cycle: u64,
        count: bool,
    ) -> (u64, bool) {
        self.statistics.hits += u64::from(count);
        let ready = cycle + self.latency;
        let fill = self.array.fill(entry);
        let waits = TIMED && fill.ready() > ready;
        if self.array.prefetched(entry) {
            self.array.set_prefetched(entry, false);
            self.statistics.prefetch_hits += 1;
            self.statistics.prefetches_late += u64::from(waits);
        }
        if !waits {
            return (ready, false);
        }
        let (usable, fill) = fill.used_at(cycle);
        self.array.set_fill(entry, fill);
        let waits = usable > ready;
        self.statistics.hits_in_flight += u64::from(waits && count);
        (usable.max(ready), waits)
    }

    /// Shows an access to the prefetchers in the list; true if they ask for lines.
    pub(crate) fn show(&mut self, seen: Seen) -> bool {
        for prefetcher in &mut self.prefetchers.list {
            prefetcher.see(seen, &mut self.wanted);
        }
        !self.wanted.is_empty()
    }

    /// Fills a line and returns the victim.
    pub(crate) fn bring(
        &mut self,
        line: u64,
        fill: Fill,
        prefetch: bool,
    ) -> (Entry, Option<Victim>) {
        let (entry, victim) = self.array.insert(line, fill);
        self.array.set_prefetched(entry, prefetch);
        self.statistics.prefetches += u64::from(prefetch);
        self.statistics.evictions += u64::from(victim.is_some());
        self.statistics.prefetches_unused += u64::from(victim.is_some_and(|gone| gone.prefetched));
        (entry, victim)
    }

    /// Gives up a line because another level does; true if it held newer data.
    pub(crate) fn give_up(&mut self, line: u64) -> bool {
        let Some(gone) = self.array.remove(line) else { return false };
        self.statistics.prefetches_unused += u64::from(gone.prefetched);
        gone.dirty
    }
}

/// A cache beyond the first level, with its interface to the inner levels.
#[derive(Clone, Debug)]
pub(crate) struct Outer {
    pub(crate) name: String,
    pub(crate) cache: Cache,
    /// Hands one line inwards per interval.
    pub(crate) port: Calendar,
    pub(crate) depth: Depth,
    /// Cycles a request takes to pass this level, after which its prefetches follow.
    pub(crate) pass: u64,
}

impl Outer {
    /// Level `at` of the list.
    pub(crate) fn new(p: &MemoryParams, at: usize) -> Result<Self, ConfigError> {
        let level = &p.level[at];
        let inside = if at == 0 { p.l1d.latency } else { p.level[at - 1].load_to_use() };
        let mut cache = Cache::new(
            p,
            &Common {
                key: &format!("level[{at}]"),
                every_load: false,
                size: level.size,
                assoc: level.assoc,
                latency: level.load_to_use(),
                in_flight: level.superqueue,
                replacement: &level.replacement,
                prefetchers: &level.prefetchers,
            },
        )?;
        cache.inclusive = level.inclusive;
        Ok(Self {
            name: level.name.clone(),
            depth: Depth::of(at),
            cache,
            port: Calendar::new(level.interval),
            pass: level.load_to_use() - inside,
        })
    }
}

impl LevelParams {
    /// Load-to-use latency of a hit, including the path to an average slice.
    pub fn load_to_use(&self) -> u64 {
        self.latency + self.path
    }
}
