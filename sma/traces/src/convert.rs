//! From the recorder's records to a trace: addresses become numbers.

use crate::event::{Action, Event, Header, Source, Totals};
use crate::raw::{Entry, Kind, MAGIC, RECORD_BYTES, RECORDS_OFFSET, RawHeader};
use crate::writer::Writer;
use std::collections::HashMap;
use std::collections::hash_map::Entry as Place;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::sync::atomic::Ordering;

/// The result of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Converted {
    /// The trace's sums.
    pub totals: Totals,
    /// Whether the recorder ever ran in the program.
    pub attached: bool,
}

/// Reads what the recorder wrote and writes the trace.
///
/// # Errors
/// Those of the files; a raw file without a header is invalid data.
pub fn convert(mut raw: impl Read, out: impl Write, header: &Header) -> Result<Converted> {
    let mut page = vec![0; RECORDS_OFFSET];
    raw.read_exact(&mut page)?;
    let head = raw_header(&page)?;
    let records = head.next.load(Ordering::Relaxed).min(head.ready.load(Ordering::Relaxed));
    let mut conversion = Conversion::new(Writer::new(out, header)?);
    let mut record = [0; RECORD_BYTES];
    for _ in 0..records {
        // The file ends where its reserved room ended.
        match raw.read_exact(&mut record) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
            done => done?,
        }
        conversion.take(&Entry::from_bytes(&record))?;
    }
    let recorder = Totals {
        failed: head.failed.load(Ordering::Relaxed),
        lost: head.lost.load(Ordering::Relaxed),
        children: u64::from(head.children.load(Ordering::Relaxed)),
        ..conversion.counts
    };
    let attached = head.pid.load(Ordering::Relaxed) != 0;
    Ok(Converted { totals: conversion.writer.finish(&recorder)?, attached })
}

fn raw_header(page: &[u8]) -> Result<RawHeader> {
    let word = |at: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&page[at..at + 8]);
        u64::from_le_bytes(word)
    };
    if word(0) != MAGIC {
        return Err(Error::new(ErrorKind::InvalidData, "not a file of the recorder"));
    }
    Ok(RawHeader {
        magic: word(0).into(),
        pid: (word(8) as u32).into(),
        children: ((word(8) >> 32) as u32).into(),
        next: word(16).into(),
        ready: word(24).into(),
        lost: word(32).into(),
        failed: word(40).into(),
    })
}

struct Conversion<W> {
    writer: Writer<W>,
    /// Address to number.
    live: HashMap<u64, u64>,
    /// What a thread's `realloc` is about to free: address and number.
    pending: HashMap<u32, (u64, u64)>,
    threads: HashMap<u32, u32>,
    begin_ns: Option<u64>,
    counts: Totals,
}

impl<W: Write> Conversion<W> {
    fn new(writer: Writer<W>) -> Self {
        Self {
            writer,
            live: HashMap::new(),
            pending: HashMap::new(),
            threads: HashMap::new(),
            begin_ns: None,
            counts: Totals::default(),
        }
    }

    fn take(&mut self, entry: &Entry) -> Result<()> {
        let Some(kind) = entry.kind() else {
            self.counts.torn += 1;
            return Ok(());
        };
        let begin_ns = *self.begin_ns.get_or_insert(entry.time_ns);
        let count = self.threads.len() as u32;
        let thread = *self.threads.entry(entry.thread()).or_insert(count);
        let at =
            Event { time_ns: entry.time_ns.saturating_sub(begin_ns), thread, action: Action::Exec };
        match kind {
            Kind::Malloc => self.allocate(at, entry, Source::Malloc),
            Kind::Calloc => self.allocate(at, entry, Source::Calloc),
            Kind::Aligned => self.allocate(at, entry, Source::Aligned(entry.align_log().min(63))),
            Kind::Free => match self.live.remove(&entry.address) {
                Some(id) => self.writer.write(&Event { action: Action::Free { id }, ..at }),
                None => {
                    self.counts.strangers += 1;
                    Ok(())
                }
            },
            Kind::ReallocBegin => {
                if let Some(id) = self.live.remove(&entry.address) {
                    self.pending.insert(thread, (entry.address, id));
                }
                Ok(())
            }
            Kind::ReallocEnd => self.reallocated(at, entry),
            Kind::Start if self.writer.next_id() == 0 => Ok(()),
            Kind::Start => {
                self.live.clear();
                self.pending.clear();
                self.writer.write(&at)
            }
        }
    }

    fn reallocated(&mut self, at: Event, entry: &Entry) -> Result<()> {
        let old = self.pending.remove(&at.thread);
        match (old, entry.address) {
            (Some((address, id)), 0) => {
                self.live.insert(address, id);
                Ok(())
            }
            (None, 0) => Ok(()),
            (Some((_, id)), address) => {
                let new = self.writer.next_id();
                self.occupy(at, address, new)?;
                let action = Action::Realloc { id, bytes: entry.bytes };
                self.writer.write(&Event { action, ..at })
            }
            // The resized allocation was never seen: from now on it is known.
            (None, _) => {
                self.counts.strangers += 1;
                self.allocate(at, entry, Source::Malloc)
            }
        }
    }

    fn allocate(&mut self, at: Event, entry: &Entry, source: Source) -> Result<()> {
        let new = self.writer.next_id();
        self.occupy(at, entry.address, new)?;
        let action = Action::Alloc { bytes: entry.bytes, source };
        self.writer.write(&Event { action, ..at })
    }

    /// Records an address. If it is still in use, its free was missed.
    fn occupy(&mut self, at: Event, address: u64, new: u64) -> Result<()> {
        match self.live.entry(address) {
            Place::Vacant(place) => {
                place.insert(new);
                Ok(())
            }
            Place::Occupied(mut place) => {
                let id = place.insert(new);
                self.counts.implied += 1;
                self.writer.write(&Event { action: Action::Free { id }, ..at })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::key;
    use crate::reader::Trace;

    fn raw(records: &[(Kind, u32, u64, u64)], spare: usize) -> Vec<u8> {
        let mut file = vec![0; RECORDS_OFFSET];
        file[..8].copy_from_slice(&MAGIC.to_le_bytes());
        file[8..12].copy_from_slice(&77u32.to_le_bytes());
        file[12..16].copy_from_slice(&2u32.to_le_bytes());
        let count = (records.len() + spare) as u64;
        file[16..24].copy_from_slice(&count.to_le_bytes());
        file[24..32].copy_from_slice(&count.to_le_bytes());
        for (at, &(kind, thread, address, bytes)) in records.iter().enumerate() {
            for word in [1000 + at as u64, address, bytes, key(kind, 6, thread)] {
                file.extend(word.to_le_bytes());
            }
        }
        file.resize(file.len() + spare * RECORD_BYTES, 0);
        file
    }

    fn actions(file: &[u8]) -> (Vec<Action>, Totals) {
        let mut out = Vec::new();
        let done = convert(file, &mut out, &Header::default()).unwrap();
        assert!(done.attached);
        let trace = Trace::read(out.as_slice(), "t", false).unwrap();
        assert_eq!(trace.totals, Some(done.totals));
        (trace.events.iter().map(|event| event.action).collect(), done.totals)
    }

    fn malloc(bytes: u64) -> Action {
        Action::Alloc { bytes, source: Source::Malloc }
    }

    #[test]
    fn addresses_become_numbers_and_reallocations_pair_by_thread() {
        let (actions, totals) = actions(&raw(
            &[
                (Kind::Start, 9, 0, 0),
                (Kind::Malloc, 9, 0x10, 24),
                (Kind::Aligned, 9, 0x40, 64),
                (Kind::ReallocBegin, 9, 0x10, 0),
                // Another thread gets the old address before the first has reported the end of its
                // realloc.
                (Kind::Malloc, 8, 0x10, 7),
                (Kind::ReallocEnd, 9, 0x80, 48),
                (Kind::Free, 8, 0x80, 0),
                (Kind::Free, 8, 0x10, 0),
            ],
            0,
        ));
        let aligned = Action::Alloc { bytes: 64, source: Source::Aligned(6) };
        let moved = Action::Realloc { id: 0, bytes: 48 };
        let frees = [Action::Free { id: 3 }, Action::Free { id: 2 }];
        assert_eq!(actions, [malloc(24), aligned, malloc(7), moved, frees[0], frees[1]]);
        // 24 + 64 + 7, then 48 for 24.
        assert_eq!((totals.peak_bytes, totals.threads, totals.children), (119, 2, 2));
    }

    #[test]
    fn what_was_not_seen_is_counted_and_what_was_torn_left_out() {
        let (actions, totals) = actions(&raw(
            &[
                (Kind::Free, 1, 0x10, 0),
                (Kind::Malloc, 1, 0x20, 1),
                (Kind::Malloc, 1, 0x20, 2),
                (Kind::ReallocBegin, 1, 0x20, 0),
                (Kind::ReallocEnd, 1, 0, 99),
                (Kind::Free, 1, 0x20, 0),
            ],
            3,
        ));
        let frees = [Action::Free { id: 0 }, Action::Free { id: 1 }];
        assert_eq!(actions, [malloc(1), frees[0], malloc(2), frees[1]]);
        assert_eq!((totals.strangers, totals.implied, totals.torn), (1, 1, 3));
    }

    #[test]
    fn executing_another_program_ends_what_was_live() {
        let (actions, _) = actions(&raw(
            &[
                (Kind::Start, 1, 0, 0),
                (Kind::Malloc, 1, 0x20, 1),
                (Kind::Start, 1, 0, 0),
                (Kind::Malloc, 1, 0x20, 2),
            ],
            0,
        ));
        assert_eq!(actions, [malloc(1), Action::Exec, malloc(2)]);
    }
}
