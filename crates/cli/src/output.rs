//! Where reports go, and in which format.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Seek, Write};
use std::path::PathBuf;

use experiments::session::{Finished, Rows};
use experiments::{Class, Failure};
use results::Run;
use results::text::{self, Style};
use results::{csv, json};

use crate::args::{Format, ReportArgs};
use crate::error::{FAILED, status};

/// Columns where there is no terminal to ask.
const WIDTH: usize = 100;
/// Wider lines are hard to read.
const WIDTH_MAX: usize = 140;

/// An output stream of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// For output that can be piped on.
    Stdout,
    /// For output that must not mix with the guest's stdout.
    Stderr,
}

/// The destination of one report, checked before anything runs.
pub struct Output {
    format: Format,
    detail: bool,
    quiet: bool,
    stream: Stream,
    file: Option<(PathBuf, File)>,
}

impl Output {
    /// The destination that the options name. Without one, tables go to `tables`.
    pub fn open(args: &ReportArgs, tables: Stream) -> Result<Self, Failure> {
        let stream = if args.format == Format::Table { tables } else { Stream::Stdout };
        let file = match &args.output {
            None => None,
            Some(path) => {
                let opened = OpenOptions::new().create(true).append(true).open(path);
                let file = opened.map_err(|error| {
                    let path = path.display();
                    Failure::failed(format!(
                        "output {path}: cannot be written ({error}); name another file with \
                         --output"
                    ))
                })?;
                Some((path.clone(), file))
            }
        };
        let quiet = args.quiet && file.is_none() && args.format == Format::Table;
        Ok(Self { format: args.format, detail: args.detail, quiet, stream, file })
    }

    /// Writes the report of a run.
    pub fn run(self, run: &Run) -> Result<(), Failure> {
        let style = self.style();
        let text = match self.format {
            Format::Json => json::render(run),
            Format::Csv => csv::render(run, &experiments::catalogue::counters()),
            Format::Table if self.detail => text::detail(run, &style),
            Format::Table => text::summary(run, &style),
        };
        self.text(&text)
    }

    /// Reports a finished run. The exit status is the first of these that is not 0: a broken
    /// stream, the program's own status, a violation, a report or store that could not be written.
    pub fn finished(
        self,
        finished: &Finished,
        program: u8,
        rows: &mut Rows,
    ) -> Result<u8, Failure> {
        let mut failures = Vec::new();
        failures.extend(finished.error.as_ref().map(|error| Failure::failed(error.to_string())));
        let broken = !failures.is_empty();
        if let Some(fault) = finished.fault() {
            failures.push(Failure {
                class: Class::Violation,
                text: format!(
                    "{fault}: the markers of the allocator or the model are at fault; do not trust \
                     the figures"
                ),
            });
        }
        failures.extend(rows.failure().map(|failure| Failure {
            text: format!("{}; the result above was not stored whole", failure.text),
            ..failure
        }));
        failures.extend(self.run(&finished.run).err());
        for failure in &failures {
            eprintln!("mallacc: {}", failure.text);
        }
        Ok(match (broken, program, failures.first()) {
            (true, ..) => FAILED,
            (false, 0, Some(failure)) => status(failure.class),
            (false, program, _) => program,
        })
    }

    /// How tables are laid out here.
    fn style(&self) -> Style {
        if self.file.is_some() {
            Style { width: WIDTH, ..Style::PLAIN }
        } else {
            style(self.stream)
        }
    }

    /// Writes a report. If the file cannot be written, it goes to stdout, so that nothing is lost.
    pub fn text(self, text: &str) -> Result<(), Failure> {
        if self.quiet {
            return Ok(());
        }
        let Some((path, mut file)) = self.file else { return print(self.stream, text) };
        // Devices and pipes cannot be truncated; what matters is the write.
        let _ = file.set_len(0).and_then(|()| file.rewind());
        match file.write_all(text.as_bytes()).and_then(|()| file.flush()) {
            Ok(()) => Ok(()),
            Err(error) => {
                print(Stream::Stdout, text)?;
                Err(Failure::failed(format!(
                    "output {}: cannot be written ({error}); the report is on stdout instead",
                    path.display()
                )))
            }
        }
    }
}

/// Opens what a report needs, before anything runs.
pub fn open(args: &ReportArgs, tables: Stream) -> Result<(Output, Rows), Failure> {
    let store = (!args.no_store).then_some(args.store.as_path());
    Ok((Output::open(args, tables)?, Rows::open(store)?))
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

/// The style of a terminal, or of a pipe.
pub fn style(stream: Stream) -> Style {
    let terminal = match stream {
        Stream::Stdout => io::stdout().is_terminal(),
        Stream::Stderr => io::stderr().is_terminal(),
    };
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    let unicode = locale.is_some_and(|name| name.to_uppercase().replace('-', "").contains("UTF8"));
    let width = if terminal { columns(stream) } else { None }.unwrap_or(WIDTH);
    let colour = terminal && set("NO_COLOR").is_none();
    Style { width: width.min(WIDTH_MAX), unicode, colour }
}

fn columns(stream: Stream) -> Option<usize> {
    let descriptor = if stream == Stream::Stdout { 1 } else { 2 };
    // SAFETY: zeroes are a valid `winsize`; the call fills it.
    let (done, size) = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        (libc::ioctl(descriptor, libc::TIOCGWINSZ, &raw mut size), size)
    };
    (done == 0 && size.ws_col > 0).then_some(usize::from(size.ws_col))
}
