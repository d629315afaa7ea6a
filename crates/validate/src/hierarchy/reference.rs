//! Measurements of real hardware.

use serde::Serialize;
use uarch::Machine;

use super::chase::Order;

/// The range of a figure over several measurements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range {
    /// Smallest measured.
    pub least: f64,
    /// Largest measured.
    pub most: f64,
}

impl Range {
    /// A single figure.
    pub const fn about(value: f64) -> Self {
        Self { least: value, most: value }
    }

    /// Relative distance of a value to the nearer end: negative if too small, 0 inside.
    pub fn error(self, value: f64) -> f64 {
        if value < self.least {
            value / self.least - 1.0
        } else if value > self.most {
            value / self.most - 1.0
        } else {
            0.0
        }
    }
}

/// The measurements of one core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reference {
    /// Name of its machine.
    pub machine: &'static str,
    /// The source of the figures.
    pub source: &'static str,
    /// Load-to-use cycles of a random chase: first, second and last level, memory.
    pub random: [Range; 4],
    /// Cycles per access of a linear chase through memory, with the prefetchers.
    pub linear: Range,
    /// Pages that the TLBs cover.
    pub tlb_pages: [f64; 2],
}

/// All cores with measurements.
pub const ALL: &[Reference] = &[Reference {
    machine: "haswell",
    source: "chases on an i7-4770 (random; linear by 64 bytes), TLB entries from Intel's manual",
    random: [Range::about(4.0), Range::about(12.0), LLC_HASWELL, Range::about(245.0)],
    linear: Range::about(20.0),
    tlb_pages: [64.0, 1024.0],
}];
const LLC_HASWELL: Range = Range { least: 39.0, most: 43.0 };

/// A level is representative for a size only if the previous level holds at most a quarter of it:
/// with half, a random order still hits many lines there, above all those fetched by the prefetcher
/// of 128-byte pairs. (7-cpu.com's random accesses on the predecessor i7-3770 show the same: 21
/// cycles at twice the second level, 26 at four times, 28 at eight, 29 at sixteen.) The size may
/// use at most three quarters of the level itself, which leaves room for the code, the page tables
/// and addresses that map unevenly to its sets. Memory is representative from eight times the last
/// level.
const ROOM: (u64, u64) = (3, 4);
const APART: u64 = 4;
const FAR: u64 = 8;

/// The measurements of a machine's core, if there are any.
pub fn of(machine: &Machine) -> Option<&'static Reference> {
    ALL.iter().find(|reference| reference.machine == machine.name)
}

impl Reference {
    /// The measurement for a chase over this number of bytes.
    pub fn latency(&self, machine: &Machine, order: Order, bytes: u64) -> Option<Range> {
        let level = level(machine, bytes)?;
        match order {
            Order::Random => self.random.get(level).copied(),
            // The first level has the same latency in every order.
            Order::Linear if level == 0 => Some(self.random[0]),
            Order::Linear if level == machine.memory.level.len() + 1 => Some(self.linear),
            Order::Linear => None,
        }
    }
}

/// The level that is representative for a chase over this number of bytes: 0 for the first, then
/// the levels beyond it, finally memory; `None` in between.
fn level(machine: &Machine, bytes: u64) -> Option<usize> {
    let memory = &machine.memory;
    if bytes <= memory.l1d.size {
        return Some(0);
    }
    let mut before = memory.l1d.size;
    for (level, cache) in memory.level.iter().enumerate() {
        if (APART * before..=cache.size / ROOM.1 * ROOM.0).contains(&bytes) {
            return Some(level + 1);
        }
        before = cache.size;
    }
    (bytes >= FAR * before).then_some(memory.level.len() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_relative_to_the_nearer_end() {
        let range = Range { least: 40.0, most: 50.0 };
        assert_eq!(range.error(45.0), 0.0);
        assert!((range.error(36.0) + 0.1).abs() < 1e-12);
        assert!((range.error(55.0) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn a_level_speaks_only_for_sizes_that_it_alone_answers() {
        // Haswell: 32 KB, 256 KB (three quarters: 192), 8 MB (6), memory from 64 MB.
        let levels: Vec<Option<usize>> =
            [4, 32, 48, 64, 128, 192, 256, 512, 1024, 4096, 32768, 65536]
                .map(|kb| level(&Machine::default(), kb << 10))
                .to_vec();
        let (one, two, three, far) = (Some(0), Some(1), Some(2), Some(3));
        let expected =
            [one, one, None, None, two, two, None, None, three, three, None, far].to_vec();
        assert_eq!(levels, expected);
    }

    #[test]
    fn every_reference_is_of_a_machine_that_exists() {
        for reference in ALL {
            assert!(Machine::find(reference.machine).is_ok());
            assert!(!reference.source.is_empty());
        }
    }
}
