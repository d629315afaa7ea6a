//! The sampling counter: a performance counter that adds up requested sizes (paper, section 4.2).

/// Counts requested bytes; a sample is due after each period (an interrupt in hardware).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sampler {
    period: u32,
    count: u32,
}

impl Sampler {
    /// A counter that asks for a sample every `period` bytes; 0 switches sampling off.
    pub const fn new(period: u32) -> Self {
        Self { period, count: 0 }
    }

    /// Writes the period (`mcsampleset`) and restarts the count.
    pub fn set_period(&mut self, period: u32) {
        *self = Self::new(period);
    }

    /// The bytes counted since the last sample.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// `mcsample`: counts one request; true if a sample is due, which restarts the count. A
    /// request above 2^32 - 1 bytes counts as that many.
    pub fn add(&mut self, size: u64) -> bool {
        if self.period == 0 {
            return false;
        }
        let sum = u64::from(self.count) + size.min(u64::from(u32::MAX));
        let due = sum >= u64::from(self.period);
        self.count = if due { 0 } else { sum as u32 };
        due
    }
}

#[cfg(test)]
mod tests {
    use super::Sampler;

    #[test]
    fn a_sample_is_due_when_the_sum_reaches_the_period_and_not_a_byte_earlier() {
        let mut sampler = Sampler::new(100);
        assert!(!sampler.add(99));
        assert!(sampler.add(1));
        assert_eq!(sampler.count(), 0);
        assert!(!sampler.add(0));
        assert!(sampler.add(u64::MAX));
    }

    #[test]
    fn a_period_of_zero_never_samples() {
        let mut sampler = Sampler::new(0);
        assert!(!sampler.add(u64::MAX) && sampler.count() == 0);
    }

    #[test]
    fn counting_needs_more_than_32_bits_and_has_them() {
        let mut sampler = Sampler::new(u32::MAX);
        assert!(!sampler.add(u64::from(u32::MAX) - 1));
        assert!(sampler.add(u64::from(u32::MAX)), "the sum is about 2^33");
    }
}
