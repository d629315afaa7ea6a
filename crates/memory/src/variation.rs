//! Random numbers for what differs from run to run: the same from the same seed, on every host.

/// A sequence of random numbers: Sebastiano Vigna's SplitMix64 (G. Steele, D. Lea and C. Flood,
/// *Fast Splittable Pseudorandom Number Generators*, OOPSLA 2014).
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, all 64 bits of it random.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    /// A number below `bound`, which is above 0. The products' high halves are even to within
    /// `bound` in 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.draw()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_repeat_from_their_seed_and_fill_their_range_evenly() {
        let drawn = |seed| {
            let mut random = Random::new(seed);
            std::array::from_fn::<u64, 1000, _>(|_| random.below(10))
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        // 100 of each on average, standard deviation sqrt(1000 * 0.1 * 0.9) = 9.5; five of them.
        for digit in 0..10 {
            let times = drawn(7).iter().filter(|drawn| **drawn == digit).count();
            assert!(times.abs_diff(100) <= 48, "{digit}: {times}");
        }
    }
}
