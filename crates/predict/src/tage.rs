//! Direction: a base predictor and tagged tables of increasing history length. The longest table
//! whose tag matches provides the prediction.

use crate::history::{History, TABLES_MAX};
use crate::params::TageParams;

/// An entry of a tagged table. The counter is 3 bits, signed: taken when 0 or more.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    tag: u16,
    counter: i8,
    useful: u8,
}

const COUNTER_MAX: i8 = 3;
const COUNTER_MIN: i8 = -4;
const USEFUL_MAX: u8 = 3;
/// Failed allocations, minus successful ones, before all usefulness counters are halved (Seznec's
/// 2011 CBP predictor ages by a similar count).
const AGE_AT: i32 = 1024;
const USE_ALTERNATE_MAX: i8 = 7;

/// The predictor.
#[derive(Clone, Debug)]
pub(crate) struct Tage {
    base: Vec<i8>,
    entries: Vec<Entry>,
    tables: usize,
    index_bits: u32,
    tag_bits: u32,
    /// 0 or more: an entry that was never right is trusted less than the next shorter history.
    use_alternate: i8,
    age: i32,
    random: u32,
}

/// Where a branch looks, and what it finds there.
struct Look {
    place: [u32; TABLES_MAX],
    tag: [u16; TABLES_MAX],
    /// One bit for each table whose tag matches.
    matches: u32,
    base: usize,
}

impl Tage {
    /// Empty tables from checked parameters.
    pub(crate) fn new(params: &TageParams) -> Self {
        let tables = params.histories.len();
        Self {
            base: vec![0; params.bimodal_entries as usize],
            entries: vec![Entry::default(); tables * params.entries as usize],
            tables,
            index_bits: params.entries.trailing_zeros(),
            tag_bits: params.tag_bits,
            use_alternate: 0,
            age: 0,
            random: 1,
        }
    }

    #[inline]
    fn look(&self, pc: u64, history: &History) -> Look {
        let hash = spread(pc);
        let index = (hash >> 48) as u16;
        let tag = (hash >> 32) as u16;
        let (index_mask, tag_mask) = ((1 << self.index_bits) - 1, (1 << self.tag_bits) - 1);
        let mut look = Look {
            place: [0; TABLES_MAX],
            tag: [0; TABLES_MAX],
            matches: 0,
            base: (pc ^ pc >> 13) as usize & (self.base.len() - 1),
        };
        for table in 0..TABLES_MAX {
            let at = u32::from((index ^ history.index()[table]) & index_mask);
            look.place[table] = (table as u32) << self.index_bits | at;
            // Tag 0 marks an empty entry.
            look.tag[table] = ((tag ^ history.tag()[table]) & tag_mask).max(1);
        }
        for table in 0..self.tables {
            let same = self.entries[look.place[table] as usize].tag == look.tag[table];
            look.matches |= u32::from(same) << table;
        }
        look
    }

    /// Predicts the branch, trains with its outcome and returns the prediction.
    #[inline]
    pub(crate) fn predict_and_update(&mut self, pc: u64, taken: bool, history: &History) -> bool {
        let look = self.look(pc, history);
        let base = self.base[look.base] >= 0;
        if look.matches == 0 {
            step(&mut self.base[look.base], taken, -2, 1);
            if base != taken {
                self.allocate(&look, 0, taken);
            }
            return base;
        }
        let provider = look.matches.ilog2() as usize;
        let shorter = look.matches & !(1 << provider);
        let (alternate, alternate_taken) = match shorter.checked_ilog2() {
            Some(table) => {
                let place = look.place[table as usize] as usize;
                (Some(place), self.entries[place].counter >= 0)
            }
            None => (None, base),
        };
        let place = look.place[provider] as usize;
        let entry = self.entries[place];
        let provided = entry.counter >= 0;
        let fresh = entry.useful == 0 && matches!(entry.counter, -1 | 0);
        let predicted = if fresh && self.use_alternate >= 0 { alternate_taken } else { provided };
        if fresh && provided != alternate_taken {
            let better = alternate_taken == taken;
            step(&mut self.use_alternate, better, -USE_ALTERNATE_MAX - 1, USE_ALTERNATE_MAX);
        }
        if predicted != taken && provider + 1 < self.tables {
            // A fresh entry that was right needs time, not a longer history.
            if !(fresh && provided == taken) {
                self.allocate(&look, provider + 1, taken);
            }
        }
        if entry.useful == 0 {
            match alternate {
                Some(place) => step_entry(&mut self.entries[place], taken),
                None => step(&mut self.base[look.base], taken, -2, 1),
            }
        }
        let entry = &mut self.entries[place];
        step_entry(entry, taken);
        if provided != alternate_taken {
            entry.useful = if provided == taken {
                (entry.useful + 1).min(USEFUL_MAX)
            } else {
                entry.useful.saturating_sub(1)
            };
        }
        predicted
    }

    /// Allocates an entry for the branch in one table from `first` on: mostly the first whose entry
    /// is not useful, sometimes a later one, so that neighbouring lengths do not all compete.
    #[cold]
    fn allocate(&mut self, look: &Look, first: usize, taken: bool) {
        // Marsaglia's xorshift (2003) with a fixed seed, so that runs repeat.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        let skip = usize::from(self.random & 3 == 0);
        let start = (first + skip).min(self.tables - 1);
        let free = |table: &usize| self.entries[look.place[*table] as usize].useful == 0;
        match (start..self.tables).find(free) {
            Some(table) => {
                let counter = if taken { 0 } else { -1 };
                let entry = Entry { tag: look.tag[table], counter, useful: 0 };
                self.entries[look.place[table] as usize] = entry;
                self.age = (self.age - 1).max(0);
            }
            None => {
                for table in start..self.tables {
                    let entry = &mut self.entries[look.place[table] as usize];
                    entry.useful = entry.useful.saturating_sub(1);
                }
                self.age += 1;
                if self.age >= AGE_AT {
                    self.age = 0;
                    self.entries.iter_mut().for_each(|entry| entry.useful >>= 1);
                }
            }
        }
    }
}

/// Spreads an address over 64 bits by multiplication with the golden ratio (Knuth 6.4).
#[inline]
pub(crate) fn spread(pc: u64) -> u64 {
    pc.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[inline]
fn step(counter: &mut i8, up: bool, least: i8, most: i8) {
    *counter = (*counter + if up { 1 } else { -1 }).clamp(least, most);
}

#[inline]
fn step_entry(entry: &mut Entry, up: bool) {
    step(&mut entry.counter, up, COUNTER_MIN, COUNTER_MAX);
}
