//! A pointer chase through the whole core.
//!
//! ```text
//! again:  mov rax, [rax]      488b00    the data is the next address
//!         dec rcx             48ffc9
//!         jne again           75f8
//! ```
//!
//! The counter and the branch depend on no load and take less than a cycle beside one, so the chain
//! of loads alone determines the speed. A single load instruction makes all accesses, as in the
//! loops behind published latencies, so a prefetcher that is indexed by instruction address sees
//! all of them.

use accel::Choice;
use decode::Block;
use params::ConfigError;
use stream::BlockDef;
use uarch::{Core, Machine, Step};

/// Addresses of the loop and its data.
const CODE: u64 = 0x40_1000;
const DATA: u64 = 0x7f00_0000_0000;
/// The loop's instructions.
const LOOP: &[u8] = &[0x48, 0x8b, 0x00, 0x48, 0xff, 0xc9, 0x75, 0xf8];
const LENGTHS: [u8; 3] = [3, 3, 2];
/// Bits of a page's offset.
pub(super) const PAGE_SHIFT: u32 = 12;
/// Accesses simulated in full before the counted ones: many times a reorder buffer.
const SETTLE: usize = 2_000;
/// Accesses counted: several full rounds for the smaller sizes, and for the larger ones enough for
/// the mean of a uniform order.
const COUNTED: usize = 100_000;

/// The order in which a chase visits its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One cycle through all addresses, shuffled.
    Random,
    /// By increasing address.
    Linear,
}

impl Order {
    /// Its name in reports.
    pub fn pattern(self) -> &'static str {
        match self {
            Self::Random => "random chase",
            Self::Linear => "linear chase",
        }
    }
}

/// A chase that is ready to run: one round has warmed everything.
pub struct Chase {
    core: Box<dyn Core>,
    block: Block,
    places: Vec<u64>,
}

impl Chase {
    /// Over `bytes`, one address per line.
    pub fn lines(machine: &Machine, bytes: u64, order: Order) -> Result<Self, ConfigError> {
        let line = machine.memory.line;
        Self::new(machine, (0..bytes / line).map(|i| DATA + i * line).collect(), order)
    }

    /// Over `pages` pages, one address in each. The offset increases by a line from page to page,
    /// and by one more from one group of pages to the next, so that the addresses spread over all
    /// sets of a cache as densely packed lines do.
    pub fn pages(machine: &Machine, pages: u64) -> Result<Self, ConfigError> {
        let line = machine.memory.line;
        let lines = ((1 << PAGE_SHIFT) / line).max(1);
        let place = |i: u64| DATA + (i << PAGE_SHIFT) + (i + i / lines) % lines * line;
        Self::new(machine, (0..pages).map(place).collect(), Order::Random)
    }

    fn new(machine: &Machine, mut places: Vec<u64>, order: Order) -> Result<Self, ConfigError> {
        if order == Order::Random {
            shuffle(&mut places);
        }
        let core = machine.build(Choice::baseline().build()?)?;
        let (lens, bytes) = (LENGTHS.to_vec(), LOOP.to_vec());
        let block = machine.view()?.decoder().block(&BlockDef { id: 0, addr: CODE, lens, bytes });
        let mut chase = Self { core, block, places };
        for at in 0..chase.places.len() {
            chase.core.warm(&step(&chase.block, &chase.places[at..=at]));
        }
        Ok(chase)
    }

    /// Mean cycles per access, over whole rounds if they are short.
    pub fn cycles_per_access(&mut self) -> f64 {
        let round = self.places.len();
        let counted = if round < COUNTED { COUNTED - COUNTED % round } else { COUNTED };
        self.advance(0, SETTLE);
        let begin = self.core.cycles();
        self.advance(SETTLE, counted);
        (self.core.cycles() - begin) as f64 / counted as f64
    }

    fn advance(&mut self, from: usize, count: usize) {
        for at in from..from + count {
            let at = at % self.places.len();
            self.core.execute(&step(&self.block, &self.places[at..=at]));
        }
    }
}

fn step<'a>(block: &'a Block, addresses: &'a [u64]) -> Step<'a> {
    Step { block, addresses, repeats: &[], values: &[], next: block.addr }
}

/// Fisher–Yates shuffle, driven by a xorshift generator (Marsaglia 2003) with a fixed seed.
fn shuffle(places: &mut [u64]) {
    let mut random = 0x1234_5678_9abc_def1_u64;
    for at in (1..places.len()).rev() {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        places.swap(at, (random >> 20) as usize % (at + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_is_a_load_a_count_and_a_branch_back() {
        let machine = Machine::default();
        let chase = Chase::lines(&machine, 4096, Order::Linear).unwrap();
        assert_eq!(chase.block.unknown, 0);
        assert_eq!(chase.block.branch.target, CODE);
        assert_eq!((chase.block.mem_operands.len(), chase.places.len()), (1, 64));
    }

    #[test]
    fn a_shuffled_chase_visits_every_place_once() {
        let mut places: Vec<u64> = (0..1000).collect();
        shuffle(&mut places);
        assert!(places.windows(2).filter(|w| w[1] == w[0] + 1).count() < 10, "still in order");
        places.sort_unstable();
        assert!(places.iter().copied().eq(0..1000));
    }

    #[test]
    fn places_of_pages_spread_over_the_sets_of_a_cache() {
        // 512 sets of 64-byte lines: 1,024 pages put two addresses into each set.
        let machine = Machine::default();
        let chase = Chase::pages(&machine, 1024).unwrap();
        let mut sets = [0; 512];
        for place in &chase.places {
            sets[(place / 64 % 512) as usize] += 1;
        }
        assert!(sets.iter().all(|&count| count == 2), "{sets:?}");
    }

    #[test]
    fn a_chase_in_the_first_level_takes_its_latency_and_the_loop_adds_nothing() {
        let mut machine = Machine::default();
        machine.memory.l1d.latency = 7;
        let mut chase = Chase::lines(&machine, 4096, Order::Random).unwrap();
        assert_eq!(chase.cycles_per_access(), 7.0);
    }
}
