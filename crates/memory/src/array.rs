//! A set-associative array of keys: the contents of a cache or a TLB.

use crate::fill::Fill;
use crate::replacement::Policy;

/// A value that is never a line or a page number.
const NONE: u64 = u64::MAX;
/// A one in each four-bit field: multiplied by a way, it fills every field with that way.
pub(crate) const EVERY: u64 = 0x1111_1111_1111_1111;
/// The same for bytes.
const EVERY_BYTE: u64 = 0x0101_0101_0101_0101;
/// The most ways that the recency word has room for.
pub(crate) const ASSOC_MAX: u32 = 16;

/// Flags of way 0 in [`Set::flags`]; those of way `n` lie `4 n` bits above.
const DIRTY: u64 = 1;
const PREFETCHED: u64 = 2;
/// All four flags.
const WAY: u64 = 15;
/// The policy's two bits, which every hit sets to 0.
pub(crate) const LOW: u64 = 4;
pub(crate) const HIGH: u64 = 8;

/// What a lookup in a set reads: recency, a one-byte hash of each key, and four flags per way.
/// `order` holds way numbers, the most recently used in the lowest four bits; empty ways are last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Set {
    order: u64,
    hashes: [u64; 2],
    pub(crate) flags: u64,
}

const FRESH: Set = Set { order: 0xfedc_ba98_7654_3210, hashes: [0; 2], flags: 0 };

/// An entry of the array: set and way in one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(u32);

/// The key that was evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Victim {
    pub(crate) key: u64,
    pub(crate) dirty: bool,
    pub(crate) prefetched: bool,
}

/// The array.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    keys: Vec<u64>,
    fills: Vec<Fill>,
    sets: Vec<Set>,
    policy: Policy,
    assoc: u32,
    /// Bits of the way in an [`Entry`]; a set has room for 8 or 16 keys.
    way_bits: u32,
    /// A mask (sets minus one) if the number of sets is a power of two; otherwise all ones, and the
    /// index takes a division.
    mask: u64,
}

impl Array {
    /// An empty array of `sets * assoc` keys; `assoc` is at most [`ASSOC_MAX`]. Without `fills`,
    /// everything in it counts as present.
    pub(crate) fn new(sets: u64, assoc: u32, fills: bool, policy: Policy) -> Self {
        let way_bits = assoc.next_power_of_two().max(8).trailing_zeros();
        let total = (sets as usize) << way_bits;
        Self {
            keys: vec![NONE; total],
            fills: vec![Fill::PRESENT; if fills { total } else { 0 }],
            sets: vec![FRESH; sets as usize],
            policy,
            assoc,
            way_bits,
            mask: if sets.is_power_of_two() { sets - 1 } else { u64::MAX },
        }
    }

    #[inline]
    fn set_of(&self, key: u64) -> usize {
        let divides = self.mask == u64::MAX;
        (if divides { key % self.sets.len() as u64 } else { key & self.mask }) as usize
    }

    #[inline]
    fn entry(&self, set: usize, way: u32) -> Entry {
        Entry((set as u32) << self.way_bits | way)
    }

    #[inline]
    fn state(&self, entry: Entry) -> (&Set, u32) {
        (&self.sets[(entry.0 >> self.way_bits) as usize], entry.0 & ((1 << self.way_bits) - 1))
    }

    #[inline]
    fn state_mut(&mut self, entry: Entry) -> (&mut Set, u32) {
        (&mut self.sets[(entry.0 >> self.way_bits) as usize], entry.0 & ((1 << self.way_bits) - 1))
    }

    /// The entry of `key` if it is the most recently used of its set, has arrived by cycle `by`,
    /// and a hit would change no state: no prefetcher waits for credit, and the policy's bits are 0
    /// already.
    #[inline(always)]
    pub(crate) fn newest_settled(&self, key: u64, by: u64) -> Option<Entry> {
        let set = self.set_of(key);
        let state = &self.sets[set];
        let way = (state.order & 15) as u32;
        let entry = self.entry(set, way);
        let settled = self.keys[entry.0 as usize] == key
            && self.fill(entry).ready() <= by
            && (state.flags >> (4 * way)) & (PREFETCHED | LOW | HIGH) == 0;
        settled.then_some(entry)
    }

    /// The entry of `key`; recency does not change.
    #[inline]
    pub(crate) fn find(&self, key: u64) -> Option<Entry> {
        self.find_in(self.set_of(key), key)
    }

    #[inline]
    fn find_in(&self, set: usize, key: u64) -> Option<Entry> {
        let hashes = &self.sets[set].hashes;
        let first = set << self.way_bits;
        let keys = &self.keys[first..first + (1 << self.way_bits)];
        let wanted = EVERY_BYTE * hash(key);
        let mut found = equal_bytes(hashes[0], wanted);
        let mut from = 0;
        loop {
            while found != 0 {
                let way = from + found.trailing_zeros() as usize / 8;
                if keys.get(way) == Some(&key) {
                    return Some(Entry((first + way) as u32));
                }
                found &= found - 1;
            }
            if from > 0 || keys.len() == 8 {
                return None;
            }
            (from, found) = (8, equal_bytes(hashes[1], wanted));
        }
    }

    /// The entry of `key`, which becomes the most recently used of its set; its policy bits are
    /// cleared.
    #[inline]
    pub(crate) fn lookup(&mut self, key: u64) -> Option<Entry> {
        let set = self.set_of(key);
        let state = &self.sets[set];
        let way = (state.order & 15) as u32;
        let newest = self.entry(set, way);
        let known = (state.flags >> (4 * way)) & (LOW | HIGH) == 0;
        if known && self.keys[newest.0 as usize] == key {
            return Some(newest);
        }
        let entry = self.find_in(set, key)?;
        let way = entry.0 & ((1 << self.way_bits) - 1);
        let state = &mut self.sets[set];
        touch(state, way);
        state.flags &= !((LOW | HIGH) << (4 * way));
        Some(entry)
    }

    /// Inserts `key`, which must be absent, into an empty way of its set or else into the policy's
    /// victim.
    pub(crate) fn insert(&mut self, key: u64, fill: Fill) -> (Entry, Option<Victim>) {
        let set = self.set_of(key);
        let last = ((self.sets[set].order >> (4 * (self.assoc - 1))) & 15) as u32;
        let lru = self.policy == Policy::Lru;
        let (way, flags) = if lru { (last, 0) } else { self.make_room(set, last) };
        let state = &mut self.sets[set];
        let gone = (state.flags >> (4 * way)) & WAY;
        state.flags ^= (gone ^ flags) << (4 * way);
        let (word, shift) = ((way / 8) as usize, way % 8 * 8);
        state.hashes[word] = state.hashes[word] & !(0xff << shift) | hash(key) << shift;
        touch(state, way);
        let entry = self.entry(set, way);
        let old = std::mem::replace(&mut self.keys[entry.0 as usize], key);
        self.set_fill(entry, fill);
        let (dirty, prefetched) = (gone & DIRTY != 0, gone & PREFETCHED != 0);
        (entry, (old != NONE).then_some(Victim { key: old, dirty, prefetched }))
    }

    /// The way to replace under a policy other than plain LRU, and the flags of a new line.
    #[inline(never)]
    fn make_room(&mut self, set: usize, last: u32) -> (u32, u64) {
        let empty = self.keys[self.entry(set, last).0 as usize] == NONE;
        let state = &mut self.sets[set];
        let way = if empty { last } else { self.policy.victim(state, last, self.assoc) };
        (way, self.policy.fresh())
    }

    /// Removes `key` and returns what it was.
    pub(crate) fn remove(&mut self, key: u64) -> Option<Victim> {
        let entry = self.find(key)?;
        let victim =
            Victim { key, dirty: self.is_dirty(entry), prefetched: self.prefetched(entry) };
        self.empty(entry);
        Some(victim)
    }

    /// Empties an entry and makes it the next to be filled.
    fn empty(&mut self, entry: Entry) {
        self.keys[entry.0 as usize] = NONE;
        self.set_fill(entry, Fill::PRESENT);
        let assoc = self.assoc;
        let (state, way) = self.state_mut(entry);
        state.flags &= !(WAY << (4 * way));
        let kept = below(position(state.order, way)) | !below(assoc);
        let moved = (state.order >> 4) & !kept & below(assoc - 1);
        let last = u64::from(way) << (4 * (assoc - 1));
        state.order = (state.order & kept) | moved | last;
    }

    /// Empties the less recently used half of the ways of each set (`assoc / 2` of them).
    pub(crate) fn trash_lru_half(&mut self) {
        for set in 0..self.sets.len() {
            let order = self.sets[set].order;
            for at in (self.assoc - self.assoc / 2)..self.assoc {
                self.empty(self.entry(set, ((order >> (4 * at)) & 15) as u32));
            }
        }
    }

    /// Empties everything.
    pub(crate) fn clear(&mut self) {
        self.keys.fill(NONE);
        self.fills.fill(Fill::PRESENT);
        self.sets.fill(FRESH);
    }

    /// When the contents of an entry arrive.
    #[inline]
    pub(crate) fn fill(&self, entry: Entry) -> Fill {
        self.fills.get(entry.0 as usize).copied().unwrap_or(Fill::PRESENT)
    }

    #[inline]
    pub(crate) fn set_fill(&mut self, entry: Entry, fill: Fill) {
        if let Some(place) = self.fills.get_mut(entry.0 as usize) {
            *place = fill;
        }
    }

    #[inline]
    pub(crate) fn is_dirty(&self, entry: Entry) -> bool {
        let (state, way) = self.state(entry);
        state.flags & (DIRTY << (4 * way)) != 0
    }

    #[inline]
    pub(crate) fn set_dirty(&mut self, entry: Entry) {
        let (state, way) = self.state_mut(entry);
        state.flags |= DIRTY << (4 * way);
    }

    #[inline]
    pub(crate) fn prefetched(&self, entry: Entry) -> bool {
        let (state, way) = self.state(entry);
        state.flags & (PREFETCHED << (4 * way)) != 0
    }

    #[inline]
    pub(crate) fn set_prefetched(&mut self, entry: Entry, on: bool) {
        let (state, way) = self.state_mut(entry);
        state.flags = (state.flags & !(PREFETCHED << (4 * way)))
            | ((u64::from(on) * PREFETCHED) << (4 * way));
    }

    /// The keys of the set that `key` maps to, most recently used first.
    #[cfg(test)]
    pub(crate) fn recency(&self, key: u64) -> Vec<u64> {
        let set = self.set_of(key);
        let order = self.sets[set].order;
        (0..self.assoc)
            .map(|at| self.keys[self.entry(set, ((order >> (4 * at)) & 15) as u32).0 as usize])
            .filter(|key| *key != NONE)
            .collect()
    }
}

/// Makes a way the most recently used of its set.
#[inline]
fn touch(set: &mut Set, way: u32) {
    let upto = below(position(set.order, way) + 1);
    set.order = (set.order & !upto) | ((set.order << 4) & upto) | u64::from(way);
}

/// Sets the highest bit of every byte in which two words agree, and possibly that of the byte
/// above; comparing the key decides.
#[inline]
fn equal_bytes(one: u64, other: u64) -> u64 {
    let zero_where_equal = one ^ other;
    zero_where_equal.wrapping_sub(EVERY_BYTE) & !zero_where_equal & (EVERY_BYTE << 7)
}

/// A byte that differs for most keys of a set.
#[inline]
fn hash(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56
}

/// The position of `way` in a recency word: the lowest four-bit field that equals it.
#[inline]
fn position(order: u64, way: u32) -> u32 {
    let zero_where_equal = order ^ (EVERY * u64::from(way));
    let found = zero_where_equal.wrapping_sub(EVERY) & !zero_where_equal & (EVERY << 3);
    found.trailing_zeros() / 4
}

/// The lowest `fields` four-bit fields.
#[inline]
fn below(fields: u32) -> u64 {
    if fields >= 16 { u64::MAX } else { (1 << (4 * fields)) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn a_full_set_gives_up_its_least_recently_used_key() {
        let mut array = Array::new(4, 3, true, Policy::Lru);
        for key in [0, 4, 8] {
            assert_eq!(array.insert(key, Fill::PRESENT).1, None);
        }
        assert!(array.lookup(0).is_some());
        let victim = array.insert(12, Fill::PRESENT).1.unwrap();
        assert_eq!(victim.key, 4);
        assert_eq!(array.recency(0), [12, 0, 8]);
    }

    #[test]
    fn an_emptied_place_is_filled_before_any_key_is_given_up() {
        let mut array = Array::new(1, 4, true, Policy::Lru);
        for key in 0..4 {
            array.insert(key, Fill::PRESENT);
        }
        assert!(array.remove(2).is_some());
        assert_eq!(array.recency(0), [3, 1, 0]);
        assert_eq!(array.insert(9, Fill::PRESENT).1, None);
        assert_eq!(array.recency(0), [9, 3, 1, 0]);
    }

    #[test]
    fn trashing_keeps_the_more_recently_used_half_of_each_set() {
        for assoc in [1, 2, 5, 8, 16] {
            let mut array = Array::new(2, assoc, true, Policy::Lru);
            for key in 0..2 * u64::from(assoc) {
                let (entry, _) = array.insert(key, Fill::PRESENT);
                array.set_dirty(entry);
            }
            let kept = assoc.div_ceil(2) as usize;
            let before = [array.recency(0), array.recency(1)];
            array.trash_lru_half();
            assert_eq!(array.recency(0), before[0][..kept]);
            assert_eq!(array.recency(1), before[1][..kept]);
            let (_, victim) = array.insert(1_000, Fill::PRESENT);
            assert_eq!(victim.is_some(), assoc == 1, "the dropped data is not written back");
        }
    }

    proptest! {
        #[test]
        fn the_array_equals_a_list_per_set(
            sets in 1_u64..6, assoc in 1_u32..=16,
            steps in prop::collection::vec((0_u8..5, 0_u64..60), 1..400),
        ) {
            let mut array = Array::new(sets, assoc, true, Policy::Lru);
            let mut lists = vec![VecDeque::new(); sets as usize];
            for (what, key) in steps {
                let list = &mut lists[(key % sets) as usize];
                let at = list.iter().position(|k| *k == key);
                if what == 0 {
                    prop_assert_eq!(array.remove(key).is_some(), at.is_some());
                    at.map(|at| list.remove(at));
                } else {
                    prop_assert_eq!(array.find(key).is_some(), at.is_some());
                    prop_assert_eq!(array.lookup(key).is_some(), at.is_some());
                    let mut gone = None;
                    match at {
                        Some(at) => drop(list.remove(at)),
                        None => {
                            if list.len() == assoc as usize {
                                gone = list.pop_back();
                            }
                            let victim = array.insert(key, Fill::PRESENT).1;
                            prop_assert_eq!(victim.map(|v| v.key), gone);
                        }
                    }
                    list.push_front(key);
                }
                prop_assert_eq!(&array.recency(key), &Vec::from(list.clone()));
            }
        }
    }
}
