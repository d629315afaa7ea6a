//! Writes a trace: header, blocks, end mark.

use crate::codec::{State, encode};
use crate::event::{Action, Event, Header, Totals};
use std::collections::{HashMap, HashSet};
use std::io::{Result, Write};

/// The first bytes of every trace; the last is the version.
pub const MAGIC: [u8; 8] = *b"AMTRACE1";
/// A block is closed once it has this many bytes.
pub const BLOCK_BYTES: usize = 64 << 10;

/// Writes events to a file.
pub struct Writer<W> {
    out: W,
    state: State,
    block: Vec<u8>,
    block_events: u32,
    live: HashMap<u64, u64>,
    live_bytes: u64,
    threads: HashSet<u32>,
    totals: Totals,
}

impl<W: Write> Writer<W> {
    /// Begins a trace.
    ///
    /// # Errors
    /// Those of the file.
    pub fn new(mut out: W, header: &Header) -> Result<Self> {
        let mut text = Vec::new();
        for word in &header.command {
            text.extend((word.len() as u32).to_le_bytes());
            text.extend(word.as_bytes());
        }
        out.write_all(&MAGIC)?;
        out.write_all(&(text.len() as u32).to_le_bytes())?;
        out.write_all(&crc32fast::hash(&text).to_le_bytes())?;
        out.write_all(&text)?;
        Ok(Self {
            out,
            state: State::default(),
            block: Vec::new(),
            block_events: 0,
            live: HashMap::new(),
            live_bytes: 0,
            threads: HashSet::new(),
            totals: Totals::default(),
        })
    }

    /// The number that the next allocation gets.
    pub fn next_id(&self) -> u64 {
        self.state.next_id
    }

    /// Appends an event. `id`s must be numbers of earlier allocations.
    ///
    /// # Errors
    /// Those of the file.
    ///
    /// # Panics
    /// If an `id` is not below [`Self::next_id`].
    pub fn write(&mut self, event: &Event) -> Result<()> {
        let id = self.state.next_id;
        if let Action::Free { id: old } | Action::Realloc { id: old, .. } = event.action {
            assert!(old < id, "allocation {old} of {id} so far");
            self.live_bytes -= self.live.remove(&old).unwrap_or(0);
        }
        match event.action {
            Action::Alloc { bytes, .. } | Action::Realloc { bytes, .. } => {
                self.totals.allocations += 1;
                self.live.insert(id, bytes);
                self.live_bytes = self.live_bytes.saturating_add(bytes);
                self.totals.peak_bytes = self.totals.peak_bytes.max(self.live_bytes);
            }
            Action::Free { .. } => self.totals.frees += 1,
            Action::Exec => {
                self.live.clear();
                self.live_bytes = 0;
            }
        }
        self.totals.reallocations += u64::from(matches!(event.action, Action::Realloc { .. }));
        self.totals.events += 1;
        self.threads.insert(event.thread);
        encode(event, &mut self.state, &mut self.block);
        self.block_events += 1;
        if self.block.len() >= BLOCK_BYTES { self.close_block() } else { Ok(()) }
    }

    fn close_block(&mut self) -> Result<()> {
        if self.block_events == 0 {
            return Ok(());
        }
        self.out.write_all(&(self.block.len() as u32).to_le_bytes())?;
        self.out.write_all(&self.block_events.to_le_bytes())?;
        self.out.write_all(&crc32fast::hash(&self.block).to_le_bytes())?;
        self.out.write_all(&self.block)?;
        self.block.clear();
        self.block_events = 0;
        Ok(())
    }

    /// Ends the trace. `recorder` supplies the fields of [`Totals`] that cannot be derived from
    /// events.
    ///
    /// # Errors
    /// Those of the file.
    pub fn finish(mut self, recorder: &Totals) -> Result<Totals> {
        self.close_block()?;
        let mut totals = *recorder;
        totals.events = self.totals.events;
        totals.allocations = self.totals.allocations;
        totals.frees = self.totals.frees;
        totals.reallocations = self.totals.reallocations;
        totals.peak_bytes = self.totals.peak_bytes;
        totals.threads = self.threads.len() as u64;
        let words: Vec<u8> = totals.to_words().iter().flat_map(|w| w.to_le_bytes()).collect();
        self.out.write_all(&(words.len() as u32).to_le_bytes())?;
        self.out.write_all(&0u32.to_le_bytes())?;
        self.out.write_all(&crc32fast::hash(&words).to_le_bytes())?;
        self.out.write_all(&words)?;
        self.out.flush()?;
        Ok(totals)
    }
}
