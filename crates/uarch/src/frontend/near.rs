//! The first level of the branch target buffer: branches that it holds go to their target without a
//! bubble in delivery. The second level is `predict`'s.

/// Ways of a set; the number of sets follows from the entries.
const WAYS: usize = 4;
/// An empty way.
const EMPTY: (u64, u64) = (u64::MAX, 0);

/// Set-associative with LRU replacement. Each entry: address and target.
pub struct NearBranches {
    sets: Vec<[(u64, u64); WAYS]>,
}

impl NearBranches {
    /// For this many branches: a multiple of four whose quarter is a power of two, or 0 for none.
    pub fn new(entries: u32) -> Self {
        Self { sets: vec![[EMPTY; WAYS]; entries as usize / WAYS] }
    }

    /// Whether a taken branch was present with that target; from now on it is.
    #[inline(always)]
    pub fn taken(&mut self, addr: u64, target: u64) -> bool {
        !self.sets.is_empty() && self.search(addr, target)
    }

    #[inline(never)]
    fn search(&mut self, addr: u64, target: u64) -> bool {
        // Neighbouring branches lie from one to a dozen or so bytes apart; how the hardware chooses
        // sets is not published.
        let at = (addr ^ addr >> 2 ^ addr >> 5) as usize % self.sets.len();
        let set = &mut self.sets[at];
        let found = set.iter().position(|entry| entry.0 == addr);
        let known = found.is_some_and(|way| set[way].1 == target);
        set[..=found.unwrap_or(WAYS - 1)].rotate_right(1);
        set[0] = (addr, target);
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_known_from_its_second_time_on_while_its_target_stays() {
        let mut near = NearBranches::new(4);
        assert!(!near.taken(8, 100));
        assert!(near.taken(8, 100));
        assert!(!near.taken(8, 200), "another target");
        assert!(near.taken(8, 200));
    }

    #[test]
    fn the_least_recently_taken_branch_of_a_full_set_makes_room() {
        let mut near = NearBranches::new(4);
        for branch in 0..4 {
            assert!(!near.taken(branch, 1));
        }
        assert!(near.taken(0, 1));
        assert!(!near.taken(9, 1), "takes the place of branch 1");
        assert!(near.taken(0, 1) && near.taken(2, 1) && near.taken(3, 1));
        assert!(!near.taken(1, 1));
    }

    #[test]
    fn without_entries_nothing_is_known() {
        let mut near = NearBranches::new(0);
        assert!(!near.taken(8, 100) && !near.taken(8, 100));
    }
}
