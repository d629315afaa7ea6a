//! A second, slow model of what the hierarchy holds: lists in order of use, no times, no
//! prefetchers. The tests run both on random traffic and want the same answers.

use crate::translate::{PAGE_DIRECTORIES, PAGE_TABLES};
use crate::{Level, Memory, MemoryParams, MemoryStatistics, TlbLevel};
use proptest::prelude::*;
use std::collections::{BTreeSet, VecDeque};

/// Sets of keys with a dirty mark, most recently used first.
struct Lists {
    sets: Vec<VecDeque<(u64, bool)>>,
    assoc: usize,
    hits: u64,
    misses: u64,
    writebacks: u64,
    evictions: u64,
}

impl Lists {
    fn new(keys: u64, assoc: u32) -> Self {
        let sets = vec![VecDeque::new(); (keys / u64::from(assoc)) as usize];
        Self { sets, assoc: assoc as usize, hits: 0, misses: 0, writebacks: 0, evictions: 0 }
    }

    fn set(&mut self, key: u64) -> &mut VecDeque<(u64, bool)> {
        let at = key % self.sets.len() as u64;
        &mut self.sets[at as usize]
    }

    fn use_key(&mut self, key: u64, count: bool) -> bool {
        let set = self.set(key);
        let at = set.iter().position(|(k, _)| *k == key);
        if let Some(at) = at {
            let entry = set.remove(at).unwrap();
            set.push_front(entry);
        }
        self.hits += u64::from(count && at.is_some());
        self.misses += u64::from(count && at.is_none());
        at.is_some()
    }

    fn remove(&mut self, key: u64) -> Option<bool> {
        let set = self.set(key);
        let at = set.iter().position(|(k, _)| *k == key)?;
        set.remove(at).map(|(_, dirty)| dirty)
    }

    fn add(&mut self, key: u64, dirty: bool) -> Option<(u64, bool)> {
        let assoc = self.assoc;
        let set = self.set(key);
        set.push_front((key, dirty));
        let gone = if set.len() > assoc { set.pop_back() } else { None };
        self.evictions += u64::from(gone.is_some());
        gone
    }

    /// Marks a key dirty; false if it is not here.
    fn mark(&mut self, key: u64) -> bool {
        let found = self.set(key).iter_mut().find(|(k, _)| *k == key);
        found.map(|entry| entry.1 = true).is_some()
    }

    fn trash(&mut self) {
        let keep = self.assoc - self.assoc / 2;
        self.sets.iter_mut().for_each(|set| set.truncate(keep));
    }
}

/// The whole hierarchy.
struct Naive {
    line: u64,
    l1i: Lists,
    l1d: Lists,
    l2: Lists,
    llc: Lists,
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
        let lists = |size: u64, assoc| Lists::new(size / p.line, assoc);
        Self {
            line: p.line,
            l1i: lists(p.l1i.size, p.l1i.assoc),
            l1d: lists(p.l1d.size, p.l1d.assoc),
            l2: lists(p.l2.size, p.l2.assoc),
            llc: lists(p.llc.size, p.llc.assoc),
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

    fn llc(&mut self, line: u64) -> Level {
        if self.llc.use_key(line, true) {
            return Level::Llc;
        }
        self.dram_reads += 1;
        if let Some((gone, mut dirty)) = self.llc.add(line, false) {
            for inner in [&mut self.l1d, &mut self.l2, &mut self.l1i] {
                dirty |= inner.remove(gone) == Some(true);
            }
            self.llc.writebacks += u64::from(dirty);
            self.dram_writes += u64::from(dirty);
        }
        Level::Dram
    }

    fn add_to_l2(&mut self, line: u64, dirty: bool) {
        if let Some((gone, true)) = self.l2.add(line, dirty) {
            self.l2.writebacks += 1;
            self.dram_writes += u64::from(!self.llc.mark(gone));
        }
    }

    fn l2(&mut self, line: u64) -> Level {
        if self.l2.use_key(line, true) {
            return Level::L2;
        }
        let level = self.llc(line);
        self.add_to_l2(line, false);
        level
    }

    fn data(&mut self, line: u64, write: bool, count: bool) -> Level {
        let mut level = Level::L1;
        if !self.l1d.use_key(line, count) {
            level = self.l2(line);
            if let Some((gone, true)) = self.l1d.add(line, false) {
                self.l1d.writebacks += 1;
                if !self.l2.mark(gone) {
                    self.add_to_l2(gone, true);
                }
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
        let level = self.l2(line);
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

    /// The counters that both models keep, in one order.
    fn counters(&self) -> Vec<u64> {
        let cache = |c: &Lists| [c.hits + c.misses, c.hits, c.misses, c.writebacks, c.evictions];
        let tlb = |t: &Lists| [t.hits + t.misses, t.hits, t.misses];
        let caches = [&self.l1i, &self.l1d, &self.l2, &self.llc].map(cache).concat();
        let tlbs = [&self.itlb, &self.dtlb, &self.stlb].map(tlb).concat();
        [caches, tlbs, vec![self.page_faults, self.dram_reads, self.dram_writes]].concat()
    }
}

fn counters(s: &MemoryStatistics) -> Vec<u64> {
    let caches = [s.l1i, s.l1d, s.l2, s.llc]
        .map(|c| [c.accesses, c.hits, c.misses, c.writebacks, c.evictions]);
    let tlbs = [s.itlb, s.dtlb, s.stlb].map(|t| [t.accesses, t.hits, t.misses]);
    let rest = vec![s.walk.page_faults, s.dram.reads, s.dram.writes];
    [caches.concat(), tlbs.concat(), rest].concat()
}

/// Small enough that random traffic overflows everything; no prefetchers.
fn small(assoc: [u32; 4]) -> MemoryParams {
    let mut p = MemoryParams::default();
    for (size, ways, n, sets) in [
        (&mut p.l1i.size, &mut p.l1i.assoc, 0, 4),
        (&mut p.l1d.size, &mut p.l1d.assoc, 1, 4),
        (&mut p.l2.size, &mut p.l2.assoc, 2, 8),
        (&mut p.llc.size, &mut p.llc.assoc, 3, 17),
    ] {
        *ways = assoc[n];
        *size = 64 * u64::from(assoc[n]) * sets;
    }
    p.llc.size = p.llc.size.max(p.l1i.size + p.l1d.size).div_ceil(64 * u64::from(assoc[3]));
    p.llc.size *= 64 * u64::from(assoc[3]);
    (p.itlb.entries, p.itlb.assoc) = (4, 2);
    (p.dtlb.entries, p.dtlb.assoc) = (4, 2);
    (p.stlb.entries, p.stlb.assoc) = (12, 4);
    (p.walk.pde_entries, p.walk.pde_assoc) = (2, 1);
    let f = &mut p.prefetch;
    (f.ip_stride, f.next_line, f.next_line_code) = (false, false, false);
    (f.streamer, f.adjacent) = (false, false);
    p
}

#[derive(Clone, Debug)]
struct Step {
    what: u8,
    addr: u64,
    cycle: u64,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Mostly few lines of few pages, some pages far apart (other directories).
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
        assoc in prop::array::uniform4(1_u32..=5), steps in steps(),
    ) {
        let params = small(assoc);
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
                    let got = timed.store(1, addr, 8, cycle);
                    prop_assert_eq!(seen(got.level), level);
                    warm.warm_store(1, addr, 8);
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
                    naive.l2.trash();
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
