//! `mallacc run`: a program under QEMU, simulated as it runs.

use experiments::{configs, run};

use crate::args::RunArgs;
use crate::error::{Done, passed_on};
use crate::output::{self, Stream};
use crate::terminal::Terminal;

/// Runs the command.
pub fn run(args: &RunArgs) -> Done {
    let specs = configs::from_args(&args.simulation.selection())?;
    let mut target = args.program.target()?;
    let checked = target.prepare()?;
    let (output, mut rows) = output::open(&args.report, Stream::Stderr)?;
    let what = (args.simulation.plan(), specs.as_slice());
    let terminal = Terminal::new(args.report.quiet);
    let (finished, ending) = run::simulate(&mut target, checked, what, &mut rows, &terminal)?;
    output.finished(&finished, passed_on(ending), &mut rows)
}
