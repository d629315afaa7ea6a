//! `mallacc paper`: the paper's figures and tables, measured and side by side with the paper.

use experiments::Monitor;
use experiments::figures::{self, Study};

use crate::args::{Form, PaperArgs};
use crate::error::{Done, FAILED, SIGNALLED};
use crate::output::{self, Place, Stream};
use crate::terminal::Terminal;

/// Runs the command.
pub fn run(args: &PaperArgs) -> Done {
    if args.list {
        Place::open(args.output.as_deref(), Stream::Stdout)?.write(&figures::list())?;
        return Ok(0);
    }
    let study = Study::new(args.request())?;
    let (output, mut rows) = output::open(&args.report(), Stream::Stdout)?;
    let terminal = Terminal::new(args.quiet);
    let report = study.run(&mut rows, &terminal)?;
    let written = output.text(&match args.format {
        Form::Table => report.text(),
        Form::Markdown => report.markdown(),
        Form::Json => report.json(),
        Form::Csv => report.csv(),
    });
    if let Some(failure) = rows.failure().or_else(|| written.err()) {
        return Err(failure);
    }
    Ok(match terminal.signal() {
        Some(signal) => SIGNALLED + signal as u8,
        None if report.whole => 0,
        None => FAILED,
    })
}
