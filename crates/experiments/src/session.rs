//! One simulation, from its plan to its run and its rows in the store.

use std::path::Path;
use std::time::Instant;

use accel::Checks;
use results::store::{Store, StoreError};
use results::text::number::count;
use results::{Configuration, Run};
use sim::{ConfigSpec, Outcome, Plan, StreamFacts};
use stream::{Source, StreamError};
use uarch::Machine;

use crate::call_sites::CallSites;
use crate::error::Failure;
use crate::fill;
use crate::monitor::{Instructions, Monitor};
use crate::unmeasured;

/// The destination of a run's rows; failures are kept until the report is written.
pub struct Rows {
    store: Option<Store>,
    label: Option<String>,
    id: Option<i64>,
    failure: Option<Failure>,
}

impl Rows {
    /// Opens a store; without one, rows are discarded. Fails before anything runs.
    pub fn open(store: Option<&Path>) -> Result<Self, Failure> {
        let store = store.map(Store::open).transpose()?;
        Ok(Self { store, label: None, id: None, failure: None })
    }

    /// Gives the runs that begin from now on this label, whether they are stored or not.
    #[must_use]
    pub fn labelled(self, label: Option<String>) -> Self {
        Self { label, ..self }
    }

    fn attempt<T>(
        &mut self,
        act: impl FnOnce(&mut Store, Option<i64>) -> Result<T, StoreError>,
    ) -> Option<T> {
        let (Some(store), None) = (&mut self.store, &self.failure) else { return None };
        match act(store, self.id) {
            Ok(value) => Some(value),
            Err(error) => {
                self.failure = Some(error.into());
                None
            }
        }
    }

    fn begin(&mut self, run: &mut Run) {
        run.label.clone_from(&self.label);
        self.id = None;
        self.id = self.attempt(|store, _| store.begin_run(run));
        run.id = self.id;
    }

    fn configuration(&mut self, position: usize, run: &Run) {
        let item = &run.configurations[position];
        self.attempt(|store, id| match id {
            Some(id) => store.finish_configuration(id, position, item),
            None => Ok(()),
        });
    }

    /// Writes the replicates of all configurations anew.
    pub fn replicates(&mut self, run: &Run) {
        for (position, item) in run.configurations.iter().enumerate() {
            self.attempt(|store, id| match id {
                Some(id) => store.set_replicates(id, position, &item.replicates),
                None => Ok(()),
            });
        }
    }

    /// Updates the run's own row.
    pub fn finish(&mut self, run: &Run) {
        self.attempt(|store, id| id.map_or(Ok(()), |id| store.finish_run(id, run)));
    }

    /// What went wrong with the store, if anything did.
    pub fn failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }
}

/// A run that was simulated.
pub struct Finished {
    /// What was measured.
    pub run: Run,
    /// The stream ended prematurely.
    pub error: Option<StreamError>,
    /// The planned end came before the program's.
    pub stopped_early: bool,
    /// Interrupted by Ctrl-C.
    pub interrupted: bool,
    /// What accelerators checked against the program, over all configurations: one entry for each
    /// kind of check.
    pub checks: Vec<Checks>,
}

impl Finished {
    /// What the failed checks and the balance of calls found, as a clause; `None` if all held.
    pub fn fault(&self) -> Option<String> {
        let mut failed: Vec<String> = self
            .checks
            .iter()
            .filter(|check| check.failed > 0)
            .map(|check| format!("{} {} {}", check.failed, check.what, check.failure))
            .collect();
        if let Some(broken @ 1..) = self.run.markers.map(|markers| markers.broken) {
            failed.push(format!("{broken} begins, ends and returns of calls do not match"));
        }
        (!failed.is_empty()).then(|| failed.join(", "))
    }
}

/// Adds up checks of the same kind.
pub fn add_checks(sums: &mut Vec<Checks>, more: impl IntoIterator<Item = Checks>) {
    for check in more.into_iter().filter(|check| check.made > 0 || check.failed > 0) {
        match sums.iter_mut().find(|sum| sum.what == check.what && sum.failure == check.failure) {
            Some(sum) => {
                sum.made += check.made;
                sum.failed += check.failed;
            }
            None => sums.push(check),
        }
    }
}

/// Simulates a stream; the configurations are stored when this returns.
pub fn simulate(
    mut run: Run,
    source: &mut dyn Source,
    (plan, specs): (Plan, &[ConfigSpec]),
    rows: &mut Rows,
    monitor: &dyn Monitor,
) -> Result<Finished, Failure> {
    (run.skip, run.max) = (plan.skip, plan.max);
    run.schema = sim::declared();
    run.warnings.extend(changed_machines(specs));
    rows.begin(&mut run);
    let begun = Instant::now();
    let mut line = Instructions(monitor.progress(&run.program));
    let outcome = sim::run(source, plan, specs, monitor.stop(), &mut line)?;
    drop(line);
    run.host_seconds = begun.elapsed().as_secs_f64();
    describe(&mut run, &plan, &outcome);
    run.schema = fill::schema(&outcome);
    let sites = CallSites::of(&outcome);
    for (index, spec) in specs.iter().enumerate() {
        let call_sites = sites.under(&outcome.measured[index]);
        let item = fill::configuration(spec, &outcome, index);
        run.configurations.push(Configuration { call_sites, ..item });
        rows.configuration(index, &run);
    }
    let unknown = unknown_instructions(&outcome.facts, run.configurations.first());
    run.warnings.extend(unknown);
    rows.finish(&run);
    let mut checks = Vec::new();
    add_checks(&mut checks, outcome.measured.iter().map(|measured| measured.checks));
    Ok(Finished {
        run,
        checks,
        stopped_early: outcome.facts.stopped_early,
        interrupted: outcome.facts.interrupted,
        error: outcome.error,
    })
}

/// Changed values of a machine that a warning names.
const CHANGES_NAMED: usize = 6;

/// Says of each machine that is none of the built-in ones how it differs from the nearest.
fn changed_machines(specs: &[ConfigSpec]) -> Vec<String> {
    // The configurations of a machine stand together.
    let mut machines: Vec<&Machine> = specs.iter().map(|spec| &spec.machine).collect();
    machines.dedup_by_key(|machine| &machine.name);
    let changed = machines.into_iter().filter_map(|machine| Some((machine, machine.changes()?)));
    changed
        .map(|(machine, changes)| {
            let named = first_of(&changes.changed, CHANGES_NAMED);
            format!("machine {} is {} with {named}.", machine.name, changes.base)
        })
        .collect()
}

/// At most `most` of these, and how many there are more.
fn first_of(all: &[String], most: usize) -> String {
    let named = all[..all.len().min(most)].join(", ");
    match all.len().saturating_sub(most) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// Unknown instructions that a warning names.
const UNKNOWN_NAMED: usize = 4;

/// Cycles of an instruction that would be slow, for saying what unknown ones could change.
const SLOW_CYCLES: f64 = 100.0;

/// Names the instructions that have no entry in the instruction table, and what share of the cycles
/// of a configuration they could make up.
fn unknown_instructions(facts: &StreamFacts, item: Option<&Configuration>) -> Option<String> {
    let all = &facts.unknown_instructions;
    let executed = all.iter().map(|(_, times)| times).sum::<u64>();
    if executed == 0 {
        return None;
    }
    let named: Vec<String> =
        all.iter().map(|(name, times)| format!("{name} ({})", count(*times))).collect();
    let share = executed as f64 / facts.instructions.max(1) as f64;
    let ipc = item.map_or(0.0, |item| item.instructions as f64 / item.cycles.max(1) as f64);
    Some(format!(
        "not in the instruction table, counted as one uop of one cycle each: {}. If each took \
         {SLOW_CYCLES} cycles, that would be {:.4} % of all cycles.",
        first_of(&named, UNKNOWN_NAMED),
        100.0 * share * SLOW_CYCLES * ipc
    ))
}

/// What the stream reported, as facts and warnings.
fn describe(run: &mut Run, plan: &Plan, outcome: &Outcome) {
    let facts = &outcome.facts;
    run.instructions = facts.instructions;
    run.threads = facts.threads.max(1);
    run.context_switches = facts.context_switches;
    run.forked_children = facts.forks;
    run.markers = Some(facts.markers);
    run.execs = facts.execs;
    run.exit = facts.exit.map(fill::exit);
    run.roi = plan.roi_only || facts.regions > 0;
    run.complete = outcome.error.is_none() && !facts.interrupted;
    let samples = outcome.measured.first().map_or(0, |measured| measured.points.len());
    run.sampling = fill::sampling(plan, facts, samples);
    if let Some(error) = &outcome.error {
        run.warnings.push(format!("the instruction stream broke off: {error}."));
    }
    if facts.interrupted {
        run.warnings.push("interrupted: the figures cover what ran until then.".into());
    }
    run.unmeasured = unmeasured::by_plan(plan, facts, samples);
}
