//! A program to launch: its arguments, its input, and what runs beside it.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::time::{SystemTime, UNIX_EPOCH};

use launch::{Allocator, Launched, Options, Paths, prepare};
use results::Run;

use crate::companion::Companion;
use crate::error::Failure;
use crate::monitor::Monitor;
use crate::scratch::Scratch;

/// QEMU's environment variable for its option `-seed`.
const SEED_VARIABLE: &str = "QEMU_RAND_SEED";

/// What the option for the allocator says for the program's own.
const OWN_ALLOCATOR: &str = "none";

/// A program to launch.
pub struct Target {
    /// Name on PATH, or a path.
    pub name: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its stdin, if not this process's.
    pub stdin: Option<File>,
    /// Whether its stdout is discarded.
    pub silent: bool,
    /// Whether QEMU's seed, well-known hash seeds and the environment's size are fixed.
    pub deterministic: bool,
    /// Seed of the randomness that QEMU gives the program.
    pub seed: u64,
    /// The allocator that it runs with.
    pub allocator: Allocator,
    /// The command that runs natively beside it; empty if there is none.
    pub client: Vec<String>,
    /// A folder that is removed with the target.
    pub scratch: Option<Scratch>,
    /// The layout of a deterministic run; see [`Options::layout`].
    pub layout: u64,
}

impl Target {
    /// A program with this process's stdin and stdout.
    pub fn new(name: OsString, args: Vec<OsString>) -> Self {
        Self {
            name,
            args,
            stdin: None,
            silent: false,
            deterministic: false,
            seed: 1,
            allocator: Allocator::Guest,
            client: Vec::new(),
            scratch: None,
            layout: 0,
        }
    }

    /// Sets the seed: in deterministic runs that of everything, seed 1 being the standard layout.
    pub fn seeded(&mut self, deterministic: bool, seed: u64) {
        self.deterministic = deterministic;
        (self.seed, self.layout) = if deterministic { (1, seed - 1) } else { (seed, 0) };
    }

    /// Makes this one of several executions, all deterministic: its seed is further by so much.
    pub fn execution(&mut self, further: u64) {
        self.seeded(true, self.seed + self.layout + further);
    }

    /// The run at its start.
    pub fn begin(&self) -> Run {
        let text = |s: &OsString| s.to_string_lossy().into_owned();
        Run {
            seed: self.seed + self.layout,
            deterministic: self.deterministic,
            ..begin(text(&self.name), self.args.iter().map(text).collect())
        }
    }

    /// Checks everything that can be checked without running it.
    pub fn prepare(&self) -> Result<launch::Prepared, Failure> {
        // An error about the program itself is clearer than one about a missing part.
        launch::resolve(&self.name, &self.args)?;
        let mut options = Options::new(Paths::find()?);
        (options.deterministic, options.layout) = (self.deterministic, self.layout);
        options.allocator = self.allocator.clone();
        Ok(prepare(&self.name, &self.args, options)?)
    }

    /// Starts it and its client. From then on, requests to end go to the monitor.
    pub fn start(
        &mut self,
        prepared: launch::Prepared,
        monitor: &dyn Monitor,
    ) -> Result<(Launched, Option<Companion>), Failure> {
        monitor.stop();
        if let Some(clause) = prepared.lost_privileges() {
            monitor.warning(&clause);
        }
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
        monitor.program_started(launched.stopper(), launched.pid());
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

/// The allocator that an option names: a library, or `none` for the program's own.
pub fn allocator(option: Option<&Path>) -> Allocator {
    match option {
        None => Allocator::Guest,
        Some(path) if path.as_os_str() == OWN_ALLOCATOR => Allocator::Own,
        Some(path) => Allocator::Library(path.to_owned()),
    }
}

/// What is known of a run before it begins.
pub fn begin(program: String, args: Vec<String>) -> Run {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Run {
        program,
        args,
        started: i64::try_from(now).unwrap_or(0),
        git_revision: option_env!("MALLACC_REVISION").map(str::to_owned),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: 1,
        executions: 1,
        ..Run::default()
    }
}
