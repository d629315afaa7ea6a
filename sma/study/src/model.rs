//! A model of dlmalloc's placement for any word size.
//!
//! Scratch-pads belong to 32-bit processors, on which dlmalloc's headers and smallest chunk are
//! half as large as on the host. So its waste is measured on this model, with words of 4 bytes.
//! With words of 8 the model must place everything where the `dlmalloc` crate places it; a test
//! replays random traces on both.
//!
//! Written from the published description of the algorithm (Lea, "A memory allocator"): chunks with
//! one word of header, exact bins below 256 bytes, best fit above with the oldest first, a
//! designated victim for the rest of a split, and the top.

use std::collections::{BTreeMap, VecDeque};

/// Smaller chunks are kept in bins of a single size.
const LARGE: u64 = 256;
/// The size step between those bins.
const BIN_STEP: u64 = 8;

#[derive(Clone, Copy, Debug)]
struct Chunk {
    bytes: u64,
    used: bool,
}

/// dlmalloc on one arena that cannot grow. Places are offsets of the user's memory.
#[derive(Clone, Debug)]
pub struct Model {
    word: u64,
    /// All chunks except the top, by offset.
    chunks: BTreeMap<u64, Chunk>,
    /// Free small chunks by size, the newest last.
    small: BTreeMap<u64, Vec<u64>>,
    /// Free large chunks by size, the oldest first.
    large: BTreeMap<u64, VecDeque<u64>>,
    /// The designated victim's offset and size.
    victim: Option<(u64, u64)>,
    top: (u64, u64),
}

impl Model {
    /// An empty heap of `bytes` with words of `word` bytes (4 or 8).
    pub fn new(bytes: u64, word: u64) -> Self {
        let top = bytes.saturating_sub(Self::foot_bytes(word)) & !(word - 1);
        Self {
            word,
            chunks: BTreeMap::new(),
            small: BTreeMap::new(),
            large: BTreeMap::new(),
            victim: None,
            top: (0, top),
        }
    }

    /// What the end of an arena is used for: a segment record (four words with their header,
    /// rounded) and the smallest chunk.
    pub const fn foot_bytes(word: u64) -> u64 {
        6 * word + 4 * word
    }

    /// The chunk that a request needs.
    pub fn chunk_bytes(&self, bytes: u64) -> u64 {
        (bytes + self.word).next_multiple_of(2 * self.word).max(4 * self.word)
    }

    /// The size of the chunk at a place.
    pub fn occupied(&self, place: u64) -> Option<u64> {
        self.chunks.get(&(place - 2 * self.word)).map(|chunk| chunk.bytes)
    }

    fn min(&self) -> u64 {
        4 * self.word
    }

    /// Allocates; `None` if nothing is large enough.
    pub fn alloc(&mut self, bytes: u64) -> Option<u64> {
        let need = self.chunk_bytes(bytes);
        // The request, not the chunk, decides what is small.
        let small = bytes <= LARGE - 1 - (2 * self.word - 1) - self.word;
        let at = match small {
            true => self.small_fit(need),
            false => self.large_fit(need),
        };
        let at = at.or_else(|| self.take_victim(need)).or_else(|| self.take_top(need))?;
        Some(at + 2 * self.word)
    }

    fn small_fit(&mut self, need: u64) -> Option<u64> {
        let pop = |model: &mut Self, size: u64| {
            let list = model.small.get_mut(&size)?;
            let at = list.pop()?;
            if list.is_empty() {
                model.small.remove(&size);
            }
            Some(at)
        };
        for size in [need, need + BIN_STEP] {
            if let Some(at) = pop(self, size) {
                self.take(at, size);
                return Some(at);
            }
        }
        if self.victim.is_some_and(|(_, bytes)| bytes >= need) {
            return None;
        }
        if let Some((&size, _)) = self.small.range(need..).next() {
            let at = pop(self, size)?;
            self.split(at, size, need, true);
            return Some(at);
        }
        let (&size, _) = self.large.iter().next()?;
        let at = self.pop_large(size)?;
        self.split(at, size, need, true);
        Some(at)
    }

    fn large_fit(&mut self, need: u64) -> Option<u64> {
        let (&size, _) = self.large.range(need..).next()?;
        // The victim is used if it fits as well or better.
        if self.victim.is_some_and(|(_, bytes)| bytes >= need && size >= bytes) {
            return None;
        }
        let at = self.pop_large(size)?;
        self.split(at, size, need, false);
        Some(at)
    }

    fn pop_large(&mut self, size: u64) -> Option<u64> {
        let list = self.large.get_mut(&size)?;
        let at = list.pop_front()?;
        if list.is_empty() {
            self.large.remove(&size);
        }
        Some(at)
    }

    fn take_victim(&mut self, need: u64) -> Option<u64> {
        let (at, bytes) = self.victim.filter(|&(_, bytes)| bytes >= need)?;
        let rest = bytes - need;
        if rest >= self.min() {
            self.take(at, need);
            self.chunks.insert(at + need, Chunk { bytes: rest, used: false });
            self.victim = Some((at + need, rest));
        } else {
            self.take(at, bytes);
            self.victim = None;
        }
        Some(at)
    }

    fn take_top(&mut self, need: u64) -> Option<u64> {
        let (at, bytes) = self.top;
        if need >= bytes {
            return None;
        }
        self.top = (at + need, bytes - need);
        self.take(at, need);
        Some(at)
    }

    fn take(&mut self, at: u64, bytes: u64) {
        self.chunks.insert(at, Chunk { bytes, used: true });
    }

    /// Takes the front of a free chunk that has left its list.
    fn split(&mut self, at: u64, size: u64, need: u64, to_victim: bool) {
        let rest = size - need;
        if rest < self.min() {
            self.take(at, size);
            return;
        }
        self.take(at, need);
        self.chunks.insert(at + need, Chunk { bytes: rest, used: false });
        if to_victim {
            if let Some((old, bytes)) = self.victim.replace((at + need, rest)) {
                self.insert(old, bytes);
            }
        } else {
            self.insert(at + need, rest);
        }
    }

    fn insert(&mut self, at: u64, bytes: u64) {
        self.chunks.insert(at, Chunk { bytes, used: false });
        if bytes < LARGE {
            self.small.entry(bytes).or_default().push(at);
        } else {
            self.large.entry(bytes).or_default().push_back(at);
        }
    }

    fn unlink(&mut self, at: u64, bytes: u64) {
        self.chunks.remove(&at);
        if bytes < LARGE {
            let list = self.small.entry(bytes).or_default();
            list.retain(|&other| other != at);
            if list.is_empty() {
                self.small.remove(&bytes);
            }
        } else {
            let list = self.large.entry(bytes).or_default();
            list.retain(|&other| other != at);
            if list.is_empty() {
                self.large.remove(&bytes);
            }
        }
    }

    /// Frees what `alloc` returned.
    ///
    /// # Panics
    /// If nothing is allocated there.
    pub fn free(&mut self, place: u64) {
        let mut at = place - 2 * self.word;
        let chunk = self.chunks.remove(&at).filter(|chunk| chunk.used);
        let mut bytes = chunk.expect("an allocation of this heap").bytes;
        let next = at + bytes;
        let next_free = self.chunks.get(&next).filter(|chunk| !chunk.used).copied();
        let mut is_victim = false;
        let before = self.chunks.range(..at).next_back().map(|(&from, &chunk)| (from, chunk));
        if let Some((from, chunk)) = before.filter(|(_, chunk)| !chunk.used) {
            is_victim = self.victim.is_some_and(|(victim, _)| victim == from);
            if !is_victim {
                self.unlink(from, chunk.bytes);
            }
            (at, bytes) = (from, bytes + chunk.bytes);
        }
        if next == self.top.0 {
            self.chunks.remove(&at);
            self.top = (at, bytes + self.top.1);
            if is_victim {
                self.victim = None;
            }
            return;
        }
        if let Some(after) = next_free {
            bytes += after.bytes;
            if self.victim.is_some_and(|(victim, _)| victim == next) {
                self.chunks.remove(&next);
                is_victim = true;
            } else {
                self.unlink(next, after.bytes);
            }
        }
        if is_victim {
            self.chunks.insert(at, Chunk { bytes, used: false });
            self.victim = Some((at, bytes));
        } else {
            self.insert(at, bytes);
        }
    }
}
