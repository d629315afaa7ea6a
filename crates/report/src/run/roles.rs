//! The configurations that a chart shows, and their looks throughout the page.

use results::{Configuration, Run};

use crate::chart::Look;

/// A configuration with its look.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The configuration.
    pub item: &'a Configuration,
    /// Its look.
    pub look: Look,
}

/// All configurations: the baseline, the headline and the limit study have their own looks.
pub fn all(run: &Run) -> Vec<Shown<'_>> {
    let headline = run.headline_configuration().map(|item| item.name.as_str());
    let machine = machine(run);
    // The first of the machine; a baseline of an invalid run keeps its look.
    let is_of_machine = |item: &&Configuration| Some(item.machine.as_str()) == machine;
    let mut here = run.configurations.iter().filter(is_of_machine);
    let baseline = here.find(|item| item.is_baseline()).map(|item| item.name.as_str());
    let mut others = 0;
    let look = |item: &Configuration| {
        let here = is_of_machine(&item);
        if here && baseline == Some(&item.name) {
            return Look::BASELINE;
        }
        if headline == Some(&item.name) {
            return Look::MAIN;
        }
        if here && run.limit_of(&item.machine).is_some_and(|limit| limit.name == item.name) {
            return Look::LIMIT;
        }
        others += 1;
        Look::other(others - 1)
    };
    let looks: Vec<Look> = run.configurations.iter().map(look).collect();
    run.configurations.iter().zip(looks).map(|(item, look)| Shown { item, look }).collect()
}

/// The machine of the headline.
fn machine(run: &Run) -> Option<&str> {
    let chosen = run.headline_configuration().or(run.configurations.first());
    chosen.map(|item| item.machine.as_str())
}

/// Maximum number shown if fewer than two of baseline, headline and limit exist.
const SHOWN_MAX: usize = 4;

/// Baseline, headline and limit; if fewer than two of them exist, the first configurations.
pub fn main(run: &Run) -> Vec<Shown<'_>> {
    let all = all(run);
    let main = [Look::BASELINE, Look::MAIN, Look::LIMIT];
    let chosen: Vec<Shown> = main
        .iter()
        .filter_map(|look| all.iter().find(|shown| shown.look == *look))
        .copied()
        .collect();
    if chosen.len() < 2 { all.into_iter().take(SHOWN_MAX).collect() } else { chosen }
}
