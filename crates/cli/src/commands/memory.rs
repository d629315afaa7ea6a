//! `mallacc validate memory`: pointer chases through the simulated core against measured latencies.

use experiments::hierarchy;

use crate::args::{Format, ValidateMemoryArgs};
use crate::error::Done;

/// Runs the command. It only reports; a figure that differs is a row, not a failure.
pub fn run(args: &ValidateMemoryArgs) -> Done {
    let place = args.place.open()?;
    let report = hierarchy::run(&args.machine)?;
    let text = match args.format {
        Format::Table => report.text(),
        Format::Csv => report.csv(),
        Format::Json => report.json(),
    };
    place.write(&text)?;
    Ok(0)
}
