//! Branch target buffer: taken branches and where they last went; exact LRU within a set.

use crate::params::BtbParams;

/// A taken branch. An empty entry has an address no branch has.
#[derive(Clone, Copy, Debug)]
struct Entry {
    pc: u64,
    target: u64,
}

const EMPTY: Entry = Entry { pc: u64::MAX, target: 0 };

/// The buffer; the ways of a set stand in order of their last use.
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
        let first = (pc & self.set_mask) as usize * self.assoc;
        &mut self.entries[first..first + self.assoc]
    }

    /// True if the branch is here; its recency stays as it is.
    #[inline]
    pub(crate) fn holds(&mut self, pc: u64) -> bool {
        self.set(pc).iter().any(|entry| entry.pc == pc)
    }

    /// Notes that the branch went to `target`; the answer is where it went before, if known.
    #[inline]
    pub(crate) fn taken(&mut self, pc: u64, target: u64) -> Option<u64> {
        let set = self.set(pc);
        let found = set.iter().position(|entry| entry.pc == pc);
        let way = found.unwrap_or(set.len() - 1);
        let before = found.map(|way| set[way].target);
        set.copy_within(..way, 1);
        set[0] = Entry { pc, target };
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_as_many_branches_as_it_has_ways_and_loses_the_one_unused_longest() {
        let params = BtbParams { entries: 16, assoc: 4 };
        let sets = u64::from(params.entries / params.assoc);
        let mut btb = Btb::new(&params);
        for n in 0..4 {
            assert_eq!(btb.taken(n * sets, 100 + n), None);
        }
        assert_eq!(btb.taken(0, 200), Some(100));
        assert_eq!(btb.taken(4 * sets, 104), None);
        let held: Vec<bool> = (0..5).map(|n| btb.holds(n * sets)).collect();
        assert_eq!(held, [true, false, true, true, true]);
        assert_eq!(btb.taken(0, 1), Some(200));
    }
}
