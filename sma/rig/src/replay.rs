//! Traces with their allocations in slots, so that a replay only allocates and frees.

use crate::rivals::Subject;
use crate::trace::{Event, PROFILES, generate, subset};
use std::collections::HashMap;
use std::ptr::NonNull;

/// The patterns of [`Replay::pattern`], after the profiles' names.
pub const PATTERNS: [(&str, i32, usize); 3] =
    [("one of 16 B", 16, 1), ("three of 24 B", 24, 3), ("one block", 128, 1)];

/// Subsets of a profile, of 4,000 allocations each before they are cut to the memory: enough that a
/// processor does not memorise the branches of a replay.
const SUBSETS: u64 = 25;

/// Slot and size; a negative size frees.
type Step = (u32, i32);

/// A trace, and the allocations that its replay currently holds.
pub struct Replay {
    steps: Vec<Step>,
    slots: Vec<Option<NonNull<u8>>>,
    /// Allocations with their frees.
    pub pairs: u64,
}

fn steps(events: &[Event]) -> Vec<Step> {
    let mut free: Vec<u32> = Vec::new();
    let (mut high, mut at) = (0, HashMap::new());
    let steps = events.iter().map(|event| match *event {
        Event::Alloc { id, bytes } => {
            let slot = free.pop().unwrap_or_else(|| {
                high += 1;
                high - 1
            });
            at.insert(id, (slot, bytes as i32));
            (slot, bytes as i32)
        }
        Event::Free { id } => {
            let (slot, bytes) = at[&id];
            free.push(slot);
            (slot, -bytes)
        }
    });
    steps.collect()
}

/// The steps of lines that hold slot and size, 0 for a free.
fn parse(lines: &str) -> Vec<Step> {
    let mut sizes = HashMap::new();
    let steps = lines.lines().map(|line| {
        let (slot, bytes) = line.split_once(' ').expect("slot and bytes");
        let (slot, bytes): (u32, i32) = (slot.parse().unwrap(), bytes.parse().unwrap());
        if bytes > 0 {
            sizes.insert(slot, bytes);
        }
        (slot, if bytes > 0 { bytes } else { -sizes[&slot] })
    });
    steps.collect()
}

impl Replay {
    fn new(steps: Vec<Step>) -> Self {
        let slots = steps.iter().map(|&(slot, _)| slot as usize + 1).max().unwrap_or(0);
        Self { pairs: steps.len() as u64 / 2, steps, slots: vec![None; slots] }
    }

    /// A profile of [`crate::trace`], cut to the memory.
    pub fn profile(index: usize, memory: usize) -> Self {
        let one = |seed| subset(&generate(&PROFILES[index], 4000, seed), memory as u32, seed);
        Self::new((1..=SUBSETS).flat_map(|seed| steps(&one(seed))).collect())
    }

    /// 2,000 allocations of one size, each freed when `live` later ones exist.
    pub fn pattern(bytes: i32, live: usize) -> Self {
        let mut steps = Vec::new();
        for slot in (0..2000).map(|at| at % live) {
            if steps.len() >= live {
                steps.push((slot as u32, -bytes));
            }
            steps.push((slot as u32, bytes));
        }
        steps.extend((0..live).map(|slot| (slot as u32, -bytes)));
        Self::new(steps)
    }

    /// The traces that are short enough for a profiler that emulates: all but the profiles.
    pub fn countable(memory: usize) -> Vec<String> {
        Self::names(memory).split_off(PROFILES.len())
    }

    /// All traces by name: the four profiles, three that repeat one size, and those recorded in the
    /// files `MEMORY-NAME.txt` of the folder `SMA_SUBSETS`.
    pub fn names(memory: usize) -> Vec<String> {
        let profiles = PROFILES.iter().map(|profile| profile.name);
        let fixed = profiles.chain(PATTERNS.iter().map(|pattern| pattern.0)).map(str::to_owned);
        let folder = std::env::var_os("SMA_SUBSETS").map(std::path::PathBuf::from);
        let files = folder.into_iter().flat_map(|folder| {
            std::fs::read_dir(folder).expect("SMA_SUBSETS is no folder that can be read")
        });
        let mut recorded: Vec<String> = files
            .filter_map(|entry| {
                let name = entry.expect("a folder that can be read").file_name();
                let stem = name.to_str()?.strip_suffix(".txt")?;
                Some(stem.strip_prefix(&format!("{memory}-"))?.to_owned())
            })
            .collect();
        recorded.sort();
        fixed.chain(recorded).collect()
    }

    /// The trace with this name.
    pub fn named(name: &str, memory: usize) -> Self {
        if let Some(index) = PROFILES.iter().position(|profile| profile.name == name) {
            return Self::profile(index, memory);
        }
        if let Some(&(_, bytes, live)) = PATTERNS.iter().find(|pattern| pattern.0 == name) {
            return Self::pattern(bytes, live);
        }
        let folder = std::env::var("SMA_SUBSETS").expect("a recorded trace needs SMA_SUBSETS");
        let text = std::fs::read_to_string(format!("{folder}/{memory}-{name}.txt"));
        Self::new(parse(&text.expect("no such trace")))
    }

    /// Leaves out requests that the subject refuses; returns how many.
    pub fn drop_refused(&mut self, subject: &impl Subject) -> u64 {
        let before = self.pairs;
        self.steps.retain(|&(slot, bytes)| {
            let slot = &mut self.slots[slot as usize];
            if bytes > 0 {
                *slot = subject.alloc(bytes as usize);
                return slot.is_some();
            }
            let Some(ptr) = slot.take() else { return false };
            // SAFETY: allocated by this replay with this size.
            unsafe { subject.free(ptr, bytes.unsigned_abs() as usize) };
            true
        });
        self.pairs = self.steps.len() as u64 / 2;
        before - self.pairs
    }

    /// Replays the trace once.
    #[inline]
    pub fn run(&mut self, subject: &impl Subject) {
        self.run_by(
            |bytes| subject.alloc(bytes),
            // SAFETY: allocated by this replay with this size.
            |ptr, bytes| unsafe { subject.free(ptr, bytes) },
        );
    }

    /// `run` with calls into which nothing is inlined, so that a profiler can tell them apart from
    /// the replay.
    pub fn run_called(&mut self, subject: &impl Subject) {
        self.run_by(
            |bytes| called_alloc(subject, bytes),
            |ptr, bytes| called_free(subject, ptr, bytes),
        );
    }

    #[inline(always)]
    fn run_by(
        &mut self,
        alloc: impl Fn(usize) -> Option<NonNull<u8>>,
        free: impl Fn(NonNull<u8>, usize),
    ) {
        for &(slot, bytes) in &self.steps {
            let slot = &mut self.slots[slot as usize];
            if bytes > 0 {
                *slot = alloc(bytes as usize);
            } else if let Some(ptr) = slot.take() {
                free(ptr, bytes.unsigned_abs() as usize);
            }
        }
    }
}

#[inline(never)]
fn called_alloc(subject: &impl Subject, bytes: usize) -> Option<NonNull<u8>> {
    subject.alloc(bytes)
}

#[inline(never)]
fn called_free(subject: &impl Subject, ptr: NonNull<u8>, bytes: usize) {
    // SAFETY: allocated by this replay with this size.
    unsafe { subject.free(ptr, bytes) }
}
