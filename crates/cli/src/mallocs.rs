//! `mallacc record-mallocs`: what a program allocates and frees, into a file.
//!
//! ```text
//! raw file ──> program with the recorder preloaded ──> raw file full of slots ──> traces::convert
//! ```

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use launch::Linkage;
use traces::raw::{MAGIC, SLOTS_OFFSET, VARIABLE};
use traces::{Converted, Header, convert};

use crate::args::RecordMallocsArgs;
use crate::error::{Done, FAILED, Failure, SIGNALLED};
use crate::interrupt;

/// The raw file beside the trace, gone when this goes.
struct Raw(PathBuf);

impl Raw {
    fn create(trace: &Path) -> Result<Self, Failure> {
        let mut name = trace.as_os_str().to_owned();
        name.push(format!(".{}.raw", std::process::id()));
        let raw = Self(std::path::absolute(&name).unwrap_or_else(|_| name.into()));
        let mut page = vec![0; SLOTS_OFFSET];
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

/// Runs the command.
pub fn run(args: &RecordMallocsArgs) -> Done {
    let Some((name, rest)) = args.command.split_first() else {
        return Err(Failure::usage("no program given; try: mallacc record-mallocs -o t.amt -- ls"));
    };
    let program = launch::resolve(name, rest)?;
    let recorder = loadable(launch::paths::recorder()?)?;
    let output = File::create(&args.output).map_err(|error| unwritable(&args.output, &error))?;
    let raw = Raw::create(&args.output)?;
    if program.linkage == Linkage::Static {
        let path = program.path.display();
        eprintln!("mallacc: warning: {path}: statically linked, so its allocations are not seen");
    }
    let mut command = Command::new(&program.path);
    command.arg0(&program.argv[0]).args(&program.argv[1..]);
    command.env("LD_PRELOAD", preload(&recorder)).env(VARIABLE, &raw.0);
    let status = wait(&mut command, &program.path)?;
    let words = std::iter::once(name).chain(rest).map(|w| w.to_string_lossy().into_owned());
    let header = Header { command: words.collect() };
    let input = File::open(&raw.0);
    let done = input.and_then(|input| {
        convert(BufReader::with_capacity(1 << 20, input), BufWriter::new(output), &header)
    });
    let converted = done.map_err(|error| unwritable(&args.output, &error))?;
    report(args, &converted);
    Ok(exit_code(status, args))
}

/// Refuses a path that the dynamic linker would take for two.
fn loadable(recorder: PathBuf) -> Result<PathBuf, Failure> {
    if recorder.as_os_str().as_encoded_bytes().iter().any(|byte| b": ".contains(byte)) {
        let path = recorder.display();
        return Err(Failure::failed(format!(
            "{path}: LD_PRELOAD cannot carry a colon or a blank in a path; move or link the file \
             elsewhere and set {} to it",
            launch::paths::RECORDER_VARIABLE
        )));
    }
    Ok(recorder)
}

/// The recorder before what the user preloads.
fn preload(recorder: &Path) -> OsString {
    let mut value = recorder.as_os_str().to_owned();
    if let Some(own) = std::env::var_os("LD_PRELOAD").filter(|own| own != OsStr::new("")) {
        value.push(":");
        value.push(own);
    }
    value
}

/// Runs the program to its end. Ctrl-C reaches it too, and what it did until then is kept.
fn wait(command: &mut Command, path: &Path) -> Result<ExitStatus, Failure> {
    interrupt::install();
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

fn report(args: &RecordMallocsArgs, converted: &Converted) {
    let (totals, path) = (converted.totals, args.output.display());
    if !converted.attached {
        eprintln!(
            "mallacc: warning: {path} is empty: the recorder was not loaded (statically linked, \
             or started with other privileges)"
        );
    }
    if totals.lost > 0 {
        eprintln!(
            "mallacc: warning: {path} lacks {} events, for which its file system had no room",
            totals.lost
        );
    }
    if args.quiet {
        return;
    }
    eprintln!(
        "mallacc: {path}: {} allocations, {} frees, {} threads, at most {} bytes live",
        totals.allocations, totals.frees, totals.threads, totals.peak_bytes
    );
    if totals.children > 0 {
        eprintln!(
            "mallacc: {} other process(es) that it started are not in the trace; to have one, \
             record it by itself",
            totals.children
        );
    }
}

fn exit_code(status: ExitStatus, args: &RecordMallocsArgs) -> u8 {
    if let Some(signal) = status.signal() {
        if !args.quiet {
            let path = args.output.display();
            eprintln!("mallacc: signal {signal} killed the program; {path} holds what it did");
        }
        return SIGNALLED.wrapping_add(signal as u8);
    }
    status.code().map_or(FAILED, |code| code as u8)
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
