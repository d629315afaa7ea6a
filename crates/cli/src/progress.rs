//! A line that shows the progress of a run, on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

use experiments::Progress;

/// Updates per second: frequent enough to look alive, rare enough to cost nothing.
const RATE_HZ: u8 = 5;
/// Instructions or events between two looks at the clock.
const STEP: u64 = 1_000_000;

/// The progress line. Silent when stderr is not a terminal.
pub struct Line {
    bar: Option<ProgressBar>,
    shown: u64,
    begun: std::time::Instant,
}

impl Line {
    /// Begins a line for `what`.
    pub fn new(what: &str, quiet: bool) -> Self {
        let wanted = !quiet && std::io::stderr().is_terminal();
        let bar = wanted.then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(RATE_HZ);
            let bar = ProgressBar::with_draw_target(None, target);
            if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {elapsed} {msg}") {
                bar.set_style(style);
            }
            bar.set_prefix(what.to_owned());
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        Self { bar, shown: 0, begun: std::time::Instant::now() }
    }

    /// Removes the line.
    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Progress for Line {
    /// Shows how many `things` have been processed, and how many per second.
    fn reached(&mut self, count: u64, things: &str) {
        let Some(bar) = &self.bar else { return };
        if count - self.shown < STEP {
            return;
        }
        self.shown = count;
        let millions = count as f64 / 1e6;
        let rate = millions / self.begun.elapsed().as_secs_f64().max(1e-9);
        bar.set_message(format!("{millions:.0} M {things}, {rate:.1} M/s"));
    }
}
