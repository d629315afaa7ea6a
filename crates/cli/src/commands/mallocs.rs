//! `mallacc record-mallocs`: what a program allocates and frees, into a file.

use experiments::mallocs::record;
use experiments::{Ending, Failure};
use results::Exit;
use results::text::number::counted;

use crate::args::RecordMallocsArgs;
use crate::error::{Done, passed_on};
use crate::place::file_beside_stdout;
use crate::terminal::Terminal;

/// Runs the command.
pub fn run(args: &RecordMallocsArgs) -> Done {
    let Some((name, rest)) = args.command.split_first() else {
        return Err(Failure::usage("no program given; try: mallacc record-mallocs -o t.amt -- ls"));
    };
    file_beside_stdout(&args.output)?;
    let recorded = record((name, rest), &args.output, &Terminal::new(args.quiet))?;
    if args.quiet {
        return Ok(passed_on(recorded.ending));
    }
    let (totals, path) = (recorded.totals, args.output.display());
    eprintln!(
        "mallacc: {path}: {}, {}, {}, at most {} live",
        counted(totals.allocations, "allocation", "allocations"),
        counted(totals.frees, "free", "frees"),
        counted(totals.threads, "thread", "threads"),
        counted(totals.peak_bytes, "byte", "bytes")
    );
    if totals.children > 0 {
        eprintln!(
            "mallacc: not in the trace: {} that the program started; record such a program by \
             itself",
            counted(totals.children, "process", "processes")
        );
    }
    if let Ending::Program(Some(Exit::Signal(signal))) = recorded.ending {
        eprintln!("mallacc: signal {signal} killed the program; {path} holds what it did");
    }
    Ok(passed_on(recorded.ending))
}
