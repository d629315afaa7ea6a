//! A naive allocator: one free flag per granule, and every search looks at all of them. It shares
//! no code with the crate except the rounding rule, which has tests of its own.

/// Free granules of each block as bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Model {
    /// Granules per block.
    pub units: u32,
    /// One word per block; a set bit is a free granule.
    pub free: Vec<u32>,
}

impl Model {
    /// All free.
    pub fn new(blocks: usize, units: u32) -> Self {
        Self { units, free: vec![(1 << units) - 1; blocks] }
    }

    fn whole(&self) -> u32 {
        (1 << self.units) - 1
    }

    fn is_block(&self, block: usize) -> bool {
        self.free[block] == self.whole()
    }

    fn is_region(&self, block: usize, start: u32, size: u32) -> bool {
        let bits = ((1u32 << size) - 1) << start;
        self.free[block] & bits == bits
    }

    /// The size of the largest aligned free power of two that begins at a unit of a split block.
    fn maximal(&self, block: usize, start: u32) -> Option<u32> {
        let mut best = None;
        let mut size = 1;
        while size < self.units && start.is_multiple_of(size) {
            if self.is_region(block, start, size) {
                // Maximal only if its parent is not free.
                let parent = start & !(2 * size - 1);
                if !self.is_region(block, parent, 2 * size) {
                    best = Some(size);
                }
            }
            size *= 2;
        }
        best
    }

    /// Every granule at which an allocation of `units` may lie: the smallest sufficient regions, as
    /// best fit by class chooses them, or else the lowest run of blocks.
    pub fn places(&self, units: u32) -> Vec<u32> {
        let (blocks, tail) = (units / self.units, units % self.units);
        if blocks == 0 {
            let mut class = tail.next_power_of_two();
            while class < self.units {
                let found: Vec<u32> = (0..self.free.len())
                    .filter(|&b| self.free[b] != 0 && !self.is_block(b))
                    .flat_map(|b| (0..self.units).map(move |s| (b, s)))
                    .filter(|&(b, s)| self.maximal(b, s) == Some(class))
                    .map(|(b, s)| b as u32 * self.units + s)
                    .collect();
                if !found.is_empty() {
                    return found;
                }
                class *= 2;
            }
        }
        let need = (blocks + u32::from(tail != 0)) as usize;
        let start = (0..(self.free.len() + 1).saturating_sub(need))
            .find(|&s| (s..s + need).all(|b| self.is_block(b)));
        start.map(|b| b as u32 * self.units).into_iter().collect()
    }

    /// Whether all of `units` from `granule` are free (`true`) or used (`false`).
    pub fn is_all(&self, granule: u32, units: u32, free: bool) -> bool {
        (granule..granule + units).all(|g| {
            let bit = self.free[(g / self.units) as usize] >> (g % self.units) & 1;
            (bit == 1) == free
        })
    }

    /// Marks granules as free or used.
    pub fn set(&mut self, granule: u32, units: u32, free: bool) {
        for g in granule..granule + units {
            let (block, bit) = ((g / self.units) as usize, 1 << (g % self.units));
            self.free[block] = if free { self.free[block] | bit } else { self.free[block] & !bit };
        }
    }

    /// Free granules.
    pub fn free_units(&self) -> u32 {
        self.free.iter().map(|b| b.count_ones()).sum()
    }

    /// Blocks that are entirely free.
    pub fn free_blocks(&self) -> u32 {
        (0..self.free.len()).filter(|&b| self.is_block(b)).count() as u32
    }

    /// Maximal free regions per class.
    pub fn regions(&self) -> [u32; 4] {
        let mut counts = [0; 4];
        for block in (0..self.free.len()).filter(|&b| !self.is_block(b)) {
            for start in 0..self.units {
                if let Some(size) = self.maximal(block, start) {
                    counts[size.trailing_zeros() as usize] += 1;
                }
            }
        }
        counts
    }
}
