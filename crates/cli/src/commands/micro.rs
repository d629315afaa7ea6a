//! `mallacc micro`: the microbenchmarks, and sweeps over the size of the malloc cache.

use experiments::benchmarks::{self, Request};
use experiments::configs;
use experiments::micro::Steps;

use crate::args::{Format, MicroArgs};
use crate::error::{Done, VIOLATION, passed_on};
use crate::output::{self, Stream};
use crate::terminal::Terminal;

/// Runs the command.
pub fn run(args: &MicroArgs) -> Done {
    let selection = args.simulation.selection();
    let specs = match &args.entries {
        Some(entries) => configs::sweep(entries, &selection)?,
        None => configs::from_args(&selection)?,
    };
    let usual = Steps::usual(args.quick);
    let steps = Steps {
        iterations: args.iterations.unwrap_or(usual.iterations),
        repeats: args.repeats.unwrap_or(usual.repeats),
        seed: args.seed,
    };
    let plan = args.simulation.plan();
    let request = Request::new(&args.names, steps, plan, specs, args.entries.is_some())?;
    let (output, mut rows) = output::open(&args.report, Stream::Stdout)?;
    let done = benchmarks::run(request, &mut rows, &Terminal::new(args.report.quiet))?;
    let written = output.text(&match args.report.format {
        Format::Table => done.text(),
        Format::Json => done.json(),
        Format::Csv => done.csv(),
    });
    if let Some(failure) = rows.failure().or_else(|| written.err()) {
        return Err(failure);
    }
    Ok(match (passed_on(done.ending), done.failed()) {
        (0, true) => VIOLATION,
        (code, _) => code,
    })
}
