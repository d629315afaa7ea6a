//! The `mallacc` command: arguments in, documents out. The only place that prints or exits; the
//! measuring is in the crate `experiments`.
//!
//! ```text
//! args ──> commands ──> experiments ──> output
//!              └ terminal (progress, interrupt): what an experiment tells and asks
//! ```

mod args;
mod chosen;
mod commands;
mod error;
mod interrupt;
mod output;
mod place;
mod progress;
mod suggest;
mod terminal;

use args::{Command, Validate};
use commands::{
    blocks, difference, doctor, hardware, host, inspect, mallocs, markers, memory, micro, paper,
    record, remove, replay, report, run, setup, sma_study,
};
use experiments::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = suggest::parse();
    let done = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Record(args) => record::run(&args),
        Command::RecordMallocs(args) => mallocs::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::CheckMarkers(args) => markers::run(&args),
        Command::Micro(args) => micro::run(&args),
        Command::Block(args) => blocks::block(&args),
        Command::Validate(Validate::Blocks(args)) => blocks::validate(&args),
        Command::Validate(Validate::Memory(args)) => memory::run(&args),
        Command::Validate(Validate::Host(args)) => host::run(&args),
        Command::Operations(args) => hardware::operations(&args),
        Command::Area(args) => hardware::area(&args),
        Command::SmaStudy(args) => sma_study::run(&args),
        Command::Paper(args) => paper::run(&args),
        Command::List(args) => inspect::list(&args),
        Command::Show(args) => inspect::show(&args),
        Command::Report(args) => report::run(&args),
        Command::Diff(args) => difference::run(&args),
        Command::Rm(args) => remove::run(&args),
        Command::Accelerators(place) => inspect::accelerators(&place),
        Command::Machines(args) => inspect::machines(&args),
        Command::Workloads(place) => inspect::workloads(&place),
        Command::Setup(args) => setup::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Completions { shell, place } => inspect::completions(shell, &place),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(Failure { class, text }) => {
            eprintln!("mallacc: {text}");
            ExitCode::from(error::status(class))
        }
    }
}
