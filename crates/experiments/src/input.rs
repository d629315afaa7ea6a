//! What a command reads: files, or standard input where `-` stands for a file.

use std::fs::File;
use std::io::{self, BufReader, Read, Stdin};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use accel::Choice;
use stream::StreamError;
use stream::file::FileSource;
use uarch::Machine;
use uarch::machine::BUILT_IN;

use crate::error::Failure;

/// The name of standard input on a command line.
const STDIN: &str = "-";
/// Its name in messages, and that of a machine read from it that has no name of its own.
const STDIN_NAME: &str = "stdin";

/// A recording from a file or from standard input; it is read in one go from its start.
pub type Recorded = FileSource<Box<dyn Read>>;

/// Whether this name means standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == STDIN
}

/// Standard input, which can be read only once.
fn stdin() -> Result<Stdin, Failure> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if TAKEN.swap(true, Ordering::Relaxed) {
        let text = "\"-\" means stdin and can be given once; name a file for the other";
        return Err(Failure::usage(text));
    }
    Ok(io::stdin())
}

/// The text of a file or of standard input, and its name in messages; `what` it must be.
pub fn text(path: &Path, what: &str) -> Result<(String, String), Failure> {
    let unreadable = |name: &str, error: io::Error| {
        Failure::usage(format!("{name}: cannot read: {error}; give {what}"))
    };
    if is_stdin(path) {
        let text = io::read_to_string(stdin()?).map_err(|error| unreadable(STDIN_NAME, error))?;
        return Ok((text, STDIN_NAME.to_owned()));
    }
    let name = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => Ok((text, name)),
        Err(error) => Err(unreadable(&name, error)),
    }
}

/// A recording.
pub fn recording(path: &Path) -> Result<Recorded, Failure> {
    if is_stdin(path) {
        let from: Box<dyn Read> = Box::new(stdin()?);
        return Ok(FileSource::from_reader(from, STDIN_NAME.to_owned())?);
    }
    let name = path.display().to_string();
    let file = File::open(path).map_err(|source| {
        let path = name.clone();
        Failure::from(StreamError::Io { what: "cannot read", path, source })
    })?;
    let from: Box<dyn Read> = Box::new(BufReader::with_capacity(1 << 20, file));
    Ok(FileSource::from_reader(from, name)?)
}

/// A machine and the text of its file.
pub struct MachineFile {
    /// The machine. All rules between its parameters hold.
    pub machine: Machine,
    /// The text.
    pub text: String,
}

/// The machine of that name, from that file, or from standard input, with all its rules checked.
pub fn machine(name: &str) -> Result<Machine, Failure> {
    Ok(machine_file(name)?.machine)
}

/// The same with the text of its file.
pub fn machine_file(name: &str) -> Result<MachineFile, Failure> {
    let (machine, text) = if name == STDIN {
        let (text, name) = text(Path::new(name), "a machine file")?;
        (Machine::from_file(&text, &name)?, text)
    } else {
        let text = Machine::file(name)?;
        let built_in = BUILT_IN.iter().any(|(known, _)| *known == name);
        match built_in {
            true => (Machine::parse(&text, name)?, text),
            false => (Machine::from_file(&text, name)?, text),
        }
    };
    // Rules between parameters are checked when the machine is built.
    machine
        .build(Choice::baseline().build()?)
        .map_err(|error| Failure::usage(format!("machine {name}: {}", error.0)))?;
    Ok(MachineFile { machine, text })
}
