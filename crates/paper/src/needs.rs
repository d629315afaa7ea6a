//! What has to be measured for a set of figures: each program once, with the configurations of all
//! figures.

use accel::mallacc::MallaccModel;
use accel::registry::{ablations, model_of};
use accel::{Choice, Role};

use crate::figure::Figure;
use crate::subject::{Kind, SUBJECTS, Subject};

/// The baseline's name.
pub const BASELINE: &str = "baseline";
/// Mallacc with 32 entries, the size of the paper's section 6.1.
pub const MALLACC: &str = "mallacc-32";
/// Mallacc with 16 entries, the size that the paper's section 6.2 settles on.
pub const SMALL: &str = "mallacc-16";
/// The limit study.
pub const LIMIT: &str = "limit";
/// Mallacc with 32 entries and its list part only.
pub const LIST_PART: &str = "m32/list";
/// Mallacc with 32 entries and its size-class part only.
pub const CLASS_PART: &str = "m32/size_class";
/// Mallacc with 32 entries and its sampling part only.
pub const SAMPLING_PART: &str = "m32/sampling";
/// The parts of the limit study: one step free at a time.
pub const STEPS: [&str; 3] = ["size_class", "sampling", "list"];
/// Sizes of Figure 17: the even ones of the paper's range, and 25, which the paper names.
pub const SIZES: [u64; 17] = [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 25, 26, 28, 30, 32];

/// A configuration: its name and its content.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// The name by which figures look it up.
    pub name: String,
    /// Accelerator and settings.
    pub accelerator: Choice,
}

/// A program to run, and what it is run for.
#[derive(Debug, PartialEq)]
pub struct Need {
    /// The program.
    pub subject: &'static Subject,
    /// Configurations of the first run; the baseline comes first.
    pub configurations: Vec<Wanted>,
    /// Whether further seeds are needed, with the configurations of [`seed_configurations`].
    pub seeds: bool,
}

/// The name of the limit study with only one step free.
pub fn limit_part(step: &str) -> String {
    format!("limit/{step}")
}

/// The name of Mallacc with this number of entries.
pub fn sized(entries: u64) -> String {
    format!("mallacc-{entries}")
}

/// The baseline, the limit, Mallacc with a number of entries, or one of the declared ablations.
fn wanted(name: &str) -> Wanted {
    let sized = || {
        let entries: i64 = name.strip_prefix("mallacc-")?.parse().ok()?;
        Some(Choice::of(&MallaccModel).with("entries", entries))
    };
    let ablation = || ablations().into_iter().find(|(known, _)| known == name);
    let accelerator = match name {
        LIMIT => Some(Choice::of(model_of(Role::Limit))),
        _ => sized().or_else(|| ablation().map(|(_, choice)| choice)),
    };
    let accelerator = accelerator.unwrap_or_else(Choice::baseline);
    Wanted { name: name.to_owned(), accelerator }
}

/// Configurations of a run with a further seed.
pub fn seed_configurations() -> Vec<Wanted> {
    [BASELINE, MALLACC].map(wanted).to_vec()
}

/// Names of the configurations that a figure reads.
fn configurations(figure: Figure) -> Vec<String> {
    let names: &[&str] = match figure {
        Figure::Fig1 | Figure::Fig2 | Figure::Fig6 | Figure::Fig18 | Figure::Table1 => &[],
        Figure::Fig4 => {
            return STEPS.iter().map(|step| limit_part(step)).chain([LIMIT.into()]).collect();
        }
        Figure::Fig13 => &[SMALL, MALLACC, LIMIT],
        Figure::Fig14 => &[MALLACC, LIMIT, LIST_PART],
        Figure::Fig15 | Figure::Fig16 => &[MALLACC, LIMIT, CLASS_PART, LIST_PART, SAMPLING_PART],
        Figure::Fig17 => {
            let others = [LIMIT, CLASS_PART, LIST_PART, SAMPLING_PART].map(str::to_owned);
            return SIZES.iter().map(|size| sized(*size)).chain(others).collect();
        }
        Figure::Table2 => &[MALLACC],
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// What to measure for these figures, restricted to the named programs if any are named.
pub fn needs(figures: &[Figure], only: &[&str]) -> Vec<Need> {
    let mut needs = Vec::new();
    for subject in SUBJECTS {
        let chosen = only.is_empty() || only.contains(&subject.name);
        let figures: Vec<Figure> =
            figures.iter().copied().filter(|f| f.concerns(subject)).collect();
        if !chosen || figures.is_empty() {
            continue;
        }
        let mut names = vec![BASELINE.to_owned()];
        for name in figures.iter().flat_map(|figure| configurations(*figure)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        needs.push(Need {
            subject,
            configurations: names.iter().map(|name| wanted(name)).collect(),
            seeds: subject.kind == Kind::Program && figures.contains(&Figure::Table2),
        });
    }
    needs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_run_once_for_all_its_figures() {
        let all: Vec<Figure> = Figure::all().collect();
        let needs = needs(&all, &[]);
        assert_eq!(needs.len(), SUBJECTS.len());
        for need in &needs {
            let mut names: Vec<&str> =
                need.configurations.iter().map(|w| w.name.as_str()).collect();
            assert_eq!(names[0], BASELINE);
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{} has a configuration twice", need.subject.name);
        }
    }

    #[test]
    fn a_figure_needs_only_its_programs_and_configurations() {
        let small = needs(&[Figure::Fig17], &["tp_small"]);
        assert_eq!(small.len(), 1);
        assert_eq!(small[0].configurations.len(), 1 + SIZES.len() + 4);
        assert!(!small[0].seeds);
        assert!(needs(&[Figure::Fig17], &["perl"]).is_empty());
        let one = needs(&[Figure::Fig1], &[]);
        assert_eq!((one.len(), one[0].subject.name, one[0].configurations.len()), (1, "perl", 1));
        assert!(needs(&[Figure::Table2], &["perl"])[0].seeds);
    }

    #[test]
    fn only_the_baseline_is_configured_as_the_baseline() {
        let all: Vec<Figure> = Figure::all().collect();
        for wanted in needs(&all, &[]).iter().flat_map(|need| &need.configurations) {
            let baseline = wanted.accelerator.model().role() == Role::Baseline;
            assert_eq!(baseline, wanted.name == BASELINE, "{}", wanted.name);
        }
    }

    #[test]
    fn a_part_is_what_remains_when_the_others_are_off() {
        for (name, text) in [
            (BASELINE, "none"),
            (LIST_PART, "mallacc:entries=32,size_class=off,sampling=off"),
            ("limit/sampling", "limit:size_class=off,list=off"),
            ("mallacc-8", "mallacc:entries=8"),
            (LIMIT, "limit"),
        ] {
            assert_eq!(wanted(name).accelerator, Choice::parse(text).unwrap(), "{name}");
        }
    }
}
