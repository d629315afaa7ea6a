//! The `mallacc` command: a thin binary over the library crates, and the only place that prints or
//! exits.
//!
//! ```text
//! args ──> configs ─┐
//! run, replay, micro ──> session ──> sim::run ──> fill ──> report (table, JSON, CSV) and store
//!            │              └ progress, interrupt
//! record ────┘        list, show, machines, accelerators: inspect; report
//! ```

mod args;
mod blocks;
mod companion;
mod configs;
mod error;
mod fill;
mod hardware;
mod hierarchy;
mod host;
mod inspect;
mod interrupt;
mod mallocs;
mod measure;
mod micro;
mod output;
mod paper;
mod progress;
mod record;
mod replay;
mod report;
mod run;
mod session;
mod study;
mod study_cycles;
mod sweep;
mod workload;

use args::{Cli, Command, Validate};
use clap::Parser;
use error::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Record(args) => record::run(&args),
        Command::RecordMallocs(args) => mallocs::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Micro(args) => micro::run(&args),
        Command::Block(args) => blocks::block(&args),
        Command::Validate(Validate::Blocks(args)) => blocks::validate(&args),
        Command::Validate(Validate::Memory(args)) => hierarchy::run(&args),
        Command::Validate(Validate::Host(args)) => host::run(&args),
        Command::Operations(args) => hardware::operations(&args),
        Command::Area(args) => hardware::area(&args),
        Command::SmaStudy(args) => study::run(&args),
        Command::Paper(args) => paper::run(&args),
        Command::List(args) => inspect::list(&args),
        Command::Show(args) => inspect::show(&args),
        Command::Report(args) => report::run(&args),
        Command::Accelerators => inspect::accelerators(),
        Command::Machines { name } => inspect::machines(name.as_deref()),
        Command::Workloads => workload::list(),
        Command::Completions { shell } => inspect::completions(shell),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(Failure { code, text }) => {
            eprintln!("mallacc: {text}");
            ExitCode::from(code)
        }
    }
}
