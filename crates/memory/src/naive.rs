//! A second, slow model of what the hierarchy holds: lists of ways, no times, no prefetchers. The
//! tests run both on random traffic through random hierarchies and expect the same answers.

use crate::translate::{PAGE_DIRECTORIES, PAGE_TABLES};
use crate::{Depth, Level, LevelParams, Memory, MemoryParams, MemoryStatistics, TlbLevel};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The line in a way; `value` is SRRIP's prediction.
struct Line {
    key: u64,
    dirty: bool,
    value: u8,
}

/// The ways of a set, and their numbers, most recently used first and empty ones last.
struct Set {
    ways: Vec<Option<Line>>,
    order: Vec<usize>,
}

impl Set {
    fn find(&self, key: u64) -> Option<usize> {
        self.ways.iter().position(|way| way.as_ref().is_some_and(|line| line.key == key))
    }

    fn to(&mut self, way: usize, front: bool) {
        self.order.retain(|other| *other != way);
        self.order.insert(if front { 0 } else { self.order.len() }, way);
    }

    fn empty(&mut self, way: usize) -> Option<Line> {
        self.to(way, false);
        self.ways[way].take()
    }

    /// The way to replace: an empty one, or the policy's victim.
    fn victim(&mut self, srrip: bool) -> usize {
        let last = self.order[self.order.len() - 1];
        if self.ways[last].is_none() || !srrip {
            return last;
        }
        loop {
            let mut lines = self.ways.iter_mut().flatten();
            if let Some(way) = lines.position(|line| line.value == 3) {
                return way;
            }
            self.ways.iter_mut().flatten().for_each(|line| line.value += 1);
        }
    }
}

/// Sets of keys with a dirty flag.
struct Lists {
    sets: Vec<Set>,
    srrip: bool,
    hits: u64,
    misses: u64,
    writebacks: u64,
    evictions: u64,
}

impl Lists {
    fn new(keys: u64, assoc: u32) -> Self {
        let assoc = assoc as usize;
        let set = || Set {
            ways: std::iter::repeat_with(|| None).take(assoc).collect(),
            order: (0..assoc).collect(),
        };
        let sets = std::iter::repeat_with(set).take(keys as usize / assoc).collect();
        Self { sets, srrip: false, hits: 0, misses: 0, writebacks: 0, evictions: 0 }
    }

    fn set(&mut self, key: u64) -> &mut Set {
        let at = key % self.sets.len() as u64;
        &mut self.sets[at as usize]
    }

    fn use_key(&mut self, key: u64, count: bool) -> bool {
        let set = self.set(key);
        let at = set.find(key);
        if let Some(at) = at {
            set.to(at, true);
            set.ways[at].as_mut().unwrap().value = 0;
        }
        self.hits += u64::from(count && at.is_some());
        self.misses += u64::from(count && at.is_none());
        at.is_some()
    }

    fn remove(&mut self, key: u64) -> Option<bool> {
        let set = self.set(key);
        let at = set.find(key)?;
        set.empty(at).map(|line| line.dirty)
    }

    fn add(&mut self, key: u64, dirty: bool) -> Option<(u64, bool)> {
        let srrip = self.srrip;
        let set = self.set(key);
        let way = set.victim(srrip);
        let gone = set.ways[way].replace(Line { key, dirty, value: 2 });
        set.to(way, true);
        self.evictions += u64::from(gone.is_some());
        gone.map(|line| (line.key, line.dirty))
    }

    /// Marks a key dirty; false if it is absent.
    fn mark(&mut self, key: u64) -> bool {
        let set = self.set(key);
        let at = set.find(key);
        at.map(|at| set.ways[at].as_mut().unwrap().dirty = true).is_some()
    }

    fn trash(&mut self) {
        for set in &mut self.sets {
            let keep = set.ways.len() - set.ways.len() / 2;
            let gone = set.order[keep..].to_vec();
            for way in gone {
                set.empty(way);
            }
        }
    }
}

/// The whole hierarchy.
struct Naive {
    line: u64,
    l1i: Lists,
    l1d: Lists,
    /// Innermost first: contents, whether inclusive, and whether private.
    levels: Vec<(Lists, bool, bool)>,
    itlb: Lists,
    dtlb: Lists,
    stlb: Lists,
    pde: Lists,
    pages: BTreeSet<u64>,
    code_pages: u64,
    dram_reads: u64,
    dram_writes: u64,
    page_faults: u64,
}

impl Naive {
    fn new(p: &MemoryParams) -> Self {
        let lists = |size: u64, assoc, policy: &str| Lists {
            srrip: policy == "srrip",
            ..Lists::new(size / p.line, assoc)
        };
        let level =
            |l: &LevelParams| (lists(l.size, l.assoc, &l.replacement), l.inclusive, !l.shared);
        Self {
            line: p.line,
            l1i: lists(p.l1i.size, p.l1i.assoc, &p.l1i.replacement),
            l1d: lists(p.l1d.size, p.l1d.assoc, &p.l1d.replacement),
            levels: p.level.iter().map(level).collect(),
            itlb: Lists::new(p.itlb.entries.into(), p.itlb.assoc),
            dtlb: Lists::new(p.dtlb.entries.into(), p.dtlb.assoc),
            stlb: Lists::new(p.stlb.entries.into(), p.stlb.assoc),
            pde: Lists::new(p.walk.pde_entries.into(), p.walk.pde_assoc),
            pages: BTreeSet::new(),
            code_pages: p.page_fault.code_pages,
            dram_reads: 0,
            dram_writes: 0,
            page_faults: 0,
        }
    }

    /// Asks level `at`, or memory.
    fn request(&mut self, at: usize, line: u64) -> Level {
        let Some((lists, ..)) = self.levels.get_mut(at) else {
            self.dram_reads += 1;
            return Level::Dram;
        };
        if lists.use_key(line, true) {
            return Level::Outer(Depth::of(at));
        }
        let from = self.request(at + 1, line);
        self.bring(at, line, false);
        from
    }

    fn bring(&mut self, at: usize, line: u64, dirty: bool) {
        let (inner, rest) = self.levels.split_at_mut(at);
        let (lists, inclusive, _) = &mut rest[0];
        let Some((gone, mut dirty)) = lists.add(line, dirty) else { return };
        if *inclusive {
            let inner = inner.iter_mut().map(|(lists, ..)| lists);
            for inner in inner.chain([&mut self.l1d, &mut self.l1i]) {
                dirty |= inner.remove(gone) == Some(true);
            }
        }
        lists.writebacks += u64::from(dirty);
        if dirty {
            self.write_back(at + 1, gone);
        }
    }

    fn write_back(&mut self, at: usize, line: u64) {
        match self.levels.get_mut(at) {
            None => self.dram_writes += 1,
            Some((lists, inclusive, _)) => {
                if lists.mark(line) {
                } else if *inclusive {
                    self.write_back(at + 1, line);
                } else {
                    self.bring(at, line, true);
                }
            }
        }
    }

    fn data(&mut self, line: u64, write: bool, count: bool) -> Level {
        let mut level = Level::L1;
        if !self.l1d.use_key(line, count) {
            level = self.request(0, line);
            if let Some((gone, true)) = self.l1d.add(line, false) {
                self.l1d.writebacks += 1;
                self.write_back(0, gone);
            }
        }
        if write {
            self.l1d.mark(line);
        }
        level
    }

    fn code(&mut self, line: u64) -> Level {
        if self.l1i.use_key(line, true) {
            return Level::L1;
        }
        let level = self.request(0, line);
        self.l1i.add(line, false);
        level
    }

    fn translate(&mut self, page: u64, code: bool) -> (TlbLevel, bool) {
        let first = if code { &mut self.itlb } else { &mut self.dtlb };
        if first.use_key(page, true) {
            return (TlbLevel::L1, false);
        }
        let mut answer = (TlbLevel::Stlb, false);
        if !self.stlb.use_key(page, true) {
            if !self.pde.use_key(page / 512, false) {
                self.data((PAGE_DIRECTORIES + page / 512 * 8) / self.line, false, false);
                self.pde.add(page / 512, false);
            }
            self.data((PAGE_TABLES + page * 8) / self.line, false, false);
            self.stlb.add(page, false);
            let fault = self.pages.insert(page);
            if fault && code {
                let first = page / self.code_pages * self.code_pages;
                self.pages.extend(first..first + self.code_pages);
            }
            self.page_faults += u64::from(fault);
            answer = (TlbLevel::Walk, fault);
        }
        let first = if code { &mut self.itlb } else { &mut self.dtlb };
        first.add(page, false);
        answer
    }

    /// The counters that both models have, in one order.
    fn counters(&self) -> Vec<u64> {
        let cache = |c: &Lists| [c.hits + c.misses, c.hits, c.misses, c.writebacks, c.evictions];
        let tlb = |t: &Lists| [t.hits + t.misses, t.hits, t.misses];
        let levels = self.levels.iter().map(|(lists, ..)| lists);
        let caches: Vec<_> = [&self.l1i, &self.l1d].into_iter().chain(levels).map(cache).collect();
        let tlbs = [&self.itlb, &self.dtlb, &self.stlb].map(tlb).concat();
        let rest = vec![self.page_faults, self.dram_reads, self.dram_writes];
        [caches.concat(), tlbs, rest].concat()
    }
}

fn counters(s: &MemoryStatistics) -> Vec<u64> {
    let levels = s.levels.iter().map(|level| level.cache);
    let caches = [s.l1i, s.l1d].into_iter().chain(levels);
    let caches: Vec<_> =
        caches.map(|c| [c.accesses, c.hits, c.misses, c.writebacks, c.evictions]).collect();
    let tlbs = [s.itlb, s.dtlb, s.stlb].map(|t| [t.accesses, t.hits, t.misses]);
    let rest = vec![s.walk.page_faults, s.dram.reads, s.dram.writes];
    [caches.concat(), tlbs.concat(), rest].concat()
}

/// A cache: ways, whether it uses SRRIP, and for a level beyond the first whether it is inclusive
/// and whether it keeps arrivals.
type Drawn = (u32, bool, bool, bool);

fn drawn() -> impl Strategy<Value = Drawn> {
    (1_u32..=5, any::<bool>(), any::<bool>(), any::<bool>())
}

/// Small enough that random traffic overflows everything; no prefetchers. The levels from
/// `shared` on are shared.
fn small(first: [Drawn; 2], levels: &[Drawn], shared: usize) -> MemoryParams {
    let mut p = MemoryParams::default();
    let policy = |srrip| if srrip { "srrip".to_owned() } else { "lru".to_owned() };
    let size = |assoc: u32, sets: u64| 64 * u64::from(assoc) * sets;
    let [(code, code_srrip, ..), (data, data_srrip, ..)] = first;
    (p.l1i.size, p.l1i.assoc, p.l1i.replacement) = (size(code, 4), code, policy(code_srrip));
    (p.l1d.size, p.l1d.assoc, p.l1d.replacement) = (size(data, 4), data, policy(data_srrip));
    p.l1i.prefetchers.clear();
    p.l1d.prefetchers.clear();
    p.level = (0..levels.len())
        .map(|at| {
            let (assoc, srrip, inclusive, keeps) = levels[at];
            let least = (p.l1i.size + p.l1d.size).div_ceil(size(assoc, 1));
            let sets = if inclusive { least.max(17) } else { [8, 13, 16, 27][at] };
            LevelParams {
                name: format!("L{}", at + 2),
                size: size(assoc, sets),
                assoc,
                latency: 12 * (at as u64 + 1),
                superqueue: if keeps { 4 } else { 0 },
                shared: at >= shared,
                inclusive,
                replacement: policy(srrip),
                ..LevelParams::default()
            }
        })
        .collect();
    (p.itlb.entries, p.itlb.assoc) = (4, 2);
    (p.dtlb.entries, p.dtlb.assoc) = (4, 2);
    (p.stlb.entries, p.stlb.assoc) = (12, 4);
    (p.walk.pde_entries, p.walk.pde_assoc) = (2, 1);
    p
}

#[derive(Clone, Debug)]
struct Step {
    what: u8,
    addr: u64,
    cycle: u64,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Mostly a few lines of a few pages, some pages far apart (other directories).
    let page = prop_oneof![4 => 0_u64..4, 3 => 0_u64..40, 1 => (0_u64..5).prop_map(|n| n << 9)];
    let step = (0_u8..24, page, 0_u64..64, 0_u64..2_000).prop_map(|(what, page, line, cycle)| {
        Step { what, addr: (0x100 + page) << 12 | line << 6, cycle }
    });
    prop::collection::vec(step, 1..800)
}

fn seen(level: Level) -> Level {
    if level == Level::FillBuffer { Level::L1 } else { level }
}

fn seen_tlb(level: TlbLevel) -> TlbLevel {
    if level == TlbLevel::OnItsWay { TlbLevel::L1 } else { level }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn contents_and_counters_equal_the_naive_model(
        first in prop::array::uniform2(drawn()), levels in prop::collection::vec(drawn(), 1..=4),
        shared in 0_usize..=4, steps in steps(),
    ) {
        let params = small(first, &levels, shared);
        let mut timed = Memory::new(&params).unwrap();
        let mut warm = timed.clone();
        let mut naive = Naive::new(&params);
        for Step { what, addr, cycle } in steps {
            let (line, page) = (addr / 64, addr >> 12);
            match what {
                0..=9 => {
                    let (tlb, fault) = naive.translate(page, false);
                    let level = naive.data(line, false, true);
                    let got = timed.load(1, addr, 8, cycle);
                    let tlb_seen = seen_tlb(got.tlb);
                    prop_assert_eq!((seen(got.level), tlb_seen, got.page_fault), (level, tlb, fault));
                    prop_assert!(got.ready >= cycle + params.l1d.latency);
                    warm.warm_load(1, addr, 8);
                }
                10..=16 => {
                    let (tlb, fault) = naive.translate(page, false);
                    let level = naive.data(line, true, true);
                    let got = timed.store_address_tlb(addr, 8, cycle);
                    prop_assert_eq!((seen_tlb(got.tlb), got.page_fault), (tlb, fault));
                    let got = timed.store(addr, 8, cycle);
                    prop_assert_eq!(seen(got.level), level);
                    warm.warm_store(addr, 8);
                }
                17..=21 => {
                    let (tlb, fault) = naive.translate(page, true);
                    let level = naive.code(line);
                    let got = timed.fetch(addr, cycle);
                    let tlb_seen = seen_tlb(got.tlb);
                    prop_assert_eq!((seen(got.level), tlb_seen, got.page_fault), (level, tlb, fault));
                    warm.warm_fetch(addr);
                }
                22 => {
                    naive.l1d.trash();
                    let private = naive.levels.iter_mut().filter(|(_, _, private)| *private);
                    private.for_each(|(lists, ..)| lists.trash());
                    timed.trash_lru_half();
                    warm.trash_lru_half();
                }
                _ => {
                    naive.pages.remove(&page);
                    for tlb in [&mut naive.itlb, &mut naive.dtlb, &mut naive.stlb] {
                        tlb.remove(page);
                    }
                    timed.unmap(page << 12, 4096);
                    warm.unmap(page << 12, 4096);
                }
            }
        }
        prop_assert_eq!(counters(&timed.statistics()), naive.counters());
        prop_assert_eq!(counters(&warm.statistics()), naive.counters());
    }
}
