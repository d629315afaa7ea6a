//! One execution of one program.

use serde::{Deserialize, Serialize};
use stats::Schema;

use super::configuration::Configuration;

/// One execution of one program, fed to all its configurations at once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The store's number for this run; `None` until it is stored.
    pub id: Option<i64>,
    /// The user's name for the run.
    #[serde(default)]
    pub label: Option<String>,
    /// The program as the user named it.
    pub program: String,
    /// Its arguments, without the program itself.
    pub args: Vec<String>,
    /// When the run began, in seconds since 1970-01-01 UTC.
    pub started: i64,
    /// The git revision of the tool, if it was built from a checkout.
    pub git_revision: Option<String>,
    /// The version of the tool.
    pub tool_version: String,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Whether the program's own sources of randomness were fixed.
    pub deterministic: bool,
    /// Executions of the program; the replicates of its configurations are theirs if there were
    /// several.
    pub executions: u64,
    /// Wall-clock seconds on the host.
    pub host_seconds: f64,
    /// Instructions the program executed, measured or not.
    pub instructions: u64,
    /// Number of the program's threads, including the first.
    pub threads: u64,
    /// Switches between threads on the simulated core.
    pub context_switches: u64,
    /// Children that left the instruction stream at a fork.
    pub forked_children: u64,
    /// Times the program replaced itself; the last image is the one reported.
    pub execs: u64,
    /// How the program ended; `None` while it is running or if the user interrupted it.
    pub exit: Option<Exit>,
    /// What the user should know, one sentence each.
    pub warnings: Vec<String>,
    /// Why no allocator call could be measured, a clause; `None` if calls were measured, or if none
    /// was made.
    pub unmeasured: Option<String>,
    /// How the run was sampled; `None` when all of it was simulated in detail.
    pub sampling: Option<Sampling>,
    /// Instructions skipped before anything was measured.
    pub skip: u64,
    /// The largest number of instructions to measure.
    pub max: Option<u64>,
    /// Whether only the program's regions of interest were measured.
    pub roi: bool,
    /// Begins and ends of allocator calls over the whole stream; `None` if they were not counted.
    pub markers: Option<MarkerCounts>,
    /// What its machines can count: the declarations of the models, and of everything else that the
    /// tool reserves a place for.
    pub schema: Schema,
    /// What each machine counted for the instruction stream.
    pub configurations: Vec<Configuration>,
    /// Whether the stream was read to its end (or to `max`) and every configuration finished.
    pub complete: bool,
}

/// Begins and ends of outermost allocator calls, as the program's markers have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkerCounts {
    /// Calls that began.
    pub begun: u64,
    /// Calls that ended at the return of their entry point.
    pub ended: u64,
    /// Times that a begin, an end and a return did not fit together.
    pub broken: u64,
}

impl Run {
    /// The program and its arguments on one line.
    pub fn command(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.args);
        words.map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// The same behind the label, if the run has one: `[before] ls -l`.
    pub fn labelled_command(&self) -> String {
        let label = self.label.as_ref().map(|label| format!("[{label}] ")).unwrap_or_default();
        label + &self.command()
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

/// Systematic sampling: of every `period` instructions, `warm` are simulated in detail without
/// being counted, then `measure` are counted; in between, caches and predictors are kept warm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampling {
    /// Instructions from one sample to the next.
    pub period: u64,
    /// Instructions of detailed warm-up before each sample.
    pub warm: u64,
    /// Instructions measured in each sample.
    pub measure: u64,
    /// Samples taken.
    pub samples: u64,
    /// Instructions that the samples represent; estimates for the whole run scale to this number.
    pub population: u64,
}
