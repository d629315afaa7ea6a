//! `mallacc replay`: a recorded stream, simulated without QEMU.

use experiments::replay::Recording;
use experiments::{Monitor, configs};

use crate::args::ReplayArgs;
use crate::error::{Done, SIGNALLED};
use crate::output::{self, Stream};
use crate::terminal::Terminal;

/// Runs the command. If the program failed when it was recorded, the replay has not failed.
pub fn run(args: &ReplayArgs) -> Done {
    let specs = configs::from_args(&args.simulation.selection())?;
    let recording = Recording::open(&args.trace, args.allow_truncated)?;
    let (output, mut rows) = output::open(&args.report, Stream::Stdout)?;
    let what = (args.simulation.plan(), specs.as_slice());
    let terminal = Terminal::new(args.report.quiet);
    let finished = recording.simulate(what, &mut rows, &terminal)?;
    let code = match terminal.signal() {
        Some(signal) if finished.interrupted => SIGNALLED + signal as u8,
        _ => 0,
    };
    output.finished(&finished, code, &mut rows)
}
