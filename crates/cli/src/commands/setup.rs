//! `mallacc setup`: finds a QEMU that runs programs, or builds one.

use std::cell::{Cell, RefCell};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use experiments::{Class, Ending, Failure};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use setup::{Observer, Outcome, Progress, SetupError, Unit};

use crate::args::SetupArgs;
use crate::error::Done;
use crate::interrupt;
use crate::place::{Stream, print};

/// Time between two lines about progress where there is no terminal.
const PAUSE: Duration = Duration::from_secs(20);
/// Updates of the progress line per second.
const RATE_HZ: u8 = 5;

/// Runs the command.
pub fn run(args: &SetupArgs) -> Done {
    let text = if args.path {
        let found = setup::found().map_err(failure)?;
        format!("{}\n", found.path.display())
    } else if args.dry_run {
        setup::plan(&args.request()).map_err(failure)?
    } else {
        interrupt::install();
        let teller = Teller::new();
        let outcome = setup::run(&args.request(), &teller);
        teller.end();
        match outcome.map_err(failure)? {
            Outcome::Ready(found) => format!("{found}; nothing is to be done\n"),
            Outcome::Built(built) => format!("{built} is ready\n"),
        }
    };
    print(Stream::Stdout, &text)?;
    Ok(0)
}

/// The failure of the command. What was stopped ends as the signal asks.
fn failure(error: SetupError) -> Failure {
    let class = match (&error, interrupt::signal()) {
        (SetupError::Stopped, Some(signal)) => Class::Program(Ending::Interrupted(signal)),
        (SetupError::Unknown { .. } | SetupError::NotSource { .. }, _) => Class::Usage,
        _ => Class::Failed,
    };
    Failure { class, text: error.to_string() }
}

/// Tells on stderr what happens: on a terminal with a line of progress, elsewhere with a line now
/// and then.
struct Teller {
    bar: RefCell<Option<ProgressBar>>,
    terminal: bool,
    begun: Cell<Instant>,
    told: Cell<Instant>,
}

impl Teller {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            bar: RefCell::default(),
            terminal: std::io::stderr().is_terminal(),
            begun: Cell::new(now),
            told: Cell::new(now),
        }
    }

    /// Removes the line of progress.
    fn end(&self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Teller {
    fn step(&self, text: &str) {
        self.end();
        eprintln!("mallacc: {text}");
        self.begun.set(Instant::now());
        self.told.set(Instant::now());
    }

    fn progress(&self, progress: Progress) {
        let text = || told(progress, self.begun.get().elapsed());
        if !self.terminal {
            if self.told.get().elapsed() >= PAUSE {
                self.told.set(Instant::now());
                eprintln!("mallacc: {}", text());
            }
            return;
        }
        let mut bar = self.bar.borrow_mut();
        let bar = bar.get_or_insert_with(|| line(progress.total));
        bar.set_position(progress.done);
        bar.set_message(text());
    }

    fn stopped(&self) -> bool {
        interrupt::signal().is_some()
    }
}

/// A line of progress, with a bar if it is known how much there is.
fn line(total: Option<u64>) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(RATE_HZ);
    let bar = ProgressBar::with_draw_target(total, target);
    let template = if total.is_some() { "{bar:30} {msg}" } else { "{spinner} {msg}" };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

/// How far it has come, and how fast.
fn told(progress: Progress, elapsed: Duration) -> String {
    let (done, total) = (progress.done, progress.total);
    let seconds = elapsed.as_secs_f64();
    match progress.unit {
        Unit::Bytes => {
            let mb = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
            let of = total.map(|total| format!(" of {}", mb(total))).unwrap_or_default();
            format!("{}{of} MB, {:.1} MB/s", mb(done), done as f64 / 1e6 / seconds.max(0.001))
        }
        Unit::Steps => {
            let of = total.map(|total| format!(" of {total}")).unwrap_or_default();
            format!("step {done}{of}, {seconds:.0} s")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_with_its_unit_and_speed() {
        let bytes = Progress { done: 12_000_000, total: Some(40_000_000), unit: Unit::Bytes };
        assert_eq!(told(bytes, Duration::from_secs(4)), "12.0 of 40.0 MB, 3.0 MB/s");
        let unknown = Progress { total: None, ..bytes };
        assert_eq!(told(unknown, Duration::from_secs(4)), "12.0 MB, 3.0 MB/s");
        let steps = Progress { done: 3, total: Some(348), unit: Unit::Steps };
        assert_eq!(told(steps, Duration::from_secs(61)), "step 3 of 348, 61 s");
    }
}
