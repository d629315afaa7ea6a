//! Arguments that several commands share.

use clap::{Args, ValueEnum};
use experiments::Failure;
use experiments::plan::{
    BUDGET_INSTRUCTIONS, Plan, SAMPLE, SEEDS, SEEDS_INSTRUCTIONS, Sample, Seeds, Selection, count,
};
use experiments::target::{self, Target};
use experiments::workload;
use results::store::Store;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::numbers::{first_seed, seeds};
use super::selector::label;
use crate::place::{Place, Stream};

/// Where runs are stored.
pub const STORE: &str = "mallacc.db";

/// Machines and accelerators, and how much of the program is simulated.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Simulation")]
pub struct SimulationArgs {
    /// A configuration: ACCELERATOR[:KEY=VALUE,…], or NAME=… to name it; repeatable
    /// [default: none, mallacc:entries=16, mallacc:entries=32, limit]
    #[arg(long = "config", value_name = "SPEC")]
    pub configs: Vec<String>,
    /// Also simulate Mallacc and the limit study with only one of their parts on at a time
    #[arg(long)]
    pub ablations: bool,
    /// The machine: a name (`mallacc machines`) or a machine file; `-` is stdin; repeatable
    #[arg(long = "machine", value_name = "NAME|FILE", default_value = "haswell")]
    pub machines: Vec<String>,
    /// Only warm caches and predictors for the first N instructions (N may end in k, M or G)
    #[arg(long, value_name = "N", default_value = "0", value_parser = count,
          allow_hyphen_values = true)]
    pub skip: u64,
    /// Measure at most N instructions, then let the program run on untraced
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub max: Option<u64>,
    /// Sample from the start: every PERIOD instructions, WARM in detail, then MEASURE counted
    #[arg(long, value_name = "PERIOD:WARM:MEASURE", value_parser = Sample::parse,
          allow_hyphen_values = true)]
    pub sample: Option<Sample>,
    /// Simulate everything in detail, however long it takes
    #[arg(long, conflicts_with = "sample")]
    pub no_sample: bool,
    /// Measure regions of interest only (ROI markers in the program)
    #[arg(long)]
    pub roi: bool,
    /// Sample programs longer than N instructions (2M:60k:40k); the report says so
    #[arg(long, value_name = "N", default_value_t = BUDGET_INSTRUCTIONS,
          value_parser = count, allow_hyphen_values = true,
          conflicts_with_all = ["sample", "no_sample"])]
    pub budget: u64,
    /// Simulate the same instructions N times, each with a different stack position, page placement
    /// and DRAM timing, to get intervals [default: 3 up to 20 million instructions, else 1]
    #[arg(long, value_name = "N", value_parser = seeds, allow_hyphen_values = true)]
    pub seeds: Option<u64>,
}

impl SimulationArgs {
    /// Which configurations are simulated.
    pub fn selection(&self) -> Selection {
        Selection {
            configs: self.configs.clone(),
            ablations: self.ablations,
            machines: self.machines.clone(),
        }
    }

    /// How much of the program is simulated.
    pub fn plan(&self) -> Plan {
        let budget = match (self.sample, self.no_sample) {
            (Some(_), _) => Some(0),
            (None, true) => None,
            (None, false) => Some(self.budget),
        };
        let sample = self.sample.unwrap_or(SAMPLE);
        let seeds = match self.seeds {
            Some(count) => Seeds { count, up_to: None },
            None => Seeds { count: SEEDS, up_to: Some(SEEDS_INSTRUCTIONS) },
        };
        Plan { skip: self.skip, max: self.max, sample, budget, roi_only: self.roi, seeds }
    }
}

/// What is reported, and where.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Report")]
pub struct ReportArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Write the report to this file; `-` is stdout
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Show every section: histogram, CPI stack, caches, predictors
    #[arg(long)]
    pub detail: bool,
    /// Suppress progress and table (the store and --output are still written)
    #[arg(long, short)]
    pub quiet: bool,
    /// Store the run in this file
    #[arg(long, value_name = "FILE", default_value = STORE)]
    pub store: PathBuf,
    /// Do not store the run
    #[arg(long)]
    pub no_store: bool,
    /// Give the run a label, which `list`, `show`, `report`, `diff` and `rm` accept
    #[arg(long, value_name = "TEXT", value_parser = label)]
    pub label: Option<String>,
}

impl Default for ReportArgs {
    /// A table on the terminal, nothing stored: where a command with fewer options begins.
    fn default() -> Self {
        Self {
            format: Format::Table,
            output: None,
            detail: false,
            quiet: false,
            store: STORE.into(),
            no_store: true,
            label: None,
        }
    }
}

/// Where a document goes.
#[derive(Clone, Debug, Default, Args)]
pub struct PlaceArgs {
    /// Write the output to this file; `-` is stdout
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl PlaceArgs {
    /// The place, opened.
    pub fn open(&self) -> Result<Place, Failure> {
        Place::open(self.output.as_deref(), Stream::Stdout)
    }
}

/// A store that is read.
#[derive(Clone, Debug, Args)]
pub struct StoreArgs {
    /// The store: the file that holds the runs
    #[arg(long = "store", value_name = "FILE", default_value = STORE)]
    pub path: PathBuf,
}

impl StoreArgs {
    /// The store, which must exist.
    pub fn open(&self) -> Result<Store, Failure> {
        Ok(Store::open_existing(&self.path)?)
    }
}

/// Formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[value(alias = "text")]
    Table,
    /// For programs: everything.
    Json,
    /// For spreadsheets: one row per entry.
    Csv,
}

/// The program and its environment.
#[derive(Clone, Debug, Args)]
pub struct ProgramArgs {
    /// Fix QEMU's seed, the hash seeds of Perl and Python, and the size of the environment
    #[arg(long)]
    pub deterministic: bool,
    /// Seed of the random bytes that QEMU gives the program; with --deterministic, also of its hash
    /// seeds and stack position
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = first_seed,
          allow_hyphen_values = true)]
    pub seed: u64,
    /// Preload this library instead of the guest allocator; `none` leaves the program its own
    #[arg(long, value_name = "LIB|none")]
    pub allocator: Option<PathBuf>,
    /// Run this workload instead of a program of your own (`mallacc workloads`)
    #[arg(long, value_name = "NAME", conflicts_with = "command")]
    pub workload: Option<String>,
    /// Size of the workload
    #[arg(long, value_enum, default_value_t = Size::Full, requires = "workload")]
    pub size: Size,
    /// The program and its arguments
    #[arg(trailing_var_arg = true, value_name = "PROG", required_unless_present = "workload")]
    pub command: Vec<OsString>,
}

/// Sizes of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Size {
    /// A few million instructions, for tests.
    Small,
    /// For measurements.
    Full,
}

impl ProgramArgs {
    /// The program that they name.
    pub fn target(&self) -> Result<Target, Failure> {
        let workload = self.workload.as_deref().map(|name| (name, self.size));
        let mut target = target(workload, &self.command, self.allocator.as_deref())?;
        target.seeded(self.deterministic, self.seed);
        Ok(target)
    }
}

/// A workload or a command, with the allocator that is preloaded.
pub fn target(
    workload: Option<(&str, Size)>,
    command: &[OsString],
    allocator: Option<&Path>,
) -> Result<Target, Failure> {
    let mut target = match (workload, command.split_first()) {
        (Some((name, size)), _) => workload::target(name, size.into())?,
        (None, Some((name, rest))) => Target::new(name.clone(), rest.to_vec()),
        (None, None) => return Err(Failure::usage("no program given; try: mallacc run -- ls")),
    };
    target.allocator = target::allocator(allocator);
    Ok(target)
}

impl From<Size> for workload::Size {
    fn from(size: Size) -> Self {
        match size {
            Size::Small => Self::Small,
            Size::Full => Self::Full,
        }
    }
}
