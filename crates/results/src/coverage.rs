//! Number of size classes that cover a given share of the allocations.

use crate::model::Configuration;

/// A size class in order of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassCoverage {
    /// The size class.
    pub class: u64,
    /// Its allocations.
    pub count: u64,
    /// The allocations of this class and of all more frequent ones.
    pub covered: u64,
}

impl Configuration {
    /// The size classes in order of decreasing frequency (the smaller class first if equal), each
    /// with the cumulative number of allocations.
    pub fn class_coverage(&self) -> Vec<ClassCoverage> {
        let mut classes: Vec<(u64, u64)> =
            self.size_classes.iter().map(|(class, count)| (*class, *count)).collect();
        classes.sort_by_key(|(class, count)| (std::cmp::Reverse(*count), *class));
        let mut covered = 0_u64;
        let step = |(class, count): (u64, u64)| {
            covered = covered.saturating_add(count);
            ClassCoverage { class, count, covered }
        };
        classes.into_iter().map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn classes_come_by_falling_use_and_the_last_covers_everything() {
        let size_classes = BTreeMap::from([(1, 10), (2, 60), (5, 10), (7, 20)]);
        let coverage = Configuration { size_classes, ..Default::default() }.class_coverage();
        let row = |c: &ClassCoverage| (c.class, c.count, c.covered);
        let rows: Vec<_> = coverage.iter().map(row).collect();
        assert_eq!(rows, [(2, 60, 60), (7, 20, 80), (1, 10, 90), (5, 10, 100)]);
    }
}
