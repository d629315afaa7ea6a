//! The memory hierarchy through the whole core, compared with latencies measured on an i7-4770: L1
//! 4, L2 12, LLC 39-43, DRAM about 245 cycles in random order, about 20 in linear order; TLBs of 64
//! and 1,024 pages. Each within 10 %.

use mallacc_validate::hierarchy::chase::{Chase, Order};
use mallacc_validate::hierarchy::{self, Unit, WITHIN, reach};
use uarch::Machine;

#[test]
fn every_measured_figure_of_the_hierarchy_is_met_within_ten_per_cent() {
    let machine = Machine::find("haswell").unwrap();
    let rows = hierarchy::rows(&machine).unwrap();
    print!("{}", hierarchy::table::text(&machine, &rows));
    // 15 sizes from 4 KB to 64 MB, twice, and the two TLBs.
    assert_eq!(rows.len(), 2 * 15 + 2);
    let measured: Vec<_> = rows.iter().filter(|row| row.measured.is_some()).collect();
    // Random order: 4 to 32 KB, 128 KB, 1 to 4 MB, 64 MB. Linear order: 4 to 32 KB, 64 MB.
    assert_eq!(measured.len(), (4 + 1 + 3 + 1) + (4 + 1) + 2);
    for row in measured {
        let range = row.measured.unwrap();
        let agrees = range.least * (1.0 - WITHIN)..=range.most * (1.0 + WITHIN);
        assert!(agrees.contains(&row.simulated), "{row:?}");
        assert_eq!(row.agrees(), Some(true), "{row:?}");
    }
    // No size is faster than a smaller one.
    for pair in rows.windows(2) {
        if pair[0].pattern == "random chase" && pair[1].pattern == "random chase" {
            assert!(pair[1].simulated >= pair[0].simulated - 0.01, "{pair:?}");
        }
    }
    let pages: Vec<f64> =
        rows.iter().filter(|row| row.unit == Unit::Pages).map(|row| row.simulated).collect();
    let memory = &machine.memory;
    assert_eq!(pages, [f64::from(memory.dtlb.entries), f64::from(memory.stlb.entries)]);
}

#[test]
fn a_miss_of_the_first_tlb_costs_the_latency_of_the_second() {
    let machine = Machine::default();
    // 256 pages in 16 sets of 4 ways, each visited in turn: all miss the first and hit the second.
    // The load issues again in the cycle after its translation.
    let cost = reach::translation(&machine, 256).unwrap();
    assert!((cost - (machine.memory.stlb.latency as f64 + 1.0)).abs() < 0.05, "{cost}");
}

#[test]
fn the_reach_follows_the_entries_of_the_machine() {
    let mut machine = Machine::default();
    (machine.memory.dtlb.entries, machine.memory.stlb.entries) = (32, 512);
    assert_eq!(reach::steps(&machine).unwrap(), [32, 512]);
}

#[test]
fn the_core_adds_nothing_to_what_the_memory_takes_and_prefetchers_are_what_helps_a_line() {
    let mut machine = Machine::default();
    machine.memory.l1d.prefetchers.clear();
    machine.memory.level.iter_mut().for_each(|level| level.prefetchers.clear());
    let mut far = Chase::lines(&machine, 32 << 20, Order::Linear).unwrap();
    let dram = &machine.memory.dram;
    let open_row = (dram.path_ns + dram.tcl_ns + dram.burst_ns) / 1000.0;
    let open_row = open_row * machine.memory.clock_mhz as f64;
    let last = machine.memory.level.last().unwrap();
    let least = last.load_to_use() as f64 + open_row;
    let mean = far.cycles_per_access();
    assert!(mean > least, "{mean:.1}, at least {least:.1} from memory");
}
