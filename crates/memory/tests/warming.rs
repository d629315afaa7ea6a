//! Warming leaves the same state as running; the same calls give the same answers.

use mallacc_memory::{CacheStatistics, Level, Memory, MemoryParams, MemoryStatistics, TlbLevel};
use mallacc_memory::{LevelParams, prefetch, replacement};

const FAR: u64 = 1 << 30;

/// A mix that keeps every mechanism busy: strides, streams, hot lines, far lines, splits, code.
#[derive(Clone, Copy)]
enum Step {
    Load(u64, u64),
    Store(u64),
    Fetch(u64),
    Prefetch(u64),
}

fn traffic(count: u64, mut random: u64) -> Vec<Step> {
    let mut stream = 0;
    (0..count)
        .map(|n| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let r = random >> 16;
            match random % 16 {
                0..=3 => Step::Load(0x400 + r % 50, 0x7fff_0000 + r % 4096),
                4..=5 => {
                    stream += 1;
                    Step::Load(
                        0x500 + stream % 3,
                        0x1000_0000 + stream % 3 * 0x10_0008 + stream * 40,
                    )
                }
                6 => Step::Load(0x600, 0x2000_0000 + r % (64 << 20)),
                7..=8 => Step::Store(0x3000_0000 + r % (1 << 20)),
                9 => Step::Store(0x7fff_0000 + r % 8192),
                10 => Step::Prefetch(0x2000_0000 + r % (64 << 20)),
                _ => Step::Fetch(0x40_0000 + (n * 16 + r % 7 * 0x1_0000) % (1 << 20)),
            }
        })
        .collect()
}

fn run(
    memory: &mut Memory,
    steps: &[Step],
    start: u64,
    apart: u64,
) -> Vec<(u64, Level, TlbLevel, bool)> {
    let mut answers = Vec::new();
    for (n, step) in steps.iter().enumerate() {
        let cycle = start + n as u64 * apart;
        let access = match *step {
            Step::Load(pc, addr) => memory.load(pc, addr, 8, cycle),
            Step::Store(addr) => {
                memory.store_address_tlb(addr, 8, cycle);
                memory.store(addr, 8, cycle)
            }
            Step::Fetch(addr) => memory.fetch(addr, cycle),
            Step::Prefetch(addr) => memory.prefetch(addr, cycle),
        };
        let a = access;
        answers.push((a.ready - start, a.level, a.tlb, a.page_fault));
    }
    answers
}

fn warm(memory: &mut Memory, steps: &[Step]) {
    for step in steps {
        match *step {
            Step::Load(pc, addr) => memory.warm_load(pc, addr, 8),
            Step::Store(addr) => memory.warm_store(addr, 8),
            Step::Fetch(addr) => memory.warm_fetch(addr),
            Step::Prefetch(_) => unreachable!("a software prefetch has no untimed twin"),
        }
    }
}

fn caches(s: &mut MemoryStatistics) -> impl Iterator<Item = &mut CacheStatistics> {
    let levels = s.levels.iter_mut().map(|level| &mut level.cache);
    [&mut s.l1i, &mut s.l1d].into_iter().chain(levels)
}

/// The counters that do not depend on time.
fn untimed(memory: &Memory) -> MemoryStatistics {
    let mut s = memory.statistics();
    for cache in caches(&mut s) {
        cache.hits_in_flight = 0;
        cache.prefetches_late = 0;
    }
    s.walk.cycles = 0;
    s.dram.row_hits = 0;
    s
}

/// The same without software prefetches, which have no untimed twin.
fn twin_traffic(count: u64, random: u64) -> Vec<Step> {
    let mut steps = traffic(count, random);
    steps.retain(|step| !matches!(step, Step::Prefetch(_)));
    steps
}

fn assert_twins_agree(params: &MemoryParams, count: u64, seed: u64, what: &str) {
    let steps = twin_traffic(count, seed * 0x9e37_79b9);
    let mut warmed = Memory::new(params).unwrap();
    let mut timed = warmed.clone();
    warm(&mut warmed, &steps);
    run(&mut timed, &steps, 0, 3);
    assert_eq!(untimed(&warmed), untimed(&timed), "{what}");
    // Much later, nothing is in flight in either, and accesses too far apart to meet in a buffer or
    // on a bus get the same answers to the cycle.
    let more = traffic(count / 3, seed * 77 + 1);
    let answers = run(&mut warmed, &more, FAR, 5_000);
    assert!(answers == run(&mut timed, &more, FAR, 5_000), "{what}");
    assert_eq!(untimed(&warmed), untimed(&timed), "{what}");
}

#[test]
fn warming_leaves_the_state_that_timed_accesses_leave() {
    for seed in 1..4 {
        assert_twins_agree(&MemoryParams::default(), 60_000, seed, &format!("seed {seed}"));
    }
}

#[test]
fn warming_leaves_it_with_every_policy_and_every_prefetcher_at_every_level() {
    let mut params = MemoryParams::default();
    let middle = LevelParams { name: "L3".into(), size: 1 << 20, ..params.level[0].clone() };
    params.level.insert(1, middle);
    params.level[2].superqueue = 32;
    let mut runs = 0;
    for policy in replacement::MODELS {
        for model in prefetch::MODELS {
            let mut params = params.clone();
            let name = || model.name.to_owned();
            (params.l1d.replacement, params.l1d.prefetchers) = (policy.name.into(), vec![name()]);
            for level in params.level.iter_mut().filter(|_| !model.by_instruction) {
                (level.replacement, level.prefetchers) = (policy.name.into(), vec![name()]);
            }
            assert_twins_agree(&params, 9_000, 3, &format!("{} {}", policy.name, model.name));
            runs += 1;
        }
    }
    assert!(runs >= 2 * 6);
}

#[test]
fn contents_do_not_depend_on_the_cycles_of_the_accesses() {
    let params = MemoryParams::default();
    let steps = traffic(40_000, 99);
    let mut close = Memory::new(&params).unwrap();
    let mut apart = close.clone();
    run(&mut close, &steps, 0, 0);
    run(&mut apart, &steps, 0, 500);
    assert_eq!(untimed(&close), untimed(&apart));
}

#[test]
fn the_same_calls_give_the_same_answers() {
    let steps = traffic(40_000, 5);
    let once = || {
        let mut memory = Memory::new(&MemoryParams::default()).unwrap();
        let answers = run(&mut memory, &steps, 0, 2);
        (answers, memory.statistics())
    };
    assert!(once() == once());
}

#[test]
fn every_counter_is_listed_with_a_description_and_hits_and_misses_add_up() {
    let mut memory = Memory::new(&MemoryParams::default()).unwrap();
    run(&mut memory, &traffic(40_000, 11), 0, 2);
    let mut s = memory.statistics();
    for cache in caches(&mut s) {
        assert!(cache.accesses > 0 && cache.hits > 0 && cache.misses > 0);
        assert_eq!(cache.hits + cache.misses, cache.accesses);
        assert!(cache.hits_in_flight <= cache.hits);
        assert!(cache.prefetches_late <= cache.prefetch_hits);
        assert!(cache.prefetch_hits + cache.prefetches_unused <= cache.prefetches);
    }
    for tlb in [s.itlb, s.dtlb, s.stlb] {
        assert_eq!(tlb.hits + tlb.misses, tlb.accesses);
    }
    assert_eq!(s.stlb.accesses, s.itlb.misses + s.dtlb.misses);
    assert_eq!(s.walk.walks, s.stlb.misses);
    let layout = stats::Layout::of(&s);
    let values = layout.values(&stats::Reading::of(&s));
    let counted: Vec<u64> =
        values.iter().flat_map(|(_, group)| group.iter().map(|(_, value)| *value)).collect();
    assert_eq!(counted.len(), 4 * 10 + 3 * 3 + 8 + 3);
    assert!(counted.iter().sum::<u64>() > 0);
    assert_eq!(values.get("cache.L2", "misses"), Some(s.levels[0].cache.misses));
}
