//! `mallacc run`: a program under QEMU, simulated as it runs.

use std::ffi::OsString;
use std::fs::File;
use std::process::Stdio;
use std::time::{Duration, Instant};

use launch::{Launched, Options, Paths, prepare};
use results::{Exit, Run};
use sim::{ConfigSpec, Plan};
use stream::live::{Fate, LiveCounts};

use crate::args::{ProgramArgs, RunArgs};
use crate::companion::Companion;
use crate::error::{Done, FAILED, Failure, SIGNALLED};
use crate::output::Stream;
use crate::session::{self, Finished, Rows};
use crate::workload::Scratch;
use crate::{configs, interrupt, workload};

/// How long a program may take to end itself after Ctrl-C.
const GRACE: Duration = Duration::from_secs(2);
/// QEMU's name for what its option `-seed` sets.
const SEED_VARIABLE: &str = "QEMU_RAND_SEED";

/// A program to launch.
pub struct Target {
    /// Name on PATH, or a path.
    pub name: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its stdin, if not this process's.
    pub stdin: Option<File>,
    /// Whether its stdout is thrown away.
    pub silent: bool,
    /// See [`ProgramArgs`].
    pub deterministic: bool,
    /// See [`ProgramArgs`].
    pub seed: u64,
    /// What runs natively beside it; empty for nothing.
    pub client: Vec<String>,
    /// A folder that goes with the target.
    pub scratch: Option<Scratch>,
    /// The layout of a deterministic run; see [`Options::layout`].
    pub layout: u64,
}

impl Target {
    /// What the options name.
    pub fn from_args(args: &ProgramArgs) -> Result<Self, Failure> {
        let mut target = match (&args.workload, args.command.split_first()) {
            (Some(name), _) => workload::target(name, args.size)?,
            (None, Some((name, rest))) => Self::new(name.clone(), rest.to_vec()),
            (None, None) => return Err(Failure::usage("no program given; try: mallacc run -- ls")),
        };
        (target.deterministic, target.seed) = (args.deterministic, args.seed);
        Ok(target)
    }

    /// A program with this process's stdin and stdout.
    pub fn new(name: OsString, args: Vec<OsString>) -> Self {
        Self {
            name,
            args,
            stdin: None,
            silent: false,
            deterministic: false,
            seed: 1,
            client: Vec::new(),
            scratch: None,
            layout: 0,
        }
    }

    /// The run as it begins.
    pub fn begin(&self) -> Run {
        let text = |s: &OsString| s.to_string_lossy().into_owned();
        Run {
            seed: self.seed + self.layout,
            deterministic: self.deterministic,
            ..session::begin(text(&self.name), self.args.iter().map(text).collect())
        }
    }

    /// Checks everything that can be checked without running it. The second is a warning.
    pub fn prepare(&self) -> Result<(launch::Prepared, Option<String>), Failure> {
        // A program that cannot run is a clearer message than a part that is missing.
        launch::resolve(&self.name, &self.args)?;
        let mut options = Options::new(Paths::find()?);
        (options.deterministic, options.layout) = (self.deterministic, self.layout);
        let prepared = prepare(&self.name, &self.args, options)?;
        let warning = prepared.warning();
        Ok((prepared, warning))
    }

    /// Starts it and its client. From then on Ctrl-C is this process's business.
    pub fn start(
        &mut self,
        prepared: launch::Prepared,
    ) -> Result<(Launched, Option<Companion>), Failure> {
        interrupt::install();
        let (stdin, silent) = (self.stdin.take(), self.silent);
        let (seed, deterministic) = (self.seed, self.deterministic);
        let mut launched = prepared.spawn_with(|command| {
            if let Some(file) = stdin {
                command.stdin(file);
            }
            if silent {
                command.stdout(Stdio::null());
            }
            if !deterministic {
                command.env(SEED_VARIABLE, seed.to_string());
            }
        })?;
        interrupt::watch_program(launched.stopper(), launched.pid());
        let started = match self.client.as_slice() {
            [] => return Ok((launched, None)),
            words => Companion::start(words, launched.pid()),
        };
        match started {
            Ok(companion) => Ok((launched, Some(companion))),
            Err(failure) => {
                let _ = launched.kill();
                let _ = launched.wait();
                Err(failure)
            }
        }
    }
}

/// Runs the command.
pub fn run(args: &RunArgs) -> Done {
    let specs = configs::from_args(&args.simulation)?;
    let mut target = Target::from_args(&args.program)?;
    let checked = target.prepare()?;
    let (output, mut rows) = session::open(&args.report, Stream::Stderr)?;
    let what = (session::plan(&args.simulation), specs.as_slice());
    let (finished, code) = simulate(&mut target, checked, what, &mut rows, args.report.quiet)?;
    session::report(&finished, code, output, &mut rows)
}

/// Runs a program and simulates it. The second is the program's exit status as a shell has it.
pub fn simulate(
    target: &mut Target,
    (prepared, warning): (launch::Prepared, Option<String>),
    what: (Plan, &[ConfigSpec]),
    rows: &mut Rows,
    quiet: bool,
) -> Result<(Finished, u8), Failure> {
    if let Some(warning) = &warning {
        eprintln!("mallacc: warning: {warning}");
    }
    let mut run = target.begin();
    run.warnings.extend(warning.map(|text| format!("{text}.")));
    let (mut launched, companion) = target.start(prepared)?;
    let mut source = launched.source().ok_or_else(|| Failure::failed("the stream is taken"))?;
    let stop = interrupt::install();
    let simulated = session::simulate(run, &mut source, what, rows, stop, quiet);
    let counts = source.counts();
    drop(source);
    let mut finished = match simulated {
        Ok(finished) => finished,
        Err(failure) => {
            let _ = launched.kill();
            let _ = launched.wait();
            return Err(failure);
        }
    };
    finished.interrupted |= interrupt::signal().is_some();
    let fate = end(&mut launched, &finished)?;
    interrupt::forget_program();
    let code = conclude(&mut finished, fate, counts);
    if let Some(failure) = companion.and_then(Companion::finish).filter(|_| !finished.interrupted) {
        finished.run.complete = false;
        finished.run.warnings.push(format!("{failure}."));
    }
    rows.finish(&finished.run);
    Ok((finished, code))
}

/// Lets the program end, or ends it after Ctrl-C.
pub fn end(launched: &mut Launched, finished: &Finished) -> Result<Fate, Failure> {
    let io = |error| Failure::failed(format!("cannot wait for the program: {error}"));
    if finished.stopped_early || finished.error.is_some() {
        launched.detach();
    }
    match interrupt::signal() {
        Some(signal) if finished.interrupted => stop(launched, signal).map_err(io),
        _ => launched.wait().map_err(io),
    }
}

/// Asks a program to end by a signal, and insists after a while.
pub fn stop(launched: &mut Launched, signal: i32) -> std::io::Result<Fate> {
    let deadline = Instant::now() + GRACE;
    if let Ok(pid) = i32::try_from(launched.pid()) {
        // SAFETY: kill(2) with the number of a child that was not waited for yet.
        unsafe { libc::kill(pid, signal) };
    }
    while Instant::now() < deadline {
        match launched.try_wait()? {
            Fate::Running => std::thread::sleep(Duration::from_millis(10)),
            fate => return Ok(fate),
        }
    }
    launched.kill()?;
    launched.wait()
}

/// Adds how the program ended; its exit status as a shell has it.
fn conclude(finished: &mut Finished, fate: Fate, counts: LiveCounts) -> u8 {
    let run = &mut finished.run;
    if counts.broken_markers > 0 {
        run.warnings.push(format!(
            "{} markers in the program lack their operand stores and were ignored; build its \
             allocator with guest/include/mallacc.h.",
            counts.broken_markers
        ));
    }
    if finished.interrupted {
        run.complete = false;
        run.exit = None;
        let text = "interrupted: the figures cover what ran until then.".to_owned();
        if !run.warnings.contains(&text) {
            run.warnings.push(text);
        }
        return SIGNALLED + interrupt::signal().unwrap_or(libc::SIGINT) as u8;
    }
    run.exit = match fate {
        Fate::Exited(code) => Some(Exit::Code(code)),
        Fate::Killed(signal) => Some(Exit::Signal(signal)),
        Fate::Running | Fate::Unknown => run.exit,
    };
    exit_status(run.exit)
}

/// The exit status that a shell would show.
pub fn exit_status(exit: Option<Exit>) -> u8 {
    match exit {
        Some(Exit::Code(code)) => code as u8,
        Some(Exit::Signal(signal)) => SIGNALLED.wrapping_add(signal as u8),
        None => FAILED,
    }
}
