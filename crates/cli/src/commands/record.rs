//! `mallacc record`: the instruction stream of a program into a file.

use experiments::{Ending, record};
use results::Exit;

use crate::args::RecordArgs;
use crate::error::{Done, passed_on};
use crate::place::file_beside_stdout;
use crate::terminal::Terminal;

/// Runs the command.
pub fn run(args: &RecordArgs) -> Done {
    file_beside_stdout(&args.output)?;
    let target = args.program.target()?;
    let recorded = record::record(target, &args.output, &Terminal::new(args.quiet))?;
    let path = args.output.display();
    if !args.quiet {
        let bytes = std::fs::metadata(&args.output).map_or(0, |m| m.len());
        eprintln!(
            "mallacc: {path}: {} events of {} blocks in {:.1} MB, {:.1} s; simulate them with: \
             mallacc replay {path}",
            recorded.events,
            recorded.blocks,
            bytes as f64 / 1e6,
            recorded.seconds
        );
    }
    match recorded.ending {
        Ending::Interrupted(_) => {
            eprintln!("mallacc: interrupted: {path} holds what ran until then");
        }
        Ending::Program(Some(Exit::Signal(signal))) => {
            eprintln!("mallacc: signal {signal} killed the program; {path} holds what ran");
        }
        Ending::Program(_) => {}
    }
    Ok(passed_on(recorded.ending))
}
