//! Rules that a measured value is held to, and the verdicts that follow.

use results::confidence::Estimate;

/// What a claim of the paper requires of a measured value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Within a tolerance of a value.
    Near {
        /// The paper's value.
        value: f64,
        /// The largest distance.
        tolerance: f64,
    },
    /// At least this value.
    AtLeast(f64),
    /// At most this value.
    AtMost(f64),
    /// Between these two, both included.
    Between(f64, f64),
    /// No requirement: the quantity measured here is not the paper's.
    Beside,
}

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The value satisfies the rule.
    Reproduced,
    /// The value does not, but its confidence interval includes values that would.
    Undecided,
    /// The value does not satisfy it.
    Differs,
    /// Shown beside the paper's value without a judgement: they are not the same quantity, or the
    /// claim presupposes another one that differs.
    NotComparable,
    /// There is no value.
    NotMeasured,
}

impl Verdict {
    /// One or two words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Undecided => "undecided",
            Self::Differs => "differs",
            Self::NotComparable => "not comparable",
            Self::NotMeasured => "not measured",
        }
    }
}

impl Rule {
    /// The smallest and the largest value that satisfy it.
    pub fn bounds(self) -> (f64, f64) {
        match self {
            Self::Near { value, tolerance } => (value - tolerance, value + tolerance),
            Self::AtLeast(low) => (low, f64::INFINITY),
            Self::AtMost(high) => (f64::NEG_INFINITY, high),
            Self::Between(low, high) => (low, high),
            Self::Beside => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    /// Whether a value satisfies it.
    pub fn holds(self, value: f64) -> bool {
        let (low, high) = self.bounds();
        // Bounds are decimal numbers and values are quotients: the last bits must not decide.
        let slack = 1e-9 * value.abs().max(1.0);
        value >= low - slack && value <= high + slack
    }

    /// Judges a value by the rule.
    pub fn judge(self, measured: Option<Estimate>) -> Verdict {
        let Some(Estimate { value, half_width }) = measured.filter(|m| m.value.is_finite()) else {
            return Verdict::NotMeasured;
        };
        let (low, high) = self.bounds();
        let reach = half_width.unwrap_or(0.0);
        match () {
            () if self == Self::Beside => Verdict::NotComparable,
            () if self.holds(value) => Verdict::Reproduced,
            () if value + reach >= low && value - reach <= high => Verdict::Undecided,
            () => Verdict::Differs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(rule: Rule, value: f64, half_width: f64) -> Verdict {
        rule.judge(Some(Estimate { value, half_width: Some(half_width) }))
    }

    #[test]
    fn each_rule_holds_at_its_bound_and_not_beyond() {
        let near = Rule::Near { value: 0.3, tolerance: 0.1 };
        for (rule, inside, outside) in [
            (near, 0.3 + 0.1, 0.4001),
            (near, 0.3 - 0.1, 0.1999),
            (Rule::AtLeast(0.4), 0.4, 0.3999),
            (Rule::AtMost(5.0), 5.0, 5.0001),
            (Rule::Between(2.0, 4.0), 2.0, 4.0001),
        ] {
            assert_eq!(judge(rule, inside, 0.0), Verdict::Reproduced, "{rule:?} {inside}");
            assert_eq!(judge(rule, outside, 0.0), Verdict::Differs, "{rule:?} {outside}");
        }
    }

    #[test]
    fn an_interval_that_reaches_the_rule_leaves_it_undecided() {
        assert_eq!(judge(Rule::AtLeast(0.4), 0.3, 0.09), Verdict::Differs);
        assert_eq!(judge(Rule::AtLeast(0.4), 0.3, 0.11), Verdict::Undecided);
    }

    #[test]
    fn a_claim_that_is_not_comparable_neither_reproduces_nor_differs() {
        for value in [0.0, -1e9, 1e9] {
            assert_eq!(judge(Rule::Beside, value, 0.0), Verdict::NotComparable);
        }
        assert_eq!(Rule::Beside.judge(None), Verdict::NotMeasured);
    }

    #[test]
    fn no_value_is_no_verdict() {
        assert_eq!(Rule::AtMost(1.0).judge(None), Verdict::NotMeasured);
        assert_eq!(judge(Rule::AtMost(1.0), f64::NAN, 0.0), Verdict::NotMeasured);
    }
}
