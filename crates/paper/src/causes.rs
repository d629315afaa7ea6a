//! Why a claim is not met. A cause stands here only after an experiment showed it; the experiment
//! is named. Everything else says that it is not established.

use crate::claims::Claim;
use crate::figure::Figure;
use crate::verdict::Verdict;

/// What stands where no cause is known.
pub const UNKNOWN: &str = "cause not established";

/// Causes by figure, program and quantity.
const CAUSES: &[(Figure, &str, &str, &str)] = &[];

/// Why a claim with that verdict is not reproduced.
pub fn of(claim: &Claim, verdict: Verdict) -> &'static str {
    if verdict == Verdict::NotMeasured {
        return "no value: see what is missing above";
    }
    if verdict == Verdict::Undecided {
        return "the sampling error reaches the paper's value; measure longer";
    }
    let found = CAUSES.iter().find(|(figure, subject, quantity, _)| {
        (*figure, *subject, *quantity) == (claim.figure, claim.subject, claim.quantity)
    });
    found.map_or(UNKNOWN, |(.., cause)| cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::CLAIMS;

    #[test]
    fn every_cause_belongs_to_a_claim() {
        for (figure, subject, quantity, cause) in CAUSES {
            let belongs = CLAIMS
                .iter()
                .any(|c| (c.figure, c.subject, c.quantity) == (*figure, *subject, *quantity));
            assert!(belongs && !cause.is_empty(), "{} {subject} {quantity}", figure.name());
        }
    }
}
