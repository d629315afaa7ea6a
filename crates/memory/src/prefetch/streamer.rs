//! Follows ascending or descending accesses within a 4 KB page and runs ahead of them.

use crate::params::PrefetchParams;
use crate::translate::PAGE_SHIFT;

/// A stream: the page, the last line requested and how far the prefetches have got.
#[derive(Clone, Copy, Debug)]
struct Stream {
    page: u64,
    last: u64,
    /// The farthest line prefetched, in the direction of the stream.
    front: u64,
    /// +1 ascending, -1 descending, 0 not yet known.
    direction: i8,
    /// Consecutive requests in that direction, counted up to the number that starts a stream.
    steps: u32,
}

/// The streams, direct-mapped: pages with the same low bits share an entry.
#[derive(Clone, Debug)]
pub(crate) struct Streamer {
    streams: Vec<Stream>,
    distance: u64,
    degree: u64,
    confirm: u32,
    lines_shift: u32,
}

impl Streamer {
    pub(crate) fn new(params: &PrefetchParams, line: u64) -> Self {
        let none = Stream { page: u64::MAX, last: 0, front: 0, direction: 0, steps: 0 };
        Self {
            streams: vec![none; params.streams as usize],
            distance: params.streamer_distance.into(),
            degree: params.streamer_degree.into(),
            confirm: params.streamer_confirm,
            lines_shift: PAGE_SHIFT - line.trailing_zeros(),
        }
    }

    /// Observes an access.
    #[inline(never)]
    pub(crate) fn request(&mut self, line: u64, wanted: &mut Vec<u64>) {
        let page = line >> self.lines_shift;
        let at = page as usize & (self.streams.len() - 1);
        let stream = &mut self.streams[at];
        if stream.page != page {
            *stream = Stream { page, last: line, front: line, direction: 0, steps: 0 };
            return;
        }
        let moved = line as i64 - stream.last as i64;
        stream.last = line;
        let direction = moved.signum() as i8;
        if direction == 0 {
            return;
        }
        if direction != stream.direction {
            stream.direction = direction;
            stream.front = line;
            stream.steps = 0;
        }
        stream.steps = (stream.steps + 1).min(self.confirm);
        if stream.steps < self.confirm {
            return;
        }
        let first_line = page << self.lines_shift;
        let last_line = first_line + (1 << self.lines_shift) - 1;
        let front = stream.front;
        stream.front = if direction > 0 {
            let front = front.max(line);
            let end = (line + self.distance).min(last_line).min(front + self.degree);
            (front + 1..end + 1).for_each(|line| wanted.push(line));
            end
        } else {
            let front = front.min(line);
            let end = (line.saturating_sub(self.distance))
                .max(first_line)
                .max(front.saturating_sub(self.degree));
            (end..front).rev().for_each(|line| wanted.push(line));
            end
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streamer(distance: u32, confirm: u32) -> Streamer {
        let degree = 2;
        let params = PrefetchParams {
            streamer_distance: distance,
            streamer_degree: degree,
            streamer_confirm: confirm,
            ..PrefetchParams::default()
        };
        Streamer::new(&params, 64)
    }

    fn asked(streamer: &mut Streamer, line: u64) -> Vec<u64> {
        let mut wanted = Vec::new();
        streamer.request(line, &mut wanted);
        wanted
    }

    #[test]
    fn as_many_steps_as_confirm_it_start_a_stream_in_their_direction() {
        let mut one = streamer(20, 1);
        assert_eq!(asked(&mut one, 10), [0_u64; 0]);
        assert_eq!(asked(&mut one, 11), [12, 13]);
        assert_eq!(asked(&mut one, 12), [14, 15]);
        assert_eq!(asked(&mut one, 64 + 40), [0_u64; 0]);
        assert_eq!(asked(&mut one, 64 + 39), [64 + 38, 64 + 37]);
        let mut two = streamer(20, 2);
        assert_eq!([asked(&mut two, 10), asked(&mut two, 11)], [[0_u64; 0]; 2]);
        assert_eq!(asked(&mut two, 12), [13, 14]);
    }

    #[test]
    fn a_turn_starts_the_count_again() {
        let mut two = streamer(20, 2);
        for line in [10, 11, 9, 10] {
            assert_eq!(asked(&mut two, line), [0_u64; 0]);
        }
        assert_eq!(asked(&mut two, 11), [12, 13]);
    }

    #[test]
    fn a_stream_runs_at_most_its_distance_ahead_and_stays_in_the_page() {
        for distance in [3, 20] {
            let mut streamer = streamer(distance, 1);
            let mut front = 0;
            for line in 0..64 {
                for ahead in asked(&mut streamer, line) {
                    assert!(ahead > front, "no line twice");
                    assert!(ahead <= line + u64::from(distance) && ahead < 64);
                    front = ahead;
                }
            }
            assert_eq!(front, 63);
        }
    }

    #[test]
    fn a_descending_stream_ends_at_the_first_line_of_its_page() {
        let mut streamer = streamer(20, 1);
        let all: Vec<u64> = (64..128).rev().flat_map(|l| asked(&mut streamer, l)).collect();
        // Line 127 alone sets no direction; 126 sets it and asks for 125 and 124.
        assert_eq!(all, (64..126).rev().collect::<Vec<_>>());
    }
}
