//! Prints where two recordings diverge: for finding out why two runs of a program differ.
//!
//! ```text
//! cargo run --release -p mallacc-launch --example trace_diff -- [--flat] A.mtrace B.mtrace
//! ```
//! With `--flat`, compares instructions with their events, wherever blocks begin and end.

use std::collections::VecDeque;
use std::error::Error;
use std::path::Path;
use stream::event::{Event, decode};
use stream::file::FileSource;
use stream::{BlockDef, Packet, Source, StreamError};

/// Words that are shown after the first difference.
const AFTER: usize = 6;

/// A recording, word by word.
struct Words {
    source: FileSource,
    packet: Packet,
    at: usize,
    blocks: Vec<BlockDef>,
    last: Vec<u32>,
    /// Raw words left of the last event.
    raw: u8,
    /// The last word was one of those.
    was_raw: bool,
}

impl Words {
    fn open(path: &str) -> Result<Self, StreamError> {
        let source = FileSource::open(Path::new(path))?;
        let (packet, blocks, last) = (Packet::default(), Vec::new(), Vec::new());
        Ok(Self { source, packet, at: 0, blocks, last, raw: 0, was_raw: false })
    }

    fn next(&mut self) -> Result<Option<u64>, StreamError> {
        while self.at == self.packet.events.len() {
            if !self.source.next(&mut self.packet)? {
                self.packet.events.clear();
                self.at = 0;
                return Ok(None);
            }
            self.blocks.append(&mut self.packet.blocks);
            self.at = 0;
        }
        let word = self.packet.events[self.at];
        self.at += 1;
        self.was_raw = self.raw > 0;
        if self.was_raw {
            self.raw -= 1;
            return Ok(Some(word));
        }
        match decode(word) {
            Some(Event::Block { id }) => self.last.push(id),
            Some(Event::Value { .. }) => self.raw = 1,
            Some(Event::Control { extra, .. }) => self.raw = extra,
            _ => {}
        }
        if self.last.len() > 12 {
            self.last.remove(0);
        }
        Ok(Some(word))
    }

    fn show(&self, name: &str, word: Option<u64>) {
        let as_event = word.and_then(decode).filter(|_| self.raw == 0);
        println!("{name}: {word:x?} {as_event:x?}, {} raw words to follow", self.raw);
        for &id in &self.last {
            if let Some(block) = self.blocks.get(id as usize) {
                let code: Vec<String> = block.insns().map(|(_, c)| format!("{c:02x?}")).collect();
                println!("  block {id} at {:#x}: {}", block.addr, code.join(" ").replace(", ", ""));
            }
        }
    }
}

/// An instruction's address and the words of its events, without its number in the block.
type Step = (u64, Vec<u64>);
/// The bits of an event's first word that number its instruction.
const NUMBER: u64 = 0x3ff << 52;

/// A recording, instruction by instruction.
struct Steps {
    words: Words,
    /// The block being read, and the events of its instructions.
    open: Option<(u32, Vec<Vec<u64>>)>,
    /// The instruction that events without a number belong to.
    at: usize,
    ready: VecDeque<Step>,
}

impl Steps {
    fn next(&mut self) -> Result<Option<Step>, StreamError> {
        loop {
            // The last one is held back: if the next block begins with it, a page ended in it, or
            // it is a repeated string instruction that goes on.
            if self.ready.len() > 1 {
                return Ok(self.ready.pop_front());
            }
            let Some(word) = self.words.next()? else {
                self.close();
                return Ok(self.ready.pop_front());
            };
            let event = decode(word).filter(|_| !self.words.was_raw);
            if let Some(Event::Block { id }) = event {
                self.close();
                let block = &self.words.blocks[id as usize];
                let mut events = vec![Vec::new(); block.lens.len()];
                if self.ready.back().is_some_and(|last| last.0 == block.addr) {
                    events[0] = self.ready.pop_back().map_or(Vec::new(), |last| last.1);
                }
                self.open = Some((id, events));
                self.at = 0;
            } else if let Some((_, events)) = &mut self.open {
                let numbered = match event {
                    Some(Event::Mem { insn, .. } | Event::Value { insn }) => Some(insn),
                    _ => None,
                };
                self.at = numbered.map_or(self.at, usize::from);
                events[self.at].push(if numbered.is_some() { word & !NUMBER } else { word });
            }
        }
    }

    fn close(&mut self) {
        let Some((id, events)) = self.open.take() else { return };
        let block = &self.words.blocks[id as usize];
        self.ready.extend(block.insns().zip(events).map(|((addr, _), events)| (addr, events)));
    }
}

/// Compares instruction by instruction.
fn flat(a: &str, b: &str) -> Result<(), Box<dyn Error>> {
    let open = |name: &str| -> Result<Steps, StreamError> {
        Ok(Steps { words: Words::open(name)?, open: None, at: 0, ready: VecDeque::new() })
    };
    let (mut one, mut two) = (open(a)?, open(b)?);
    for position in 0u64.. {
        let (x, y) = (one.next()?, two.next()?);
        if x != y {
            println!("the traces part at instruction {position}");
            println!("{a}: {x:x?}\n{b}: {y:x?}");
            one.words.show(a, None);
            two.words.show(b, None);
            return Ok(());
        }
        if x.is_none() {
            println!("the traces are the same, {position} instructions");
            return Ok(());
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    if let [option, a, b] = names.as_slice()
        && option == "--flat"
    {
        return flat(a, b);
    }
    let [a, b] = names.as_slice() else { return Err("usage: trace_diff [--flat] A B".into()) };
    let (mut one, mut two) = (Words::open(a)?, Words::open(b)?);
    for position in 0u64.. {
        let (x, y) = (one.next()?, two.next()?);
        if x != y {
            println!("the traces part at word {position}");
            one.show(a, x);
            two.show(b, y);
            for (name, words) in [(a, &mut one), (b, &mut two)] {
                println!("{name} continues with");
                for _ in 0..AFTER {
                    let Some(word) = words.next()? else { break };
                    let event = decode(word).filter(|_| words.raw == 0);
                    println!("  {word:x} {event:x?}");
                }
            }
            return Ok(());
        }
        if x.is_none() {
            println!("the traces are the same, {position} words");
            return Ok(());
        }
    }
    Ok(())
}
