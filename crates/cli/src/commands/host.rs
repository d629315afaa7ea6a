//! `mallacc validate host`: the microbenchmarks timed on this computer, against their simulation.

use experiments::host::{self, Request};
use experiments::micro::Steps;

use crate::args::{Format, ValidateHostArgs};
use crate::error::Done;
use crate::terminal::Terminal;

/// Runs the command. It only reports; the exit status does not depend on the outcome.
pub fn run(args: &ValidateHostArgs) -> Done {
    let usual = Steps::usual(args.quick);
    let request = Request {
        names: args.names.clone(),
        machine: args.machine.clone(),
        steps: Steps {
            iterations: args.iterations.unwrap_or(usual.iterations),
            repeats: args.repeats.unwrap_or(usual.repeats),
            seed: args.seed,
        },
        processes: args.processes.unwrap_or(host::usual_processes(args.quick)),
    };
    let place = args.place.open()?;
    let report = host::run(&request, &Terminal::new(true))?;
    let text = match args.format {
        Format::Table => report.text(),
        Format::Csv => report.csv(),
        Format::Json => report.json(),
    };
    place.write_measured(&text)?;
    Ok(0)
}
