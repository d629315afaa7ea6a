//! Measures what the paper's figures need: each program once, with all configurations, and again
//! for further seeds.
//!
//! If a program cannot be measured (a package is missing, it fails), one sentence says so, and the
//! others go on. After Ctrl-C nothing new is started; what was finished is kept.

use std::path::{Path, PathBuf};

use paper::causes::{Conditions, Length};
use paper::needs::{Wanted, seed_configurations};
use paper::{Kind, Measured, Need, Study, Subject};
use results::store::Store;
use results::{Exit, Run, Sampling};
use sim::{ConfigSpec, Plan, Sample};
use stream::file::FileSource;
use uarch::Machine;

use crate::error::Failure;
use crate::micro::{self, Steps};
use crate::monitor::Monitor;
use crate::plan::{BUDGET_INSTRUCTIONS, Seeds};
use crate::run::simulate;
use crate::scratch;
use crate::session::{self, Finished, Rows};
use crate::target::{self, Target};
use crate::workload::{self, Size};

/// The sampling grid of programs: four times as dense as the usual one, because allocator calls are
/// rare in some of them.
const GRID: Sample = Sample { period: 500_000, warm: 60_000, measure: 40_000 };
/// What a quick study skips of each program, and what it measures, in instructions.
const QUICK_SKIP: u64 = 40_000_000;
const QUICK_MAX: u64 = 8_000_000;

/// How programs are measured.
pub struct Settings {
    /// Small inputs and short stretches.
    pub quick: bool,
    /// Runs of each program of Table 2.
    pub seeds: u64,
    /// Where recordings are.
    pub recorded: Option<PathBuf>,
    /// The machine.
    pub machine: Machine,
    /// A store whose runs may be reused.
    pub resume: Option<PathBuf>,
}

impl Settings {
    /// A program's recording, if there is one.
    fn trace(&self, subject: &Subject) -> Option<PathBuf> {
        let path = self.recorded.as_ref()?.join(format!("{}.mtrace", subject.name));
        path.is_file().then_some(path)
    }
}

/// One execution.
struct Execution<'a> {
    subject: &'static Subject,
    specs: &'a [ConfigSpec],
    plan: Plan,
    /// The seed's number, 0 being the first.
    seed: u64,
}

/// Measures everything that is needed.
pub fn measure(
    needs: &[Need],
    settings: &Settings,
    rows: &mut Rows,
    monitor: &dyn Monitor,
) -> Result<Study, Failure> {
    let machine = &settings.machine;
    let stored = settings.resume.as_deref().map(stored).transpose()?.unwrap_or_default();
    let few = specs(&seed_configurations(), machine);
    let conditions = conditions(settings);
    let mut study = Study { machine: head(machine), conditions, ..Study::default() };
    for (index, need) in needs.iter().enumerate() {
        let all = specs(&need.configurations, machine);
        let mut measured: Option<Measured> = None;
        // A recording has only one layout.
        let seeds = need.seeds && settings.trace(need.subject).is_none();
        for seed in 0..if seeds { settings.seeds } else { 1 } {
            let specs = if seed == 0 { &all } else { &few };
            let plan = plan(need.subject, settings.quick);
            let execution = Execution { subject: need.subject, specs, plan, seed };
            monitor.step(&format!(
                "{}/{} {}, seed {}, {} configurations",
                index + 1,
                needs.len(),
                need.subject.name,
                seed + 1,
                specs.len()
            ));
            match execution.run(settings, &stored, rows, monitor) {
                Ok(run) => match &mut measured {
                    None => {
                        let subject = need.subject;
                        measured = Some(Measured { subject, run, seeds: Vec::new() });
                    }
                    Some(measured) => measured.seeds.push(run),
                },
                Err(failure) => {
                    monitor.problem(&format!("{}: {}", need.subject.name, failure.text));
                    study.missing.push((need.subject, failure.text));
                    break;
                }
            }
        }
        study.measured.extend(measured);
    }
    Ok(study)
}

/// The conditions that causes depend on.
fn conditions(settings: &Settings) -> Conditions {
    Conditions {
        machine: identity(&settings.machine),
        length: if settings.quick { Length::Quick } else { Length::Full },
        seeds: settings.seeds,
        recorded: settings.recorded.is_some(),
    }
}

/// A machine's name, if it is exactly the built-in one with that name. A file that merely uses the
/// name is another machine.
fn identity(machine: &Machine) -> String {
    let built_in = uarch::machine::BUILT_IN.iter().any(|(name, _)| {
        let same = |known: Machine| known.resolved() == machine.resolved();
        Machine::find(name).is_ok_and(|known| same(known.clone()) || same(known.user_level()))
    });
    if built_in { machine.name.clone() } else { format!("{} (not built in)", machine.name) }
}

/// The machine that was measured, in a sentence.
fn head(machine: &Machine) -> String {
    let kernel = match (machine.core.syscall, machine.memory.page_fault.cycles) {
        (0, 0) => "as in the paper's user-level simulator, system calls and page faults take no \
                   time (--kernel: they do)"
            .to_owned(),
        (syscall, fault) => {
            format!("a system call takes {syscall} cycles, a page fault {fault}")
        }
    };
    format!("Machine {}: {kernel}.", machine.name)
}

/// The runs of a store, without their details.
fn stored(path: &Path) -> Result<Vec<Run>, Failure> {
    if path.exists() { Ok(Store::open_existing(path)?.list()?) } else { Ok(Vec::new()) }
}

fn specs(wanted: &[Wanted], machine: &Machine) -> Vec<ConfigSpec> {
    let spec = |wanted: &Wanted| {
        let spec = ConfigSpec::new(&wanted.name, machine.clone(), wanted.accelerator.clone());
        ConfigSpec { subject: wanted.name == paper::needs::MALLACC, ..spec }
    };
    wanted.iter().map(spec).collect()
}

/// Microbenchmarks are simulated whole up to the usual budget. Programs are sampled from the start;
/// in quick studies a stretch after their start is simulated whole. Seeds use the same plan: they
/// vary the program's layout, so their spread is that of runs and not of sampling.
fn plan(subject: &Subject, quick: bool) -> Plan {
    let whole = Plan {
        skip: 0,
        max: None,
        sample: GRID,
        budget: Some(BUDGET_INSTRUCTIONS),
        roi_only: false,
        seeds: Seeds::ONE,
    };
    match (subject.kind, quick) {
        (Kind::Micro, _) => whole,
        (Kind::Program, false) => Plan { budget: Some(0), ..whole },
        (Kind::Program, true) => Plan { skip: QUICK_SKIP, max: Some(QUICK_MAX), ..whole },
    }
}

impl Execution<'_> {
    /// The finished run: from the store, from a recording, or live.
    fn run(
        &self,
        settings: &Settings,
        stored: &[Run],
        rows: &mut Rows,
        monitor: &dyn Monitor,
    ) -> Result<Run, Failure> {
        if monitor.signal().is_some() {
            return Err(Failure::failed("interrupted before it ran"));
        }
        let finished = match settings.trace(self.subject) {
            Some(path) => self.replay(&path, rows, monitor)?,
            None => {
                let mut target = self.target(settings)?;
                (target.deterministic, target.layout) = (true, self.seed);
                if let (Some(path), Some(run)) = (&settings.resume, self.find(&target, stored))
                    && let Some(id) = run.id
                {
                    return Ok(Store::open_existing(path)?.load(id)?);
                }
                let what = (self.plan, self.specs);
                let checked = target.prepare()?;
                simulate(&mut target, checked, what, rows, monitor)?.0
            }
        };
        self.judge(finished, rows)
    }

    /// The program with its input.
    fn target(&self, settings: &Settings) -> Result<Target, Failure> {
        let name = self.subject.name;
        let mut target = match self.subject.kind {
            Kind::Micro => micro::target(name, Steps::usual(settings.quick))?,
            Kind::Program => workload::target(name, Size::Full)?,
        };
        target.silent = true;
        Ok(target)
    }

    fn replay(
        &self,
        path: &Path,
        rows: &mut Rows,
        monitor: &dyn Monitor,
    ) -> Result<Finished, Failure> {
        let mut source = FileSource::open(path)?;
        let header = source.header();
        let run = target::begin(header.program.clone(), header.args.clone());
        let what = (self.plan, self.specs);
        session::simulate(run, &mut source, what, rows, monitor)
    }

    /// A stored run of the same program with the same plan and at least these configurations, made
    /// by the same revision.
    fn find<'a>(&self, target: &Target, stored: &'a [Run]) -> Option<&'a Run> {
        let fresh = target.begin();
        stored.iter().rev().find(|run| {
            run.complete
                && run.program == self.subject.name
                && same_args(&run.args, &fresh.args)
                && (run.seed, run.deterministic) == (fresh.seed, fresh.deterministic)
                && (run.skip, run.max) == (self.plan.skip, self.plan.max)
                && run.sampling.is_none_or(|sampling| grid(sampling) == self.plan.sample)
                && run.sampling.is_some() == (self.plan.budget == Some(0))
                && run.git_revision == fresh.git_revision
                && run.tool_version == fresh.tool_version
                && self.specs.iter().all(|spec| {
                    let resolved = spec.machine.resolved();
                    run.configurations
                        .iter()
                        .any(|c| c.name == spec.name && c.resolved_machine == resolved)
                })
        })
    }

    /// Stores the run under the program's name if it is complete; otherwise says why it is not.
    fn judge(&self, mut finished: Finished, rows: &mut Rows) -> Result<Run, Failure> {
        finished.run.program = self.subject.name.to_owned();
        rows.finish(&finished.run);
        let fault = finished.fault();
        let run = finished.run;
        if finished.interrupted {
            let place = run.id.map(|id| format!("; run {id} holds what ran until then"));
            let text = format!("interrupted{}", place.unwrap_or_default());
            return Err(Failure::failed(text));
        }
        if let Some(error) = finished.error {
            return Err(Failure::failed(error.to_string()));
        }
        if let Some(fault) = fault {
            return Err(Failure::failed(fault));
        }
        match run.exit {
            None | Some(Exit::Code(0)) if run.complete => Ok(run),
            None | Some(Exit::Code(0)) => {
                let why = run.warnings.last().map_or("it is incomplete", String::as_str);
                Err(Failure::failed(why.trim_end_matches('.').to_owned()))
            }
            Some(Exit::Code(code)) => {
                let hint = "`mallacc run --workload` shows its messages";
                Err(Failure::failed(format!("the program ended with status {code}; {hint}")))
            }
            Some(Exit::Signal(signal)) => {
                Err(Failure::failed(format!("signal {signal} killed the program")))
            }
        }
    }
}

fn grid(sampling: Sampling) -> Sample {
    Sample { period: sampling.period, warm: sampling.warm, measure: sampling.measure }
}

/// Equal except for folders that are created for each run.
fn same_args(one: &[String], other: &[String]) -> bool {
    let same =
        |a: &String, b: &String| a == b || [a, b].iter().all(|arg| arg.contains(scratch::PREFIX));
    one.len() == other.len() && one.iter().zip(other).all(|(a, b)| same(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_sampled_and_microbenchmarks_are_not() {
        let (program, micro) = (Subject::find("perl").unwrap(), Subject::find("tp").unwrap());
        assert_eq!(plan(program, false), Plan { budget: Some(0), ..plan(micro, false) });
        let quick = plan(program, true);
        assert_eq!((quick.skip, quick.max), (QUICK_SKIP, Some(QUICK_MAX)));
        // Within the budget, so it is not sampled.
        assert!(quick.budget.unwrap() > QUICK_MAX);
        assert_eq!(plan(micro, true), plan(micro, false));
    }

    #[test]
    fn only_the_built_in_machine_goes_by_its_name() {
        let machine = Machine::find("haswell").unwrap();
        assert_eq!(identity(&machine), "haswell");
        assert_eq!(identity(&machine.clone().user_level()), "haswell-user");
        let mut changed = machine.user_level();
        changed.core.retire_width += 1;
        assert_eq!(identity(&changed), "haswell-user (not built in)");
    }

    #[test]
    fn all_wanted_configurations_can_be_built() {
        let machine = Machine::find("haswell").unwrap();
        let figures: Vec<paper::Figure> = paper::Figure::all().collect();
        for need in paper::needs(&figures, &[]) {
            for spec in specs(&need.configurations, &machine) {
                spec.accelerator.build().unwrap();
            }
        }
    }

    #[test]
    fn arguments_are_the_same_but_for_fresh_folders() {
        let args = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        let scratch = |n: u32| args(&format!("--unixsocket /tmp/{}{n}/s 5", scratch::PREFIX));
        assert!(same_args(&scratch(1), &scratch(2)));
        assert!(!same_args(&args("a b"), &args("a c")) && !same_args(&args("a"), &args("a b")));
    }
}
