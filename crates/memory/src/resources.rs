//! Resources that serve one request at a time: entries of fill buffers and of the superqueue, page
//! walkers, DRAM banks. Requests come in program order, not in time order.

/// What is known of one resource: its latest busy interval, and the gap before it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Booked {
    idle_from: u64,
    start: u64,
    end: u64,
}

impl Booked {
    /// The first cycle from `cycle` on at which it is free for `duration`: in the gap before its
    /// latest interval, or after that interval.
    #[inline]
    pub(crate) fn free_at(&self, cycle: u64, duration: u64) -> u64 {
        if self.idle_from <= cycle && cycle + duration <= self.start {
            cycle
        } else {
            cycle.max(self.end)
        }
    }

    /// The end of its latest interval.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Takes it from `start`, as [`Booked::free_at`] allowed, to `end`.
    #[inline]
    pub(crate) fn take(&mut self, start: u64, end: u64) {
        if start >= self.end {
            *self = Self { idle_from: self.end, start, end };
        } else {
            self.idle_from = end;
        }
    }
}

/// A grant of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    /// The cycle from which the request holds its entry.
    pub(crate) start: u64,
    entry: usize,
}

/// A bounded number of identical entries, ordered by the ends of their intervals.
///
/// Of the free entries, the one that became free last is taken: a chain of dependent requests then
/// stays in one entry, and earlier requests of younger instructions find the others free.
#[derive(Clone, Debug)]
pub(crate) struct Resources {
    entries: Vec<Booked>,
}

impl Resources {
    /// `entries` is 1 or more.
    pub(crate) fn new(entries: u32) -> Self {
        Self { entries: vec![Booked::default(); entries as usize] }
    }

    /// The entry that a request at `cycle` gets, and when; the request is expected to hold it for
    /// `duration`. If all are taken, it waits for the first to become free.
    #[inline]
    pub(crate) fn grant(&self, cycle: u64, duration: u64) -> Grant {
        for (entry, booked) in self.entries.iter().enumerate().rev() {
            if booked.free_at(cycle, duration) == cycle {
                return Grant { start: cycle, entry };
            }
        }
        Grant { start: self.entries[0].end, entry: 0 }
    }

    /// Takes the granted entry until `end`.
    #[inline]
    pub(crate) fn hold(&mut self, grant: Grant, end: u64) {
        let mut at = grant.entry;
        self.entries[at].take(grant.start, end);
        while at + 1 < self.entries.len() && self.entries[at + 1].end < self.entries[at].end {
            self.entries.swap(at, at + 1);
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(pool: &mut Resources, cycle: u64, duration: u64) -> u64 {
        let grant = pool.grant(cycle, duration);
        pool.hold(grant, grant.start + duration);
        grant.start
    }

    #[test]
    fn the_request_after_the_last_free_entry_waits_for_the_earliest_end() {
        let mut pool = Resources::new(3);
        for (cycle, duration) in [(0, 50), (1, 20), (2, 100)] {
            assert_eq!(take(&mut pool, cycle, duration), cycle);
        }
        assert_eq!(take(&mut pool, 3, 10), 1 + 20);
        assert_eq!(take(&mut pool, 4, 10), 1 + 20 + 10);
    }

    #[test]
    fn an_entry_is_taken_until_its_end_and_free_at_it() {
        let mut pool = Resources::new(1);
        take(&mut pool, 0, 10);
        assert_eq!(pool.grant(9, 1).start, 10);
        assert_eq!(pool.grant(10, 1).start, 10);
    }

    #[test]
    fn a_chain_of_later_requests_leaves_the_other_entries_to_earlier_ones() {
        let mut pool = Resources::new(2);
        for step in 0..10 {
            assert_eq!(take(&mut pool, step * 100, 100), step * 100);
        }
        assert_eq!(take(&mut pool, 5, 100), 5);
    }

    #[test]
    fn an_early_request_fits_before_a_booked_interval_only_if_it_ends_in_time() {
        let mut pool = Resources::new(1);
        take(&mut pool, 100, 10);
        assert_eq!(pool.grant(40, 60).start, 40);
        assert_eq!(pool.grant(41, 60).start, 110);
    }
}
