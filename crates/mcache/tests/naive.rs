//! The malloc cache against a second, deliberately simple model of the same contract: a list of
//! entries, most recently used first, written from `docs/isa.md`; it shares no code with the
//! crate.

use mallacc_mcache::{
    Config, Fill, Issue, MallocCache, Mapping, Pop, Push, Returned, Speculative, Ticket, Update,
};
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Line {
    slot: u8,
    class: u32,
    alloc: u64,
    keys: std::ops::RangeInclusive<u64>,
    head: Option<u64>,
    next: Option<u64>,
    waiting: bool,
}

/// Most recently used line first; slots whose memory request is outstanding are in `out`.
#[derive(Debug)]
struct Naive {
    config: Config,
    lines: Vec<Line>,
    out: Vec<u8>,
}

impl Naive {
    fn key(&self, size: u64) -> Option<u64> {
        if size >= 1 << 20 {
            return None;
        }
        if !self.config.index {
            return (size < 1 << self.config.key_bits).then_some(size);
        }
        // Counting steps instead of shifting: 128 steps of 8 bytes, then steps of 128.
        let key = if size <= 1024 { size.div_ceil(8) } else { 128 + (size - 1024).div_ceil(128) };
        (key < 4096).then_some(key)
    }

    fn fits(&self, pointer: u64) -> bool {
        u128::from(pointer) < 1u128 << self.config.pointer_bits
    }

    /// Takes the class's line out of the list.
    fn take(&mut self, class: u64) -> Option<Line> {
        let at = self.lines.iter().position(|line| u64::from(line.class) == class)?;
        Some(self.lines.remove(at))
    }

    fn line(&mut self, class: u64) -> Option<&mut Line> {
        self.lines.iter_mut().find(|line| u64::from(line.class) == class)
    }

    fn lookup(&mut self, size: u64) -> Option<Mapping> {
        let key = self.key(size)?;
        let at = self.lines.iter().position(|line| line.keys.contains(&key))?;
        let line = self.lines.remove(at);
        let mapping = Mapping { class: line.class as u8, alloc_size: line.alloc as u32 };
        self.lines.insert(0, line);
        Some(mapping)
    }

    fn update(&mut self, size: u64, alloc: u64, class: u64) -> &'static str {
        let step = if alloc <= 1024 { 8 } else { 128 };
        let keys = (self.key(size), self.key(alloc));
        let (Some(lo), Some(hi), true) = (keys.0, keys.1, alloc >= size && class < 256) else {
            self.take(class);
            return "rejected";
        };
        if self.config.index && !alloc.is_multiple_of(step) {
            self.take(class);
            return "rejected";
        }
        let mut said = "inserted";
        let old = self.take(class);
        self.lines.retain(|line| hi < *line.keys.start() || *line.keys.end() < lo);
        let line = match old {
            Some(mut line) if line.alloc == alloc => {
                said = if lo < *line.keys.start() { "widened" } else { "unchanged" };
                line.keys = lo.min(*line.keys.start())..=hi;
                line
            }
            Some(mut line) => {
                said = "replaced";
                (line.head, line.next, line.waiting) = (None, None, false);
                (line.keys, line.alloc) = (lo..=hi, alloc);
                line
            }
            None => {
                if self.lines.len() == usize::from(self.config.entries) {
                    self.lines.pop();
                    said = "inserted, evicting";
                }
                let taken = |slot: &u8| self.lines.iter().any(|line| line.slot == *slot);
                let slot = (0..).find(|slot| !taken(slot)).expect("a slot is free");
                let class = class as u32;
                Line { slot, class, alloc, keys: lo..=hi, head: None, next: None, waiting: false }
            }
        };
        self.lines.insert(0, line);
        said
    }

    fn pop(&mut self, class: u64) -> Pop {
        let Some(mut line) = self.line(class).cloned() else { return Pop::Miss };
        if line.waiting {
            return Pop::Wait;
        }
        self.take(class);
        let result = match (line.head.take(), line.next.take()) {
            (Some(head), Some(next)) => {
                line.head = Some(next);
                Pop::Hit { head, next }
            }
            _ => Pop::Miss,
        };
        self.lines.insert(0, line);
        result
    }

    fn push(&mut self, class: u64, pointer: u64) -> &'static str {
        if class > 255 {
            return "rejected";
        }
        let Some(mut line) = self.line(class).cloned() else { return "absent" };
        if line.waiting {
            return "wait";
        }
        self.take(class);
        let good = pointer != 0 && self.fits(pointer) && line.head != Some(pointer);
        (line.next, line.head) = if good { (line.head, Some(pointer)) } else { (None, None) };
        self.lines.insert(0, line);
        if good { "done" } else { "rejected" }
    }

    fn prefetch(&mut self, class: u64, fill: Fill, address: u64) -> Issue {
        let Some(mut line) = self.line(class).cloned() else { return Issue::Absent };
        if self.out.contains(&line.slot) {
            return Issue::Wait;
        }
        self.take(class);
        let useful = match fill {
            Fill::Head => line.head.is_none(),
            Fill::Next => line.head == Some(address) && line.next.is_none(),
        };
        let slot = line.slot;
        line.waiting = useful && address != 0 && self.fits(address);
        let issued = line.waiting;
        self.lines.insert(0, line);
        if !issued {
            return Issue::Ignored;
        }
        self.out.push(slot);
        Issue::Issued(Ticket(slot))
    }

    fn give_back(&mut self, slot: u8, value: u64) -> Returned {
        self.out.retain(|&out| out != slot);
        let fits = self.fits(value);
        let Some(line) = self.lines.iter_mut().find(|line| line.slot == slot && line.waiting)
        else {
            return Returned::Ignored;
        };
        line.waiting = false;
        if value == 0 || !fits || line.head == Some(value) {
            Returned::Nothing
        } else if line.head.is_none() {
            line.head = Some(value);
            Returned::Head
        } else {
            line.next = Some(value);
            Returned::Next
        }
    }

    fn drop_list(&mut self, class: u64) {
        if let Some(line) = self.line(class) {
            (line.head, line.next, line.waiting) = (None, None, false);
        }
    }

    fn squash(&mut self, kind: Speculative, class: u64) {
        match kind {
            Speculative::List => self.drop_list(class),
            Speculative::Update => drop(self.take(class)),
            Speculative::Prefetch => {
                let Some(line) = self.line(class) else { return };
                if line.waiting {
                    line.waiting = false;
                } else if line.next.take().is_none() {
                    line.head = None;
                }
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Do {
    Lookup(u64),
    Update(u64, u64, u32),
    Pop(u32),
    Push(u32, u64),
    Prefetch(u32, Fill, u64),
    /// Prefetch of the entry's own Head, so that it is often useful.
    PrefetchOfHead(u32),
    Return(u8, u64),
    Invalidate(u32),
    Flush,
    FlushLists,
    Squash(Speculative, u32),
}

/// Sizes near every boundary: small, the index step change, the 12-bit and 20-bit limits, far
/// beyond.
fn sizes() -> impl Strategy<Value = u64> {
    prop_oneof![
        8 => 0u64..200,
        4 => (0u64..64).prop_map(|step| step * 8),
        3 => 1000u64..1300,
        2 => (8u64..64).prop_map(|step| step * 128),
        1 => 4090u64..4100,
        1 => 508_700u64..509_000,
        1 => (1u64 << 20) - 3..(1 << 20) + 3,
        1 => any::<u64>(),
    ]
}

fn classes() -> impl Strategy<Value = u32> {
    prop_oneof![12 => 0u32..10, 1 => 250u32..260, 1 => any::<u32>()]
}

fn pointers() -> impl Strategy<Value = u64> {
    prop_oneof![10 => 0u64..6, 1 => (1u64 << 32) - 2..(1 << 32) + 2, 1 => any::<u64>()]
}

fn steps() -> impl Strategy<Value = Do> {
    let fills = prop_oneof![Just(Fill::Head), Just(Fill::Next)];
    let kinds = prop_oneof![
        Just(Speculative::List),
        Just(Speculative::Prefetch),
        Just(Speculative::Update)
    ];
    prop_oneof![
        6 => sizes().prop_map(Do::Lookup),
        6 => (sizes(), 0u64..100, classes()).prop_map(|(s, d, c)| Do::Update(
            s, s.saturating_add(d), c
        )),
        2 => (sizes(), 0u64..16, classes()).prop_map(|(s, d, c)| Do::Update(
            s.min(2000), (s.min(2000) / 8 + d) * 8, c
        )),
        1 => (sizes(), sizes(), classes()).prop_map(|(s, a, c)| Do::Update(s, a, c)),
        6 => classes().prop_map(Do::Pop),
        8 => (classes(), pointers()).prop_map(|(c, p)| Do::Push(c, p)),
        4 => (classes(), fills, pointers()).prop_map(|(c, f, p)| Do::Prefetch(c, f, p)),
        4 => classes().prop_map(Do::PrefetchOfHead),
        6 => (0u8..9, pointers()).prop_map(|(t, v)| Do::Return(t, v)),
        1 => classes().prop_map(Do::Invalidate),
        1 => Just(Do::Flush),
        1 => Just(Do::FlushLists),
        2 => (kinds, classes()).prop_map(|(k, c)| Do::Squash(k, c)),
    ]
}

fn configs() -> impl Strategy<Value = Config> {
    let widths = prop_oneof![Just(16u8), Just(32), Just(48), Just(64)];
    (1u8..=8, any::<bool>(), 12u8..=20, widths).prop_map(|(entries, index, key_bits, width)| {
        Config { entries, index, key_bits, pointer_bits: width }
    })
}

fn said(kind: Update, evicted: bool) -> &'static str {
    match kind {
        Update::Inserted if evicted => "inserted, evicting",
        Update::Inserted => "inserted",
        Update::Widened => "widened",
        Update::Unchanged => "unchanged",
        Update::Replaced => "replaced",
        Update::Rejected(_) => "rejected",
    }
}

fn both(real: &mut MallocCache, naive: &mut Naive, step: Do) {
    match step {
        Do::Lookup(size) => assert_eq!(real.lookup(size), naive.lookup(size)),
        Do::Update(size, alloc, class) => {
            let before = naive.lines.len();
            let updated = real.update(size, alloc, class);
            let expected = naive.update(size, alloc, class.into());
            assert_eq!(said(updated.kind, updated.evicted.is_some()), expected);
            // The number removed is the number before, plus the new entry, minus the number left.
            let added = usize::from(updated.kind == Update::Inserted);
            let gone = usize::from(updated.overlaps) + usize::from(updated.evicted.is_some());
            if expected != "rejected" {
                assert_eq!(before + added - gone, naive.lines.len());
            }
        }
        Do::Pop(class) => assert_eq!(real.pop(class), naive.pop(class.into())),
        Do::Push(class, pointer) => {
            let got = match real.push(class, pointer) {
                Push::Done => "done",
                Push::Absent => "absent",
                Push::Wait => "wait",
                Push::Rejected(_) => "rejected",
            };
            assert_eq!(got, naive.push(class.into(), pointer));
        }
        Do::Prefetch(class, fill, address) => {
            let expected = naive.prefetch(class.into(), fill, address);
            assert_eq!(real.prefetch_issue(class, fill, address), expected);
        }
        Do::PrefetchOfHead(class) => {
            let head = naive.line(class.into()).and_then(|line| line.head).unwrap_or(0);
            both(real, naive, Do::Prefetch(class, Fill::Next, head));
        }
        Do::Return(slot, value) => {
            let expected = naive.give_back(slot, value);
            assert_eq!(real.prefetch_return(Ticket(slot), value), expected);
        }
        Do::Invalidate(class) => {
            real.invalidate(class);
            naive.drop_list(class.into());
        }
        Do::Flush => {
            real.flush();
            naive.lines.clear();
        }
        Do::FlushLists => {
            real.flush_lists();
            for class in 0..256 {
                naive.drop_list(class);
            }
        }
        Do::Squash(kind, class) => {
            real.squash(kind, class);
            naive.squash(kind, class.into());
        }
    }
}

/// Every visible field, and the order of use.
fn compare(real: &MallocCache, naive: &Naive) {
    assert_eq!(real.entries().count(), naive.lines.len());
    for entry in real.entries() {
        let line = &naive.lines[usize::from(entry.rank)];
        assert_eq!((entry.number, u32::from(entry.class)), (line.slot, line.class));
        assert_eq!(u64::from(entry.alloc_size), line.alloc);
        assert_eq!(u64::from(entry.lo)..=u64::from(entry.hi), line.keys.clone());
        assert_eq!((entry.head, entry.next), (line.head.unwrap_or(0), line.next.unwrap_or(0)));
        assert_eq!(entry.blocked, line.waiting);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_operations_does_what_the_naive_model_does(
        config in configs(),
        steps in prop::collection::vec(steps(), 1..120),
    ) {
        let mut real = MallocCache::new(config).expect("strategy makes valid configurations");
        let mut naive = Naive { config, lines: Vec::new(), out: Vec::new() };
        for step in steps {
            both(&mut real, &mut naive, step);
            compare(&real, &naive);
        }
    }

    #[test]
    fn ranges_never_overlap_so_no_lookup_matches_two_entries(
        config in configs(),
        steps in prop::collection::vec(steps(), 1..120),
    ) {
        let mut real = MallocCache::new(config).expect("strategy makes valid configurations");
        let mut naive = Naive { config, lines: Vec::new(), out: Vec::new() };
        for step in steps {
            both(&mut real, &mut naive, step);
            let mut ranges: Vec<_> = real.entries().map(|e| (e.lo, e.hi)).collect();
            ranges.sort_unstable();
            prop_assert!(ranges.iter().all(|(lo, hi)| lo <= hi));
            prop_assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0), "{ranges:?}");
        }
    }

    #[test]
    fn a_hit_names_a_block_that_is_large_enough_and_the_last_update_wins(
        config in configs(),
        steps in prop::collection::vec(steps(), 1..60),
        (size, alloc, class) in (sizes(), 0u64..300, 0u32..256).prop_map(|(s, d, c)| {
            (s, s.saturating_add(d), c)
        }),
        other in sizes(),
    ) {
        let mut real = MallocCache::new(config).expect("strategy makes valid configurations");
        let mut naive = Naive { config, lines: Vec::new(), out: Vec::new() };
        for step in steps {
            both(&mut real, &mut naive, step);
        }
        let rejected = matches!(real.update(size, alloc, class).kind, Update::Rejected(_));
        if !rejected {
            let expected = Mapping { class: class as u8, alloc_size: alloc as u32 };
            prop_assert_eq!(real.lookup(size), Some(expected));
            prop_assert_eq!(real.lookup(alloc), Some(expected));
        }
        if let Some(hit) = real.lookup(other) {
            prop_assert!(u64::from(hit.alloc_size) >= other);
        }
    }
}

#[test]
fn the_index_switch_empties_the_cache_only_when_it_changes() {
    let mut cache = MallocCache::new(Config::with_entries(4)).expect("valid");
    cache.update(24, 32, 3);
    cache.set_index(true);
    assert!(cache.lookup(24).is_some());
    cache.set_index(false);
    assert_eq!(cache.lookup(24), None);
    cache.update(24, 32, 3);
    assert_eq!((cache.lookup(23), cache.lookup(24).is_some()), (None, true), "bytes, not steps");
}
