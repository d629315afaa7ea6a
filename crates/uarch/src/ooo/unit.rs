//! Units that are not pipelined: the divider, and those that an accelerator adds.

/// The busy times of one unit.
#[derive(Clone, Debug, Default)]
pub struct BusyUnit {
    /// Start and end (exclusive) of reservations, sorted, not overlapping.
    busy: Vec<(u64, u64)>,
}

impl BusyUnit {
    /// The first cycle from `ready` on in which the unit is free for `cycles`; does not reserve.
    pub fn first_free(&self, ready: u64, cycles: u64) -> u64 {
        let mut start = ready;
        for &(from, to) in &self.busy {
            if start + cycles <= from {
                break;
            }
            start = start.max(to);
        }
        start
    }

    /// Reserves `cycles` from `start`; reservations that ended before `now` are forgotten.
    pub fn reserve(&mut self, start: u64, cycles: u64, now: u64) {
        self.busy.retain(|&(_, to)| to > now);
        let at = self.busy.partition_point(|&(from, _)| from < start);
        self.busy.insert(at, (start, start + cycles));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_finds_the_first_hole_that_is_long_enough() {
        let mut unit = BusyUnit::default();
        unit.reserve(10, 5, 0);
        unit.reserve(20, 5, 0);
        assert_eq!(unit.first_free(0, 10), 0);
        assert_eq!(unit.first_free(6, 5), 15, "10..15 is taken, 15..20 fits");
        assert_eq!(unit.first_free(6, 6), 25);
        unit.reserve(15, 5, 14);
        assert_eq!(unit.first_free(6, 5), 25);
    }
}
