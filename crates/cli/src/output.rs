//! Where reports go, and in which format.

use std::io::{self, IsTerminal};

use experiments::session::{Finished, Rows};
use experiments::{Class, Failure};
use results::Run;
use results::text::{self, Style};
use results::{csv, json};

use crate::args::{Format, ReportArgs};
use crate::error::{FAILED, status};
pub use crate::place::{Place, Stream, print};

/// Columns where there is no terminal to ask.
const WIDTH: usize = 100;
/// Wider lines are hard to read.
const WIDTH_MAX: usize = 140;

/// The destination of one report, checked before anything runs.
pub struct Output {
    format: Format,
    detail: bool,
    quiet: bool,
    place: Place,
}

impl Output {
    /// The destination that the options name. Without one, tables go to `tables`.
    pub fn open(args: &ReportArgs, tables: Stream) -> Result<Self, Failure> {
        let stream = if args.format == Format::Table { tables } else { Stream::Stdout };
        let place = Place::open(args.output.as_deref(), stream)?;
        let quiet = args.quiet && args.output.is_none() && args.format == Format::Table;
        Ok(Self { format: args.format, detail: args.detail, quiet, place })
    }

    /// The report of a run.
    pub fn document(&self, run: &Run) -> String {
        let style = style_at(&self.place);
        match self.format {
            Format::Json => json::render(run),
            Format::Csv => csv::render(run, &experiments::catalogue::counters()),
            Format::Table if self.detail => text::detail(run, &style),
            Format::Table => text::summary(run, &style),
        }
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
        let document = self.document(&finished.run);
        failures.extend(self.text(&document).err());
        for failure in &failures {
            eprintln!("mallacc: {}", failure.text);
        }
        Ok(match (broken, program, failures.first()) {
            (true, ..) => FAILED,
            (false, 0, Some(failure)) => status(failure.class),
            (false, program, _) => program,
        })
    }

    /// Writes a report of what was measured.
    pub fn text(self, text: &str) -> Result<(), Failure> {
        if self.quiet { Ok(()) } else { self.place.write_measured(text) }
    }

    /// Writes a report of what is stored.
    pub fn stored(self, text: &str) -> Result<(), Failure> {
        self.place.write(text)
    }
}

/// Opens what a report needs, before anything runs.
pub fn open(args: &ReportArgs, tables: Stream) -> Result<(Output, Rows), Failure> {
    let store = (!args.no_store).then_some(args.store.as_path());
    Ok((Output::open(args, tables)?, Rows::open(store)?.labelled(args.label.clone())))
}

/// The style of a place.
pub fn style_at(place: &Place) -> Style {
    place.stream().map_or(Style { width: WIDTH, ..Style::PLAIN }, style)
}

/// The style of a terminal, or of a pipe.
fn style(stream: Stream) -> Style {
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
