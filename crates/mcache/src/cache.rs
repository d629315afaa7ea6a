//! Entries, the size-class part (lookup and update) and replacement.

use crate::config::{CLASS_MAX, Config, ConfigError, ENTRIES_MAX, SIZE_MAX};
use crate::outcome::{Mapping, Update, Updated, Violation};

const ENTRIES: usize = ENTRIES_MAX as usize;
/// In `number_of`: the class has no entry.
const NONE: u8 = u8::MAX;

/// A malloc cache. See the crate's documentation.
///
/// The arrays are indexed by the entry's number. `number_of` is the hardware's class CAM, inverted
/// for speed; `stamp` holds last uses and yields the LRU ranks.
#[derive(Clone, Debug)]
pub struct MallocCache {
    pub(crate) config: Config,
    /// Range bounds of 20 bits; an invalid entry has lo > hi and so matches nothing.
    lo: [i32; ENTRIES],
    hi: [i32; ENTRIES],
    class: [u8; ENTRIES],
    size: [u32; ENTRIES],
    pub(crate) head: [u64; ENTRIES],
    pub(crate) next: [u64; ENTRIES],
    stamp: [u64; ENTRIES],
    number_of: [u8; CLASS_MAX as usize + 1],
    clock: u64,
    /// Bit per entry: the entry is valid.
    pub(crate) valid: u64,
    /// Bit per entry: a prefetch is outstanding on the memory port.
    pub(crate) pending: u64,
    /// Bit per entry: the outstanding prefetch still belongs to the entry and blocks it.
    pub(crate) blocked: u64,
}

/// A valid entry, for tests and debugging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number in the cache.
    pub number: u8,
    /// Size class.
    pub class: u8,
    /// Bytes that a block holds.
    pub alloc_size: u32,
    /// Smallest key of the range.
    pub lo: u32,
    /// Largest key of the range.
    pub hi: u32,
    /// First object of the list, 0 if not known.
    pub head: u64,
    /// Second object of the list, 0 if not known.
    pub next: u64,
    /// Whether a prefetch is outstanding.
    pub blocked: bool,
    /// How many valid entries were used more recently.
    pub rank: u8,
}

impl MallocCache {
    /// An empty cache.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            config,
            lo: [1; ENTRIES],
            hi: [0; ENTRIES],
            class: [0; ENTRIES],
            size: [0; ENTRIES],
            head: [0; ENTRIES],
            next: [0; ENTRIES],
            stamp: [0; ENTRIES],
            number_of: [NONE; CLASS_MAX as usize + 1],
            clock: 0,
            valid: 0,
            pending: 0,
            blocked: 0,
        })
    }

    /// Its parameters.
    pub fn config(&self) -> Config {
        self.config
    }

    /// Switches the class index on or off; a change empties the cache, as its ranges become
    /// meaningless.
    pub fn set_index(&mut self, on: bool) {
        if self.config.index != on {
            self.config.index = on;
            self.flush();
        }
    }

    /// `mcszlookup`: the class and block size of a requested size. A hit counts as a use of the
    /// entry.
    #[inline]
    pub fn lookup(&mut self, size: u64) -> Option<Mapping> {
        let number = self.number_of_key(self.config.key(size)? as i32)?;
        self.touch(number);
        Some(Mapping { class: self.class[number], alloc_size: self.size[number] })
    }

    /// `mcszupdate`: teaches the cache that requests of `size` bytes get `alloc_size`-byte blocks
    /// of `class`. Entries of other classes whose ranges overlap the new one are dropped, so ranges
    /// stay disjoint and the last update wins.
    pub fn update(&mut self, size: u64, alloc_size: u64, class: u32) -> Updated {
        let mut updated = Updated { kind: Update::Unchanged, evicted: None, overlaps: 0 };
        let (lo, hi) = match self.range(size, alloc_size, class) {
            Ok(range) => range,
            Err(violation) => {
                if let Some(number) = self.number_of_class(class) {
                    self.remove(number);
                }
                updated.kind = Update::Rejected(violation);
                return updated;
            }
        };
        let class = class as u8;
        updated.overlaps = self.drop_overlaps(lo, hi, class);
        let number = match self.number_of_class(u32::from(class)) {
            Some(number) if self.size[number] == alloc_size as u32 => {
                if lo < self.lo[number] {
                    self.lo[number] = lo;
                    updated.kind = Update::Widened;
                }
                number
            }
            Some(number) => {
                (self.lo[number], self.hi[number]) = (lo, hi);
                self.drop_list(number);
                updated.kind = Update::Replaced;
                number
            }
            None => {
                let number = self.make_room(&mut updated.evicted);
                (self.lo[number], self.hi[number]) = (lo, hi);
                self.class[number] = class;
                self.number_of[usize::from(class)] = number as u8;
                self.valid |= 1 << number;
                updated.kind = Update::Inserted;
                number
            }
        };
        self.size[number] = alloc_size as u32;
        self.touch(number);
        updated
    }

    /// `mcflush`: empties the cache, as at a switch to another process or thread. Outstanding
    /// prefetches fill nothing when they return.
    pub fn flush(&mut self) {
        while self.valid != 0 {
            self.remove(self.valid.trailing_zeros() as usize);
        }
    }

    /// The valid entries, in number order.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        (0..self.config.entries).filter_map(|number| self.entry(number))
    }

    /// The entry with this number, if it is valid.
    pub fn entry(&self, number: u8) -> Option<Entry> {
        let at = usize::from(number);
        let all = usize::from(self.config.entries);
        let used = |number: usize| self.valid >> number & 1 != 0;
        (at < all && used(at)).then(|| Entry {
            number,
            class: self.class[at],
            alloc_size: self.size[at],
            lo: self.lo[at] as u32,
            hi: self.hi[at] as u32,
            head: self.head[at],
            next: self.next[at],
            blocked: self.blocked >> at & 1 != 0,
            rank: (0..all).filter(|&o| used(o) && self.stamp[o] > self.stamp[at]).count() as u8,
        })
    }

    /// The entry of a class, if it has one.
    #[inline]
    pub(crate) fn number_of_class(&self, class: u32) -> Option<usize> {
        let number = *self.number_of.get(class as usize)?;
        (number != NONE).then_some(usize::from(number))
    }

    /// Marks the entry as the most recently used one.
    #[inline]
    pub(crate) fn touch(&mut self, number: usize) {
        self.clock += 1;
        self.stamp[number] = self.clock;
    }

    /// Drops what is known of the entry's list, and its outstanding prefetch with it.
    #[inline]
    pub(crate) fn drop_list(&mut self, number: usize) {
        (self.head[number], self.next[number]) = (0, 0);
        self.blocked &= !(1 << number);
    }

    /// Drops an entry. The memory port may still have to return a prefetch: `pending` stays.
    pub(crate) fn remove(&mut self, number: usize) {
        self.drop_list(number);
        self.number_of[usize::from(self.class[number])] = NONE;
        (self.lo[number], self.hi[number]) = (1, 0);
        self.valid &= !(1 << number);
    }

    /// The entry whose range holds the key. At most one does, so a sum selects it.
    #[inline]
    fn number_of_key(&self, key: i32) -> Option<usize> {
        let used = usize::from(self.config.entries);
        let bounds = self.lo[..used].iter().zip(&self.hi[..used]);
        let hit: u32 = bounds
            .zip(1u32..)
            .map(|((&lo, &hi), number)| number * u32::from((lo <= key) & (key <= hi)))
            .sum();
        (hit != 0).then(|| hit as usize - 1)
    }

    /// The range that an update asks for, or the promise that it breaks.
    fn range(&self, size: u64, alloc_size: u64, class: u32) -> Result<(i32, i32), Violation> {
        if class > CLASS_MAX {
            return Err(Violation::Class);
        }
        if size > SIZE_MAX || alloc_size > SIZE_MAX {
            return Err(Violation::Size);
        }
        if alloc_size < size {
            return Err(Violation::SmallBlock);
        }
        let step = if alloc_size <= 1024 { 8 } else { 128 };
        if self.config.index && !alloc_size.is_multiple_of(step) {
            return Err(Violation::Misaligned);
        }
        let hi = self.config.key(alloc_size).ok_or(Violation::Size)?;
        let lo = self.config.key(size).ok_or(Violation::Size)?;
        Ok((lo as i32, hi as i32))
    }

    fn drop_overlaps(&mut self, lo: i32, hi: i32, class: u8) -> u8 {
        let mut dropped = 0;
        for number in 0..usize::from(self.config.entries) {
            let valid = self.valid >> number & 1 != 0;
            let overlaps = self.lo[number] <= hi && lo <= self.hi[number];
            if valid && overlaps && self.class[number] != class {
                self.remove(number);
                dropped += 1;
            }
        }
        dropped
    }

    /// An entry to fill: the first invalid one, else the least recently used one.
    fn make_room(&mut self, evicted: &mut Option<u8>) -> usize {
        let free = self.valid.trailing_ones() as usize;
        let used = usize::from(self.config.entries);
        if free < used {
            return free;
        }
        let oldest = (0..used).min_by_key(|&number| self.stamp[number]).unwrap_or(0);
        *evicted = Some(self.class[oldest]);
        self.remove(oldest);
        oldest
    }
}
