//! `mallacc replay`: a recorded stream, simulated without QEMU.

use results::Run;
use stream::file::FileSource;

use crate::args::ReplayArgs;
use crate::error::{Done, SIGNALLED};
use crate::output::Stream;
use crate::record::Parameters;
use crate::{configs, interrupt, session};

/// Runs the command. A program that failed when it was recorded is no failure of the replay.
pub fn run(args: &ReplayArgs) -> Done {
    let specs = configs::from_args(&args.simulation)?;
    let mut source = FileSource::open(&args.trace)?.allow_truncated(args.allow_truncated);
    let (output, mut rows) = session::open(&args.report, Stream::Stdout)?;
    let header = source.header();
    let parameters = Parameters::from_text(&header.parameters);
    let run = Run {
        seed: parameters.seed,
        deterministic: parameters.deterministic,
        ..session::begin(header.program.clone(), header.args.clone())
    };
    let what = (session::plan(&args.simulation), specs.as_slice());
    let stop = interrupt::install();
    let quiet = args.report.quiet;
    let mut finished = session::simulate(run, &mut source, what, &mut rows, stop, quiet)?;
    if let Some(cut) = source.truncated() {
        finished.run.complete = false;
        finished.run.warnings.push(format!("{cut}; replayed up to there."));
        rows.finish(&finished.run);
    }
    let code = match interrupt::signal() {
        Some(signal) if finished.interrupted => SIGNALLED + signal as u8,
        _ => 0,
    };
    session::report(&finished, code, output, &mut rows)
}
