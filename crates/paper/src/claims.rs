//! What the paper states, where it states it, and the rule that a measured value is held to.
//!
//! S. Kanev, S. L. Xi, G.-Y. Wei and D. Brooks, *Mallacc: Accelerating Memory Allocation*, ASPLOS
//! 2017. The bars of its figures cannot be read as numbers, so claims are the text's own numbers.
//! The rule and its reason stand beside each; a rule is never adjusted to what was measured.

use results::confidence::Estimate;

use crate::figure::Figure;
use crate::sheet::Unit;
use crate::verdict::Rule::{self, AtLeast, AtMost, Beside, Between, Near};
use crate::verdict::Verdict;

/// A statement of the paper.
#[derive(Debug, PartialEq)]
pub struct Claim {
    /// The figure or table that it is about.
    pub figure: Figure,
    /// The program that it is about, by our name; empty if it is about all of them.
    pub subject: &'static str,
    /// The quantity, by its name in the figure's derivation.
    pub quantity: &'static str,
    /// The statement, in words.
    pub what: &'static str,
    /// The paper's value as printed there.
    pub paper: &'static str,
    /// Where: a section of the paper.
    pub source: &'static str,
    /// The value's unit.
    pub unit: Unit,
    /// The rule that the measured value is held to.
    pub rule: Rule,
    /// The reason for this rule.
    pub reason: &'static str,
    /// The quantity of the same figure and program that this one presupposes. Where that quantity
    /// differs from the paper's, this claim is about something else and is not judged.
    pub presupposes: Option<&'static str>,
}

/// Reasons that several rules share.
const TEXT: &str = "the text's own bound";
const THIRD: &str =
    "a third of the value: the programs are comparable to the paper's, not the same";
const TWOFOLD: &str = "half to twice the value: the order of magnitude, for comparable programs";
const EXACT: &str = "a number of size classes, which the programs fix";
const ORDER: &str = "an order, not a number";
const MODEL: &str = "the largest error of the paper's own simulator, 12.3 %";

macro_rules! claims {
    ($($figure:ident $subject:literal $quantity:literal: $what:literal, $paper:literal,
       $source:literal, $unit:ident, $rule:expr, $reason:expr
       $(, presupposes $basis:literal)?;)*) => {
        /// All claims, by figure.
        pub const CLAIMS: &[Claim] = &[$(Claim {
            figure: Figure::$figure,
            subject: $subject,
            quantity: $quantity,
            what: $what,
            paper: $paper,
            source: $source,
            unit: Unit::$unit,
            rule: $rule,
            reason: $reason,
            presupposes: first(&[$($basis)?]),
        }),*];
    };
}

const fn first(names: &[&'static str]) -> Option<&'static str> {
    if names.is_empty() { None } else { Some(names[0]) }
}

claims! {
    Fig1 "perl" "peaks": "major peaks: thread cache, central list, span", "3", "section 3.1",
        Count, Near { value: 3.0, tolerance: 0.0 }, "a count";
    Fig1 "perl" "miss_over_hit": "cycles at the next peak over those at the thread cache's",
        "at least three orders of magnitude", "section 3.1", Ratio, AtLeast(1000.0), TEXT;

    Fig2 "perl" "fast_share": "malloc time in calls under 100 cycles", "more than 60 %",
        "section 3.2", Percent, AtLeast(0.6), TEXT;
    Fig2 "xalan" "fast_share": "malloc time in calls under 100 cycles", "more than 60 %",
        "section 3.2", Percent, AtLeast(0.6), TEXT;
    Fig2 "" "xapian_less_others": "xapian's share less that of perl and xalan",
        "an even higher fraction", "section 3.2", Points, AtLeast(0.0), ORDER;
    Fig2 "kv-never-frees" "fast_share": "malloc time in calls under 100 cycles",
        "more than 30 %", "section 3.2", Percent, AtLeast(0.3), TEXT;

    Fig4 "" "combined": "the three steps together, mean of the microbenchmarks", "about 50 %",
        "section 3.3", Percent, Near { value: 0.5, tolerance: 0.1 },
        "a fifth of the value: the text rounds, and compilers and cores differ";
    Fig4 "" "antagonist_list": "the antagonist's pop step over that of gauss_free",
        "a significant increase", "section 3.3", Ratio, AtLeast(1.5), "significant: half as much again";

    Fig6 "" "many_classes": "programs of the paper's kind that need 5 classes or more for 90 %",
        "1", "section 3.3", Count, AtMost(1.0), TEXT;
    Fig6 "kv-never-frees" "first_class": "allocations in the first class",
        "almost exclusively a single size class", "section 3.3", Percent, AtLeast(0.9),
        "almost exclusively: nine in ten";
    Fig6 "xalan" "first_two": "allocations in the first two classes", "over half", "section 3.3",
        Percent, AtLeast(0.5), TEXT;
    Fig6 "xalan" "classes_90": "classes for 90 % of the allocations", "30", "section 6.1",
        Count, Near { value: 30.0, tolerance: 10.0 }, THIRD;

    Fig13 "" "mean": "allocator speedup with 32 entries, mean", "18 %", "section 6.1", Percent,
        Near { value: 0.18, tolerance: 0.06 }, THIRD;
    Fig13 "" "limit_mean": "allocator speedup of the limit study, mean", "28 %", "section 6.1",
        Percent, Near { value: 0.28, tolerance: 0.28 / 3.0 }, THIRD;
    Fig13 "" "correlation": "correlation of speedup and time on the fast path",
        "highly correlated", "section 6.1", Ratio, AtLeast(0.7),
        "half of the variance explained";
    Fig13 "kv-never-frees" "speedup": "allocator speedup with 32 entries", "5 %", "section 6.1",
        Percent, Near { value: 0.05, tolerance: 0.05 / 3.0 }, THIRD;
    Fig13 "xalan" "lost_with_16": "speedup with 32 entries less that with 16",
        "6 percentage points", "section 6.2", Points, Near { value: 0.06, tolerance: 0.02 }, THIRD;
    Fig13 "" "others_lost_with_16": "the same, the most of any other program",
        "not meaningfully affected", "section 6.2", Points, AtMost(0.02), "a third of xalan's 6";

    Fig14 "" "mean": "malloc speedup with 32 entries, mean", "nearly 30 %", "section 6.1",
        Percent, Near { value: 0.3, tolerance: 0.1 }, THIRD;
    Fig14 "xapian-abstracts" "speedup": "malloc speedup with 32 entries", "over 40 %",
        "section 6.1", Percent, AtLeast(0.4), TEXT;
    Fig14 "xapian-pages" "speedup": "malloc speedup with 32 entries", "over 40 %",
        "section 6.1", Percent, AtLeast(0.4), TEXT;
    Fig14 "xalan" "speedup": "malloc speedup with 32 entries", "over 40 %", "section 6.1",
        Percent, AtLeast(0.4), TEXT;
    Fig14 "" "never_frees_less_others": "the program that never frees less the least other one",
        "the lowest of all", "section 6.1", Points, AtMost(0.0), ORDER;

    Fig15 "xapian-abstracts" "from_20_to_40": "baseline calls of 20 to 40 cycles",
        "virtually all", "section 6.1", Percent, AtLeast(0.9), "virtually all: nine in ten";
    Fig15 "xapian-abstracts" "limit_median": "median call of the limit study", "13 cycles",
        "section 6.1", Cycles, Near { value: 13.0, tolerance: 1.6 }, MODEL;
    Fig15 "xapian-abstracts" "limit_ratio": "mean call, baseline over limit study",
        "almost twofold", "section 6.1", Ratio, Between(1.6, 2.2), "almost 2: a fifth off";
    Fig15 "xapian-abstracts" "median_distance": "median with 32 entries less the limit study's",
        "very close", "section 6.1", Cycles, AtMost(3.0), "the depth of one lookup, 2, and a cycle";
    Fig15 "xapian-abstracts" "list_over_class": "gain of the list part over the size-class part",
        "to a much smaller degree", "section 6.1", Ratio, AtMost(0.5), "much smaller: half";
    Fig15 "xapian-pages" "from_20_to_40": "baseline calls of 20 to 40 cycles",
        "virtually all", "section 6.1", Percent, AtLeast(0.9), "virtually all: nine in ten";

    Fig16 "xalan" "from_20_to_70": "malloc time in calls of 20 to 70 cycles",
        "the next large spike", "section 6.1", Percent, AtLeast(0.2), "large: a fifth";
    Fig16 "xalan" "list_share": "the list part's share of what the parts save",
        "particularly beneficial", "section 6.1", Percent, AtLeast(1.0 / 3.0),
        "at least its share as one of three parts";
    Fig16 "xalan" "slow_calls": "cycles in calls of 100 or more, with 32 entries over baseline",
        "unaffected", "section 6.1", Ratio, Near { value: 1.0, tolerance: 0.05 }, "a twentieth";

    Fig17 "tp_small" "inflection": "entries at the inflection", "4", "section 6.2", Count,
        Near { value: 4.0, tolerance: 0.0 }, EXACT;
    Fig17 "sized_deletes" "inflection": "entries at the inflection", "8", "section 6.2", Count,
        Near { value: 8.0, tolerance: 0.0 }, EXACT;
    Fig17 "tp" "inflection": "entries at the inflection", "25", "section 6.2", Count,
        Between(24.0, 25.0), "25 in the text; its strides fall into 24 classes";
    Fig17 "gauss" "inflection": "entries at the end of the gradual rise", "12", "section 6.2",
        Count, Between(10.0, 14.0), "12 to 13, and a step of the sweep to either side";
    Fig17 "gauss_free" "inflection": "entries at the end of the gradual rise", "12",
        "section 6.2", Count, Between(10.0, 14.0),
        "12 to 13, and a step of the sweep to either side";
    Fig17 "antagonist" "inflection": "entries at the end of the gradual rise", "12",
        "section 6.2", Count, Between(10.0, 14.0),
        "12 to 13, and a step of the sweep to either side";
    Fig17 "tp_small" "below": "speedup with 2 entries", "a slowdown", "section 6.2", Percent,
        AtMost(0.0), ORDER;
    Fig17 "sized_deletes" "below": "speedup with 6 entries", "a slowdown", "section 6.2", Percent,
        AtMost(0.0), ORDER;
    Fig17 "tp" "below": "speedup with 22 entries", "a slowdown", "section 6.2", Percent,
        AtMost(0.0), ORDER;
    Fig17 "tp_small" "of_limit": "speed with 32 entries over the limit study's",
        "within 10-20 %", "section 6.2", Percent, Between(0.8, 1.0), TEXT;
    Fig17 "sized_deletes" "of_limit": "speed with 32 entries over the limit study's",
        "within 10-20 %", "section 6.2", Percent, Between(0.8, 1.0), TEXT;
    Fig17 "gauss" "of_limit": "speed with 32 entries over the limit study's",
        "within 10-20 %", "section 6.2", Percent, Between(0.8, 1.0), TEXT;
    Fig17 "gauss_free" "of_limit": "speed with 32 entries over the limit study's",
        "within 10-20 %", "section 6.2", Percent, Between(0.8, 1.0), TEXT;
    Fig17 "antagonist" "of_limit": "speed with 32 entries over the limit study's",
        "within 10-20 %", "section 6.2", Percent, Between(0.8, 1.0), TEXT;
    Fig17 "tp" "of_limit": "speed with 32 entries over the limit study's",
        "the lone exception: below", "section 6.2", Percent, AtMost(0.8), TEXT;
    Fig17 "tp" "blocked": "cycles that list instructions wait for a prefetch, of malloc time",
        "held back by blocking", "section 6.2", Percent, AtLeast(0.05), "a twentieth";
    Fig17 "antagonist" "list_share": "the list part's share of what the parts save",
        "isolates free lists from cache antagonists", "section 4.1", Percent, AtLeast(0.5),
        "most of it";

    Fig18 "" "below_datacenter": "programs of the paper's kind below 6.9 % of their time",
        "most", "section 6.3", Percent, AtLeast(0.5), "most: half; nearly 7 % is the abstract's";
    Fig18 "" "never_frees_less_others": "the program that never frees less the next",
        "very high", "section 6.3", Points, AtLeast(0.0), ORDER;

    Table1 "" "error": "mean cycle error against a Haswell", "6.28 %", "table 1", Percent,
        Beside, "the paper's is over five microbenchmarks, this one over basic blocks";
    Table1 "tp_small" "malloc_cycles": "cycles of each malloc", "18", "section 3.2", Cycles,
        Near { value: 18.0, tolerance: 18.0 * 0.123 }, MODEL;
    Table1 "tp" "pair_cycles": "cycles of a pair of malloc and free", "about 30", "section 6.2",
        Cycles, Near { value: 30.0, tolerance: 30.0 * 0.123 }, MODEL;
    Table1 "tp_small" "ipc": "instructions per cycle", "3.0", "section 3.3", Ratio,
        Near { value: 3.0, tolerance: 3.0 * 0.123 }, MODEL;

    Table2 "perl" "speedup": "program speedup", "0.78 %", "table 2", FinePercent,
        Between(0.0039, 0.0156), TWOFOLD;
    Table2 "perl" "p": "p of the one-sided test", "< 0.001", "table 2", Probability,
        AtMost(0.05), "the paper's level", presupposes "speedup";
    Table2 "xalan" "speedup": "program speedup", "0.27 %", "table 2", FinePercent,
        Between(0.00135, 0.0054), TWOFOLD;
    Table2 "xalan" "p": "p of the one-sided test", "0.043", "table 2", Probability,
        AtMost(0.05), "the paper's level", presupposes "speedup";
    Table2 "kv-frees" "speedup": "program speedup", "0.49 %", "table 2", FinePercent,
        Between(0.00245, 0.0098), TWOFOLD;
    Table2 "kv-frees" "p": "p of the one-sided test", "0.002", "table 2", Probability,
        AtMost(0.05), "the paper's level", presupposes "speedup";
    Table2 "xapian-abstracts" "speedup": "program speedup", "0.55 %", "table 2", FinePercent,
        Between(0.00275, 0.011), TWOFOLD;
    Table2 "xapian-abstracts" "p": "p of the one-sided test", "0.002", "table 2", Probability,
        AtMost(0.05), "the paper's level", presupposes "speedup";
    Table2 "xapian-pages" "speedup": "program speedup", "0.16 %", "table 2", FinePercent,
        Between(0.0008, 0.0032), TWOFOLD;
    Table2 "xapian-pages" "p": "p of the one-sided test", "0.012", "table 2", Probability,
        AtMost(0.05), "the paper's level", presupposes "speedup";
    Table2 "" "mean": "program speedup, mean of the paper's kind", "0.43 %", "section 6.3",
        FinePercent, Between(0.00215, 0.0086), TWOFOLD;
}

impl Claim {
    /// The verdict on a measured value, given the verdict on what the claim presupposes.
    pub fn judge(&self, measured: Option<Estimate>, basis: Option<Verdict>) -> Verdict {
        match (self.rule.judge(measured), basis) {
            (Verdict::NotMeasured, _) => Verdict::NotMeasured,
            (_, Some(Verdict::Differs | Verdict::NotComparable)) => Verdict::NotComparable,
            (verdict, _) => verdict,
        }
    }
}

/// The claims about a figure.
pub fn of(figure: Figure) -> impl Iterator<Item = &'static Claim> {
    CLAIMS.iter().filter(move |claim| claim.figure == figure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::Subject;

    #[test]
    fn every_figure_has_claims_and_no_claim_is_there_twice() {
        for figure in Figure::all() {
            assert!(of(figure).next().is_some(), "{}", figure.name());
        }
        for (index, claim) in CLAIMS.iter().enumerate() {
            let same = |other: &&Claim| {
                (other.figure, other.subject, other.quantity)
                    == (claim.figure, claim.subject, claim.quantity)
            };
            assert_eq!(CLAIMS.iter().find(same), Some(&CLAIMS[index]));
        }
    }

    #[test]
    fn every_claim_is_about_a_known_program_and_says_where_it_stands() {
        for claim in CLAIMS {
            assert!(claim.subject.is_empty() || Subject::find(claim.subject).is_some());
            assert!(claim.source.starts_with("section") || claim.source.starts_with("table"));
            let (low, high) = claim.rule.bounds();
            assert!(low <= high && !claim.reason.is_empty(), "{}", claim.what);
        }
    }

    #[test]
    fn a_claim_presupposes_an_earlier_one_of_its_figure_and_program() {
        let mut presupposing = 0;
        for (index, claim) in CLAIMS.iter().enumerate() {
            let Some(basis) = claim.presupposes else { continue };
            presupposing += 1;
            let before = CLAIMS[..index]
                .iter()
                .any(|c| (c.figure, c.subject, c.quantity) == (claim.figure, claim.subject, basis));
            assert!(before, "{} {}", claim.figure.name(), claim.what);
        }
        assert!(presupposing > 0);
    }

    #[test]
    fn a_claim_whose_basis_differs_is_not_judged() {
        let p = of(Figure::Table2).find(|claim| claim.quantity == "p").unwrap();
        let measured = Some(Estimate { value: 0.001, half_width: None });
        for (basis, verdict) in [
            (Verdict::Reproduced, Verdict::Reproduced),
            (Verdict::Undecided, Verdict::Reproduced),
            (Verdict::Differs, Verdict::NotComparable),
            (Verdict::NotComparable, Verdict::NotComparable),
        ] {
            assert_eq!(p.judge(measured, Some(basis)), verdict, "{basis:?}");
        }
        assert_eq!(p.judge(None, Some(Verdict::Differs)), Verdict::NotMeasured);
    }
}
