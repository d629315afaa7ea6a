//! The arguments of `mallacc paper`.

use clap::{Args, ValueEnum};
use experiments::figures::{Figure, Request};
use std::path::PathBuf;

use super::common::{ReportArgs, STORE};

/// `mallacc paper`.
#[derive(Debug, Args)]
pub struct PaperArgs {
    /// Figures and tables: fig17, table2, … [default: all]
    #[arg(value_name = "FIGURE", value_parser = Figure::parse)]
    pub figures: Vec<Figure>,
    /// Only this program of those that the figures are about; repeatable
    #[arg(long = "workload", value_name = "NAME")]
    pub workloads: Vec<String>,
    /// A short stretch of each program and two seeds: all of it in minutes, but rough
    #[arg(long)]
    pub quick: bool,
    /// Executions of each program for Table 2 [default: 5, with --quick 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100))]
    pub seeds: Option<u64>,
    /// Replay NAME.mtrace from this folder where there is one, instead of running NAME
    #[arg(long, value_name = "DIR")]
    pub recorded: Option<PathBuf>,
    /// Take runs that the store has from this version of mallacc, measure the others
    #[arg(long, conflicts_with = "no_store")]
    pub resume: bool,
    /// Measured basic blocks of a Haswell for Table 1 (as `mallacc validate blocks` takes them)
    #[arg(long, value_name = "FILE.csv")]
    pub blocks: Option<PathBuf>,
    /// The machine: a name or a file
    #[arg(long, value_name = "NAME|FILE", default_value = "haswell")]
    pub machine: String,
    /// Count the operating system's time too (page faults, system calls); the paper's simulator
    /// is a user-level one, in which they take none
    #[arg(long)]
    pub kernel: bool,
    /// List the figures and the programs that they are about
    #[arg(long)]
    pub list: bool,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = Form::Table)]
    pub format: Form,
    /// Write the report to a file instead of the terminal
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// No progress
    #[arg(long, short)]
    pub quiet: bool,
    /// Store the runs in this file
    #[arg(long, value_name = "FILE", default_value = STORE)]
    pub store: PathBuf,
    /// Do not store the runs
    #[arg(long)]
    pub no_store: bool,
}

/// Forms of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// For people.
    Table,
    /// For documentation.
    Markdown,
    /// For programs: everything.
    Json,
    /// For spreadsheets: a line for each number.
    Csv,
}

impl PaperArgs {
    /// What is measured.
    pub fn request(&self) -> Request {
        Request {
            figures: self.figures.clone(),
            programs: self.workloads.clone(),
            quick: self.quick,
            seeds: self.seeds,
            recorded: self.recorded.clone(),
            resume: self.resume.then(|| self.store.clone()),
            blocks: self.blocks.clone(),
            machine: self.machine.clone(),
            kernel: self.kernel,
        }
    }

    /// Where the report and the runs go.
    pub fn report(&self) -> ReportArgs {
        ReportArgs {
            output: self.output.clone(),
            store: self.store.clone(),
            no_store: self.no_store,
            ..ReportArgs::default()
        }
    }
}
