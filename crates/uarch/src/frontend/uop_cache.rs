//! The decoded-uop cache: which 32-byte windows of code skip the legacy decoders.

use crate::params::UopCacheParams;

/// Bytes of a window ([IOM] 2.3.2.5).
pub const WINDOW_BYTES: u64 = 32;
/// The most windows that a set can hold: as many as it can have ways.
const WAYS_MAX: usize = 16;
/// No window has this number: addresses have 48 bits.
const EMPTY: u64 = u64::MAX;

/// A set: its windows, each with the offset of the first cached instruction (entering below it
/// misses), the number of the set's ways that it takes, and when it was last used.
#[derive(Clone)]
struct Set {
    windows: [u64; WAYS_MAX],
    used: [u64; WAYS_MAX],
    starts: [u8; WAYS_MAX],
    lines: [u8; WAYS_MAX],
}

/// Set-associative with LRU replacement of whole windows. State only.
pub struct UopCache {
    sets: Vec<Set>,
    set_mask: u64,
    clock: u64,
    params: UopCacheParams,
}

impl UopCache {
    /// An empty cache. `sets` must be a power of two, `ways` at most 16 (checked with the machine).
    pub fn new(params: &UopCacheParams) -> Self {
        let empty = Set {
            windows: [EMPTY; WAYS_MAX],
            used: [0; WAYS_MAX],
            starts: [0; WAYS_MAX],
            lines: [0; WAYS_MAX],
        };
        Self {
            sets: vec![empty; params.sets as usize],
            set_mask: u64::from(params.sets) - 1,
            clock: 0,
            params: params.clone(),
        }
    }

    /// The way of a set that holds `window` (one window per line at most, so never more than ways).
    #[inline(always)]
    fn find(set: &Set, window: u64, ways: u32) -> Option<usize> {
        set.windows[..(ways as usize).min(WAYS_MAX)].iter().position(|&w| w == window)
    }

    /// Whether the window's code from `offset` on is cached; a hit makes it the most recently used.
    #[inline(always)]
    pub fn lookup(&mut self, window: u64, offset: u8) -> bool {
        let set = &mut self.sets[(window & self.set_mask) as usize];
        let Some(at) = Self::find(set, window, self.params.ways) else { return false };
        self.clock += 1;
        set.used[at] = self.clock;
        set.starts[at] <= offset
    }

    /// Caches a window decoded from `start` on into this many fused uops, if it may be cached.
    pub fn insert(&mut self, window: u64, start: u8, fused_uops: u32) {
        let lines = fused_uops.div_ceil(self.params.line_uops);
        if lines == 0 || lines > self.params.lines_per_window {
            return;
        }
        self.clock += 1;
        let ways = self.params.ways;
        let set = &mut self.sets[(window & self.set_mask) as usize];
        let (mut start, mut lines) = (start, lines as u8);
        if let Some(at) = Self::find(set, window, ways) {
            start = start.min(set.starts[at]);
            lines = lines.max(set.lines[at]);
            set.windows[at] = EMPTY;
            set.lines[at] = 0;
        }
        while set.lines.iter().map(|&n| u32::from(n)).sum::<u32>() + u32::from(lines) > ways {
            let oldest = (0..WAYS_MAX).filter(|&i| set.lines[i] > 0).min_by_key(|&i| set.used[i]);
            let Some(oldest) = oldest else { return };
            set.windows[oldest] = EMPTY;
            set.lines[oldest] = 0;
        }
        let Some(free) = set.lines.iter().position(|&n| n == 0) else { return };
        set.windows[free] = window;
        set.starts[free] = start;
        set.lines[free] = lines;
        set.used[free] = self.clock;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_needs_a_line_for_six_uops_and_at_most_three_lines() {
        let params = UopCacheParams::default();
        let mut cache = UopCache::new(&params);
        let most = params.line_uops * params.lines_per_window;
        cache.insert(1, 0, most);
        cache.insert(2, 0, most + 1);
        assert!(cache.lookup(1, 0));
        assert!(!cache.lookup(2, 0), "19 uops do not fit three lines");
    }

    #[test]
    fn entry_above_the_first_cached_instruction_hits_and_below_it_misses() {
        let mut cache = UopCache::new(&UopCacheParams::default());
        cache.insert(1, 8, 4);
        assert!(cache.lookup(1, 8) && cache.lookup(1, 20) && !cache.lookup(1, 4));
    }

    #[test]
    fn the_least_recently_used_window_leaves_when_the_lines_run_out() {
        let params = UopCacheParams::default();
        let mut cache = UopCache::new(&params);
        // Windows of one set lie `sets` apart; each takes one of 8 ways.
        let window = |i: u64| i * u64::from(params.sets);
        for i in 0..u64::from(params.ways) {
            cache.insert(window(i), 0, 6);
        }
        assert!(cache.lookup(window(0), 0), "touch the oldest");
        cache.insert(window(100), 0, 6);
        assert!(cache.lookup(window(0), 0));
        assert!(!cache.lookup(window(1), 0), "now the oldest");
        assert!(cache.lookup(window(100), 0));
    }

    #[test]
    fn a_window_of_three_lines_displaces_as_many_windows_as_it_needs() {
        let params = UopCacheParams::default();
        let mut cache = UopCache::new(&params);
        let window = |i: u64| i * u64::from(params.sets);
        for i in 0..u64::from(params.ways) {
            cache.insert(window(i), 0, 1);
        }
        cache.insert(window(50), 0, params.line_uops * 3);
        let left = (0..u64::from(params.ways)).filter(|&i| cache.lookup(window(i), 0)).count();
        assert_eq!(left, params.ways as usize - 3);
    }
}
