//! The arguments of commands that make runs or show them.

use clap::Args;
use experiments::plan::count;
use experiments::sweep::Entries;
use std::path::PathBuf;

use super::common::{Format, PlaceArgs, ProgramArgs, ReportArgs, SimulationArgs, StoreArgs};
use super::numbers::{iterations, percent, repeats, seed};
use super::selector::Selector;

/// `mallacc run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub simulation: SimulationArgs,
    /// Execute the program once per seed, as with --deterministic --seed 1, 2, …, each time with
    /// different hash seeds and stack position; only the first execution's output is shown
    #[arg(long, help_heading = "Simulation")]
    pub rerun: bool,
    #[command(flatten)]
    pub report: ReportArgs,
    #[command(flatten)]
    pub program: ProgramArgs,
}

/// `mallacc record`.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// The file to write (not `-`: stdout belongs to the program)
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Suppress progress and summary
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub program: ProgramArgs,
}

/// `mallacc operations`.
#[derive(Debug, Args)]
pub struct OperationsArgs {
    /// The recording; `-` is stdin
    pub trace: PathBuf,
    /// Write the output to this file; `-` is stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Accept a truncated recording, as far as it goes
    #[arg(long)]
    pub allow_truncated: bool,
    /// Extract at most N operations (N may end in k, M or G)
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub max: Option<u64>,
}

/// `mallacc area`.
#[derive(Debug, Args)]
pub struct AreaArgs {
    /// A program speedup in percent; also prints the area per percent of speedup
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_hyphen_values = true)]
    pub speedup: Option<f64>,
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// `mallacc replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The recording; `-` is stdin
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// Accept a truncated recording, as far as it goes
    #[arg(long)]
    pub allow_truncated: bool,
    #[command(flatten)]
    pub simulation: SimulationArgs,
    #[command(flatten)]
    pub report: ReportArgs,
}

/// `mallacc micro`.
#[derive(Debug, Args)]
pub struct MicroArgs {
    /// Microbenchmarks to run [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Sweep the malloc cache: 16, 4,8,16 or 2..32 (in steps of 2, or A..B:STEP)
    #[arg(long, value_name = "LIST", value_parser = Entries::parse,
          allow_hyphen_values = true, conflicts_with = "configs")]
    pub entries: Option<Entries>,
    /// Iterations in each repeat [default: 32768, with --quick 2048]
    #[arg(long, value_name = "N", value_parser = iterations, allow_hyphen_values = true)]
    pub iterations: Option<u64>,
    /// Repeats, the first of which is a warm-up [default: 13, with --quick 4]
    #[arg(long, value_name = "N", value_parser = repeats, allow_hyphen_values = true)]
    pub repeats: Option<u64>,
    /// Few iterations: a rough answer in seconds
    #[arg(long)]
    pub quick: bool,
    /// Seed of the benchmarks' inputs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed,
          allow_hyphen_values = true)]
    pub seed: u64,
    #[command(flatten)]
    pub simulation: SimulationArgs,
    #[command(flatten)]
    pub report: ReportArgs,
}

/// `mallacc list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only runs with this label
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[command(flatten)]
    pub store: StoreArgs,
}

/// `mallacc show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The run: its number or its label [default: the latest]
    #[arg(value_name = "RUN", value_parser = Selector::parse, allow_negative_numbers = true)]
    pub run: Option<Selector>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Show every section: histogram, CPI stack, caches, predictors
    #[arg(long)]
    pub detail: bool,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[command(flatten)]
    pub store: StoreArgs,
}

/// `mallacc report`.
#[derive(Debug, Args)]
pub struct PageArgs {
    /// Runs to compare: numbers, ranges A..B or labels [default: the latest]
    #[arg(value_name = "RUN", value_parser = Selector::parse, allow_negative_numbers = true)]
    pub runs: Vec<Selector>,
    /// The page to write; `-` is stdout
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
    #[command(flatten)]
    pub store: StoreArgs,
}

/// `mallacc rm`.
#[derive(Debug, Args)]
pub struct RemoveArgs {
    /// Runs to remove: numbers, ranges A..B or labels
    #[arg(value_name = "RUN", required = true, value_parser = Selector::parse,
          allow_negative_numbers = true)]
    pub runs: Vec<Selector>,
    #[command(flatten)]
    pub store: StoreArgs,
}

/// `mallacc diff`.
#[derive(Debug, Args)]
pub struct DifferenceArgs {
    /// The first run: its number or its label
    #[arg(value_name = "A", value_parser = Selector::parse, allow_negative_numbers = true)]
    pub a: Selector,
    /// The second run
    #[arg(value_name = "B", value_parser = Selector::parse, allow_negative_numbers = true)]
    pub b: Selector,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Show the counters of every part of the machine
    #[arg(long)]
    pub detail: bool,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[command(flatten)]
    pub store: StoreArgs,
}
