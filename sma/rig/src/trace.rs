//! Synthetic allocation traces modelled on the paper's programs, and the paper's rule for cutting a
//! trace to a memory.

use crate::Rng;

/// One event of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An allocation.
    Alloc {
        /// Its number.
        id: u32,
        /// Bytes requested by the program.
        bytes: u32,
    },
    /// The free of an allocation.
    Free {
        /// Its number.
        id: u32,
    },
}

/// A program's requests: sizes with weights, and lifetimes in allocations.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// The name in benchmarks.
    pub name: &'static str,
    /// (weight, minimum, maximum) bytes.
    pub sizes: &'static [(u32, u32, u32)],
    /// (weight, minimum, maximum) allocations until the free.
    pub lives: &'static [(u32, u32, u32)],
}

/// Section 5.3 calls a2ps, gcc, ImageMagick and tar programs of very small allocations (2-4 words);
/// the others request more varied sizes. The figures are this project's, not measured.
pub const PROFILES: [Profile; 4] = [
    Profile {
        name: "tiny",
        sizes: &[(80, 8, 16), (15, 17, 64), (5, 65, 256)],
        lives: &[(70, 1, 8), (30, 9, 200)],
    },
    Profile {
        name: "mixed",
        sizes: &[(50, 8, 48), (30, 49, 200), (15, 201, 800), (5, 801, 2000)],
        lives: &[(60, 1, 10), (40, 11, 60)],
    },
    Profile {
        name: "stack",
        sizes: &[(40, 16, 16), (40, 32, 64), (20, 100, 600)],
        lives: &[(90, 1, 3), (10, 4, 30)],
    },
    Profile { name: "steady", sizes: &[(100, 24, 64)], lives: &[(100, 20, 60)] },
];

fn pick(rng: &mut Rng, table: &[(u32, u32, u32)]) -> u32 {
    let total: u32 = table.iter().map(|row| row.0).sum();
    let mut at = rng.below(total as usize) as u32;
    for &(weight, least, most) in table {
        if at < weight {
            return least + rng.below((most - least + 1) as usize) as u32;
        }
        at -= weight;
    }
    unreachable!("weights add up to the total")
}

/// A trace of `allocs` allocations; everything is freed at the end.
pub fn generate(profile: &Profile, allocs: u32, seed: u64) -> Vec<Event> {
    let mut rng = Rng(seed);
    let mut due: Vec<(u32, u32)> = Vec::new();
    let mut events = Vec::new();
    for id in 0..allocs {
        due.retain(|&(when, id)| {
            let keep = when > id.max(events.len() as u32 / 2);
            if !keep {
                events.push(Event::Free { id });
            }
            keep
        });
        events.push(Event::Alloc { id, bytes: pick(&mut rng, profile.sizes) });
        due.push((id + pick(&mut rng, profile.lives), id));
    }
    events.extend(due.iter().map(|&(_, id)| Event::Free { id }));
    events
}

/// The most bytes live at any time.
pub fn peak(events: &[Event]) -> u64 {
    let mut sizes = std::collections::HashMap::new();
    let (mut live, mut most) = (0u64, 0);
    for event in events {
        match *event {
            Event::Alloc { id, bytes } => {
                sizes.insert(id, bytes);
                live += u64::from(bytes);
                most = most.max(live);
            }
            Event::Free { id } => live -= u64::from(sizes[&id]),
        }
    }
    most
}

/// The paper's rule (section 5.1): drop sizes above the memory, then drop random allocations with
/// their frees until the peak is below 95 % of it.
pub fn subset(events: &[Event], memory: u32, seed: u64) -> Vec<Event> {
    let mut rng = Rng(seed);
    let mut ids: Vec<u32> = events
        .iter()
        .filter_map(|e| match *e {
            Event::Alloc { id, bytes } if bytes <= memory => Some(id),
            _ => None,
        })
        .collect();
    loop {
        let kept: std::collections::HashSet<u32> = ids.iter().copied().collect();
        let cut: Vec<Event> = events
            .iter()
            .filter(|e| match **e {
                Event::Alloc { id, .. } | Event::Free { id } => kept.contains(&id),
            })
            .copied()
            .collect();
        if peak(&cut) * 100 < u64::from(memory) * 95 {
            return cut;
        }
        // Several at a time: removing them singly would take a pass over the trace each.
        for _ in 0..(ids.len() / 200).max(1) {
            ids.swap_remove(rng.below(ids.len()));
        }
    }
}
