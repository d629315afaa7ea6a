//! `mallacc sma-study`: scratch-pad allocators on subsets of recorded traces.

use experiments::sma_study::{self, Request};

use crate::args::{SmaStudyArgs, StudyFormat};
use crate::error::Done;
use crate::output::{Place, Stream};
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
    let place = Place::open(args.output.as_deref(), Stream::Stdout)?;
    let report = sma_study::run(&request, &Terminal { line: false, steps: true })?;
    let text = match args.format {
        StudyFormat::Text => report.text(),
        StudyFormat::Json => report.json(),
        StudyFormat::Csv => report.csv(),
        StudyFormat::Markdown => report.markdown(),
    };
    place.write_measured(&text)?;
    Ok(0)
}
