//! Branch target buffer: taken branches and where they last went; exact LRU within a set.

use crate::params::BtbParams;

/// A taken branch. An empty entry has an address that no branch has.
#[derive(Clone, Copy, Debug)]
struct Entry {
    pc: u64,
    target: u64,
}

const EMPTY: Entry = Entry { pc: u64::MAX, target: 0 };

/// The buffer; the ways of a set are in order of last use.
#[derive(Clone, Debug)]
pub(crate) struct Btb {
    entries: Vec<Entry>,
    assoc: usize,
    set_mask: u64,
}

impl Btb {
    /// An empty buffer from checked parameters.
    pub(crate) fn new(params: &BtbParams) -> Self {
        Self {
            entries: vec![EMPTY; params.entries as usize],
            assoc: params.assoc as usize,
            set_mask: u64::from(params.entries / params.assoc) - 1,
        }
    }

    #[inline]
    fn set(&mut self, pc: u64) -> &mut [Entry] {
        // Folded, so that branches at regular distances spread over all sets, as on Haswell.
        let bits = self.set_mask.count_ones();
        let set = (pc ^ pc >> bits ^ pc >> (2 * bits)) & self.set_mask;
        let first = set as usize * self.assoc;
        &mut self.entries[first..first + self.assoc]
    }

    /// True if the branch is present; recency does not change.
    #[inline]
    pub(crate) fn holds(&mut self, pc: u64) -> bool {
        self.set(pc).iter().any(|entry| entry.pc == pc)
    }

    /// Records that the branch went to `target`; returns where it went before, if known.
    #[inline]
    pub(crate) fn taken(&mut self, pc: u64, target: u64) -> Option<u64> {
        // Each entry moves back by one, down to the branch's own entry or the last.
        let mut coming = Entry { pc, target };
        for place in self.set(pc) {
            coming = std::mem::replace(place, coming);
            if coming.pc == pc {
                return Some(coming.target);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_as_many_branches_as_it_has_ways_and_loses_the_one_unused_longest() {
        let params = BtbParams { entries: 16, assoc: 4 };
        let mut btb = Btb::new(&params);
        // Addresses of one set: the upper part cancels the lower.
        let bits = (params.entries / params.assoc).trailing_zeros();
        let pc = |n: u64| n << bits | (n & ((1 << bits) - 1)) ^ (n >> bits);
        for n in 0..4 {
            assert_eq!(btb.taken(pc(n), 100 + n), None);
        }
        assert_eq!(btb.taken(pc(0), 200), Some(100));
        assert_eq!(btb.taken(pc(4), 104), None);
        let held: Vec<bool> = (0..5).map(|n| btb.holds(pc(n))).collect();
        assert_eq!(held, [true, false, true, true, true]);
        assert_eq!(btb.taken(pc(0), 1), Some(200));
    }

    #[test]
    fn branches_at_regular_distances_fill_all_sets() {
        for apart in [1, 4, 8, 16, 24, 64] {
            let params = BtbParams::default();
            let mut btb = Btb::new(&params);
            let branches = u64::from(params.entries);
            for n in 0..branches / 2 {
                btb.taken(0x40_0000 + n * apart, 1);
            }
            let held = (0..branches / 2).filter(|n| btb.holds(0x40_0000 + n * apart)).count();
            assert!(held as u64 >= branches / 2 * 95 / 100, "{apart} apart: {held}");
        }
    }
}
