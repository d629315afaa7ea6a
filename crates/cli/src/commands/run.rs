//! `mallacc run`: a program under QEMU, simulated as it runs.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileTypeExt;

use experiments::{Failure, configs, rerun, run};

use crate::args::RunArgs;
use crate::error::{Done, passed_on};
use crate::output::{self, Stream};
use crate::terminal::Terminal;

/// Runs the command.
pub fn run(args: &RunArgs) -> Done {
    let specs = configs::from_args(&args.simulation.selection())?;
    let mut target = args.program.target()?;
    let checked = target.prepare()?;
    let input = if args.rerun { Input::of_this_process()? } else { Input::Inherited };
    let (output, mut rows) = output::open(&args.report, Stream::Stderr)?;
    let what = (args.simulation.plan(), specs.as_slice());
    let terminal = Terminal::new(args.report.quiet);
    let (finished, ending) = if args.rerun {
        let mut targets = || {
            let mut target = args.program.target()?;
            if target.stdin.is_none() {
                target.stdin = input.again()?;
            }
            Ok(target)
        };
        rerun::simulate(&mut targets, what, &mut rows, &terminal)?
    } else {
        run::simulate(&mut target, checked, what, &mut rows, &terminal)?
    };
    output.finished(&finished, passed_on(ending), &mut rows)
}

/// What a program reads from its stdin in each of several executions.
enum Input {
    /// What this process would read: a terminal or nothing.
    Inherited,
    /// A file, from where it stands.
    File(File, u64),
}

impl Input {
    /// This process's stdin, if every execution can read the same from it.
    fn of_this_process() -> Result<Self, Failure> {
        let unreadable = |error: std::io::Error| {
            Failure::failed(format!("stdin cannot be read ({error}); redirect it from a file"))
        };
        let mut file =
            File::from(std::io::stdin().as_fd().try_clone_to_owned().map_err(unreadable)?);
        let kind = file.metadata().map_err(unreadable)?.file_type();
        if kind.is_fifo() || kind.is_socket() {
            return Err(Failure::usage(
                "--rerun: stdin is a pipe, which only the first execution could read; redirect it \
                 from a file, or from /dev/null if the program reads nothing",
            ));
        }
        if !kind.is_file() {
            return Ok(Self::Inherited);
        }
        let place = file.stream_position().map_err(unreadable)?;
        Ok(Self::File(file, place))
    }

    /// It once more; `None` = this process's own.
    fn again(&self) -> Result<Option<File>, Failure> {
        let Self::File(file, place) = self else { return Ok(None) };
        let opened = File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
            .and_then(|mut file| file.seek(SeekFrom::Start(*place)).map(|_| file));
        let fail = |error| Failure::failed(format!("stdin cannot be read again ({error})"));
        opened.map(Some).map_err(fail)
    }
}
