//! Programs of the build: their output goes line by line to a log and to a reader, and a request to
//! end reaches them and everything that they started.

use crate::error::{SetupError, io_error};
use crate::observer::Observer;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often a request to end is looked for.
const TICK: Duration = Duration::from_millis(100);
/// How long a program may take to end its own children before it is killed. Ninja needs it: each of
/// its jobs is a process group of its own. Output is waited for as long after a program's end.
const PATIENCE: Duration = Duration::from_secs(20);
/// What the C library says when a disk is full.
const FULL: &str = "No space left on device";
/// A line that is said again in a message is cut here.
const SAID_MOST: usize = 200;

/// Where programs' output is kept.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// An empty one.
    pub fn create(path: PathBuf) -> Result<Self, SetupError> {
        let options = OpenOptions::new().create(true).write(true).truncate(true).open(&path);
        let file = options.map_err(io_error("cannot write", &path))?;
        Ok(Self { path, file })
    }

    /// Its path, for messages.
    pub fn shown(&self) -> String {
        self.path.display().to_string()
    }

    fn line(&mut self, text: &str) {
        // A full disk is noticed where it matters.
        let _ = writeln!(self.file, "{text}");
    }
}

/// A program that did not succeed.
pub enum Failed {
    /// With this status and these words.
    Status(ExitStatus, String),
    /// For another reason.
    Other(SetupError),
}

impl From<SetupError> for Failed {
    fn from(error: SetupError) -> Self {
        Self::Other(error)
    }
}

/// Runs a program of the build to its end. A failed one's words are the first line that names an
/// error, or else the last line.
pub fn run(
    mut command: Command,
    what: &'static str,
    log: &mut Log,
    observer: &dyn Observer,
    mut each: impl FnMut(&str),
) -> Result<(), Failed> {
    if observer.stopped() {
        return Err(SetupError::Stopped.into());
    }
    log.line(&format!("$ {command:?}"));
    let program = command.get_program().to_string_lossy().into_owned();
    let start = |source| SetupError::Start { what, program: program.clone(), source };
    let (reader, writer) = io::pipe().map_err(start)?;
    command.stdin(Stdio::null()).stderr(writer.try_clone().map_err(start)?).stdout(writer);
    // A terminal's Ctrl-C goes to this process alone, which ends the program in order.
    command.process_group(0);
    // SAFETY: prctl(2) may be called between fork and exec.
    unsafe { command.pre_exec(end_with_parent) };
    let mut child = command.spawn().map_err(start)?;
    // The writer's last copy in this process: the pipe now ends with the program.
    drop(command);
    let lines = lines_of(reader);
    let (mut said, mut error, mut ended) = (String::new(), None, None);
    let status = loop {
        match lines.recv_timeout(TICK) {
            Ok(line) => {
                log.line(&line);
                each(&line);
                if error.is_none() && names_error(&line) || line.contains(FULL) {
                    error = Some(line.clone());
                }
                if !line.trim().is_empty() {
                    said = line;
                }
            }
            // The pipe ends with the program, unless something that it started keeps it open.
            Err(why) => {
                if ended.is_none() && has_ended(&child) {
                    ended = Some(Instant::now());
                }
                match (why, ended) {
                    (RecvTimeoutError::Disconnected, None) => std::thread::sleep(TICK / 10),
                    (RecvTimeoutError::Timeout, None) => {}
                    (RecvTimeoutError::Timeout, Some(since)) if since.elapsed() < PATIENCE => {}
                    (_, Some(_)) => break child.wait().map_err(start)?,
                }
            }
        }
        if observer.stopped() {
            end(&mut child);
            return Err(SetupError::Stopped.into());
        }
    };
    if status.success() { Ok(()) } else { Err(Failed::Status(status, error.unwrap_or(said))) }
}

/// The same; a failure is that of a step of the build, whose log has the output. `folder` is where
/// it needs space.
pub fn step(
    command: Command,
    what: &'static str,
    (log, folder): (&mut Log, &Path),
    observer: &dyn Observer,
    each: impl FnMut(&str),
) -> Result<(), SetupError> {
    run(command, what, log, observer, each).map_err(|failed| match failed {
        Failed::Other(error) => error,
        Failed::Status(_, said) if said.contains(FULL) => crate::space::full(folder),
        Failed::Status(status, said) => {
            let said: String = said.trim().chars().take(SAID_MOST).collect();
            let said = if said.is_empty() { said } else { format!(": {said}") };
            SetupError::Step { what, how: status.to_string(), said, log: log.shown() }
        }
    })
}

/// Whether a line is about an error, as compilers, meson and tar write it.
fn names_error(line: &str) -> bool {
    let line = line.to_lowercase();
    line.starts_with("error: ") || line.contains(" error: ")
}

/// In the child: if this process is killed, the program gets the signal that ends it in order.
fn end_with_parent() -> io::Result<()> {
    // SAFETY: the arguments are those of prctl(2); nothing is written.
    let done = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn lines_of(reader: PipeReader) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(reader);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            line.clear();
            if sender.send(text).is_err() {
                break;
            }
        }
    });
    lines
}

/// Whether the program has ended. It is not waited for yet, so that its number is still its own.
fn has_ended(child: &Child) -> bool {
    // SAFETY: zeroes are a valid `siginfo_t`; the call fills it.
    let (done, info) = unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        (libc::waitid(libc::P_PID, child.id(), &raw mut info, flags), info)
    };
    // SAFETY: waitid has filled the field, or left the zero if the program is running.
    done != 0 || unsafe { info.si_pid() } != 0
}

/// Ends a program with all that it started: first in order, then by force.
fn end(child: &mut Child) {
    let signal = |child: &Child, signal| {
        if let Ok(group) = i32::try_from(child.id()) {
            // SAFETY: kill(2) with the process group of a child that has not been waited for.
            unsafe { libc::kill(-group, signal) };
        }
    };
    signal(child, libc::SIGTERM);
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until && !has_ended(child) {
        std::thread::sleep(TICK / 10);
    }
    // Also for what it left behind in its group.
    signal(child, libc::SIGKILL);
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_from_files_and_options_with_that_name() {
        for line in
            ["x.c:1:2: error: no", "ERROR: no", "a/meson.build:3:0: ERROR: no", "fatal error: x"]
        {
            assert!(names_error(line), "{line}");
        }
        for line in
            ["Compiling error.c", "Compiler supports -Werror: YES", "0 errors", "strerror: YES"]
        {
            assert!(!names_error(line), "{line}");
        }
    }
}
