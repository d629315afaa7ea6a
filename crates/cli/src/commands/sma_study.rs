//! `mallacc sma-study`: scratch-pad allocators on subsets of recorded traces.

use std::fs;

use experiments::Failure;
use experiments::sma_study::{self, Request};

use crate::args::{SmaStudyArgs, StudyFormat};
use crate::error::Done;
use crate::output::{Stream, print};
use crate::terminal::Terminal;

/// Runs the command.
pub fn run(args: &SmaStudyArgs) -> Done {
    let request = Request {
        figures: sma_study::chosen(&args.figures)?,
        traces: args.traces.clone(),
        allow_truncated: args.allow_truncated,
        subsets: args.subsets.unwrap_or(sma_study::usual_subsets(args.quick)),
        quick: args.quick,
        cycles: !args.no_cycles,
    };
    let report = sma_study::run(&request, &Terminal { line: false, steps: true })?;
    let text = match args.format {
        StudyFormat::Text => report.text(),
        StudyFormat::Json => report.json(),
        StudyFormat::Csv => report.csv(),
        StudyFormat::Markdown => report.markdown(),
    };
    match &args.output {
        None => print(Stream::Stdout, &text)?,
        Some(path) => fs::write(path, text).map_err(|error| {
            let path = path.display();
            Failure::failed(format!("{path}: cannot be written ({error}); name another with -o"))
        })?,
    }
    Ok(0)
}
