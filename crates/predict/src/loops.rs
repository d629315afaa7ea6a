//! Loops: a branch that goes one way the same number of times, then the other way once.

use crate::tage::spread;

/// A loop branch.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    tag: u16,
    /// How often it goes the usual way before the loop exits; 0 while unknown.
    trips: u16,
    /// How often it has done so since the last exit.
    current: u16,
    /// Equal trip counts in a row.
    confidence: u8,
    /// Protects the entry from being replaced.
    age: u8,
    /// The usual direction.
    usual: bool,
}

/// Equal trip counts in a row before an entry predicts.
const TRUSTED: u8 = 3;
const AGE_MAX: u8 = 31;
const TRIPS_MAX: u16 = u16::MAX;

/// The table.
#[derive(Clone, Debug)]
pub(crate) struct Loops {
    entries: Vec<Entry>,
    /// 0 or more while the table's predictions are better than the direction predictor's.
    better: i8,
}

impl Loops {
    /// `entries` is a power of two, or 0 for a table that never predicts.
    pub(crate) fn new(entries: u32) -> Self {
        Self { entries: vec![Entry::default(); entries as usize], better: 0 }
    }

    /// Predicts the branch, given the direction predictor's prediction, and trains with its
    /// outcome.
    #[inline]
    pub(crate) fn predict_and_update(&mut self, pc: u64, direction: bool, taken: bool) -> bool {
        if self.entries.is_empty() {
            return direction;
        }
        let hash = spread(pc);
        let at = (hash >> 40) as usize & (self.entries.len() - 1);
        let tag = (hash >> 24) as u16 | 1;
        let entry = &mut self.entries[at];
        if entry.tag != tag {
            if direction != taken {
                if entry.age > 0 {
                    entry.age -= 1;
                } else {
                    // A loop is mispredicted at its exit: the usual direction is the other one.
                    *entry = Entry { tag, usual: !taken, age: AGE_MAX / 4, ..Entry::default() };
                }
            }
            return direction;
        }
        let known = entry.confidence >= TRUSTED;
        let mut predicted = direction;
        if known {
            let says = if entry.current == entry.trips { !entry.usual } else { entry.usual };
            if self.better >= 0 {
                predicted = says;
            }
            if says != direction {
                self.better = (self.better + if says == taken { 1 } else { -1 }).clamp(-64, 63);
                if says == taken {
                    entry.age = (entry.age + 1).min(AGE_MAX);
                }
            }
        }
        entry.count(taken);
        predicted
    }
}

impl Entry {
    fn count(&mut self, taken: bool) {
        if taken == self.usual {
            if self.current == TRIPS_MAX || (self.confidence > 0 && self.current >= self.trips) {
                // More iterations than ever: the trip count was wrong, and at the maximum it is too
                // long to count.
                let known = self.confidence >= TRUSTED;
                self.confidence = 0;
                self.trips = 0;
                if known || self.current == TRIPS_MAX {
                    self.age = 0;
                }
            }
            self.current = self.current.saturating_add(1);
            return;
        }
        if self.trips == self.current && self.trips > 0 {
            self.confidence = (self.confidence + 1).min(TRUSTED);
        } else {
            self.trips = self.current;
            self.confidence = 0;
            self.age = self.age.saturating_sub(1);
        }
        self.current = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mispredictions over `rounds` rounds of a loop, with a direction predictor that always
    /// predicts the usual direction.
    fn misses(loops: &mut Loops, trips: impl Fn(u32) -> u32, rounds: u32) -> u32 {
        let mut misses = 0;
        for round in 0..rounds {
            for n in 0..=trips(round) {
                let taken = n < trips(round);
                misses += u32::from(loops.predict_and_update(0x40, true, taken) != taken);
            }
        }
        misses
    }

    #[test]
    fn a_constant_trip_count_costs_only_the_exits_until_it_is_trusted() {
        for trips in [1, 7, 1_000] {
            let mut loops = Loops::new(64);
            // The first exit creates the entry, the second gives the count, TRUSTED more confirm
            // it.
            let learning = 2 + u32::from(TRUSTED);
            assert_eq!(misses(&mut loops, |_| trips, 100), learning, "{trips} trips");
        }
    }

    #[test]
    fn changing_trip_counts_are_left_to_the_direction_predictor() {
        let mut loops = Loops::new(64);
        // The direction predictor alone mispredicts every exit; the table must not add to that.
        assert_eq!(misses(&mut loops, |round| 5 + round % 3, 100), 100);
    }

    #[test]
    fn an_empty_table_passes_the_direction_on() {
        let mut loops = Loops::new(0);
        assert!(loops.predict_and_update(1, true, false));
        assert!(!loops.predict_and_update(1, false, true));
    }
}
