//! How many eliminated moves rename can keep track of.
//!
//! A register move is eliminated by giving both names one physical register, which must not be
//! freed before all names are done with it. A few entries keep the names of such registers
//! ([uiCA]'s published simulator: four for general-purpose and four for vector registers). An entry
//! is taken by the first move from a register and joined by later ones; it is free again when its
//! names have been written to, for vector registers also when one name is left and a cycle passes
//! without an eliminated move. Rename sees the entries taken as of two cycles ago, and in their
//! place counts each move eliminated since as one. A move that finds no entry executes.

/// Entries of a register class at most.
const ENTRIES: usize = 4;

/// The entries of both register classes.
pub struct Moves {
    general: Class,
    vector: Class,
    /// Names in any entry, a bit each.
    shared: u64,
}

impl Moves {
    /// No shared registers; as many entries for each class.
    pub fn new(entries: u32) -> Self {
        let class = |single_suffices| Class {
            entries: entries.min(ENTRIES as u32),
            single_suffices,
            ..Class::default()
        };
        Self { general: class(false), vector: class(true), shared: 0 }
    }

    /// A later allocation cycle begins.
    #[inline(always)]
    pub fn next_cycle(&mut self) {
        self.general.next_cycle();
        if self.vector.busy() {
            self.vector.next_cycle();
            self.shared = self.general.names | self.vector.names;
        }
    }

    /// The move from `src` to `dst` (bit masks of one name each) is eliminated if there is an entry
    /// for it; then `dst` is written.
    #[inline]
    pub fn eliminate(&mut self, src: u64, dst: u64, vector: bool) -> bool {
        let class = if vector { &mut self.vector } else { &mut self.general };
        let eliminated = class.eliminate(src, dst);
        self.shared = self.general.names | self.vector.names;
        eliminated
    }

    /// These names (a bit each) are written otherwise.
    #[inline(always)]
    pub fn written(&mut self, names: u64) {
        if self.shared & names != 0 {
            for class in [&mut self.general, &mut self.vector] {
                if class.names & names != 0 {
                    class.written(names);
                }
            }
            self.shared &= !names;
        }
    }
}

/// The entries of one register class.
#[derive(Default)]
struct Class {
    entries: u32,
    /// An entry with one name left is freed.
    single_suffices: bool,
    /// Names that share a physical register; none: the entry is free.
    sets: [u64; ENTRIES],
    /// All names.
    names: u64,
    taken: u32,
    /// Taken at the end of the cycle before, and of the one before that.
    taken_before: [u32; 2],
    /// Eliminated in this cycle and in the one before.
    eliminated: [u32; 2],
}

impl Class {
    /// Whether a passing cycle changes anything.
    #[inline(always)]
    fn busy(&self) -> bool {
        let [before, earlier] = self.taken_before;
        self.taken | before | earlier | self.eliminated[0] | self.eliminated[1] != 0
    }

    #[inline(always)]
    fn next_cycle(&mut self) {
        if self.taken > 0 && self.single_suffices && self.eliminated[0] == 0 {
            self.free_singles();
        }
        self.taken_before = [self.taken, self.taken_before[0]];
        self.eliminated = [0, self.eliminated[0]];
    }

    #[cold]
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

    fn pass(moves: &mut Moves, cycles: u32) {
        for _ in 0..cycles {
            moves.next_cycle();
        }
    }

    #[test]
    fn one_entry_serves_one_register_until_all_its_names_are_written() {
        let mut moves = Moves::new(1);
        assert!(moves.eliminate(A, B, false));
        pass(&mut moves, 3);
        assert!(!moves.eliminate(A, C, false), "the entry is taken");
        moves.written(B);
        pass(&mut moves, 3);
        assert!(!moves.eliminate(A, C, false), "a still holds it");
        moves.written(A);
        pass(&mut moves, 3);
        assert!(moves.eliminate(A, C, false));
    }

    #[test]
    fn a_vector_entry_with_one_name_left_is_freed() {
        let mut moves = Moves::new(1);
        assert!(moves.eliminate(A, B, true));
        moves.written(B);
        pass(&mut moves, 4);
        assert!(moves.eliminate(A, B, true));
    }

    #[test]
    fn freed_entries_are_seen_two_cycles_later() {
        let mut moves = Moves::new(1);
        assert!(moves.eliminate(A, B, false));
        pass(&mut moves, 3);
        moves.written(A | B);
        pass(&mut moves, 1);
        assert!(!moves.eliminate(A, B, false), "the count is that of two cycles ago");
        pass(&mut moves, 1);
        assert!(moves.eliminate(A, B, false));
    }

    #[test]
    fn moves_of_the_last_two_cycles_count_each() {
        let mut moves = Moves::new(4);
        for _ in 0..4 {
            assert!(moves.eliminate(A, B, false), "one entry, but each counts at first");
        }
        assert!(!moves.eliminate(A, B, false));
        pass(&mut moves, 1);
        assert!(!moves.eliminate(A, B, false));
        pass(&mut moves, 1);
        assert!(moves.eliminate(A, B, false), "one entry is taken");
    }
}
