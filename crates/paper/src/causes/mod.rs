//! Why a claim is not met.
//!
//! A cause is data: a sentence, the experiment that showed it, when and on what it was established,
//! and every figure that the sentence names. It is printed only for a run of that configuration.
//! Figures that such a run measures itself are compared with their values at the time: if one of
//! them has left its band, the cause is stale and is reported as such. A claim without a cause is
//! reported as having none established.

mod established;

use std::fmt;

use results::confidence::Estimate;

use crate::claims::{CLAIMS, Claim};
use crate::figure::Figure;
use crate::sheet::{Cell, Check, Table, Unit};
use crate::verdict::{Rule, Verdict};

pub use established::CAUSES;

/// Shown where no cause is known.
pub const UNKNOWN: &str = "cause not established";

/// How much of each program is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Length {
    /// Everything, programs sampled on the usual grid.
    #[default]
    Full,
    /// A short stretch (`--quick`).
    Quick,
}

/// The conditions of a study, as far as causes depend on them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// The machine's name. A built-in name must refer to exactly the built-in machine.
    pub machine: String,
    /// How much of each program is simulated.
    pub length: Length,
    /// Executions of each program for Table 2.
    pub seeds: u64,
    /// Whether recordings were replayed instead of running programs; their inputs are not known.
    pub recorded: bool,
}

/// The configuration that a cause was established on, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Established {
    /// Day, as year-month-day.
    pub date: &'static str,
    /// The machine's name.
    pub machine: &'static str,
    /// Programs that the study has to contain: means are taken over these.
    pub programs: &'static [&'static str],
    /// Executions of each program, where the claim depends on them.
    pub seeds: Option<u64>,
}

/// Why one or more claims differ.
#[derive(Debug, PartialEq)]
pub struct Cause {
    /// The claims: figure, program (empty for the whole figure), quantity.
    pub claims: &'static [(Figure, &'static str, &'static str)],
    /// The cause in one sentence.
    pub text: &'static str,
    /// The experiment that showed it: a command, or what was varied.
    pub experiment: &'static str,
    /// On what configuration, and when.
    pub established: Established,
    /// Every figure that the text names.
    pub figures: &'static [Named],
}

/// A figure that a cause names.
#[derive(Debug, PartialEq)]
pub struct Named {
    /// The words of the text.
    pub words: &'static str,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a figure comes from.
#[derive(Debug, PartialEq)]
pub enum Origin {
    /// The study itself measures it: the sum of these cells (row, column) of a figure's table.
    Study {
        /// The figure.
        figure: Figure,
        /// Row and column of each cell.
        cells: &'static [(&'static str, &'static str)],
        /// The value when the cause was established.
        was: f64,
        /// The smallest and the largest value for which the cause still holds.
        band: (f64, f64),
    },
    /// The experiment measured it, with another machine or another tool. A study cannot check it.
    Experiment,
    /// It is a setting of the experiment or of the simulator, not a measurement.
    Setting,
}

/// What causes are checked against.
pub struct Evidence<'a> {
    /// The study's conditions.
    pub conditions: &'a Conditions,
    /// The programs that were measured.
    pub programs: Vec<&'a str>,
    /// The tables of all figures; cells are empty where nothing was measured.
    pub tables: Vec<(Figure, Table)>,
}

/// A figure of a cause that has left its band.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// The words of the text.
    pub words: &'static str,
    /// What it was when the cause was established.
    pub was: String,
    /// What it is now.
    pub now: String,
    /// The band.
    pub band: String,
}

/// Why a claim is not reproduced, as far as that is known for a study.
#[derive(Clone, Debug, PartialEq)]
pub enum Explanation {
    /// It follows from the verdict.
    Verdict(String),
    /// There is no cause.
    Unknown,
    /// There is one, but for another configuration.
    Elsewhere(&'static Cause),
    /// There is one for this configuration.
    Established {
        /// The cause.
        cause: &'static Cause,
        /// Figures that have left their band.
        moved: Vec<Moved>,
        /// Figures that this study did not measure although a study can.
        unmeasured: Vec<&'static str>,
    },
}

impl Established {
    /// Whether a study has this configuration.
    fn holds(&self, evidence: &Evidence<'_>) -> bool {
        let conditions = evidence.conditions;
        conditions.machine == self.machine
            && conditions.length == Length::Full
            && !conditions.recorded
            && self.seeds.is_none_or(|seeds| seeds == conditions.seeds)
            && self.programs.iter().all(|name| evidence.programs.contains(name))
    }
}

impl Evidence<'_> {
    /// The sum of these cells and their unit, if all of them were measured.
    fn sum(&self, figure: Figure, cells: &[(&str, &str)]) -> Option<(f64, Unit)> {
        let (_, table) = self.tables.iter().find(|(of, _)| *of == figure)?;
        let mut sum = None;
        for (row, column) in cells {
            let Cell::Number(estimate, unit) = table.cell(row, column)? else { return None };
            let before = sum.map_or(0.0, |(value, _)| value);
            sum = Some((before + estimate.value, *unit));
        }
        sum
    }
}

impl Cause {
    /// What the study says about this cause's figures.
    fn check(&'static self, evidence: &Evidence<'_>) -> Explanation {
        let (mut moved, mut unmeasured) = (Vec::new(), Vec::new());
        for named in self.figures {
            let Origin::Study { figure, cells, was, band: (low, high) } = named.origin else {
                continue;
            };
            let Some((now, unit)) = evidence.sum(figure, cells) else {
                unmeasured.push(named.words);
                continue;
            };
            if !Rule::Between(low, high).holds(now) {
                let text = |value| unit.text(Estimate { value, half_width: None });
                moved.push(Moved {
                    words: named.words,
                    was: text(was),
                    now: text(now),
                    band: format!("{} to {}", text(low), text(high)),
                });
            }
        }
        Explanation::Established { cause: self, moved, unmeasured }
    }

    fn explains(&self, claim: &Claim) -> bool {
        self.claims.contains(&(claim.figure, claim.subject, claim.quantity))
    }
}

/// Why a claim with this verdict is not reproduced; `None` if it is reproduced.
pub fn explain(check: &Check, evidence: &Evidence<'_>) -> Option<Explanation> {
    let claim = check.claim;
    let text = match check.verdict {
        Verdict::Reproduced => return None,
        Verdict::Differs => {
            return Some(match CAUSES.iter().find(|cause| cause.explains(claim)) {
                None => Explanation::Unknown,
                Some(cause) if cause.established.holds(evidence) => cause.check(evidence),
                Some(cause) => Explanation::Elsewhere(cause),
            });
        }
        Verdict::NotMeasured => "no value: see what is missing above".to_owned(),
        Verdict::Undecided => {
            "the sampling error reaches the paper's value; measure longer".to_owned()
        }
        Verdict::NotComparable => match claim.presupposes {
            Some(quantity) if claim.rule != Rule::Beside => {
                let basis = CLAIMS.iter().find(|c| {
                    (c.figure, c.subject, c.quantity) == (claim.figure, claim.subject, quantity)
                });
                let what = basis.map_or(quantity, |basis| basis.what);
                format!("it presupposes the {what}, which differs from the paper's")
            }
            _ => claim.reason.to_owned(),
        },
    };
    Some(Explanation::Verdict(text))
}

impl Explanation {
    /// Figures that have left their band; a cause with any of these is stale.
    pub fn moved(&self) -> &[Moved] {
        match self {
            Self::Established { moved, .. } => moved,
            _ => &[],
        }
    }

    /// The day on which the cause that applies to this study was established.
    pub fn date(&self) -> Option<&'static str> {
        match self {
            Self::Established { cause, .. } => Some(cause.established.date),
            _ => None,
        }
    }
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { words, was, now, band } = self;
        write!(f, "\"{words}\" was {was}, now {now} (band {band})")
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Verdict(text) => f.write_str(text),
            Self::Unknown => f.write_str(UNKNOWN),
            Self::Elsewhere(cause) => {
                let Established { date, machine, programs, seeds } = cause.established;
                write!(f, "cause not established for this configuration; established {date} on ")?;
                write!(f, "{machine}, programs whole ({})", programs.join(", "))?;
                seeds.map_or(Ok(()), |seeds| write!(f, ", {seeds} seeds"))
            }
            Self::Established { cause, moved, unmeasured } => {
                let list = |all: &[&str]| {
                    let quoted: Vec<String> = all.iter().map(|w| format!("\"{w}\"")).collect();
                    quoted.join(", ")
                };
                if !moved.is_empty() {
                    let all: Vec<String> = moved.iter().map(Moved::to_string).collect();
                    write!(f, "stale: {}: ", all.join(", "))?;
                }
                let Cause { text, experiment, established, figures, .. } = cause;
                write!(f, "{text} (established {} by: {experiment}", established.date)?;
                let apart = figures.iter().filter(|named| named.origin == Origin::Experiment);
                let apart: Vec<&str> = apart.map(|named| named.words).collect();
                if !apart.is_empty() {
                    write!(f, "; only that experiment measures {}", list(&apart))?;
                }
                if !unmeasured.is_empty() {
                    write!(f, "; this run did not measure {}", list(unmeasured))?;
                }
                f.write_str(")")
            }
        }
    }
}

#[cfg(test)]
mod tests;
