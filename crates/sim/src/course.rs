//! How a run proceeds: its cycles and those of the allocator, phase by phase.

use results::Phase;

/// Phases are joined in pairs when there are so many.
const PHASES_MAX: usize = 64;

/// The phases of a run, all of about the same number of instructions: at first as the plan ends
/// them, later two, four, eight … of them together, so that their number is bounded.
#[derive(Clone, Debug)]
pub struct Course {
    phases: Vec<Phase>,
    /// Planned phases that one of these holds, and that the open one holds so far.
    each: u64,
    open: Phase,
    in_open: u64,
}

impl Default for Course {
    fn default() -> Self {
        Self { phases: Vec::new(), each: 1, open: Phase::default(), in_open: 0 }
    }
}

impl Course {
    /// A planned phase has ended.
    pub fn add(&mut self, phase: Phase) {
        self.open += phase;
        self.in_open += 1;
        if self.in_open < self.each {
            return;
        }
        self.close();
        if self.phases.len() == PHASES_MAX {
            let pairs = self.phases.chunks(2);
            self.phases = pairs.map(|pair| pair.iter().copied().sum()).collect();
            self.each *= 2;
        }
    }

    /// All phases, the last of which may be short.
    pub fn finish(mut self) -> Vec<Phase> {
        if self.in_open > 0 {
            self.close();
        }
        self.phases
    }

    fn close(&mut self) {
        self.phases.push(std::mem::take(&mut self.open));
        self.in_open = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_grow_with_the_run_and_lose_nothing() {
        for count in [0, 1, 63, 64, 65, 1_000, 12_345_u64] {
            let mut course = Course::default();
            for number in 0..count {
                course.add(Phase {
                    instructions: 10,
                    cycles: 20 + number,
                    allocator_cycles: number,
                });
            }
            let phases = course.finish();
            let most = PHASES_MAX.min(count as usize);
            assert!(phases.len() <= most && phases.len() >= most / 2, "{count}: {}", phases.len());
            let sum: Phase = phases.iter().copied().sum();
            let numbers = count * count.saturating_sub(1) / 2;
            let expected = Phase {
                instructions: 10 * count,
                cycles: 20 * count + numbers,
                allocator_cycles: numbers,
            };
            assert_eq!(sum, expected);
            if let [first, middle @ .., _] = &phases[..] {
                let equal = |phase: &Phase| phase.instructions == first.instructions;
                assert!(middle.iter().all(equal), "{count}");
            }
        }
    }
}
