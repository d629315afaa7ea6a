//! `mallacc check-markers`: whether an allocator's markers keep their rules.

use experiments::marker_check;

use crate::args::{CheckMarkersArgs, Format};
use crate::error::{Done, FAILED, VIOLATION, passed_on};
use crate::output::style_at;
use crate::terminal::Terminal;

/// Runs the command.
pub fn run(args: &CheckMarkersArgs) -> Done {
    let terminal = Terminal::new(args.quiet);
    let place = args.place.open()?;
    let width = style_at(&place).width;
    let checked = match &args.trace {
        Some(path) => marker_check::recording(path, args.allow_truncated, &terminal)?,
        None => marker_check::program(args.target()?, &terminal)?,
    };
    place.write_measured(&match args.format {
        Format::Table => checked.text(width),
        Format::Json => checked.json(),
        Format::Csv => checked.csv(),
    })?;
    if let Some(error) = &checked.error {
        eprintln!("mallacc: {error}");
        return Ok(FAILED);
    }
    Ok(if checked.is_clean() { passed_on(checked.ending) } else { VIOLATION })
}
