//! The guarantee of the malloc cache on a real free list: a valid Head is the true head and a
//! valid Next is the one after it, whatever a program that keeps its promises does.
//!
//! The allocator here keeps one stack of objects per class and calls the cache as `docs/isa.md`
//! prescribes; its prefetches return late and out of order. Now and then a speculating core
//! executes operations of a wrong path and squashes them, youngest first.

use mallacc_mcache::{
    CLASS_MAX, Config, Fill, Issue, MallocCache, Pop, Push, Speculative, Ticket, Update,
};
use proptest::prelude::*;

const CLASSES: u64 = 9;

/// Block size of a class: with 16-byte classes, every index step lies within one class.
fn block(class: u64) -> u64 {
    16 * (class + 1)
}

fn class_of(size: u64) -> u64 {
    size.saturating_sub(1) / 16
}

#[derive(Clone, Copy, Debug)]
enum Do {
    Malloc(u64),
    Free(usize),
    /// Slow path: objects are taken from the front of a class's list behind the cache's back.
    Release(u64, usize),
    /// The oldest or youngest outstanding prefetch returns.
    Return(bool),
    /// A thread switch.
    Flush,
    /// Another thread's lists are switched in while the mapping stays.
    FlushLists,
    /// A wrong path, squashed at its end.
    WrongPath([(u8, u64, u64); 3]),
    /// A switch between a pop and its prefetch, the worst place for it.
    MallocCut(u64, bool),
}

fn steps() -> impl Strategy<Value = Do> {
    let sizes = 0u64..=CLASSES * 16;
    let wrong = (0u8..5, 0..CLASSES, 0u64..40);
    prop_oneof![
        12 => sizes.clone().prop_map(Do::Malloc),
        10 => any::<usize>().prop_map(Do::Free),
        1 => (0..CLASSES, 0usize..4).prop_map(|(class, count)| Do::Release(class, count)),
        12 => any::<bool>().prop_map(Do::Return),
        1 => Just(Do::Flush),
        1 => Just(Do::FlushLists),
        3 => prop::array::uniform3(wrong).prop_map(Do::WrongPath),
        2 => (sizes, any::<bool>()).prop_map(|(size, all)| Do::MallocCut(size, all)),
    ]
}

struct World {
    cache: MallocCache,
    /// Last element = head of the list.
    lists: Vec<Vec<u64>>,
    used: Vec<(u64, u64)>,
    /// Outstanding prefetches, oldest first, with the value that memory held in program order.
    flying: Vec<(Ticket, u64)>,
    fresh: u64,
}

impl World {
    fn new(config: Config) -> Self {
        let cache = MallocCache::new(config).expect("strategy makes valid configurations");
        let lists = vec![Vec::new(); CLASSES as usize];
        Self { cache, lists, used: Vec::new(), flying: Vec::new(), fresh: 0x1000 }
    }

    /// The word that an object on a list holds: the object below it, or 0.
    fn word_at(&self, class: u64, object: u64) -> u64 {
        let list = &self.lists[class as usize];
        let at = list.iter().position(|&o| o == object).expect("reads only listed objects");
        at.checked_sub(1).map_or(0, |below| list[below])
    }

    fn give_back(&mut self, oldest: bool) {
        if !self.flying.is_empty() {
            let at = if oldest { 0 } else { self.flying.len() - 1 };
            let (ticket, value) = self.flying.remove(at);
            self.cache.prefetch_return(ticket, value);
        }
    }

    /// Repeats an operation until it no longer has to wait. Memory must answer meanwhile.
    fn until<T>(&mut self, mut op: impl FnMut(&mut MallocCache) -> Option<T>) -> T {
        loop {
            if let Some(done) = op(&mut self.cache) {
                return done;
            }
            assert!(!self.flying.is_empty(), "waiting for a prefetch that is not out");
            self.give_back(true);
        }
    }

    fn malloc(&mut self, size: u64, cut: Option<bool>) {
        let class = class_of(size);
        match self.cache.lookup(size) {
            Some(hit) => {
                assert_eq!((u64::from(hit.class), u64::from(hit.alloc_size)), (class, block(class)))
            }
            None => {
                let updated = self.cache.update(size, block(class), class as u32);
                assert!(!matches!(updated.kind, Update::Rejected(_)), "{updated:?}");
                assert_eq!(updated.overlaps, 0, "an honest allocator's ranges are disjoint");
            }
        }
        let pop = self.until(|cache| match cache.pop(class as u32) {
            Pop::Wait => None,
            done => Some(done),
        });
        let list = &mut self.lists[class as usize];
        let Some(head) = list.pop() else {
            assert_eq!(pop, Pop::Miss, "hit on an empty list");
            return self.refill(class);
        };
        let next = list.last().copied().unwrap_or(0);
        self.used.push((class, head));
        if let Pop::Hit { head: got, next: after } = pop {
            assert_eq!((got, after), (head, next), "the popped object and the new head");
        }
        match cut {
            Some(true) => self.cache.flush(),
            Some(false) => self.cache.flush_lists(),
            None => {}
        }
        let (fill, address, value) = if pop == Pop::Miss {
            (Fill::Head, head, next)
        } else {
            (Fill::Next, next, self.word_at(class, next))
        };
        let issue = self.until(|cache| match cache.prefetch_issue(class as u32, fill, address) {
            Issue::Wait => None,
            done => Some(done),
        });
        if let Issue::Issued(ticket) = issue {
            self.flying.push((ticket, value));
        }
    }

    /// The slow path: invalidate, fetch three objects, hand out one of them.
    fn refill(&mut self, class: u64) {
        self.cache.invalidate(class as u32);
        for _ in 0..3 {
            self.fresh += 0x10;
            self.lists[class as usize].push(self.fresh);
        }
        self.fresh += 0x10;
        self.used.push((class, self.fresh));
    }

    fn free(&mut self, which: usize) {
        if self.used.is_empty() {
            return;
        }
        let (class, object) = self.used.swap_remove(which % self.used.len());
        let push = self.until(|cache| match cache.push(class as u32, object) {
            Push::Wait => None,
            done => Some(done),
        });
        assert!(matches!(push, Push::Done | Push::Absent), "{push:?}");
        self.lists[class as usize].push(object);
    }

    fn release(&mut self, class: u64, count: usize) {
        let list = &mut self.lists[class as usize];
        list.truncate(list.len().saturating_sub(count));
        self.cache.invalidate(class as u32);
    }

    /// Executes random operations and squashes them, youngest first. Wrong-path prefetches still
    /// return.
    fn wrong_path(&mut self, ops: [(u8, u64, u64); 3]) {
        let mut done = Vec::new();
        for (what, class, number) in ops {
            let class32 = class as u32;
            match what {
                0 => drop(self.cache.lookup(number)),
                1 => {
                    self.cache.update(number * 8, number * 16, class32);
                    done.push((Speculative::Update, class32));
                }
                2 if self.cache.pop(class32) != Pop::Wait => {
                    done.push((Speculative::List, class32));
                }
                3 if self.cache.push(class32, number) != Push::Wait => {
                    done.push((Speculative::List, class32));
                }
                _ => {
                    let issue = self.cache.prefetch_issue(class32, Fill::Head, number * 16);
                    if let Issue::Issued(ticket) = issue {
                        self.flying.push((ticket, number * 3));
                        done.push((Speculative::Prefetch, class32));
                    }
                }
            }
            if number % 3 == 0 {
                self.give_back(number % 2 == 0);
            }
        }
        for &(kind, class) in done.iter().rev() {
            self.cache.squash(kind, class);
        }
    }

    /// The invariant itself.
    fn check(&self) {
        for entry in self.cache.entries() {
            let class = u64::from(entry.class);
            assert_eq!(u64::from(entry.alloc_size), block(class), "{entry:?}");
            let list = &self.lists[usize::from(entry.class)];
            let truth = list.iter().rev().copied().chain([0]);
            let mut truth = truth.chain([0]);
            let (head, next) = (truth.next(), truth.next());
            assert!(entry.head == 0 || Some(entry.head) == head, "{entry:?} list {list:x?}");
            assert!(entry.next == 0 || Some(entry.next) == next, "{entry:?} list {list:x?}");
            assert!(entry.next == 0 || entry.head != 0, "Next without Head: {entry:?}");
        }
    }

    fn step(&mut self, step: Do) {
        match step {
            Do::Malloc(size) => self.malloc(size.min(CLASSES * 16), None),
            Do::MallocCut(size, all) => self.malloc(size.min(CLASSES * 16), Some(all)),
            Do::Free(which) => self.free(which),
            Do::Release(class, count) => self.release(class, count),
            Do::Return(oldest) => self.give_back(oldest),
            Do::Flush => self.cache.flush(),
            Do::FlushLists => self.cache.flush_lists(),
            Do::WrongPath(ops) => self.wrong_path(ops),
        }
        self.check();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn a_valid_head_is_the_true_head_and_a_valid_next_the_one_after_it(
        entries in 1u8..=10,
        index in any::<bool>(),
        steps in prop::collection::vec(steps(), 1..300),
    ) {
        let mut world = World::new(Config { index, ..Config::with_entries(entries) });
        for step in steps {
            world.step(step);
        }
    }
}

#[test]
fn with_room_for_all_classes_and_prompt_memory_every_warm_pop_of_a_filled_list_hits() {
    let mut world = World::new(Config::with_entries(CLASSES as u8));
    world.step(Do::Malloc(16)); // empty list: refills with three
    world.step(Do::Malloc(16)); // miss, prefetches the new head
    world.step(Do::Return(true));
    // Head alone is a miss by definition, so two frees warm up the list part.
    world.step(Do::Free(0));
    world.step(Do::Free(0));
    for _ in 0..2 {
        assert!(matches!(world.cache.clone().pop(0), Pop::Hit { .. }));
        world.step(Do::Malloc(16));
        world.step(Do::Return(true));
    }
}

#[test]
fn the_figure_12_prefetch_read_literally_would_leave_a_wrong_head() {
    // The paper prefetches [next] on both paths. After a miss that would make the *second* object
    // Head. Filling Head from the popped object is correct; the literal form is refused.
    let (first, second, third) = (0x10, 0x20, 0x30);
    let mut cache = MallocCache::new(Config::with_entries(1)).expect("valid");
    cache.update(16, 16, 0);
    assert_eq!(cache.pop(0), Pop::Miss); // software pops `first`; the list is second, third
    assert_eq!(cache.prefetch_issue(0, Fill::Next, second), Issue::Ignored, "literal Figure 12");
    assert_eq!(cache.prefetch_issue(0, Fill::Head, first), Issue::Issued(Ticket(0)));
    cache.prefetch_return(Ticket(0), second); // the word at `first`
    let entry = cache.entries().next().expect("one entry");
    assert_eq!((entry.head, entry.next), (second, 0));
    let _ = third;
}

#[test]
fn a_prefetch_after_the_head_was_dropped_does_not_take_the_second_object_for_the_head() {
    let mut cache = MallocCache::new(Config::with_entries(1)).expect("valid");
    cache.update(16, 16, 0);
    for object in [0x30, 0x20, 0x10] {
        cache.push(0, object);
    }
    assert_eq!(cache.pop(0), Pop::Hit { head: 0x10, next: 0x20 });
    // A wrong path pops between the pop and its prefetch, and is squashed.
    cache.pop(0);
    cache.squash(Speculative::List, 0);
    assert_eq!(cache.prefetch_issue(0, Fill::Next, 0x20), Issue::Ignored);
}

#[test]
fn a_late_return_never_lands_in_the_entry_that_took_the_slot() {
    let mut cache = MallocCache::new(Config::with_entries(1)).expect("valid");
    cache.update(16, 16, 0);
    assert_eq!(cache.prefetch_issue(0, Fill::Head, 0x10), Issue::Issued(Ticket(0)));
    assert_eq!(cache.update(32, 32, 1).evicted, Some(0));
    assert_eq!(cache.pop(1), Pop::Miss, "the new entry is not blocked");
    assert_eq!(cache.prefetch_issue(1, Fill::Head, 0x40), Issue::Wait, "the ticket is taken");
    cache.prefetch_return(Ticket(0), 0x20);
    assert_eq!(cache.entries().next().expect("one entry").head, 0);
    assert_eq!(cache.prefetch_issue(1, Fill::Head, 0x40), Issue::Issued(Ticket(0)));
}

#[test]
fn broken_promises_drop_the_list_part_and_never_keep_the_pointer() {
    for (pointer, name) in [(0, "null"), (1 << 48, "too wide"), (0x20, "the cached head")] {
        let mut cache = MallocCache::new(Config::with_entries(1)).expect("valid");
        cache.update(16, 16, 0);
        cache.push(0, 0x10);
        cache.push(0, 0x20);
        assert!(matches!(cache.push(0, pointer), Push::Rejected(_)), "{name}");
        assert_eq!(cache.pop(0), Pop::Miss, "{name}");
        assert!(cache.lookup(16).is_some(), "{name}: the mapping is not in doubt");
    }
    let mut cache = MallocCache::new(Config::with_entries(1)).expect("valid");
    cache.update(16, 16, 0);
    for (size, alloc, class) in [(16, 1 << 20, 0), (17, 16, 0), (9, 12, 0)] {
        let kind = cache.update(size, alloc, class).kind;
        assert!(matches!(kind, Update::Rejected(_)), "{size} {alloc} {class}");
        assert_eq!(cache.lookup(16), None, "the mapping is in doubt");
        cache.update(16, 16, 0);
    }
    let kind = cache.update(16, 16, CLASS_MAX + 1).kind;
    assert!(matches!(kind, Update::Rejected(_)));
    assert!(cache.lookup(16).is_some(), "no entry can be meant");
}
