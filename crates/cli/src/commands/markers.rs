//! `mallacc check-markers`: whether an allocator's markers keep their rules.

use experiments::marker_check;

use crate::args::{CheckMarkersArgs, Format, ReportArgs};
use crate::error::{Done, FAILED, VIOLATION, passed_on};
use crate::output::{Output, Stream, style};
use crate::terminal::Terminal;

/// Runs the command.
pub fn run(args: &CheckMarkersArgs) -> Done {
    let terminal = Terminal::new(args.quiet);
    let report =
        ReportArgs { format: args.format, output: args.output.clone(), ..ReportArgs::default() };
    let (output, checked) = match &args.trace {
        Some(path) => {
            let output = Output::open(&report, Stream::Stdout)?;
            (output, marker_check::recording(path, args.allow_truncated, &terminal)?)
        }
        None => {
            let target = args.target()?;
            let output = Output::open(&report, Stream::Stdout)?;
            (output, marker_check::program(target, &terminal)?)
        }
    };
    output.text(&match args.format {
        Format::Table => checked.text(style(Stream::Stdout).width),
        Format::Json => checked.json(),
        Format::Csv => checked.csv(),
    })?;
    if let Some(error) = &checked.error {
        eprintln!("mallacc: {error}");
        return Ok(FAILED);
    }
    Ok(if checked.is_clean() { passed_on(checked.ending) } else { VIOLATION })
}
