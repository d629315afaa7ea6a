//! `mallacc paper`: the paper's figures and tables, measured and side by side with the paper.
//!
//! ```text
//! figures ──> paper::needs ──> study (one execution of each program) ──> paper::derive ──> output
//! ```

use clap::{Args, ValueEnum};
use std::path::PathBuf;

use paper::{Figure, Kind, SUBJECTS, needs, render};
use uarch::Machine;

use crate::args::{ReportArgs, STORE};
use crate::error::{Done, FAILED, Failure, SIGNALLED};
use crate::measure::{Settings, measure};
use crate::output::{Stream, print};
use crate::{blocks, interrupt, session};

/// Runs of each program for Table 2, the first one included.
const SEEDS: u64 = 5;
/// The same with `--quick`.
const SEEDS_QUICK: u64 = 2;

/// `mallacc paper`.
#[derive(Debug, Args)]
pub struct PaperArgs {
    /// Figures and tables: fig17, table2, … [default: all]
    #[arg(value_name = "FIGURE", value_parser = Figure::parse)]
    pub figures: Vec<Figure>,
    /// Measure only this program; repeatable
    #[arg(long = "workload", value_name = "NAME")]
    pub workloads: Vec<String>,
    /// Measure a short stretch of each program and two seeds: takes minutes, but is rough
    #[arg(long)]
    pub quick: bool,
    /// Executions of each program for Table 2 [default: 5, with --quick 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100))]
    pub seeds: Option<u64>,
    /// Replay NAME.mtrace from this folder where there is one, instead of running NAME
    #[arg(long, value_name = "DIR")]
    pub recorded: Option<PathBuf>,
    /// Reuse stored runs of this version of mallacc and measure the rest
    #[arg(long, conflicts_with = "no_store")]
    pub resume: bool,
    /// Basic blocks measured on a Haswell, for Table 1 (in the form of `mallacc validate blocks`)
    #[arg(long, value_name = "FILE.csv")]
    pub blocks: Option<PathBuf>,
    /// The machine: a name or a file
    #[arg(long, value_name = "NAME|FILE", default_value = "haswell")]
    pub machine: String,
    /// Include the operating system's time (page faults, system calls), which the paper's
    /// user-level simulator leaves out
    #[arg(long)]
    pub kernel: bool,
    /// List the figures and their programs
    #[arg(long)]
    pub list: bool,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Form::Table)]
    pub format: Form,
    /// Write the report to a file instead of the terminal
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
}

/// Formats of the report.
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

/// Runs the command.
pub fn run(args: &PaperArgs) -> Done {
    if args.list {
        print(Stream::Stdout, &list())?;
        return Ok(0);
    }
    let mut figures =
        if args.figures.is_empty() { Figure::all().collect() } else { args.figures.clone() };
    figures.sort_unstable();
    figures.dedup();
    let only = subjects(&args.workloads)?;
    let needs = needs(&figures, &only);
    let blocks = args.blocks.as_deref().filter(|_| figures.contains(&Figure::Table1));
    if needs.is_empty() {
        return Err(Failure::usage(format!(
            "none of these figures is about {}; `mallacc paper --list` says which are",
            only.join(", ")
        )));
    }
    let report = ReportArgs {
        output: args.output.clone(),
        store: args.store.clone(),
        no_store: args.no_store,
        ..ReportArgs::default()
    };
    let (output, mut rows) = session::open(&report, Stream::Stdout)?;
    let settings = Settings {
        quick: args.quick,
        seeds: args.seeds.unwrap_or(if args.quick { SEEDS_QUICK } else { SEEDS }),
        recorded: args.recorded.clone(),
        machine: machine(args)?,
        resume: args.resume.then(|| args.store.clone()),
        quiet: args.quiet,
    };
    let mut study = measure(&needs, &settings, &mut rows)?;
    let mut failed = !study.missing.is_empty();
    if let Some(file) = blocks {
        match blocks::error(file, &args.machine) {
            Ok(error) => study.blocks = Some(error),
            Err(failure) => {
                eprintln!("mallacc: Table 1: {}", failure.text);
                failed = true;
            }
        }
    }
    // A figure none of whose programs was asked for would be an empty table.
    figures.retain(|figure| needs.iter().any(|need| figure.concerns(need.subject)));
    let sheets = paper::derive::sheets(&figures, &study);
    for check in sheets.iter().flat_map(paper::Sheet::stale) {
        let (figure, claim) = (check.claim.figure.label(), check.claim);
        let about = [claim.subject, claim.what].join(" ");
        eprintln!("mallacc: {figure}, {}: the cause is stale; see the report", about.trim_start());
    }
    let text = match args.format {
        Form::Table => render::text(&study.machine, &sheets),
        Form::Markdown => render::markdown(&study.machine, &sheets),
        Form::Json => render::json(&study.machine, &sheets),
        Form::Csv => render::csv(&sheets),
    };
    let written = output.text(&text);
    if let Some(failure) = rows.failure().or_else(|| written.err()) {
        return Err(failure);
    }
    Ok(match interrupt::signal() {
        Some(signal) => SIGNALLED + signal as u8,
        None if failed => FAILED,
        None => 0,
    })
}

/// The machine as the paper's simulator sees it, or with `--kernel` as it is.
fn machine(args: &PaperArgs) -> Result<Machine, Failure> {
    let machine = Machine::find(&args.machine)?;
    Ok(if args.kernel { machine } else { machine.user_level() })
}

/// The names of the programs that the options name.
fn subjects(names: &[String]) -> Result<Vec<&'static str>, Failure> {
    let known: Vec<&str> = SUBJECTS.iter().map(|subject| subject.name).collect();
    let find = |name: &String| {
        let found = SUBJECTS.iter().find(|subject| subject.name == name);
        let unknown = || params::unknown_name("program of the figures", name, name, &known);
        found.map(|subject| subject.name).ok_or_else(|| unknown().into())
    };
    names.iter().map(find).collect()
}

/// `--list`.
fn list() -> String {
    let mut text = String::new();
    for figure in Figure::all() {
        let about: Vec<&str> =
            SUBJECTS.iter().filter(|s| figure.concerns(s)).map(|s| s.name).collect();
        let all = |kind| SUBJECTS.iter().filter(|s| s.kind == kind).count() == about.len();
        let programs = match (all(Kind::Micro), all(Kind::Program)) {
            (true, _) => "the microbenchmarks".to_owned(),
            (_, true) => "all programs".to_owned(),
            _ => about.join(", "),
        };
        text += &format!("{:7} {} ({programs})\n", figure.name(), figure.title());
    }
    text += "\nPrograms, and their counterparts in the paper:\n";
    for subject in SUBJECTS {
        text += &format!("{:17} {}\n", subject.name, subject.paper.unwrap_or("-"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_every_figure_and_program() {
        let text = list();
        for name in Figure::all().map(Figure::name).chain(SUBJECTS.iter().map(|s| s.name)) {
            assert!(text.lines().any(|line| line.split(' ').next() == Some(name)), "{name}");
        }
        assert!(text.contains("fig17   Malloc speedup by entries of the malloc cache (the micro"));
    }

    #[test]
    fn an_unknown_program_names_the_nearest() {
        let error = subjects(&["xapian-page".into()]).unwrap_err();
        assert!(error.text.contains("\"xapian-pages\""), "{}", error.text);
    }
}
