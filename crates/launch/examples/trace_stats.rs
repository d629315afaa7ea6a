//! Runs a program, or replays a recording, and prints statistics of the stream.
//!
//! ```text
//! cargo run --release -p mallacc-launch --example trace_stats -- [OPTIONS] -- PROG ARGS…
//!   --deterministic   fix the seeds
//!   --null            count packets and words only: the speed of the stream itself
//!   --no-guest        keep the program's own allocator
//!   --record=FILE     write the stream to a file as well
//!   --detach=N        let the program run on untraced after N packets
//! cargo run --release -p mallacc-launch --example trace_stats -- [--null] --replay=FILE
//! ```

use mallacc_launch::{Options, OwnAllocator, Paths, Qemu, prepare, products};
use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;
use stream::event::{Event, decode};
use stream::file::{FileSource, Header, RecordingWriter};
use stream::marker::{self, MarkerOp};
use stream::{Packet, Source, StreamError};

#[derive(Default)]
struct Counts {
    packets: u64,
    words: u64,
    block_events: u64,
    instructions: u64,
    loads: u64,
    stores: u64,
    values: u64,
    controls: BTreeMap<String, u64>,
    markers: BTreeMap<String, u64>,
    threads: u32,
}

/// What is needed of a block: its instructions and its markers.
struct Block {
    instructions: u64,
    markers: Vec<MarkerOp>,
}

impl Counts {
    fn add(&mut self, packet: &Packet, blocks: &mut Vec<Block>, null: bool) {
        self.packets += 1;
        self.words += packet.events.len() as u64;
        self.threads = self.threads.max(packet.thread + 1);
        for block in &packet.blocks {
            let (sites, _) = marker::scan(block.insns().map(|(_, code)| code));
            let markers = sites.iter().map(|s| s.op).collect();
            blocks.push(Block { instructions: block.lens.len() as u64, markers });
        }
        let mut words = packet.events.iter();
        while let (false, Some(&word)) = (null, words.next()) {
            match decode(word) {
                Some(Event::Mem { store, .. }) if store => self.stores += 1,
                Some(Event::Mem { .. }) => self.loads += 1,
                Some(Event::Block { id }) => {
                    let block = &blocks[id as usize];
                    self.block_events += 1;
                    self.instructions += block.instructions;
                    for op in &block.markers {
                        *self.markers.entry(format!("{op:?}")).or_default() += 1;
                    }
                }
                Some(Event::Value { .. }) => {
                    self.values += 1;
                    words.next();
                }
                Some(Event::Control { kind, extra, .. }) => {
                    *self.controls.entry(format!("{kind:?}")).or_default() += 1;
                    words.by_ref().take(usize::from(extra)).for_each(drop);
                }
                None => eprintln!("unknown word {word:#x}"),
            }
        }
    }

    fn print(&self, blocks: usize, seconds: f64) {
        eprintln!("packets       {:>14}  words {}", self.packets, self.words);
        eprintln!("threads       {:>14}", self.threads);
        eprintln!("blocks        {blocks:>14}  entered {}", self.block_events);
        eprintln!("instructions  {:>14}", self.instructions);
        eprintln!("loads, stores {:>14}  {}", self.loads, self.stores);
        eprintln!("values        {:>14}", self.values);
        eprintln!("markers       {:?}", self.markers);
        eprintln!("control       {:?}", self.controls);
        let rate = self.instructions as f64 / seconds / 1e6;
        let words = self.words as f64 / seconds / 1e6;
        eprintln!(
            "time          {seconds:>14.3} s  {rate:.1} M instructions/s, {words:.1} M words/s"
        );
    }
}

/// Options before `--`.
struct Given(Vec<OsString>);

impl Given {
    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|a| a == name)
    }

    fn value(&self, name: &str) -> Option<&Path> {
        self.0.iter().find_map(|a| a.to_str()?.strip_prefix(name)).map(Path::new)
    }
}

fn count(
    source: &mut impl Source,
    null: bool,
    mut recorder: Option<RecordingWriter>,
    mut each: impl FnMut(u64),
) -> Result<(), StreamError> {
    let start = Instant::now();
    let (mut counts, mut packet, mut blocks) = (Counts::default(), Packet::default(), Vec::new());
    while source.next(&mut packet)? {
        counts.add(&packet, &mut blocks, null);
        each(counts.packets);
        if let Some(recorder) = &mut recorder {
            recorder.write(&mut packet)?;
        }
    }
    if let Some(recorder) = recorder {
        eprintln!("recorded      {:?}", recorder.finish()?);
    }
    counts.print(blocks.len(), start.elapsed().as_secs_f64());
    Ok(())
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let program = args.iter().position(|a| a == "--").map(|at| args.split_off(at + 1));
    let given = Given(args);
    if let Some(path) = given.value("--replay=") {
        let mut source = FileSource::open(path)?;
        eprintln!("header        {:?}", source.header());
        return Ok(count(&mut source, given.has("--null"), None, |_| ())?);
    }
    let Some([name, rest @ ..]) = program.as_deref() else {
        return Err("usage: trace_stats [OPTIONS] -- PROG ARGS".into());
    };
    let guest = if given.has("--no-guest") { None } else { Some(products::GUEST.find()?) };
    let feeder = products::FEEDER.find()?;
    let mut options = Options::new(Paths { qemu: Qemu::find()?, feeder, guest });
    options.deterministic = given.has("--deterministic");
    let prepared = prepare(name, rest, options)?;
    if let Some(warning) = prepared.own_allocator().map(OwnAllocator::clause) {
        eprintln!("warning: {warning}");
    }
    let text = |s: &OsString| s.to_string_lossy().into_owned();
    let header = Header {
        program: text(name),
        args: rest.iter().map(text).collect(),
        parameters: "{}".into(),
    };
    let recorder =
        given.value("--record=").map(|p| RecordingWriter::create(p, &header)).transpose()?;
    let mut launched = prepared.spawn()?;
    let mut source = launched.source().ok_or("no source")?;
    let limit = given.value("--detach=").and_then(|n| n.to_str()?.parse().ok());
    count(&mut source, given.has("--null"), recorder, |packets| {
        if Some(packets) == limit {
            launched.detach();
        }
    })?;
    eprintln!("live          {:?}", source.counts());
    drop(source);
    eprintln!("ended         {:?}", launched.wait()?);
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("trace_stats: {error}");
            ExitCode::FAILURE
        }
    }
}
