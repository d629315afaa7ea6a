//! A resource that serves one request per interval, booked out of time order.

/// Words of 64 intervals that the calendar remembers.
const WORDS: usize = 64;

/// Which of the latest 4,096 intervals are taken.
///
/// A request is served at its own cycle when its interval is free, otherwise at the beginning of
/// the next free one. A request from before the remembered time is served at once.
#[derive(Clone, Debug)]
pub(crate) struct Calendar {
    interval: u64,
    /// `(number of the word, its intervals)`
    words: [(u64, u64); WORDS],
}

impl Calendar {
    /// A resource that takes one request every `interval` cycles (1 or more).
    pub(crate) fn new(interval: u64) -> Self {
        Self { interval: interval.max(1), words: [(0, 0); WORDS] }
    }

    /// Books the first free interval from `cycle` on and returns the cycle of service.
    pub(crate) fn book(&mut self, cycle: u64) -> u64 {
        let wanted = cycle / self.interval;
        let mut number = wanted / 64;
        let mut from = wanted % 64;
        loop {
            let word = &mut self.words[number as usize % WORDS];
            if word.0 > number {
                return cycle;
            }
            if word.0 < number {
                *word = (number, 0);
            }
            let free = !word.1 & (u64::MAX << from);
            if free != 0 {
                let at = u64::from(free.trailing_zeros());
                word.1 |= 1 << at;
                return cycle.max((number * 64 + at) * self.interval);
            }
            number += 1;
            from = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_request_is_served_at_its_own_cycle() {
        let mut calendar = Calendar::new(5);
        for cycle in [0, 7, 13, 1_000_004] {
            assert_eq!(calendar.book(cycle), cycle);
        }
    }

    #[test]
    fn requests_of_one_cycle_are_an_interval_apart() {
        let mut calendar = Calendar::new(3);
        for n in 0..500 {
            assert_eq!(calendar.book(300), 300 + 3 * n);
        }
    }

    #[test]
    fn an_earlier_request_takes_a_free_interval_before_booked_ones() {
        let mut calendar = Calendar::new(4);
        assert_eq!(calendar.book(400), 400);
        assert_eq!(calendar.book(40), 40);
        assert_eq!(calendar.book(41), 44);
        assert_eq!(calendar.book(401), 404);
    }

    #[test]
    fn a_request_from_before_memory_is_served_at_once() {
        let mut calendar = Calendar::new(1);
        let far = 64 * 64 * 10;
        assert_eq!(calendar.book(far), far);
        assert_eq!(calendar.book(far - 64 * 64), far - 64 * 64);
    }
}
