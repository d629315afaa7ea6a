//! How many eliminated moves rename can track.
//!
//! A register move is eliminated by giving both names one physical register, which must not be
//! freed before all names are done with it. A few entries keep the names of such registers
//! ([uiCA]'s published simulator: four for general-purpose and four for vector registers). An entry
//! is allocated by the first move from a register and joined by later ones; it is free again when
//! its names have been overwritten, for vector registers also when one name is left and a cycle
//! passes without an eliminated move. Rename sees the occupancy of two cycles ago, and adds one for
//! each move eliminated since. A move that finds no entry executes.

/// The most entries of a register class.
const ENTRIES: usize = 4;

/// This many cycles after a change, the state is stable.
const SETTLED: u64 = 3;

/// The entries of both register classes. They are updated on demand, not in every cycle.
pub struct Moves {
    general: Class,
    vector: Class,
    /// Names in any entry, one bit each.
    shared: u64,
}

impl Moves {
    /// No shared registers; this many entries for each class.
    pub fn new(entries: u32) -> Self {
        let class = |single_suffices| Class {
            entries: entries.min(ENTRIES as u32),
            single_suffices,
            ..Class::default()
        };
        Self { general: class(false), vector: class(true), shared: 0 }
    }

    /// The move from `src` to `dst` (bit masks of one name each), allocated at `cycle`, is
    /// eliminated if there is an entry for it; then `dst` is written.
    #[inline]
    pub fn eliminate(&mut self, src: u64, dst: u64, vector: bool, cycle: u64) -> bool {
        let class = if vector { &mut self.vector } else { &mut self.general };
        class.advance(cycle);
        let eliminated = class.eliminate(src, dst);
        self.shared = self.general.names | self.vector.names;
        eliminated
    }

    /// These names (one bit each) are written by anything else, at `cycle`.
    #[inline(always)]
    pub fn written(&mut self, names: u64, cycle: u64) {
        if self.shared & names != 0 {
            self.unshare(names, cycle);
        }
    }

    #[inline(never)]
    fn unshare(&mut self, names: u64, cycle: u64) {
        for class in [&mut self.general, &mut self.vector] {
            if class.names & names != 0 {
                class.advance(cycle);
                class.written(names);
            }
        }
        self.shared = self.general.names | self.vector.names;
    }
}

/// The entries of one register class.
#[derive(Default)]
struct Class {
    entries: u32,
    /// Whether an entry with one name left is freed.
    single_suffices: bool,
    /// Names that share a physical register; an empty set is a free entry.
    sets: [u64; ENTRIES],
    /// All names in entries.
    names: u64,
    /// The allocation cycle that the state refers to.
    cycle: u64,
    taken: u32,
    /// Entries taken at the end of the previous cycle, and of the one before.
    taken_before: [u32; 2],
    /// Moves eliminated in this cycle and in the previous one.
    eliminated: [u32; 2],
}

impl Class {
    /// Cycles pass. From the second on nothing is eliminated, from the third on nothing changes.
    #[inline]
    fn advance(&mut self, cycle: u64) {
        for _ in 0..(cycle - self.cycle).min(SETTLED) {
            self.next_cycle();
        }
        self.cycle = cycle;
    }

    fn next_cycle(&mut self) {
        if self.taken > 0 && self.single_suffices && self.eliminated[0] == 0 {
            self.free_singles();
        }
        self.taken_before = [self.taken, self.taken_before[0]];
        self.eliminated = [0, self.eliminated[0]];
    }

    fn free_singles(&mut self) {
        for at in 0..ENTRIES {
            if self.sets[at].count_ones() == 1 {
                self.written(self.sets[at]);
            }
        }
    }

    fn eliminate(&mut self, src: u64, dst: u64) -> bool {
        let counted = self.taken_before[1] + self.eliminated[0] + self.eliminated[1];
        if counted >= self.entries {
            return false;
        }
        let joined = self.sets.iter().position(|set| set & src != 0);
        if joined.is_none_or(|at| self.sets[at] & dst == 0) {
            self.written(dst);
        }
        let free = || self.sets.iter().position(|&set| set == 0);
        let Some(at) = joined.or_else(free) else { return false };
        self.taken += u32::from(self.sets[at] == 0);
        self.sets[at] |= src | dst;
        self.names |= src | dst;
        self.eliminated[0] += 1;
        true
    }

    fn written(&mut self, names: u64) {
        for set in &mut self.sets {
            if *set & names != 0 {
                *set &= !names;
                self.taken -= u32::from(*set == 0);
            }
        }
        self.names &= !names;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: u64 = 1;
    const B: u64 = 2;
    const C: u64 = 4;
    const D: u64 = 8;

    #[test]
    fn one_entry_serves_one_register_until_all_its_names_are_written() {
        let mut moves = Moves::new(1);
        assert!(moves.eliminate(A, B, false, 10));
        assert!(!moves.eliminate(A, C, false, 13), "the entry is taken");
        moves.written(B, 13);
        assert!(!moves.eliminate(A, C, false, 16), "a still holds it");
        moves.written(A, 16);
        assert!(moves.eliminate(A, C, false, 19));
    }

    #[test]
    fn a_vector_entry_with_one_name_left_is_freed() {
        let mut moves = Moves::new(1);
        assert!(moves.eliminate(A, B, true, 10));
        moves.written(B, 10);
        assert!(!moves.eliminate(A, B, true, 12), "freed at the end of cycle 11");
        assert!(moves.eliminate(A, B, true, 13), "seen two cycles later");
    }

    #[test]
    fn freed_entries_are_seen_two_cycles_later() {
        let mut moves = Moves::new(1);
        assert!(moves.eliminate(A, B, false, 10));
        moves.written(A | B, 13);
        assert!(!moves.eliminate(A, B, false, 14), "the count is that of two cycles ago");
        assert!(moves.eliminate(A, B, false, 15));
    }

    #[test]
    fn moves_of_the_last_two_cycles_count_each() {
        let mut moves = Moves::new(4);
        for _ in 0..4 {
            assert!(moves.eliminate(A, B, false, 10), "one entry, but each counts at first");
        }
        assert!(!moves.eliminate(A, B, false, 10));
        assert!(!moves.eliminate(A, B, false, 11));
        assert!(moves.eliminate(A, B, false, 12), "one entry is taken");
    }

    #[test]
    fn a_long_pause_is_as_good_as_its_cycles_one_by_one() {
        for vector in [false, true] {
            for pause in 0..8 {
                let (mut jumps, mut walks) = (Moves::new(2), Moves::new(2));
                for moves in [&mut jumps, &mut walks] {
                    assert!(moves.eliminate(A, B, vector, 10));
                    assert!(moves.eliminate(C, D, vector, 10));
                    moves.written(B | C | D, 10);
                }
                for cycle in 11..10 + pause {
                    let class = if vector { &mut walks.vector } else { &mut walks.general };
                    class.advance(cycle);
                }
                let at = 10 + pause;
                assert_eq!(
                    jumps.eliminate(A, D, vector, at),
                    walks.eliminate(A, D, vector, at),
                    "{vector} {pause}"
                );
            }
        }
    }
}
