//! `mallacc validate memory`: pointer chases through the simulated core against measured latencies.

use uarch::Machine;
use validate::hierarchy::{rows, table};

use crate::args::{Format, ValidateMemoryArgs};
use crate::error::Done;
use crate::output::{Stream, print};

/// Runs the command. It reports; a figure that differs is a row, no failure.
pub fn run(args: &ValidateMemoryArgs) -> Done {
    let machine = Machine::find(&args.machine)?;
    let rows = rows(&machine)?;
    let text = match args.format {
        Format::Table => table::text(&machine, &rows),
        Format::Csv => table::csv(&machine, &rows),
        Format::Json => table::json(&machine, &rows),
    };
    print(Stream::Stdout, &text)?;
    Ok(0)
}
