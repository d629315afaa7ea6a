//! Prints where two recordings diverge: for finding out why two runs of a program differ.
//!
//! ```text
//! cargo run --release -p mallacc-launch --example trace_diff -- A.mtrace B.mtrace
//! ```

use std::error::Error;
use std::path::Path;
use stream::event::{Event, decode};
use stream::file::FileSource;
use stream::{BlockDef, Packet, Source, StreamError};

/// A recording, word by word.
struct Words {
    source: FileSource,
    packet: Packet,
    at: usize,
    blocks: Vec<BlockDef>,
    last: Vec<u32>,
    /// Raw words left of the last event.
    raw: u8,
}

impl Words {
    fn open(path: &str) -> Result<Self, StreamError> {
        let source = FileSource::open(Path::new(path))?;
        let (packet, blocks, last) = (Packet::default(), Vec::new(), Vec::new());
        Ok(Self { source, packet, at: 0, blocks, last, raw: 0 })
    }

    fn next(&mut self) -> Result<Option<u64>, StreamError> {
        while self.at == self.packet.events.len() {
            if !self.source.next(&mut self.packet)? {
                return Ok(None);
            }
            self.blocks.append(&mut self.packet.blocks);
            self.at = 0;
        }
        let word = self.packet.events[self.at];
        self.at += 1;
        if self.raw > 0 {
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

fn main() -> Result<(), Box<dyn Error>> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let [a, b] = names.as_slice() else { return Err("usage: trace_diff A B".into()) };
    let (mut one, mut two) = (Words::open(a)?, Words::open(b)?);
    for position in 0u64.. {
        let (x, y) = (one.next()?, two.next()?);
        if x != y {
            println!("the traces part at word {position}");
            one.show(a, x);
            two.show(b, y);
            return Ok(());
        }
        if x.is_none() {
            println!("the traces are the same, {position} words");
            return Ok(());
        }
    }
    Ok(())
}
