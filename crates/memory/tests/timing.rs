//! When data is ready: expected cycles computed from the parameters.

use mallacc_memory::{Depth, Level, Memory, MemoryParams, TlbLevel};

const PAGE: u64 = 4096;
const LINE: u64 = 64;
const BASE: u64 = 0x10_0000;

/// The default parameters without prefetchers, so that only the accesses of a test move lines.
fn plain() -> MemoryParams {
    let mut params = MemoryParams::default();
    params.l1i.prefetchers.clear();
    params.l1d.prefetchers.clear();
    params.level.iter_mut().for_each(|level| level.prefetchers.clear());
    params
}

fn new(params: &MemoryParams) -> Memory {
    Memory::new(params).unwrap()
}

/// Load-to-use of a line in memory: bank closed, no other traffic.
fn dram(params: &MemoryParams) -> u64 {
    let d = &params.dram;
    let ns = [d.path_ns, d.trcd_ns, d.tcl_ns, d.burst_ns];
    let cycles = ns.map(|ns| (ns * params.clock_mhz as f64 / 1000.0).round() as u64);
    params.level[1].load_to_use() + cycles.iter().sum::<u64>()
}

/// Touches the pages of a range and the tables of their translations, long before cycle `FAR`.
fn map(memory: &mut Memory, first: u64, pages: u64) {
    for page in 0..pages {
        memory.load(1, first + page * PAGE, 1, 0);
    }
}
const FAR: u64 = 1_000_000;

/// Empties the TLBs and the walker's cache, as Linux does for more pages than it invalidates
/// singly.
fn flush_tlbs(memory: &mut Memory) {
    memory.unmap(1 << 40, 64 * PAGE);
}

#[test]
fn a_hit_is_ready_after_exactly_the_latency() {
    for latency in [3, 4, 5] {
        let mut params = plain();
        params.l1d.latency = latency;
        let mut memory = new(&params);
        memory.load(1, BASE, 8, 0);
        let hit = memory.load(1, BASE + 8, 8, FAR);
        assert_eq!((hit.ready, hit.level, hit.tlb), (FAR + latency, Level::L1, TlbLevel::L1));
        assert!(!hit.page_fault);
    }
}

#[test]
fn a_line_that_left_the_l1_comes_from_the_l2_after_its_latency() {
    let params = plain();
    let mut memory = new(&params);
    // One line more than the set has ways; the first is the least recently used.
    let way = params.l1d.size / u64::from(params.l1d.assoc);
    let assoc = u64::from(params.l1d.assoc);
    for n in 0..=assoc {
        memory.load(1, BASE + n * way, 8, 0);
    }
    let again = memory.load(1, BASE, 8, FAR);
    assert_eq!(
        (again.ready, again.level),
        (FAR + params.level[0].latency, Level::Outer(Depth::First))
    );
    // That evicted the second; the third is still present.
    assert_eq!(memory.load(1, BASE + 2 * way, 8, 2 * FAR).level, Level::L1);
    assert_eq!(memory.load(1, BASE + way, 8, 2 * FAR).level, Level::Outer(Depth::First));
}

#[test]
fn a_line_that_left_the_l2_comes_from_the_llc_after_its_latency() {
    let params = plain();
    let mut memory = new(&params);
    let way = params.level[0].size / u64::from(params.level[0].assoc);
    for n in 0..=u64::from(params.level[0].assoc) {
        memory.load(1, BASE + n * way, 8, 0);
    }
    memory.store_address_tlb(BASE, 8, FAR / 2);
    let again = memory.load(1, BASE, 8, FAR);
    assert_eq!(again.level, Level::Outer(Depth::Second));
    assert_eq!(again.ready, FAR + params.level[1].load_to_use());
}

#[test]
fn a_line_in_no_cache_comes_from_memory() {
    let params = plain();
    let mut memory = new(&params);
    map(&mut memory, BASE, 1);
    let access = memory.load(1, BASE + 5 * LINE, 8, FAR);
    assert_eq!((access.ready, access.level), (FAR + dram(&params), Level::Dram));
}

#[test]
fn accesses_to_a_line_in_flight_wait_for_it_and_no_longer() {
    let params = plain();
    let mut memory = new(&params);
    map(&mut memory, BASE, 1);
    let arrival = memory.load(1, BASE + LINE, 8, FAR).ready;
    let latency = params.l1d.latency;
    for (cycle, ready, level) in [
        (FAR + 1, arrival, Level::FillBuffer),
        (arrival - latency - 1, arrival, Level::FillBuffer),
        (arrival - latency, arrival, Level::L1),
        (arrival - latency + 1, arrival + 1, Level::L1),
    ] {
        let access = memory.load(1, BASE + LINE + 16, 8, cycle);
        assert_eq!((access.ready, access.level), (ready, level), "at {cycle}");
    }
    assert_eq!(memory.statistics().dram.reads, new_reads(&params) + 1);
}

/// Lines read from memory by the first load of a page: its own and one per table.
fn new_reads(params: &MemoryParams) -> u64 {
    let mut memory = new(params);
    map(&mut memory, BASE, 1);
    memory.statistics().dram.reads
}

#[test]
fn a_younger_load_from_before_the_request_gets_the_line_after_the_same_latency() {
    let params = plain();
    let mut memory = new(&params);
    map(&mut memory, BASE, 1);
    let older = memory.load(1, BASE + LINE, 8, FAR + 5_000);
    let latency = older.ready - (FAR + 5_000);
    let younger = memory.load(1, BASE + LINE + 8, 8, FAR);
    assert_eq!(younger.ready, FAR + latency);
    let third = memory.load(1, BASE + LINE + 8, 8, FAR + latency);
    assert_eq!(third.ready, FAR + latency + params.l1d.latency);
}

#[test]
fn with_all_fill_buffers_taken_a_miss_waits_for_the_first_to_become_free() {
    for buffers in [1, 2, 10] {
        let mut params = plain();
        params.l1d.fill_buffers = buffers;
        params.level[0].superqueue = 64;
        let mut memory = new(&params);
        map(&mut memory, BASE, 1);
        let mut first = u64::MAX;
        for n in 0..u64::from(buffers) {
            let ready = memory.load(1, BASE + (1 + n) * LINE, 8, FAR + n).ready;
            first = first.min(ready);
        }
        let cycle = FAR + u64::from(buffers);
        let waits = memory.load(1, BASE + 40 * LINE, 8, cycle).ready;
        let open_row = {
            // At best the next request finds its row open: no activation.
            let d = &params.dram;
            (d.trcd_ns * params.clock_mhz as f64 / 1000.0).round() as u64
        };
        assert!(waits >= first + dram(&params) - open_row, "{buffers}: {waits}, {first}");
        // A hit needs no buffer.
        assert_eq!(memory.load(1, BASE, 8, cycle).ready, cycle + params.l1d.latency);
    }
}

#[test]
fn one_more_superqueue_entry_is_one_more_line_from_memory_at_once() {
    // The first request beyond the entries waits for the first line to arrive.
    let wait = |entries: u32, requests: u64| {
        let mut params = plain();
        params.l1d.fill_buffers = 64;
        params.level[0].superqueue = entries;
        let mut memory = new(&params);
        map(&mut memory, BASE, 1);
        let loads = (1..=requests).map(|n| memory.load(1, BASE + n * LINE, 8, FAR).ready);
        let ready: Vec<u64> = loads.collect();
        (ready[0], *ready.last().unwrap())
    };
    for entries in [2, 4, 16] {
        let (first, last) = wait(entries, u64::from(entries));
        assert!(last < first + 200, "{entries} entries serve {entries} at once: {first}, {last}");
        let (first, late) = wait(entries, u64::from(entries) + 1);
        assert!(late > first + 100, "the next waits for the first: {first}, {late}");
    }
}

/// The first four lines of a page, loaded at once after lines `way` bytes apart evicted them.
fn loads_at_once(params: &MemoryParams, way: u64, assoc: u64) -> Vec<(u64, Level)> {
    let mut memory = new(params);
    for n in 0..=assoc {
        for line in 0..4 {
            memory.load(1, BASE + n * way + line * LINE, 8, 0);
        }
    }
    memory.store_address_tlb(BASE, 8, FAR / 2);
    (0..4)
        .map(|line| memory.load(1, BASE + line * LINE, 8, FAR))
        .map(|a| (a.ready, a.level))
        .collect()
}

#[test]
fn lines_of_one_cycle_leave_the_l2_and_the_llc_an_interval_apart() {
    let mut params = plain();
    // A multiple of the interval, so that the first request's interval begins at its own cycle.
    (params.level[0].interval, params.level[1].interval) = (4, 10);
    let way = params.l1d.size / u64::from(params.l1d.assoc);
    let expected: Vec<_> = (0..4)
        .map(|n| {
            (
                FAR + params.level[0].latency + n * params.level[0].interval,
                Level::Outer(Depth::First),
            )
        })
        .collect();
    assert_eq!(loads_at_once(&params, way, params.l1d.assoc.into()), expected);
    let way = params.level[0].size / u64::from(params.level[0].assoc);
    let first = FAR + params.level[1].load_to_use();
    let expected: Vec<_> = (0..4)
        .map(|n| (first + n * params.level[1].interval, Level::Outer(Depth::Second)))
        .collect();
    assert_eq!(loads_at_once(&params, way, params.level[0].assoc.into()), expected);
}

#[test]
fn a_prefetch_holds_a_fill_buffer_until_its_line_arrives() {
    let mut params = plain();
    (params.l1d.prefetchers, params.l1d.fill_buffers) = (vec!["ip_stride".into()], 1);
    let mut memory = new(&params);
    map(&mut memory, BASE, 1);
    for n in 0..3 {
        memory.load(7, BASE + n * LINE, 8, FAR * (n + 1));
    }
    // The third load prefetched the fourth line; a miss meanwhile waits for that line's arrival.
    let arrival = 3 * FAR + params.l1d.latency + dram(&params);
    let miss = memory.load(1, BASE + 40 * LINE, 8, 3 * FAR + 20);
    assert!(miss.ready > arrival + params.level[1].latency, "{} {arrival}", miss.ready);
}

#[test]
fn a_load_over_a_line_end_costs_both_lines_and_the_split() {
    let params = plain();
    let mut memory = new(&params);
    map(&mut memory, BASE, 2);
    memory.load(1, BASE + LINE, 8, 0);
    let before = memory.statistics().l1d;
    let split = memory.load(1, BASE + LINE - 4, 8, FAR);
    assert_eq!(split.ready, FAR + params.l1d.latency + params.l1d.line_split_cycles);
    let after = memory.statistics().l1d;
    assert_eq!((after.accesses, after.hits), (before.accesses + 2, before.hits + 2));
    let whole = memory.load(1, BASE + LINE - 8, 8, FAR);
    assert_eq!(whole.ready, FAR + params.l1d.latency);
    // The half in the second line determines the result.
    let far = memory.load(1, BASE + 2 * LINE - 4, 8, 2 * FAR);
    assert_eq!(far.ready, 2 * FAR + dram(&params) + params.l1d.line_split_cycles);
    assert_eq!(far.level, Level::Dram);
}

#[test]
fn a_load_over_a_page_end_translates_both_pages() {
    let params = plain();
    let mut memory = new(&params);
    map(&mut memory, BASE, 2);
    memory.load(1, BASE + PAGE - 8, 8, 0);
    let before = memory.statistics().dtlb.accesses;
    let split = memory.load(1, BASE + PAGE - 4, 8, FAR);
    assert_eq!(split.ready, FAR + params.l1d.latency + params.l1d.page_split_cycles);
    assert_eq!(memory.statistics().dtlb.accesses, before + 2);
    assert!(memory.load(1, BASE + 2 * PAGE - 4, 8, FAR).page_fault, "the second page is new");
}

#[test]
fn a_store_is_written_a_cycle_after_a_hit_and_on_arrival_after_a_miss() {
    let params = plain();
    let mut memory = new(&params);
    map(&mut memory, BASE, 1);
    let hit = memory.store(BASE, 8, FAR);
    assert_eq!((hit.ready, hit.level), (FAR + params.l1d.write_cycles, Level::L1));
    let miss = memory.store(BASE + 9 * LINE, 8, 2 * FAR);
    assert_eq!((miss.ready, miss.level), (2 * FAR + dram(&params), Level::Dram));
    let merged = memory.store(BASE + 9 * LINE + 8, 8, 2 * FAR + 1);
    assert_eq!((merged.ready, merged.level), (miss.ready, Level::FillBuffer));
    let load = memory.load(1, BASE + 9 * LINE, 8, miss.ready);
    assert_eq!((load.ready, load.level), (miss.ready + params.l1d.latency, Level::L1));
}

#[test]
fn a_fetch_hit_takes_the_instruction_cache_latency_and_a_miss_the_next_level() {
    let mut params = plain();
    params.l1i.latency = 3;
    let mut memory = new(&params);
    let first = memory.fetch(BASE, 0);
    assert!(first.page_fault && first.level == Level::Dram);
    assert_eq!(memory.fetch(BASE + 60, FAR).ready, FAR + params.l1i.latency);
    let next = memory.fetch(BASE + LINE, FAR);
    assert_eq!((next.ready, next.level), (FAR + dram(&params), Level::Dram));
    // Data and code share the second level.
    memory.load(1, BASE, 8, 2 * FAR);
    assert_eq!(memory.load(1, BASE + LINE, 8, 3 * FAR).level, Level::Outer(Depth::First));
}

#[test]
fn the_first_touch_of_a_page_is_a_page_fault_until_it_is_unmapped() {
    let mut memory = new(&plain());
    let fault = |memory: &mut Memory, addr: u64| memory.load(1, addr, 8, FAR).page_fault;
    assert!(fault(&mut memory, BASE));
    assert!(!fault(&mut memory, BASE + PAGE - 8));
    assert!(fault(&mut memory, BASE + PAGE));
    // Only whole pages are unmapped.
    memory.unmap(BASE + 1, 2 * PAGE - 1);
    assert!(!fault(&mut memory, BASE));
    assert!(fault(&mut memory, BASE + PAGE));
    memory.unmap(BASE, 1 << 40);
    assert!(fault(&mut memory, BASE));
    assert_eq!(memory.statistics().walk.page_faults, 4);
    assert!(memory.store_address_tlb(BASE + 9 * PAGE, 8, FAR).page_fault);
}

#[test]
fn a_code_fault_maps_the_pages_around_it() {
    let params = plain();
    let mut memory = new(&params);
    let around = params.page_fault.code_pages;
    let start = 1 << 30;
    let faults: Vec<bool> =
        (0..2 * around).map(|n| memory.fetch(start + n * PAGE, FAR).page_fault).collect();
    let expected: Vec<bool> = (0..2 * around).map(|n| n % around == 0).collect();
    assert_eq!(faults, expected);
}

#[test]
fn a_wrong_path_fetch_fills_the_cache_and_never_faults() {
    let params = plain();
    let mut memory = new(&params);
    let nowhere = memory.fetch_wrong_path(BASE, FAR);
    assert_eq!((nowhere.ready, nowhere.page_fault), (FAR, false));
    assert!(memory.fetch(BASE, FAR).page_fault);
    let wrong = memory.fetch_wrong_path(BASE + LINE, 2 * FAR);
    assert_eq!((wrong.ready, wrong.level), (2 * FAR + dram(&params), Level::Dram));
    assert_eq!(memory.fetch(BASE + LINE, 3 * FAR).level, Level::L1);
}

#[test]
fn a_software_prefetch_brings_the_line_and_never_faults() {
    let params = plain();
    let mut memory = new(&params);
    let dropped = memory.prefetch(BASE, FAR);
    assert_eq!((dropped.ready, dropped.page_fault), (FAR, false));
    assert!(memory.load(1, BASE, 8, FAR).page_fault);
    let asked = memory.prefetch(BASE + LINE, 2 * FAR);
    assert_eq!(asked.ready, 2 * FAR + dram(&params));
    let load = memory.load(1, BASE + LINE, 8, 2 * FAR + 10);
    assert_eq!((load.ready, load.level), (asked.ready, Level::FillBuffer));
}

#[test]
fn stlb_hits_add_its_latency_and_the_reach_ends_at_64_and_1024_pages() {
    let params = plain();
    let entries = [params.dtlb.entries, params.stlb.entries].map(u64::from);
    // One line per page, in different sets of the caches; all fit the L2 or the LLC.
    let addr = |n: u64| BASE + n * (PAGE + LINE);
    let levels = |pages: u64| {
        let mut memory = new(&params);
        let mut found = [0; 3];
        for round in 0..3 {
            for n in 0..pages {
                let access = memory.load(1, addr(n), 8, (round * pages + n + 1) * FAR);
                let place = match access.tlb {
                    TlbLevel::L1 | TlbLevel::OnItsWay => 0,
                    TlbLevel::Stlb => 1,
                    TlbLevel::Walk => 2,
                };
                found[place] += u64::from(round == 2);
            }
        }
        found
    };
    assert_eq!(levels(entries[0] / 2), [entries[0] / 2, 0, 0]);
    // Cyclic use of more pages than entries: each is evicted before it is needed again.
    assert_eq!(levels(2 * entries[0]), [0, 2 * entries[0], 0]);
    assert_eq!(levels(2 * entries[1]), [0, 0, 2 * entries[1]]);
    let mut memory = new(&params);
    map(&mut memory, BASE, 2 * entries[0]);
    let t = memory.store_address_tlb(BASE, 8, 2 * FAR);
    assert_eq!((t.ready, t.tlb), (2 * FAR + params.stlb.latency, TlbLevel::Stlb));
}

#[test]
fn a_walk_reads_the_page_table_through_the_data_caches() {
    let params = plain();
    let mut memory = new(&params);
    memory.load(1, BASE, 8, 0);
    flush_tlbs(&mut memory);
    let before = memory.statistics().walk;
    // Both table entries of the page are in the L1D, and the walker's own cache is empty.
    let t = memory.store_address_tlb(BASE, 8, FAR);
    let reads = 2;
    let expected = params.stlb.latency + params.walk.cycles + reads * params.l1d.latency;
    assert_eq!((t.ready, t.tlb), (FAR + expected, TlbLevel::Walk));
    let walk = memory.statistics().walk;
    assert_eq!((walk.walks - before.walks, walk.reads_l1d - before.reads_l1d), (1, reads));
    assert_eq!(walk.cycles - before.cycles, expected - params.stlb.latency);
    // The neighbouring page's entry is in the same line, and the directory is now known.
    let t = memory.store_address_tlb(BASE + PAGE, 8, 2 * FAR);
    assert_eq!(t.ready, 2 * FAR + expected - params.l1d.latency);
}

#[test]
fn a_second_walk_waits_for_the_only_walker() {
    for walkers in [1, 2] {
        let mut params = plain();
        params.walk.walkers = walkers;
        let mut memory = new(&params);
        map(&mut memory, BASE, 2);
        flush_tlbs(&mut memory);
        let first = memory.store_address_tlb(BASE, 8, FAR).ready;
        let second = memory.store_address_tlb(BASE + PAGE, 8, FAR).ready;
        let alone = params.walk.cycles + params.l1d.latency;
        let expected = if walkers == 1 { first + alone } else { FAR + params.stlb.latency + alone };
        assert_eq!(second, expected, "{walkers} walkers");
    }
}

#[test]
fn trashing_makes_the_lru_half_of_l1d_and_l2_invalid() {
    let params = plain();
    let mut memory = new(&params);
    let way = params.l1d.size / u64::from(params.l1d.assoc);
    let assoc = u64::from(params.l1d.assoc);
    map(&mut memory, BASE, assoc * way / PAGE);
    for n in 0..assoc {
        memory.load(1, BASE + n * way, 8, FAR);
    }
    memory.trash_lru_half();
    // The four most recent are in the L1D. The others were evicted from it, but the L2 set that
    // they map to holds fewer lines than half its ways, so they are still there.
    let levels: Vec<Level> =
        (0..assoc).rev().map(|n| memory.load(1, BASE + n * way, 8, 2 * FAR).level).collect();
    let kept = (assoc - assoc / 2) as usize;
    assert!(levels[..kept].iter().all(|level| *level == Level::L1), "{levels:?}");
    assert!(levels[kept..].iter().all(|level| *level != Level::L1), "{levels:?}");
}

#[test]
fn the_ip_prefetcher_brings_the_next_line_of_a_stride_before_it_is_asked_for() {
    let mut params = plain();
    params.l1d.prefetchers = vec!["ip_stride".into()];
    let mut memory = new(&params);
    let stride = 4 * LINE;
    map(&mut memory, BASE, 1);
    for n in 0..3 {
        memory.load(7, BASE + n * stride, 8, FAR * (n + 1));
    }
    let fourth = memory.load(7, BASE + 3 * stride, 8, 10 * FAR);
    assert_eq!((fourth.level, fourth.ready), (Level::L1, 10 * FAR + params.l1d.latency));
    let s = memory.statistics().l1d;
    assert_eq!((s.prefetches, s.prefetch_hits, s.prefetches_late), (2, 1, 0));
    // The fifth comes 50 cycles after the fourth asked for it: too soon for it to have arrived.
    let fifth = memory.load(7, BASE + 4 * stride, 8, 10 * FAR + 50);
    let asked = 10 * FAR + params.l1d.latency;
    assert_eq!((fifth.level, fifth.ready), (Level::FillBuffer, asked + dram(&params)));
    assert_eq!(memory.statistics().l1d.prefetches_late, 1);
}

#[test]
fn the_adjacent_line_prefetcher_brings_the_other_line_of_the_pair() {
    let mut params = plain();
    params.level[0].prefetchers = vec!["adjacent".into()];
    let mut memory = new(&params);
    map(&mut memory, BASE, 1);
    memory.load(1, BASE + 9 * LINE, 8, FAR);
    assert_eq!(memory.load(1, BASE + 8 * LINE, 8, 2 * FAR).level, Level::Outer(Depth::First));
    assert_eq!(memory.load(1, BASE + 10 * LINE, 8, 2 * FAR).level, Level::Dram);
}
