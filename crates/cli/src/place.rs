//! Where a document goes: a stream of this process or a file.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use experiments::Failure;

/// The name of stdout on a command line.
const STDOUT: &str = "-";

/// An output stream of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// For output that can be piped on.
    Stdout,
    /// For output that must not mix with the guest's stdout.
    Stderr,
}

/// Whether this name of a file stands for stdout.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == STDOUT
}

/// Refuses stdout for what is written while a program prints there.
pub fn file_beside_stdout(path: &Path) -> Result<(), Failure> {
    if is_stdout(path) {
        return Err(Failure::usage("--output -: stdout is the program's; name a file"));
    }
    Ok(())
}

/// The destination of a document, which was opened before anything ran.
pub struct Place {
    stream: Stream,
    file: Option<(PathBuf, File)>,
}

impl Place {
    /// The file that `output` names, `-` being stdout; without a name, `stream`.
    pub fn open(output: Option<&Path>, stream: Stream) -> Result<Self, Failure> {
        let Some(path) = output else { return Ok(Self { stream, file: None }) };
        if is_stdout(path) {
            return Ok(Self { stream: Stream::Stdout, file: None });
        }
        let opened = OpenOptions::new().create(true).append(true).open(path);
        let file =
            opened.map_err(|error| unwritable(path, &error, "name another with --output"))?;
        Ok(Self { stream, file: Some((path.to_owned(), file)) })
    }

    /// The stream, unless it is a file.
    pub fn stream(&self) -> Option<Stream> {
        self.file.is_none().then_some(self.stream)
    }

    /// Writes a document that can be made again.
    pub fn write(self, text: &str) -> Result<(), Failure> {
        let Some((path, file)) = self.file else { return print(self.stream, text) };
        let remedy = "name another with --output";
        replace(file, text).map_err(|error| unwritable(&path, &error, remedy))
    }

    /// Writes what was measured: if the file cannot be written, it goes to stdout, so that nothing
    /// is lost.
    pub fn write_measured(self, text: &str) -> Result<(), Failure> {
        let Some((path, file)) = self.file else { return print(self.stream, text) };
        replace(file, text).or_else(|error| {
            print(Stream::Stdout, text)?;
            Err(unwritable(&path, &error, "the report is on stdout instead"))
        })
    }
}

fn unwritable(path: &Path, error: &io::Error, remedy: &str) -> Failure {
    Failure::failed(format!("output {}: cannot be written ({error}); {remedy}", path.display()))
}

/// Replaces what is in a file.
fn replace(mut file: File, text: &str) -> io::Result<()> {
    // Devices and pipes cannot be truncated; what matters is the write.
    let _ = file.set_len(0).and_then(|()| file.rewind());
    file.write_all(text.as_bytes()).and_then(|()| file.flush())
}

/// Prints a text; a reader that has closed the pipe is not a failure.
pub fn print(stream: Stream, text: &str) -> Result<(), Failure> {
    let done = match stream {
        Stream::Stdout => {
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.flush())
        }
        Stream::Stderr => io::stderr().lock().write_all(text.as_bytes()),
    };
    match done {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("cannot print: {error}")))
        }
        _ => Ok(()),
    }
}
