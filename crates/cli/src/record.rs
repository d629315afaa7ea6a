//! `mallacc record`: the instruction stream of a program into a file.

use serde::{Deserialize, Serialize};
use std::time::Instant;

use stream::file::{Header, Recorder};
use stream::live::{Fate, LiveSource};
use stream::{Packet, Source, StreamError};

use crate::args::RecordArgs;
use crate::companion::Companion;
use crate::error::{Done, FAILED, Failure, SIGNALLED};
use crate::interrupt;
use crate::progress::Line;
use crate::run::{Target, exit_status, stop};

/// How a trace was made, in its header.
#[derive(Debug, Deserialize, Serialize)]
#[serde(default)]
pub struct Parameters {
    /// Whether the program's own sources of randomness were fixed.
    pub deterministic: bool,
    /// The seed of what QEMU gave the program.
    pub seed: u64,
    /// The version of the tool that recorded.
    pub tool_version: String,
}

impl Default for Parameters {
    fn default() -> Self {
        let tool_version = env!("CARGO_PKG_VERSION").to_owned();
        Self { deterministic: false, seed: 1, tool_version }
    }
}

impl Parameters {
    /// From a header's text; what it does not say is as usual.
    pub fn from_text(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }
}

/// Runs the command.
pub fn run(args: &RecordArgs) -> Done {
    let mut target = Target::from_args(&args.program)?;
    let (prepared, warning) = target.prepare()?;
    if let Some(warning) = warning {
        eprintln!("mallacc: warning: {warning}");
    }
    let header = header(&target);
    let mut recorder = Recorder::create(&args.output, &header)?;
    let (mut launched, companion) = target.start(prepared)?;
    let mut source = launched.source().ok_or_else(|| Failure::failed("the stream is taken"))?;
    let begun = Instant::now();
    let line = Line::new(&header.program, args.quiet);
    let copied = copy(&mut source, &mut recorder, line);
    let finished = copied.and_then(|()| recorder.finish());
    drop(source);
    if finished.is_err() {
        launched.detach();
    }
    let io = |error| Failure::failed(format!("cannot wait for the program: {error}"));
    let asked = interrupt::signal();
    let fate = match asked {
        Some(signal) => stop(&mut launched, signal).map_err(io)?,
        None => launched.wait().map_err(io)?,
    };
    interrupt::forget_program();
    if let Some(failure) = companion.and_then(Companion::finish).filter(|_| asked.is_none()) {
        eprintln!("mallacc: warning: {failure}");
    }
    let totals = finished?;
    let path = args.output.display();
    if !args.quiet {
        let bytes = std::fs::metadata(&args.output).map_or(0, |m| m.len());
        eprintln!(
            "mallacc: {path}: {} events of {} blocks in {:.1} MB, {:.1} s; simulate them with: \
             mallacc replay {path}",
            totals.words,
            totals.blocks,
            bytes as f64 / 1e6,
            begun.elapsed().as_secs_f64()
        );
    }
    Ok(match (asked, fate) {
        (Some(signal), _) => {
            eprintln!("mallacc: interrupted: {path} holds what ran until then");
            SIGNALLED + signal as u8
        }
        (None, Fate::Exited(code)) => exit_status(Some(results::Exit::Code(code))),
        (None, Fate::Killed(signal)) => {
            eprintln!("mallacc: signal {signal} killed the program; {path} holds what ran");
            exit_status(Some(results::Exit::Signal(signal)))
        }
        (None, _) => FAILED,
    })
}

fn header(target: &Target) -> Header {
    let run = target.begin();
    let parameters =
        Parameters { deterministic: run.deterministic, seed: run.seed, ..Parameters::default() };
    let parameters = serde_json::to_string(&parameters).unwrap_or_default();
    Header { program: run.program, args: run.args, parameters }
}

fn copy(
    source: &mut LiveSource,
    recorder: &mut Recorder,
    mut line: Line,
) -> Result<(), StreamError> {
    let mut packet = Packet::default();
    let mut events = 0;
    while source.next(&mut packet)? {
        events += packet.events.len() as u64;
        recorder.write(&mut packet)?;
        line.reached(events, "events");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_read_back_and_unknown_text_is_the_default() {
        let given = Parameters { deterministic: true, seed: 9, ..Parameters::default() };
        let read = Parameters::from_text(&serde_json::to_string(&given).unwrap());
        assert_eq!((read.deterministic, read.seed), (true, 9));
        assert_eq!(Parameters::from_text("{}").seed, 1);
        assert_eq!(Parameters::from_text("?").seed, 1);
    }
}
