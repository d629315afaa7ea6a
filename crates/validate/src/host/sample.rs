//! Samples of a timed microbenchmark.

/// A sample is left out if the two calibrations around it differ by more than this: the clock
/// changed, or something else ran.
pub const MOVED: f64 = 0.02;
/// A sample is left out if its four simultaneous chains took longer than the fastest of the same
/// process by this share: the core's other hardware thread was active, which a single chain does
/// not reveal.
pub const SHARED: f64 = 0.10;

/// The ticks of a repeat and of its calibration chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Ticks of the repeat.
    pub ticks: u64,
    /// Ticks of the chain before it.
    pub before: u64,
    /// Ticks of the chain after it.
    pub after: u64,
    /// Ticks of four simultaneous chains: the slower of the runs before and after it.
    pub four: u64,
}

/// The valid samples of one process, and why the others were left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// Core cycles per step.
    pub cycles: Vec<f64>,
    /// Core cycles per tick.
    pub per_tick: Vec<f64>,
    /// Core cycles per page fault, if any sample is valid.
    pub fault: Option<f64>,
    /// Samples left out because their calibration moved by more than [`MOVED`].
    pub moved: usize,
    /// Samples left out because the core was shared ([`SHARED`]).
    pub shared: usize,
}

impl Sample {
    /// Relative difference between the second chain and the first.
    pub fn moved(&self) -> f64 {
        (self.after as f64 - self.before as f64).abs() / self.before as f64
    }

    /// Core cycles of the repeat: a chain takes one cycle per addition.
    pub fn cycles(&self, additions: u64) -> f64 {
        let chain = self.before.midpoint(self.after) as f64;
        self.ticks as f64 * additions as f64 / chain
    }
}

/// The output of a timed program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timed {
    /// Additions in a chain.
    pub additions: u64,
    /// Steps in a repeat.
    pub steps: u64,
    /// Ticks per page fault.
    pub fault: u64,
    /// One per repeat.
    pub samples: Vec<Sample>,
}

impl Timed {
    /// Reads a program's output: a line `timed: N additions, N steps, N fault`, and lines `sample:
    /// N ticks, N before, N after, N four`; other lines are the program's own. The error is a
    /// sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut timed = Self::default();
        for (number, line) in text.lines().enumerate() {
            let wrong = |rule| format!("line {}: {line:?}: {rule}", number + 1);
            if let Some(rest) = line.strip_prefix("timed: ") {
                let [additions, steps, fault] = numbers(rest, ["additions", "steps", "fault"])
                    .ok_or_else(|| wrong("must have additions, steps and fault"))?;
                (timed.additions, timed.steps, timed.fault) = (additions, steps, fault);
            } else if let Some(rest) = line.strip_prefix("sample: ") {
                let [ticks, before, after, four] =
                    numbers(rest, ["ticks", "before", "after", "four"])
                        .ok_or_else(|| wrong("must have ticks, before, after and four"))?;
                timed.samples.push(Sample { ticks, before, after, four });
            }
        }
        if timed.samples.is_empty() || timed.additions == 0 || timed.steps == 0 {
            return Err("no timed samples; rebuild the microbenchmarks with `make guest`".into());
        }
        Ok(timed)
    }

    /// Leaves out invalid samples and converts the others to cycles.
    pub fn kept(&self) -> Kept {
        let fastest = self.samples.iter().map(|sample| sample.four).min().unwrap_or(0) as f64;
        let mut kept = Kept::default();
        for sample in &self.samples {
            if sample.moved() > MOVED {
                kept.moved += 1;
            } else if sample.four as f64 > fastest * (1.0 + SHARED) {
                kept.shared += 1;
            } else {
                kept.cycles.push(sample.cycles(self.additions) / self.steps as f64);
                let chain = sample.before.midpoint(sample.after) as f64;
                kept.per_tick.push(self.additions as f64 / chain);
            }
        }
        kept.fault = kept.per_tick.first().map(|per_tick| self.fault as f64 * per_tick);
        kept
    }
}

/// `N name, N name, …` with these names, all above 0.
fn numbers<const N: usize>(text: &str, names: [&str; N]) -> Option<[u64; N]> {
    let mut parts = text.split(", ");
    let mut found = [0; N];
    for (value, name) in found.iter_mut().zip(names) {
        let (number, unit) = parts.next()?.split_once(' ')?;
        *value = number.parse().ok().filter(|&n| n > 0 && unit == name)?;
    }
    parts.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_cycles_through_the_chain_beside_them() {
        // 1,000 additions in 500 ticks: two cycles per tick. 300 ticks for 60 steps: 10 cycles per
        // step.
        let text = "timed: 1000 additions, 60 steps, 70 fault\n\
                    sample: 300 ticks, 500 before, 500 after, 130 four\n\
                    tp: 2 repeats of 60 iterations\n";
        let kept = Timed::parse(text).unwrap().kept();
        assert_eq!((kept.moved, kept.shared, kept.fault), (0, 0, Some(140.0)));
        assert_eq!((kept.cycles, kept.per_tick), (vec![10.0], vec![2.0]));
    }

    fn timed(samples: &[(u64, u64, u64)]) -> Timed {
        let sample = |&(before, after, four)| Sample { ticks: 100, before, after, four };
        let samples = samples.iter().map(sample).collect();
        Timed { additions: 1000, steps: 100, fault: 1, samples }
    }

    #[test]
    fn a_sample_whose_calibration_moved_over_two_per_cent_is_left_out() {
        let kept =
            timed(&[(1000, 1020, 250), (1000, 1021, 250), (1000, 980, 250), (1000, 979, 250)])
                .kept();
        assert_eq!((kept.cycles.len(), kept.moved, kept.shared), (2, 2, 0));
        // 100 ticks, a chain of 1,010 ticks on average for 1,000 cycles, 100 steps.
        assert!((kept.cycles[0] - 1000.0 / 1010.0).abs() < 1e-12, "{kept:?}");
    }

    #[test]
    fn a_sample_beside_which_the_core_was_shared_is_left_out() {
        let kept = timed(&[(1000, 1000, 250), (1000, 1000, 275), (1000, 1000, 276)]).kept();
        assert_eq!((kept.cycles.len(), kept.moved, kept.shared), (2, 0, 1));
    }

    #[test]
    fn output_that_is_not_a_timing_is_refused_in_a_sentence() {
        for (text, part) in [
            ("tp: 2 repeats\n", "no timed samples"),
            ("timed: 5 additions, 5 steps, 5 fault\n", "no timed samples"),
            ("timed: many additions, 5 steps\n", "line 1: \"timed: many"),
            (
                "timed: 5 additions, 5 steps, 5 fault\nsample: 1 ticks, 0 before, 3 after, 1 four\n",
                "line 2",
            ),
            (
                "timed: 5 additions, 5 steps, 5 fault\nsample: 1 ticks, 2 before, 2 after\n",
                "line 2",
            ),
        ] {
            let error = Timed::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
