//! The paper's rule for cutting a trace to a memory (section 5.1): sizes above the memory are
//! removed, then random allocations with their frees, until the peak is below 95 % of the memory.
//!
//! The paper removes one after the other. Here the order is drawn first, and bisection finds how
//! many allocations in that order have to be removed: each removal can only lower the peak.

use traces::{Action, Event};

/// One step of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Allocate into a slot that is empty.
    Alloc {
        /// The slot.
        slot: u32,
        /// Bytes requested, at least 1.
        bytes: u32,
    },
    /// Free the allocation in a slot.
    Free {
        /// The slot.
        slot: u32,
    },
}

/// A trace cut to a memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subset {
    /// The operations. Every slot is free again at the end.
    pub ops: Vec<Op>,
    /// Slots in use.
    pub slots: u32,
    /// Most requested bytes live at a time.
    pub peak_bytes: u64,
}

/// A trace's allocations as whole numbers: what a replay needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whole {
    /// Bytes of each allocation.
    pub bytes: Vec<u64>,
    /// Allocations by number; frees as the number's complement.
    pub steps: Vec<i64>,
}

/// Allocations and frees of a trace. A request for 0 bytes counts as one for 1 byte, as in C
/// libraries. A `realloc` allocates anew and then frees the old allocation, as it does when it must
/// move. Allocations that are never freed stay to the end.
pub fn whole(events: &[Event]) -> Whole {
    let mut whole = Whole::default();
    let mut dead = Vec::new();
    for event in events {
        match event.action {
            Action::Alloc { bytes, .. } => {
                whole.steps.push(whole.bytes.len() as i64);
                whole.bytes.push(bytes.max(1));
                dead.push(false);
            }
            Action::Free { id } => {
                dead[id as usize] = true;
                whole.steps.push(!(id as i64));
            }
            Action::Realloc { id, bytes } => {
                whole.steps.push(whole.bytes.len() as i64);
                whole.bytes.push(bytes.max(1));
                dead.push(false);
                dead[id as usize] = true;
                whole.steps.push(!(id as i64));
            }
            Action::Exec => {
                for (id, dead) in dead.iter_mut().enumerate().filter(|(_, dead)| !**dead) {
                    *dead = true;
                    whole.steps.push(!(id as i64));
                }
            }
        }
    }
    whole
}

/// Random numbers (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Copy, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(end)) >> 64) as u64
    }
}

impl Whole {
    /// The most bytes live at a time among the allocations that are `kept`.
    pub fn peak(&self, kept: impl Fn(usize) -> bool) -> u64 {
        let (mut live, mut most) = (0u64, 0);
        for &step in &self.steps {
            if step >= 0 && kept(step as usize) {
                live = live.saturating_add(self.bytes[step as usize]);
                most = most.max(live);
            } else if step < 0 && kept(!step as usize) {
                live -= self.bytes[!step as usize];
            }
        }
        most
    }

    /// Subset number `seed` for `memory_bytes`. The same seed gives the same subset.
    pub fn subset(&self, memory_bytes: u64, seed: u64) -> Subset {
        let fits = |id: usize| self.bytes[id] <= memory_bytes;
        let mut order: Vec<usize> = (0..self.bytes.len()).filter(|&id| fits(id)).collect();
        let mut random = Random(seed);
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at as u64 + 1) as usize);
        }
        // Position in the order; what does not fit is removed before everything else.
        let mut place = vec![0; self.bytes.len()];
        for (at, &id) in order.iter().enumerate() {
            place[id] = at + 1;
        }
        let low = |removed: usize| {
            let peak = u128::from(self.peak(|id| place[id] > removed));
            peak * 100 < u128::from(memory_bytes) * 95
        };
        let (mut least, mut most) = (0, order.len());
        while least < most {
            let middle = (least + most) / 2;
            if low(middle) {
                most = middle;
            } else {
                least = middle + 1;
            }
        }
        self.keep(|id| place[id] > least)
    }

    fn keep(&self, kept: impl Fn(usize) -> bool) -> Subset {
        let mut free: Vec<u32> = Vec::new();
        let mut slot_of = vec![u32::MAX; self.bytes.len()];
        let mut subset = Subset { peak_bytes: self.peak(&kept), ..Subset::default() };
        for &step in &self.steps {
            if step >= 0 && kept(step as usize) {
                let slot = free.pop().unwrap_or_else(|| {
                    subset.slots += 1;
                    subset.slots - 1
                });
                slot_of[step as usize] = slot;
                // A kept size is below the memory, which is at most a megabyte.
                let bytes = u32::try_from(self.bytes[step as usize]).unwrap_or(u32::MAX);
                subset.ops.push(Op::Alloc { slot, bytes });
            } else if step < 0 && kept(!step as usize) {
                let slot = std::mem::replace(&mut slot_of[!step as usize], u32::MAX);
                free.push(slot);
                subset.ops.push(Op::Free { slot });
            }
        }
        let left = slot_of.into_iter().filter(|&slot| slot != u32::MAX);
        subset.ops.extend(left.map(|slot| Op::Free { slot }));
        subset
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use traces::Source;

    fn events(actions: &[Action]) -> Vec<Event> {
        actions.iter().map(|&action| Event { time_ns: 0, thread: 0, action }).collect()
    }

    fn alloc(bytes: u64) -> Action {
        Action::Alloc { bytes, source: Source::Malloc }
    }

    #[test]
    fn a_reallocation_needs_both_places_and_what_is_left_is_freed_at_the_end() {
        let whole = whole(&events(&[alloc(10), Action::Realloc { id: 0, bytes: 30 }, alloc(0)]));
        let subset = whole.subset(1000, 1);
        let (slot0, slot1) = (Op::Free { slot: 0 }, Op::Free { slot: 1 });
        let taken = |slot, bytes| Op::Alloc { slot, bytes };
        assert_eq!(subset.ops, [taken(0, 10), taken(1, 30), slot0, taken(0, 1), slot1, slot0]);
        // 10 + 30 while it moves.
        assert_eq!((subset.peak_bytes, subset.slots), (40, 2));
    }

    #[test]
    fn executing_another_program_frees_all() {
        let whole = whole(&events(&[alloc(5), alloc(6), Action::Exec, alloc(7)]));
        assert_eq!(whole.peak(|_| true), 11);
        assert_eq!(whole.steps, [0, 1, !0, !1, 2]);
    }

    /// The paper's procedure, one removal at a time, with the same order of removals.
    fn one_by_one(whole: &Whole, memory: u64, seed: u64) -> usize {
        let mut ids: Vec<usize> =
            (0..whole.bytes.len()).filter(|&id| whole.bytes[id] <= memory).collect();
        let mut random = Random(seed);
        for at in (1..ids.len()).rev() {
            ids.swap(at, random.below(at as u64 + 1) as usize);
        }
        let mut removed = 0;
        while whole.peak(|id| ids[removed..].contains(&id)) * 100 >= memory * 95 {
            removed += 1;
        }
        ids.len() - removed
    }

    proptest! {
        #[test]
        fn bisection_removes_as_many_as_removing_one_by_one(
            plan in prop::collection::vec((0..400u64, 0..3usize), 0..60), seed: u64
        ) {
            let (mut actions, mut live, mut next) = (Vec::new(), Vec::new(), 0);
            for (bytes, frees) in plan {
                actions.push(alloc(bytes));
                live.push(next);
                next += 1;
                for _ in 0..frees.min(live.len()) {
                    let id = live.swap_remove(bytes as usize % live.len());
                    actions.push(Action::Free { id });
                }
            }
            let whole = whole(&events(&actions));
            let subset = whole.subset(300, seed);
            let kept = subset.ops.iter().filter(|op| matches!(op, Op::Alloc { .. })).count();
            prop_assert_eq!(kept, one_by_one(&whole, 300, seed));
            prop_assert!(subset.peak_bytes * 100 < 300 * 95);
            prop_assert_eq!(subset.ops.len(), 2 * kept);
            prop_assert_eq!(&subset, &whole.subset(300, seed));
        }
    }
}
