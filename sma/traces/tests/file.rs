//! The file as a whole: round trip, truncated, and damaged.
#![allow(missing_docs)]

use mallacc_traces::{Action, Event, Header, Source, Totals, Trace, TraceError, Writer};
use proptest::prelude::*;

fn sample(events: u64) -> (Trace, Vec<u8>) {
    let header = Header { command: vec!["prog".into(), "ä b".into()] };
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, &header).unwrap();
    let mut list = Vec::new();
    for i in 0..events {
        let action = match i % 3 {
            0 => Action::Alloc { bytes: i * 7, source: Source::Malloc },
            1 => Action::Realloc { id: i / 3 * 2, bytes: i },
            _ => Action::Free { id: i / 3 * 2 + 1 },
        };
        list.push(Event { time_ns: i * 100, thread: (i % 2) as u32, action });
        writer.write(list.last().unwrap()).unwrap();
    }
    let totals = writer.finish(&Totals { lost: 5, ..Totals::default() }).unwrap();
    (Trace { header, events: list, totals: Some(totals) }, bytes)
}

#[test]
fn a_trace_reads_back_as_it_was_written() {
    for events in [0, 1, 60_000] {
        let (trace, bytes) = sample(events);
        assert_eq!(Trace::read(bytes.as_slice(), "t", false).unwrap(), trace);
    }
    let (trace, bytes) = sample(60_000);
    let totals = trace.totals.unwrap();
    assert_eq!((totals.events, totals.allocations, totals.frees), (60_000, 40_000, 20_000));
    assert_eq!((totals.reallocations, totals.lost, totals.threads), (20_000, 5, 2));
    // One live at a time; the largest is the last allocated: 59,997 * 7.
    assert_eq!(totals.peak_bytes, 59_997 * 7);
    assert!(bytes.len() < 60_000 * 7, "{} bytes", bytes.len());
}

#[test]
fn a_cut_trace_is_refused_or_read_up_to_its_last_whole_block() {
    let (trace, bytes) = sample(60_000);
    let cut = &bytes[..bytes.len() * 2 / 3];
    let error = Trace::read(cut, "cut.amt", false).unwrap_err();
    assert!(matches!(error, TraceError::Truncated { events, .. } if events > 0), "{error}");
    assert!(error.to_string().contains("--allow-truncated"), "{error}");
    let part = Trace::read(cut, "cut.amt", true).unwrap();
    assert!(part.totals.is_none() && !part.events.is_empty());
    assert_eq!(part.events, trace.events[..part.events.len()]);
}

#[test]
fn another_file_is_refused_by_its_first_bytes() {
    let error = Trace::read(&b"#!/bin/sh\n"[..], "x.sh", false).unwrap_err().to_string();
    for word in ["x.sh", "AMTRACE1", "record-mallocs"] {
        assert!(error.contains(word), "{error}");
    }
    assert!(Trace::read(&b"AM"[..], "short", false).unwrap_err().to_string().contains("short"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The checksums detect every changed byte; none is read as something else.
    #[test]
    fn a_changed_byte_is_an_error(at in 0..400usize, flip in 1..=255u8) {
        let (_, mut bytes) = sample(40);
        let at = at % bytes.len();
        bytes[at] ^= flip;
        prop_assert!(Trace::read(bytes.as_slice(), "t", false).is_err());
    }
}
