//! The arguments of `mallacc paper`.

use clap::{Args, ValueEnum};
use experiments::figures::{Figure, Request};
use std::path::PathBuf;

use super::common::{ReportArgs, STORE};
use super::numbers::executions;
use super::selector::label;

/// `mallacc paper`.
#[derive(Debug, Args)]
pub struct PaperArgs {
    /// Figures and tables: fig17, table2, … [default: all]
    #[arg(value_name = "FIGURE", value_parser = Figure::parse)]
    pub figures: Vec<Figure>,
    /// Measure only this program; repeatable
    #[arg(long = "workload", value_name = "NAME")]
    pub workloads: Vec<String>,
    /// Measure a short stretch of each program with two seeds: a rough answer in minutes
    #[arg(long)]
    pub quick: bool,
    /// Executions of each program for Table 2 [default: 5, with --quick 2]
    #[arg(long, value_name = "N", value_parser = executions, allow_hyphen_values = true)]
    pub seeds: Option<u64>,
    /// Replay NAME.mtrace from this folder, if it exists, instead of running NAME
    #[arg(long, value_name = "DIR")]
    pub recorded: Option<PathBuf>,
    /// Reuse stored runs of this version of mallacc and measure the rest
    #[arg(long, conflicts_with = "no_store")]
    pub resume: bool,
    /// Basic blocks measured on a Haswell, for Table 1 (CSV as for `mallacc validate blocks`)
    #[arg(long, value_name = "FILE.csv")]
    pub blocks: Option<PathBuf>,
    /// The machine: a name (`mallacc machines`) or a machine file; `-` is stdin
    #[arg(long, value_name = "NAME|FILE", default_value = "haswell")]
    pub machine: String,
    /// Include the operating system's time (page faults, system calls), which the paper's
    /// user-level simulator leaves out
    #[arg(long)]
    pub kernel: bool,
    /// List the figures and their programs
    #[arg(long)]
    pub list: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Form::Table)]
    pub format: Form,
    /// Write the output to this file; `-` is stdout
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Suppress progress
    #[arg(long, short)]
    pub quiet: bool,
    /// Store the runs in this file
    #[arg(long, value_name = "FILE", default_value = STORE)]
    pub store: PathBuf,
    /// Do not store the runs
    #[arg(long)]
    pub no_store: bool,
    /// Give the runs a label, which `list`, `show`, `report`, `diff` and `rm` accept
    #[arg(long, value_name = "TEXT", value_parser = label)]
    pub label: Option<String>,
}

/// Formats of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// For people.
    Table,
    /// For documents.
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
            label: self.label.clone(),
            ..ReportArgs::default()
        }
    }
}
