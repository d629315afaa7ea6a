//! From a study to each figure's table and the values of its claims.

mod durations;
mod micro;
mod programs;
mod seeds;
#[cfg(test)]
pub(crate) mod synthetic;

use crate::causes::Evidence;
use crate::figure::Figure;
use crate::sheet::{Derived, Sheet};
use crate::study::Study;

/// These figures beside the paper's, with the cause of each difference.
pub fn sheets(figures: &[Figure], study: &Study) -> Vec<Sheet> {
    let all: Vec<(Figure, Derived)> =
        Figure::all().map(|figure| (figure, derive(figure, study))).collect();
    let evidence = Evidence {
        conditions: &study.conditions,
        programs: study.measured.iter().map(|measured| measured.subject.name).collect(),
        tables: all.iter().map(|(figure, derived)| (*figure, derived.table.clone())).collect(),
    };
    let wanted = all.iter().filter(|(figure, _)| figures.contains(figure));
    wanted.map(|(figure, derived)| sheet(*figure, derived.clone(), study, &evidence)).collect()
}

fn sheet(figure: Figure, mut derived: Derived, study: &Study, evidence: &Evidence<'_>) -> Sheet {
    for (subject, reason) in &study.missing {
        if figure.concerns(subject) {
            derived.notes.push(format!("{} was not measured: {reason}.", subject.name));
        }
    }
    let mut sheet = Sheet::new(figure, derived, |name| study.asked(name));
    sheet.explain(evidence);
    sheet
}

fn derive(figure: Figure, study: &Study) -> Derived {
    match figure {
        Figure::Fig1 => durations::pools(study),
        Figure::Fig2 => programs::time_by_duration(study),
        Figure::Fig4 => micro::components(study),
        Figure::Fig6 => programs::size_classes(study),
        Figure::Fig13 => programs::allocator(study),
        Figure::Fig14 => programs::malloc(study),
        Figure::Fig15 => durations::xapian(study),
        Figure::Fig16 => durations::xalan(study),
        Figure::Fig17 => micro::entries(study),
        Figure::Fig18 => programs::shares(study),
        Figure::Table1 => micro::validation(study),
        Figure::Table2 => seeds::speedups(study),
    }
}

/// The mean of the values present; `None` if there are none.
fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| crate::ttest::mean(values))
}
