//! Records the instruction stream of a program in a file.

use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Instant;

use stream::file::{Header, RecordingWriter};
use stream::live::LiveSource;
use stream::{Packet, Source, StreamError};

use crate::error::{Ending, Failure};
use crate::monitor::{Monitor, Progress};
use crate::run;
use crate::target::Target;

/// How a trace was made, as stored in its header.
#[derive(Debug, Deserialize, Serialize)]
#[serde(default)]
pub struct Parameters {
    /// Whether the program's own sources of randomness were fixed.
    pub deterministic: bool,
    /// The seed of the randomness that QEMU gave the program.
    pub seed: u64,
    /// The version of the tool that recorded.
    pub tool_version: String,
    /// Why the program's allocator could not be replaced, a clause; absent if it could.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_allocator: Option<String>,
}

impl Default for Parameters {
    fn default() -> Self {
        let tool_version = env!("CARGO_PKG_VERSION").to_owned();
        Self { deterministic: false, seed: 1, tool_version, own_allocator: None }
    }
}

impl Parameters {
    /// Parsed from a header's text; what is missing has its default.
    pub fn from_text(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }
}

/// A finished recording.
pub struct Recorded {
    /// Events and markers in it.
    pub events: u64,
    /// Blocks of code in it.
    pub blocks: u64,
    /// Run time of the program in seconds.
    pub seconds: f64,
    /// How the program ended.
    pub ending: Ending,
}

/// Executes a program once and stores its stream.
pub fn record(
    mut target: Target,
    output: &Path,
    monitor: &dyn Monitor,
) -> Result<Recorded, Failure> {
    let prepared = target.prepare()?;
    let own_allocator = prepared.own_allocator().map(launch::OwnAllocator::clause);
    if let Some(clause) = prepared.warning() {
        monitor.warning(clause);
    }
    let header = header(&target, own_allocator);
    let mut recorder = RecordingWriter::create(output, &header)?;
    let (mut launched, companion) = target.start(prepared, monitor)?;
    let mut source =
        launched.source().ok_or_else(|| Failure::failed("the stream was taken already"))?;
    let begun = Instant::now();
    let progress = monitor.progress(&header.program);
    let copied = copy(&mut source, &mut recorder, progress);
    let finished = copied.and_then(|()| recorder.finish());
    drop(source);
    if finished.is_err() {
        launched.detach();
    }
    let ending = run::until_its_end(launched, companion, monitor)?;
    let totals = finished?;
    let (events, blocks) = (totals.words, totals.blocks);
    Ok(Recorded { events, blocks, seconds: begun.elapsed().as_secs_f64(), ending })
}

fn header(target: &Target, own_allocator: Option<&str>) -> Header {
    let run = target.begin();
    let parameters = Parameters {
        deterministic: run.deterministic,
        seed: run.seed,
        own_allocator: own_allocator.map(str::to_owned),
        ..Parameters::default()
    };
    let parameters = serde_json::to_string(&parameters).unwrap_or_default();
    Header { program: run.program, args: run.args, parameters }
}

fn copy(
    source: &mut LiveSource,
    recorder: &mut RecordingWriter,
    mut progress: Box<dyn Progress>,
) -> Result<(), StreamError> {
    let mut packet = Packet::default();
    let mut events = 0;
    while source.next(&mut packet)? {
        events += packet.events.len() as u64;
        recorder.write(&mut packet)?;
        progress.reached(events, "events");
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
