//! Machine files with any number of cache levels, through the whole core.

use crate::rig::{DATA, Rig, close};
use mallacc_uarch::{Component, Machine};

/// A machine without prefetchers whose levels beyond the first have these names, sizes and
/// load-to-use cycles, all with 8 ways; the last one is shared and inclusive. A set of its DTLB
/// holds 16 pages.
fn machine(levels: &[(&str, u64, u64)]) -> Machine {
    let mut text = String::from(
        "[memory.l1i]\nprefetchers = []\n[memory.l1d]\nprefetchers = []\n\
         [memory.dtlb]\nassoc = 16\n",
    );
    for (at, (name, kb, latency)) in levels.iter().enumerate() {
        let last = at + 1 == levels.len();
        text += &format!(
            "[[memory.level]]\nname = \"{name}\"\nsize = {}\nassoc = 8\nlatency = {latency}\n\
             path = 0\nsuperqueue = {}\nshared = {last}\ninclusive = {last}\nprefetchers = []\n",
            kb << 10,
            if last { 0 } else { 16 },
        );
    }
    Machine::parse(&text, "levels.toml").unwrap()
}

const THREE: [(&str, u64, u64); 3] = [("L2", 256, 12), ("L3", 1024, 24), ("LLC", 8192, 40)];

/// Cycles per load of a pointer chase served by one level beyond the first, and the load components
/// of the CPI stack that more than a tenth of the cycles are charged to.
fn chase(machine: &Machine, level: usize) -> (f64, Vec<&'static str>) {
    let memory = &machine.memory;
    let caches = [(memory.l1d.size, memory.l1d.assoc)].into_iter();
    let caches: Vec<_> = caches.chain(memory.level.iter().map(|l| (l.size, l.assoc))).collect();
    // One line more than the preceding cache has ways, all in one of its sets, accessed in turn: it
    // has always just evicted the next one. The level itself spreads them over several sets.
    let (size, assoc) = caches[level];
    let way = size / u64::from(assoc);
    let places: Vec<u64> = (0..=u64::from(assoc)).map(|n| DATA + n * way).collect();
    let mut rig = Rig::with(machine.clone());
    let block = rig.block(0x40_0000, &["48 8b 00"]); // mov rax,[rax]
    let round = |rig: &mut Rig| {
        places.iter().for_each(|place| rig.step(&block, &[*place], 0));
    };
    (0..20).for_each(|_| round(&mut rig));
    let (cycles, stack) = (rig.core.cycles(), rig.core.cpi_stack());
    (0..20).for_each(|_| round(&mut rig));
    let cycles = rig.core.cycles() - cycles;
    let now = rig.core.cpi_stack();
    let charged = |c: &&Component| 10 * (now[**c as usize] - stack[**c as usize]) > cycles;
    let loads = Component::ALL.iter().filter(charged).map(|c| c.name());
    let loads = loads.filter(|name| name.starts_with("load_")).collect();
    (cycles as f64 / (20 * places.len()) as f64, loads)
}

#[test]
fn each_of_three_levels_beyond_the_first_takes_its_latency_and_has_its_cpi_component() {
    let machine = machine(&THREE);
    for (level, component) in ["load_l2", "load_l3", "load_llc"].into_iter().enumerate() {
        let (cycles, loads) = chase(&machine, level);
        close(cycles, machine.memory.level[level].load_to_use() as f64);
        assert_eq!(loads, [component]);
    }
}

#[test]
fn each_of_two_levels_beyond_the_first_takes_its_latency_and_has_its_cpi_component() {
    let machine = machine(&[THREE[0], THREE[2]]);
    for (level, component) in ["load_l2", "load_llc"].into_iter().enumerate() {
        let (cycles, loads) = chase(&machine, level);
        close(cycles, machine.memory.level[level].load_to_use() as f64);
        assert_eq!(loads, [component]);
    }
}

#[test]
fn a_lone_level_beyond_the_first_is_the_last_level_cache() {
    let machine = machine(&THREE[2..]);
    let (cycles, loads) = chase(&machine, 0);
    close(cycles, machine.memory.level[0].load_to_use() as f64);
    assert_eq!(loads, ["load_llc"]);
}

#[test]
fn a_policy_and_a_prefetcher_chosen_by_name_are_those_that_work() {
    let with = |replacement: &str, prefetchers: &str| {
        let text = format!(
            "[memory.l1d]\nprefetchers = []\n[[memory.level]]\nname = \"L2\"\n\
             replacement = \"{replacement}\"\nprefetchers = [{prefetchers}]\n\
             [[memory.level]]\nname = \"LLC\"\n"
        );
        Rig::with(Machine::parse(&text, "names.toml").unwrap())
    };
    // Lines 0, 3, 6, … of a page: the third access prefetches the fourth line.
    let brought = |prefetchers: &str| {
        let mut rig = with("lru", prefetchers);
        let block = rig.block(0x40_0000, &["48 8b 00"]);
        (0..8).for_each(|n| rig.step(&block, &[DATA + 3 * 64 * n], 0));
        rig.core.functional_mut().memory.statistics().levels[0].cache.prefetches
    };
    assert_eq!(brought(""), 0);
    // Lines 6 and 9 prefetch the next one each. From 12 on there is also the stride of 6, from 18
    // on that of 9, and at most two lines are prefetched: 12 asks for 15 and 18, 15 for 21, 18 for
    // 24 and 27, 21 for 30. In all 9, 12, …, 30.
    assert_eq!(brought("\"access_map\""), 8);
    // Two lines used alternately with a scan through their set of eight ways.
    let misses = |replacement: &str| {
        let mut rig = with(replacement, "");
        let block = rig.block(0x40_0000, &["48 8b 00"]);
        let way = rig.machine.memory.level[0].size / 8;
        let mut load = |n: u64| rig.step(&block, &[DATA + n * way], 0);
        for round in 0..40 {
            (0..2).chain(2 + 8 * round..10 + 8 * round).for_each(&mut load);
        }
        rig.core.functional_mut().memory.statistics().levels[0].cache.misses
    };
    assert!(misses("srrip") + 40 < misses("lru"), "{} {}", misses("srrip"), misses("lru"));
}

#[test]
fn bad_levels_are_refused_in_one_sentence() {
    let level = |keys: &str| format!("[[memory.level]]\nname = \"L2\"\n{keys}\n");
    for (text, part) in [
        ("[memory.l2]\nsize = 4096".into(), "memory.l2 = { size = 4096 }: the levels"),
        ("[memory.llc]\nsize = 4096".into(), "write [[memory.level]] with name = \"LLC\""),
        (
            "[memory.prefetch]\nadjacent = false".into(),
            "memory.prefetch.adjacent = false: prefetchers",
        ),
        (level("sise = 3"), "memory.level[0].sise\": unknown. Did you mean \"size\"?"),
        (level("size = -3"), "memory.level[0].size = -3: must be a whole number"),
        ("[memory.level]\nsize = 3".into(), "memory.level = { size = 3 }: must be a list"),
        (level("size = 48000"), "memory.level[0].size = 48000: must be divisible by assoc * line"),
        (level("latency = 3"), "memory.level[0].latency = 3: must be at least l1d.latency (4)"),
        (level("replacement = \"plru\""), "memory.level[0].replacement \"plru\": unknown. Did you"),
        (level("prefetchers = [\"stream\"]"), "Did you mean \"streamer\"? The valid ones are"),
        (level("inclusive = true\nsize = 4096"), "size = 4096: must hold both first-level caches"),
        (level("").repeat(2), "memory.level[1].name = \"L2\": is also the name of level[0]"),
        (level("").repeat(5), "memory.level = 5 levels: must be from 1 to 4"),
        ("[memory]\nline = 48".into(), "memory.line = 48: must be a power of two from 32 to 256"),
        ("[memory]\nlevel = []".into(), "memory.level = 0 levels: must be from 1 to 4"),
    ] {
        let error = Machine::parse(&text, "x.toml").unwrap_err().0;
        assert!(error.starts_with("x.toml: ") && error.contains(part), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn the_machine_file_in_the_documentation_runs() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/core-model.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, text) = text.split_once("```toml\n").unwrap();
    let machine = Machine::parse(text.split_once("```").unwrap().0, "docs").unwrap();
    let names: Vec<&str> = machine.memory.level.iter().map(|level| level.name.as_str()).collect();
    assert_eq!(names, ["L2", "L3", "LLC"]);
    let (cycles, loads) = chase(&machine, 0);
    close(cycles, machine.memory.level[0].load_to_use() as f64);
    assert_eq!(loads, ["load_l2"]);
}
