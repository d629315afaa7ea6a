//! How many size classes serve how much of the allocations.

use crate::model::Configuration;

/// A size class with those that are used more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassCoverage {
    /// The size class.
    pub class: u64,
    /// Its allocations.
    pub count: u64,
    /// The allocations of this class and of all classes before it.
    pub covered: u64,
}

impl Configuration {
    /// The size classes from the most frequent down (the smaller class first among equals), each
    /// with the allocations that it and those before it serve.
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
