//! Records what a program allocates and frees in a file.
//!
//! ```text
//! raw file ──> program with the recorder preloaded ──> raw file full of records ──> traces::convert
//! ```

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use launch::Linkage;
use results::Exit;
use results::text::number::counted;
use traces::raw::{MAGIC, RECORDS_OFFSET, VARIABLE};
use traces::{Converted, Header, Totals, convert};

use crate::error::{Ending, Failure};
use crate::monitor::Monitor;

/// The raw file beside the trace, removed when this is dropped.
struct Raw(PathBuf);

impl Raw {
    fn create(trace: &Path) -> Result<Self, Failure> {
        let mut name = trace.as_os_str().to_owned();
        name.push(format!(".{}.raw", std::process::id()));
        let raw = Self(std::path::absolute(&name).unwrap_or_else(|_| name.into()));
        let mut page = vec![0; RECORDS_OFFSET];
        page[..8].copy_from_slice(&MAGIC.to_le_bytes());
        let made = File::create(&raw.0).and_then(|mut file| file.write_all(&page));
        made.map_err(|error| unwritable(&raw.0, &error))?;
        Ok(raw)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let path = path.display();
    Failure::failed(format!("{path}: cannot be written ({error}); name another file with -o"))
}

/// A finished trace.
pub struct Recorded {
    /// What is in it.
    pub totals: Totals,
    /// How the program ended.
    pub ending: Ending,
}

/// Runs a program natively and stores its allocations in the file `trace`.
pub fn record(
    (name, rest): (&OsStr, &[OsString]),
    trace: &Path,
    monitor: &dyn Monitor,
) -> Result<Recorded, Failure> {
    let program = launch::resolve(name, rest)?;
    let recorder = loadable(launch::products::RECORDER.find()?)?;
    let output = File::create(trace).map_err(|error| unwritable(trace, &error))?;
    let raw = Raw::create(trace)?;
    if program.linkage == Linkage::Static {
        let path = program.path.display();
        monitor.warning(&format!("{path}: statically linked, so its allocations are not seen"));
    }
    let mut command = Command::new(&program.path);
    command.arg0(&program.argv[0]).args(&program.argv[1..]);
    command.env("LD_PRELOAD", preload(&recorder)).env(VARIABLE, &raw.0);
    monitor.stop();
    let status = wait(&mut command, &program.path)?;
    let words = std::iter::once(name).chain(rest.iter().map(OsString::as_os_str));
    let words = words.map(|word| word.to_string_lossy().into_owned());
    let header = Header { command: words.collect() };
    let input = File::open(&raw.0);
    let done = input.and_then(|input| {
        convert(BufReader::with_capacity(1 << 20, input), BufWriter::new(output), &header)
    });
    let converted = done.map_err(|error| unwritable(trace, &error))?;
    warn(trace, &converted, monitor);
    let exit = match status.signal() {
        Some(signal) => Some(Exit::Signal(signal)),
        None => status.code().map(Exit::Code),
    };
    Ok(Recorded { totals: converted.totals, ending: Ending::Program(exit) })
}

/// Refuses a path that the dynamic linker would read as two.
fn loadable(recorder: PathBuf) -> Result<PathBuf, Failure> {
    if recorder.as_os_str().as_encoded_bytes().iter().any(|byte| b": ".contains(byte)) {
        let path = recorder.display();
        return Err(Failure::failed(format!(
            "{path}: LD_PRELOAD cannot take a path with a colon or a space; move or link the file \
             elsewhere and set {} to it",
            launch::products::RECORDER.variable
        )));
    }
    Ok(recorder)
}

/// The recorder, followed by what the user preloads.
fn preload(recorder: &Path) -> OsString {
    let mut value = recorder.as_os_str().to_owned();
    if let Some(own) = std::env::var_os("LD_PRELOAD").filter(|own| own != OsStr::new("")) {
        value.push(":");
        value.push(own);
    }
    value
}

/// Runs the program to its end. Ctrl-C reaches it too, and the events until then are kept.
fn wait(command: &mut Command, path: &Path) -> Result<ExitStatus, Failure> {
    let failed =
        |error: std::io::Error| Failure::failed(format!("cannot run {}: {error}", path.display()));
    let mut child = command.spawn().map_err(failed)?;
    loop {
        match child.wait() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            done => return done.map_err(failed),
        }
    }
}

fn warn(trace: &Path, converted: &Converted, monitor: &dyn Monitor) {
    let path = trace.display();
    if !converted.attached {
        monitor.warning(&format!(
            "{path} is empty: the recorder was not loaded (statically linked, or started with \
             other privileges)"
        ));
    }
    if converted.totals.lost > 0 {
        monitor.warning(&format!(
            "{path} lacks {}: its file system was full",
            counted(converted.totals.lost, "event", "events")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_would_be_two_libraries_is_refused() {
        assert!(loadable("/usr/lib/r.so".into()).is_ok());
        for path in ["/my files/r.so", "/a:b/r.so"] {
            let error = loadable(path.into()).unwrap_err().text;
            assert!(error.contains(path) && error.contains("MALLACC_RECORDER"), "{error}");
        }
    }
}
