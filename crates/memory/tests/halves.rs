//! The shared half taken out of one memory and lent to another. There is no coherence between the
//! private halves yet: the other core finds written data in the shared half only once it has left
//! the writer's caches.

use mallacc_memory::{Depth, Level, Memory, MemoryParams};

const LINE: u64 = 64;
const BASE: u64 = 0x10_0000;
const FAR: u64 = 1_000_000;
const LLC: Level = Level::Outer(Depth::Second);

/// The default parameters without prefetchers.
fn plain() -> MemoryParams {
    let mut params = MemoryParams::default();
    params.l1i.prefetchers.clear();
    params.l1d.prefetchers.clear();
    params.level.iter_mut().for_each(|level| level.prefetchers.clear());
    params
}

/// Moves the shared half from one memory to the other, whose own is dropped.
fn lend(from: &mut Memory, to: &mut Memory) {
    let shared = from.take_shared().expect("it is there");
    to.put_shared(shared);
}

#[test]
fn two_private_halves_in_turns_find_in_the_shared_one_what_the_other_brought() {
    let params = plain();
    let [mut a, mut b] = [Memory::new(&params).unwrap(), Memory::new(&params).unwrap()];
    assert!(a.load(1, BASE, 8, 0).page_fault);
    let reads = a.statistics().dram.reads;
    lend(&mut a, &mut b);
    // The page was touched and its tables are cached; the private half is cold.
    let walk = b.store_address_tlb(BASE, 8, FAR);
    assert!(!walk.page_fault);
    let load = b.load(1, BASE, 8, 2 * FAR);
    assert_eq!((load.level, load.ready), (LLC, 2 * FAR + params.level[1].load_to_use()));
    assert_eq!(b.statistics().dram.reads, reads, "all of it came from the last level");
    b.load(1, BASE + LINE, 8, 3 * FAR);
    lend(&mut b, &mut a);
    assert_eq!(a.load(1, BASE, 8, 4 * FAR).level, Level::L1);
    assert_eq!(a.load(1, BASE + LINE, 8, 5 * FAR).level, LLC);
    assert_eq!(a.statistics().dram.reads, reads + 1);
}

#[test]
fn an_l1_hit_does_not_need_the_shared_half() {
    let mut memory = Memory::new(&plain()).unwrap();
    memory.load(1, BASE, 8, 0);
    memory.fetch(BASE + 0x1000, 0);
    let shared = memory.take_shared();
    assert!(shared.is_some() && memory.take_shared().is_none());
    assert_eq!(memory.load(1, BASE, 8, FAR).level, Level::L1);
    assert_eq!(memory.fetch(BASE + 0x1000, FAR).level, Level::L1);
    assert_eq!(memory.store(BASE, 8, FAR).level, Level::L1);
}

#[test]
#[should_panic(expected = "is lent to another one")]
fn a_miss_while_the_shared_half_is_lent_is_a_defect() {
    let mut memory = Memory::new(&plain()).unwrap();
    memory.take_shared();
    memory.load(1, BASE, 8, 0);
}

#[test]
fn one_memory_whose_shared_half_comes_and_goes_behaves_as_one_that_keeps_it() {
    let params = MemoryParams::default();
    let [mut stays, mut moves] = [Memory::new(&params).unwrap(), Memory::new(&params).unwrap()];
    let mut random = 0x1234_5678_9abc_def1_u64;
    for n in 0..20_000 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let addr = BASE + random % (16 << 20);
        let shared = moves.take_shared().unwrap();
        assert!(moves.put_shared(shared).is_none());
        assert_eq!(moves.load(n % 7, addr, 8, 3 * n), stays.load(n % 7, addr, 8, 3 * n));
    }
    assert_eq!(moves.statistics(), stays.statistics());
}

#[test]
fn an_inclusive_level_takes_its_victim_out_of_the_private_half_it_serves_whatever_its_depth() {
    // Three levels beyond the first; the last is inclusive and has one way. Two addresses a way
    // apart evict each other there, though every inner cache has room for both.
    let mut params = plain();
    let middle = params.level[0].clone();
    params.level.insert(1, mallacc_memory::LevelParams { name: "L3".into(), ..middle });
    (params.level[2].assoc, params.level[2].size) = (1, 1 << 20);
    let far = params.level[2].size;
    for inclusive in [true, false] {
        params.level[2].inclusive = inclusive;
        let mut memory = Memory::new(&params).unwrap();
        memory.load(1, BASE, 8, 0);
        memory.store(BASE, 8, 0);
        let writes = memory.statistics().dram.writes;
        memory.load(1, BASE + far, 8, FAR);
        let again = memory.load(1, BASE, 8, 2 * FAR).level;
        let written = memory.statistics().dram.writes - writes;
        let expected = if inclusive { (Level::Dram, 1) } else { (Level::L1, 0) };
        assert_eq!((again, written), expected, "the newest data goes along: {inclusive}");
    }
}
