//! Experiments at a terminal: what they tell goes to stderr, Ctrl-C asks them to end.

use std::sync::atomic::AtomicBool;

use experiments::monitor::Stopper;
use experiments::{Monitor, Progress};

use crate::interrupt;
use crate::progress::Line;

/// How much an experiment tells.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// Whether it shows a line that says how far it is.
    pub line: bool,
    /// Whether it names the parts that it begins.
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
