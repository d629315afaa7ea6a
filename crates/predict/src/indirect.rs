//! Targets of indirect branches: tagged tables that share the direction predictor's histories and
//! fall back on the last target in the branch target buffer.

use crate::history::History;
use crate::params::{IndirectParams, TageParams};
use crate::tage::spread;

/// A target seen after a certain history.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    target: u64,
    tag: u16,
    /// How often it was right in a row, 0 to 3; replaced when wrong at 0.
    confidence: u8,
    useful: bool,
}

const CONFIDENCE_MAX: u8 = 3;

/// The tables.
#[derive(Clone, Debug)]
pub(crate) struct Indirect {
    entries: Vec<Entry>,
    /// For each table, the number of the history that it uses.
    histories: Vec<usize>,
    index_bits: u32,
    tag_mask: u16,
}

impl Indirect {
    /// Empty tables from checked parameters.
    pub(crate) fn new(params: &IndirectParams, tage: &TageParams) -> Self {
        let tables = params.histories.len();
        Self {
            entries: vec![Entry::default(); tables * params.entries as usize],
            histories: params.histories.iter().map(|n| *n as usize).collect(),
            index_bits: params.entries.trailing_zeros(),
            tag_mask: (1 << tage.tag_bits) - 1,
        }
    }

    /// Index and tag of a branch in a table.
    fn look(&self, table: usize, hash: u64, history: &History) -> (usize, u16) {
        let folds = self.histories[table];
        let fold = history.index()[folds];
        // The fold is as wide as the direction tables' index; if wider than ours, it is folded
        // again.
        let index = (hash >> 48) as u16 ^ fold ^ (fold >> self.index_bits);
        let at = usize::from(index) & ((1 << self.index_bits) - 1);
        let tag = ((hash >> 32) as u16 ^ history.tag()[folds]) & self.tag_mask;
        (table << self.index_bits | at, tag.max(1))
    }

    /// Predicts the target, where `last` is the branch target buffer's, trains with the true target
    /// and returns the prediction.
    pub(crate) fn predict_and_update(
        &mut self,
        pc: u64,
        last: Option<u64>,
        target: u64,
        history: &History,
    ) -> Option<u64> {
        let hash = spread(pc);
        let mut found = None;
        let mut shorter = last;
        for table in 0..self.histories.len() {
            let (place, tag) = self.look(table, hash, history);
            if self.entries[place].tag == tag {
                if let Some((_, place)) = found {
                    let entry: &Entry = &self.entries[place];
                    shorter = Some(entry.target);
                }
                found = Some((table, place));
            }
        }
        let mut predicted = last;
        let mut first = 0;
        if let Some((table, place)) = found {
            let entry = &mut self.entries[place];
            // An entry that has not been right yet is trusted less than a shorter history.
            let fresh = entry.confidence == 0 && shorter.is_some();
            predicted = if fresh { shorter } else { Some(entry.target) };
            if entry.target == target {
                entry.confidence = (entry.confidence + 1).min(CONFIDENCE_MAX);
                entry.useful |= shorter != Some(target);
            } else if entry.confidence > 0 {
                entry.confidence -= 1;
            } else {
                (entry.target, entry.useful) = (target, false);
            }
            first = table + 1;
        }
        if predicted != Some(target) {
            self.allocate(first, hash, target, history);
        }
        predicted
    }

    /// Records the target under a longer history, in the first table with a replaceable entry.
    fn allocate(&mut self, first: usize, hash: u64, target: u64, history: &History) {
        for table in first..self.histories.len() {
            let (place, tag) = self.look(table, hash, history);
            let entry = &mut self.entries[place];
            if !entry.useful {
                *entry = Entry { target, tag, ..Entry::default() };
                return;
            }
            entry.useful = false;
        }
    }
}
