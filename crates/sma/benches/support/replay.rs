//! Traces with their allocations in slots, so that a replay does nothing but allocate and free.
#![allow(dead_code, missing_docs)]

use crate::common::trace::{Event, PROFILES, generate, subset};
use crate::rivals::Subject;
use std::ptr::NonNull;

/// The patterns of [`Replay::pattern`], after the profiles' names.
pub const PATTERNS: [(&str, i32, usize); 3] =
    [("one of 16 B", 16, 1), ("three of 24 B", 24, 3), ("one block", 128, 1)];

pub struct Replay {
    /// Slot and size; a negative size frees.
    steps: Vec<(u32, i32)>,
    slots: Vec<Option<NonNull<u8>>>,
    pub pairs: u64,
}

impl Replay {
    pub fn new(events: &[Event]) -> Self {
        let mut free: Vec<u32> = Vec::new();
        let (mut high, mut at) = (0, std::collections::HashMap::new());
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
        Self::from_steps(steps.collect(), high as usize)
    }

    /// A profile of `common::trace`, cut to the memory.
    pub fn profile(index: usize, memory: usize) -> Self {
        Self::new(&subset(&generate(&PROFILES[index], 4000, 1), memory as u32, 1))
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
        Self::from_steps(steps, live)
    }

    fn from_steps(steps: Vec<(u32, i32)>, slots: usize) -> Self {
        Self { pairs: steps.len() as u64 / 2, steps, slots: vec![None; slots] }
    }

    /// All patterns by name: the four profiles and three that repeat one size.
    pub fn all(memory: usize) -> impl Iterator<Item = (&'static str, Self)> {
        let profiles = (0..PROFILES.len())
            .map(move |index| (PROFILES[index].name, Self::profile(index, memory)));
        let patterns =
            PATTERNS.iter().map(|&(name, bytes, live)| (name, Self::pattern(bytes, live)));
        profiles.chain(patterns)
    }

    #[inline]
    pub fn run(&mut self, subject: &impl Subject) {
        self.run_by(
            |bytes| subject.alloc(bytes),
            // SAFETY: allocated by this replay with this size.
            |ptr, bytes| unsafe { subject.free(ptr, bytes) },
        );
    }

    /// `run` with calls that nothing is inlined into, so that a profiler can tell them apart from
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
