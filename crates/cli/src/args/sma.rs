//! The arguments of `mallacc record-mallocs` and `mallacc sma-study`.

use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

use super::numbers::subsets;

/// `mallacc record-mallocs`.
#[derive(Debug, Args)]
pub struct RecordMallocsArgs {
    /// The file to write (not `-`: stdout belongs to the program)
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Suppress the summary
    #[arg(long, short)]
    pub quiet: bool,
    /// The program and its arguments
    #[arg(trailing_var_arg = true, value_name = "PROG", required = true)]
    pub command: Vec<OsString>,
}

/// `mallacc sma-study`.
#[derive(Debug, Args)]
pub struct SmaStudyArgs {
    /// Tables and figures: table1, table2, fig4 to fig13 [default: all]
    #[arg(value_name = "FIGURE")]
    pub figures: Vec<String>,
    /// The folder with the traces
    #[arg(long, value_name = "DIR", default_value = "traces")]
    pub traces: PathBuf,
    /// Accept truncated traces, as far as they go
    #[arg(long)]
    pub allow_truncated: bool,
    /// Subsets of each trace [default: 10, with --quick 2]
    #[arg(long, value_name = "N", value_parser = subsets, allow_hyphen_values = true)]
    pub subsets: Option<u32>,
    /// Few, short subsets and few memory sizes: a rough answer in a minute
    #[arg(long)]
    pub quick: bool,
    /// Skip what needs the simulator: cycles in the tables, figures 4 to 7
    #[arg(long)]
    pub no_cycles: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = StudyFormat::Text)]
    pub format: StudyFormat,
    /// Write the output to this file; `-` is stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Formats of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StudyFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For spreadsheets: a line for each number.
    Csv,
    /// For documents.
    Markdown,
}
