//! Experiments at a terminal: their messages go to stderr, and Ctrl-C asks them to end.

use std::sync::atomic::AtomicBool;

use experiments::monitor::Stopper;
use experiments::{Monitor, Progress};

use crate::interrupt;
use crate::progress::Line;

/// How much an experiment reports.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// Whether it shows a progress line.
    pub line: bool,
    /// Whether it names each part as it begins.
    pub steps: bool,
}

impl Terminal {
    /// Everything, or only what went wrong.
    pub fn new(quiet: bool) -> Self {
        Self { line: !quiet, steps: !quiet }
    }
}

impl Monitor for Terminal {
    fn stop(&self) -> &AtomicBool {
        interrupt::install()
    }

    fn signal(&self) -> Option<i32> {
        interrupt::signal()
    }

    fn program_started(&self, stopper: Stopper, pid: u32) {
        interrupt::watch_program(stopper, pid);
    }

    fn program_ended(&self) {
        interrupt::forget_program();
    }

    fn progress(&self, what: &str) -> Box<dyn Progress> {
        Box::new(Line::new(what, !self.line))
    }

    fn step(&self, text: &str) {
        if self.steps {
            eprintln!("mallacc: {text}");
        }
    }

    fn warning(&self, text: &str) {
        eprintln!("mallacc: warning: {text}");
    }

    fn problem(&self, text: &str) {
        eprintln!("mallacc: {text}");
    }
}
