//! `mallacc operations` and `mallacc area`: the malloc cache as hardware.

use std::fs::File;
use std::io::{BufWriter, Write, stdout};

use experiments::{Failure, hardware, input};

use crate::args::{AreaArgs, OperationsArgs};
use crate::error::Done;
use crate::output::{Stream, print};
use crate::place::is_stdout;

/// `mallacc operations`.
pub fn operations(args: &OperationsArgs) -> Done {
    let recording = input::recording(&args.trace)?.allow_truncated(args.allow_truncated);
    let path = args.output.display().to_string();
    let to_stdout = is_stdout(&args.output);
    let out: Box<dyn Write> = if to_stdout {
        Box::new(stdout().lock())
    } else {
        Box::new(File::create(&args.output).map_err(|error| {
            Failure::failed(format!("{path}: cannot be written ({error}); name another with -o"))
        })?)
    };
    let count = hardware::operations(recording, (BufWriter::new(out), &path), args.max)?;
    let operations = if count == 1 { "operation" } else { "operations" };
    let stream = if to_stdout { Stream::Stderr } else { Stream::Stdout };
    print(stream, &format!("{count} {operations} in {path}\n"))?;
    Ok(0)
}

/// `mallacc area`.
pub fn area(args: &AreaArgs) -> Done {
    args.place.open()?.write(&hardware::area(args.speedup))?;
    Ok(0)
}
