//! When a line or a translation arrives.

/// Arrival cycle and latency, in one word: the hit path reads only this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Fill(u64);

const LATENCY_BITS: u32 = 16;

impl Fill {
    /// Present since the start.
    pub(crate) const PRESENT: Self = Self(0);

    /// Requested at `asked`, arriving at `ready`. 48 bits of cycles last a day of simulated time; a
    /// latency beyond 16 bits is stored as the largest that fits.
    pub(crate) fn new(asked: u64, ready: u64) -> Self {
        let latency = ready.saturating_sub(asked).min((1 << LATENCY_BITS) - 1);
        Self((ready << LATENCY_BITS) | latency)
    }

    /// The arrival cycle.
    #[inline]
    pub(crate) fn ready(self) -> u64 {
        self.0 >> LATENCY_BITS
    }

    /// The earliest use by an access at `cycle`, and the fill as it stands afterwards.
    ///
    /// An access from before the request is, in time, the one that made it: it gets the data after
    /// the same latency, and so does every later access.
    pub(crate) fn used_at(self, cycle: u64) -> (u64, Self) {
        let ready = self.ready();
        let latency = self.0 & ((1 << LATENCY_BITS) - 1);
        if cycle + latency < ready {
            (cycle + latency, Self::new(cycle, cycle + latency))
        } else {
            (ready.max(cycle), self)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_while_in_flight_waits_for_the_arrival() {
        let fill = Fill::new(100, 340);
        for cycle in [100, 339, 340] {
            assert_eq!(fill.used_at(cycle), (340, fill));
        }
        assert_eq!(fill.used_at(341), (341, fill));
    }

    #[test]
    fn an_access_from_before_the_request_takes_the_latency_and_becomes_the_request() {
        let (ready, moved) = Fill::new(1_000, 1_240).used_at(10);
        assert_eq!(ready, 10 + 240);
        assert_eq!(moved, Fill::new(10, 250));
        assert_eq!(moved.used_at(1_000).0, 1_000);
    }

    #[test]
    fn what_has_always_been_there_never_waits() {
        assert_eq!(Fill::PRESENT.used_at(0), (0, Fill::PRESENT));
        assert_eq!(Fill::PRESENT.used_at(7), (7, Fill::PRESENT));
    }
}
