//! One stream, many machines, one thread each.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use accel::Choice;
use decode::Decoder;
use params::ConfigError;
use stream::{Packet, Source, StreamError};
use uarch::{CodeView, Machine};

use crate::align::{Aligner, Caller};
use crate::batch::Batch;
use crate::measured::Measured;
use crate::plan::{Plan, Planner};
use crate::worker::Worker;
use results::MarkerCounts;

/// Batches that may wait for the slowest machine: with packets of up to 64 Ki words this bounds
/// the memory between stream and machines to a few tens of megabytes.
const BATCHES_IN_FLIGHT: usize = 8;

/// One configuration: a machine with an accelerator.
#[derive(Clone, Debug)]
pub struct ConfigSpec {
    /// Name in reports, unique in a run.
    pub name: String,
    /// The machine.
    pub machine: Machine,
    /// The accelerator.
    pub accelerator: Choice,
    /// Whether the run is about this accelerator.
    pub subject: bool,
}

/// Facts about the stream itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamFacts {
    /// Instructions executed up to where reading stopped.
    pub instructions: u64,
    /// Instructions that the measurement represents.
    pub population: u64,
    /// Only samples were counted.
    pub sampled: bool,
    /// Regions of interest begun.
    pub regions: u64,
    /// Threads.
    pub threads: u64,
    /// Switches between threads.
    pub context_switches: u64,
    /// Children that left the stream.
    pub forks: u64,
    /// Images that replaced the program.
    pub execs: u64,
    /// Payload of the exit event, if it came.
    pub exit: Option<u64>,
    /// Begins and ends of allocator calls over the whole stream, measured or not.
    pub markers: MarkerCounts,
    /// The code that called the allocator.
    pub callers: Vec<Caller>,
    /// Memory accesses beyond what the decoded instructions explain.
    pub extra_accesses: u64,
    /// Instructions that are not in the instruction table, with how often they were executed, the
    /// most frequent first.
    pub unknown_instructions: Vec<(String, u64)>,
    /// The end of the plan was reached before the end of the stream.
    pub stopped_early: bool,
    /// The user stopped it.
    pub interrupted: bool,
    /// Simulations of each machine, by seeds, that saw the whole stream.
    pub seeds: u64,
}

/// The result of a run.
pub struct Outcome {
    /// Facts about the stream.
    pub facts: StreamFacts,
    /// What each machine measured, in the order of the configurations.
    pub measured: Vec<Measured>,
    /// The stream failed here; everything measured until then is valid.
    pub error: Option<StreamError>,
}

/// Why a run could not start, or a machine failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A configuration is not valid.
    #[error("configuration {name}: {error}")]
    Config {
        /// Its name.
        name: String,
        /// What is wrong.
        error: ConfigError,
    },
    /// A machine's thread panicked: a defect of the simulator.
    #[error(
        "configuration {0}: its simulation stopped because of an internal error; please report it"
    )]
    Machine(String),
}

/// Observes the progress of a run.
pub trait Progress {
    /// After each packet: instructions executed so far.
    fn instructions(&mut self, executed: u64);
}

impl Progress for () {
    fn instructions(&mut self, _executed: u64) {}
}

/// Runs the stream through all configurations. `stop` ends it early at a packet boundary.
pub fn run(
    source: &mut dyn Source,
    plan: Plan,
    specs: &[ConfigSpec],
    stop: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<Outcome, RunError> {
    let views = views(specs)?;
    let decoders = views.iter().map(|view| view.decoder()).collect();
    // First every machine as described, then all of them with each further seed.
    let workers = (0..plan.seeds.count.max(1))
        .flat_map(|seed| specs.iter().map(move |spec| (spec, seed)))
        .map(|(spec, seed)| worker(spec, seed, &views))
        .collect::<Result<Vec<_>, _>>()?;
    thread::scope(|scope| {
        let mut senders = Vec::new();
        let mut handles = Vec::new();
        for worker in workers {
            let (sender, receiver) = sync_channel::<Arc<Batch>>(BATCHES_IN_FLIGHT);
            senders.push(sender);
            handles.push(scope.spawn(move || worker.run(&receiver)));
        }
        let replicates = senders.split_off(specs.len());
        let senders = Senders { described: senders, replicates };
        let (facts, error) = feed(source, decoders, plan, senders, stop, progress);
        let mut measured: Vec<Measured> = Vec::new();
        for (handle, (at, spec)) in handles.into_iter().zip(specs.iter().enumerate().cycle()) {
            let one = handle.join().map_err(|_| RunError::Machine(spec.name.clone()))?;
            match measured.get_mut(at) {
                None => measured.push(one),
                Some(described) if facts.seeds > 1 => described.replicates.push(one),
                Some(_) => {}
            }
        }
        Ok(Outcome { facts, measured, error })
    })
}

/// The channels to the machines.
struct Senders {
    described: Vec<SyncSender<Arc<Batch>>>,
    /// Those of further seeds; empty once they are given up.
    replicates: Vec<SyncSender<Arc<Batch>>>,
}

impl Senders {
    /// A machine that failed has closed its channel; the others continue.
    fn send(&self, batch: Batch) {
        let batch = Arc::new(batch);
        for sender in self.described.iter().chain(&self.replicates) {
            let _ = sender.send(Arc::clone(&batch));
        }
    }
}

/// The distinct views of code among the machines; the default machine's if there are none.
fn views(specs: &[ConfigSpec]) -> Result<Vec<CodeView>, RunError> {
    let mut views = Vec::new();
    for spec in specs {
        let view = spec.machine.view().map_err(|error| spec.refused(error))?;
        if !views.contains(&view) {
            views.push(view);
        }
    }
    if views.is_empty() {
        views.push(CodeView::default());
    }
    Ok(views)
}

/// A machine with its own seed and this many more.
fn worker(spec: &ConfigSpec, seed: u64, views: &[CodeView]) -> Result<Worker, RunError> {
    let refused = |error| spec.refused(error);
    let accelerator = spec.accelerator.build().map_err(refused)?;
    let view = spec.machine.view().map_err(refused)?;
    let at = views.iter().position(|known| *known == view).unwrap_or(0);
    let machine = spec.with_seed(seed).machine;
    Ok(Worker::new(machine.build(accelerator).map_err(refused)?, at, machine.memory.seed))
}

impl ConfigSpec {
    /// A configuration that is not the run's subject.
    pub fn new(name: impl Into<String>, machine: Machine, accelerator: Choice) -> Self {
        Self { name: name.into(), machine, accelerator, subject: false }
    }

    /// The same with a seed further by this much.
    #[must_use]
    pub fn with_seed(&self, further: u64) -> Self {
        let mut spec = self.clone();
        spec.machine.memory.seed = spec.machine.memory.seed.wrapping_add(further);
        spec
    }

    fn refused(&self, error: ConfigError) -> RunError {
        RunError::Config { name: self.name.clone(), error }
    }
}

/// Reads the source until its end, the end of the plan, or the user's stop.
fn feed(
    source: &mut dyn Source,
    decoders: Vec<Decoder>,
    plan: Plan,
    mut senders: Senders,
    stop: &AtomicBool,
    progress: &mut dyn Progress,
) -> (StreamFacts, Option<StreamError>) {
    let mut aligner = Aligner::new(decoders);
    let mut planner = Planner::new(plan);
    let mut batch = Batch::default();
    let mut packet = Packet::default();
    let mut error = None;
    let mut facts = StreamFacts::default();
    loop {
        if stop.load(Ordering::Relaxed) {
            facts.interrupted = true;
            break;
        }
        match source.next(&mut packet) {
            Ok(true) => {}
            Ok(false) => break,
            Err(e) => {
                error = Some(e);
                break;
            }
        }
        if let Err(e) = aligner.packet(&packet, &mut planner, &mut batch) {
            error = Some(e);
            break;
        }
        progress.instructions(planner.executed);
        if !plan.seeds.go_on(planner.executed, planner.sampled) {
            senders.replicates.clear();
        }
        senders.send(aligner.take(&mut batch));
        if planner.finished {
            facts.stopped_early = true;
            break;
        }
    }
    aligner.end(&mut batch);
    planner.end(&mut batch.items);
    senders.send(batch);
    facts.seeds = if senders.replicates.is_empty() { 1 } else { plan.seeds.count };
    facts.instructions = planner.executed;
    facts.population = planner.population;
    facts.sampled = planner.sampled;
    facts.regions = planner.regions;
    facts.threads = aligner.threads;
    facts.context_switches = aligner.context_switches;
    facts.forks = aligner.forks;
    facts.execs = aligner.execs;
    facts.exit = aligner.exit;
    facts.callers = aligner.callers();
    facts.markers = aligner.balance.counts_so_far();
    facts.extra_accesses = aligner.extra_accesses;
    facts.unknown_instructions = aligner.unknown();
    (facts, error)
}
