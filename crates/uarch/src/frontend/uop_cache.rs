//! The decoded-uop cache: which 32-byte windows of code skip the legacy decoders.

use crate::params::UopCacheParams;

/// Bytes of a window ([IOM] 2.3.2.5).
pub const WINDOW_BYTES: u64 = 32;

/// A cached window: its lines count against the set's ways.
#[derive(Clone, Copy)]
struct Entry {
    window: u64,
    /// Offset of the first cached instruction: entry below it misses.
    start: u8,
    lines: u8,
}

/// Set-associative, least recently used window first out. State only.
pub struct UopCache {
    sets: Vec<Vec<Entry>>,
    set_mask: u64,
    params: UopCacheParams,
}

impl UopCache {
    /// An empty cache. `sets` must be a power of two (checked with the machine).
    pub fn new(params: &UopCacheParams) -> Self {
        let ways = params.ways as usize;
        Self {
            sets: (0..params.sets).map(|_| Vec::with_capacity(ways + 1)).collect(),
            set_mask: u64::from(params.sets) - 1,
            params: params.clone(),
        }
    }

    /// Whether the window's code from `offset` on is cached; a hit becomes the most recent.
    #[inline(always)]
    pub fn lookup(&mut self, window: u64, offset: u8) -> bool {
        let set = &mut self.sets[(window & self.set_mask) as usize];
        match set.first() {
            Some(first) if first.window == window => return first.start <= offset,
            _ => {}
        }
        let Some(at) = set.iter().position(|e| e.window == window) else { return false };
        let entry = set.remove(at);
        set.insert(0, entry);
        entry.start <= offset
    }

    /// Caches a window decoded from `start` on with so many fused uops, if it may be cached.
    pub fn insert(&mut self, window: u64, start: u8, slots: u32) {
        let lines = slots.div_ceil(self.params.line_uops);
        if lines == 0 || lines > self.params.lines_per_window {
            return;
        }
        let set = &mut self.sets[(window & self.set_mask) as usize];
        let mut entry = Entry { window, start, lines: lines as u8 };
        if let Some(at) = set.iter().position(|e| e.window == window) {
            let old = set.remove(at);
            entry.start = entry.start.min(old.start);
            entry.lines = entry.lines.max(old.lines);
        }
        set.insert(0, entry);
        let mut total = 0;
        let ways = self.params.ways;
        set.retain(|e| {
            total += u32::from(e.lines);
            total <= ways
        });
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
    }
}
