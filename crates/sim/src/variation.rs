//! What differs from run to run of the same program on the same machine, drawn from a seed.
//!
//! | what | where it is drawn | why it differs on a real machine |
//! |---|---|---|
//! | the frame of each page | `memory::Scattered` | the kernel hands out whatever frames are free |
//! | a few cycles of each DRAM read | `memory`'s DRAM | refresh, other traffic |
//! | the place of the stack | here | address space layout randomisation, the environment's size |
//!
//! Nothing else changes: every machine still simulates the one stream that was executed. A machine
//! as described has seed 0 and varies nothing.

use memory::variation::Random;
use std::ops::Range;
use uarch::NO_ADDRESS;

/// A stack is at most so long: the usual limit of Linux (`ulimit -s`), which QEMU has as well.
const STACK_BYTES: u64 = 8 << 20;

/// Arguments, environment and auxiliary vector, above the first stack access: at most a quarter of
/// the stack's limit (execve(2)).
const ARGUMENTS_BYTES: u64 = STACK_BYTES / 4;

/// The stack moves by multiples of this: the widest vector that QEMU executes, so that what a
/// program aligned stays aligned.
const STEP_BYTES: u64 = 32;

/// The stack moves by less than this: a page, because its frame is drawn apart.
const PAGE_BYTES: u64 = 4096;

/// A stack in another place.
#[derive(Clone, Debug, Default)]
pub struct Stack {
    /// Addresses of the stack.
    range: Range<u64>,
    /// How far down it lies, in bytes.
    down: u64,
    /// The addresses of a batch, moved.
    moved: Vec<u64>,
}

impl Stack {
    /// The stack of a machine's seed; that of seed 0 stays where it is.
    pub fn new(seed: u64) -> Self {
        let down = match seed {
            0 => 0,
            _ => Random::new(seed.rotate_left(32)).below(PAGE_BYTES / STEP_BYTES) * STEP_BYTES,
        };
        Self { down, ..Self::default() }
    }

    /// A program begins, with its first stack access at `addr`.
    pub fn begins(&mut self, addr: u64) {
        self.range = addr.saturating_sub(STACK_BYTES)..addr.saturating_add(ARGUMENTS_BYTES);
    }

    /// Whether anything moves.
    pub fn moves(&self) -> bool {
        self.down != 0
    }

    /// These addresses with the stack's in their new place, as far as they are `wanted`.
    pub fn moved(&mut self, addresses: &[u64], wanted: Range<usize>) -> &[u64] {
        self.moved.resize(addresses.len(), NO_ADDRESS);
        for (moved, &addr) in self.moved[wanted.clone()].iter_mut().zip(&addresses[wanted]) {
            // No range contains [`NO_ADDRESS`], the largest number.
            *moved = if self.range.contains(&addr) { addr.saturating_sub(self.down) } else { addr };
        }
        &self.moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_stack_moves_and_by_less_than_a_page() {
        let top = 0x7fff_0000_1000;
        let all = [0x40_0000, top - STACK_BYTES - 1, top - 0x500, top + 64, NO_ADDRESS];
        let mut places = std::collections::BTreeSet::new();
        for seed in 1..=100 {
            let mut stack = Stack::new(seed);
            stack.begins(top);
            let moved = stack.moved(&all, 0..all.len()).to_vec();
            let down = all[2] - moved[2];
            assert!(down < PAGE_BYTES && down.is_multiple_of(STEP_BYTES));
            assert_eq!(moved, [all[0], all[1], all[2] - down, all[3] - down, NO_ADDRESS]);
            places.insert(down);
        }
        // 100 draws out of 128 places leave 128 * (1 - 1/128)^100 = 58 of them out on average.
        assert!(places.len() > 50, "{}", places.len());
        assert!(!Stack::new(0).moves());
    }
}
