//! Recordings written and read back: whole, truncated and corrupted.

use super::writer::Sink;
use super::{FileSource, Header, RecordingWriter, Totals, VERSION};
use crate::event::{Control, block, control, mem, value};
use crate::{BlockDef, ObjectDef, Packet, Source, StreamError};
use proptest::prelude::*;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// A file in memory with a limited capacity in bytes.
#[derive(Clone, Default)]
struct Memory {
    bytes: Arc<Mutex<Vec<u8>>>,
    room: Option<usize>,
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut held = self.bytes.lock().unwrap();
        let room = self.room.map_or(usize::MAX, |room| room - held.len());
        if room == 0 {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        let n = bytes.len().min(room);
        held.extend(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Memory {
    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.bytes.lock().unwrap().truncate(len as usize);
        Ok(())
    }
}

fn header() -> Header {
    let args = vec!["-e".into(), "print".into(), String::new()];
    Header { program: "perl".into(), args, parameters: "{\"seed\":1}".into() }
}

fn record(packets: &[Packet]) -> Vec<u8> {
    let memory = Memory::default();
    let mut recorder = RecordingWriter::into_sink(memory.clone(), "t".into(), &header()).unwrap();
    for packet in packets {
        recorder.write(&mut packet.clone()).unwrap();
    }
    let totals = recorder.finish().unwrap();
    assert_eq!(totals, count(packets));
    memory.bytes.lock().unwrap().clone()
}

fn count(packets: &[Packet]) -> Totals {
    Totals {
        packets: packets.len() as u64,
        words: packets.iter().map(|p| p.events.len() as u64).sum(),
        blocks: packets.iter().map(|p| p.blocks.len() as u64).sum(),
    }
}

fn replay(bytes: &[u8]) -> Result<Vec<Packet>, StreamError> {
    let mut source = FileSource::from_reader(bytes, "t".into())?;
    let (mut packet, mut packets) = (Packet::default(), Vec::new());
    while source.next(&mut packet)? {
        packets.push(packet.clone());
    }
    assert_eq!(source.read(), count(&packets));
    Ok(packets)
}

/// What a program might do: loops over blocks with strides, jumps, markers, system calls.
fn program(packets: usize, length: usize) -> Vec<Packet> {
    let mut random = 88_172_645_463_325_252u64;
    let mut next = move |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    let mut defined = 0;
    (0..packets)
        .map(|number| {
            let mut packet = Packet { thread: number as u32 % 3, ..Packet::default() };
            for _ in 0..next(4) + u64::from(defined == 0) {
                let lens: Vec<u8> = (0..next(9) + 1).map(|_| next(15) as u8 + 1).collect();
                let size = lens.iter().map(|&l| usize::from(l)).sum();
                let bytes = (0..size).map(|_| next(256) as u8).collect();
                packet.blocks.push(BlockDef { id: defined, addr: next(1 << 47), lens, bytes });
                defined += 1;
            }
            for step in 0..length as u64 {
                let id = if next(8) == 0 { next(u64::from(defined)) } else { step % 3 };
                let id = id.min(u64::from(defined) - 1);
                packet.events.push(block(id as u32));
                for insn in 0..id % 5 {
                    let addr = 0x4000_0000 + step * 8 * insn + next(2) * 64;
                    packet.events.push(mem(insn as u16, next(9) == 0, 3, addr));
                }
                match next(40) {
                    0 => packet.events.extend([value(3), next(u64::MAX)]),
                    1 => {
                        packet.events.push(control(Control::Syscall, 4, next(400)));
                        packet.events.extend((0..4).map(|_| next(u64::MAX)));
                    }
                    2 => packet.events.extend((0..200).map(|i| mem(0, i % 2 == 1, 0, i * 4096))),
                    _ => {}
                }
            }
            packet
        })
        .collect()
}

#[test]
fn a_trace_reads_back_packet_by_packet_with_its_header() {
    let packets = program(50, 1000);
    let bytes = record(&packets);
    assert_eq!(replay(&bytes).unwrap(), packets);
    let source = FileSource::from_reader(bytes.as_slice(), "t".into()).unwrap();
    assert_eq!(source.header(), &header());
}

#[test]
fn traces_of_many_frames_and_of_none_read_back() {
    assert_eq!(replay(&record(&[])).unwrap(), []);
    let packets = program(60, 20_000);
    assert!(count(&packets).words > 2 << 20, "more than two frames");
    assert_eq!(replay(&record(&packets)).unwrap(), packets);
}

#[test]
fn a_steady_loop_takes_next_to_no_room() {
    let mut packet = Packet::default();
    let lens = vec![4; 3];
    packet.blocks.push(BlockDef { id: 0, addr: 0x1000, lens, bytes: vec![0x90; 12] });
    for step in 0..100_000u64 {
        packet.events.extend([block(0), mem(1, false, 3, step * 8), mem(2, true, 3, 0x9000)]);
    }
    let raw = packet.events.len() * 8;
    let bytes = record(std::slice::from_ref(&packet));
    assert_eq!(replay(&bytes).unwrap(), [packet]);
    assert!(bytes.len() * 1000 < raw, "{} of {raw}", bytes.len());
}

#[test]
fn a_cut_at_any_offset_is_an_error() {
    let bytes = record(&program(3, 50));
    for cut in 0..bytes.len() {
        let error = replay(&bytes[..cut]).unwrap_err();
        match error {
            StreamError::Truncated { .. } => {}
            StreamError::Foreign { .. } if cut == 0 => {}
            other => panic!("cut at {cut}: {other}"),
        }
    }
}

#[test]
fn a_change_of_any_byte_is_an_error() {
    let bytes = record(&program(3, 50));
    for at in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= change;
            assert!(replay(&changed).is_err(), "byte {at} changed by {change:#x}");
        }
    }
    let more = [&bytes[..], b"x"].concat();
    assert!(matches!(replay(&more), Err(StreamError::Corrupt { .. })));
}

#[test]
fn foreign_newer_and_empty_files_are_told_apart() {
    let bytes = record(&[]);
    let mut newer = bytes.clone();
    newer[8..12].copy_from_slice(&(VERSION + 1).to_le_bytes());
    match replay(&newer) {
        Err(StreamError::Newer { found, supported, .. }) => {
            assert_eq!((found, supported), (VERSION + 1, VERSION));
        }
        other => panic!("{other:?}"),
    }
    for foreign in [&b"\x7fELF\x02\x01\x01 and so on"[..], b"", b"#!/bin/sh"] {
        assert!(matches!(replay(foreign), Err(StreamError::Foreign { .. })));
    }
}

/// Version 1 differs in nothing but its number: it had no objects.
#[test]
fn a_recording_of_version_1_is_read() {
    let packets = program(20, 500);
    let mut bytes = record(&packets);
    assert!(packets.iter().all(|packet| packet.objects.is_empty()));
    let end = header().to_bytes().len() - 4;
    bytes[8..12].copy_from_slice(&1u32.to_le_bytes());
    let checksum = crc32fast::hash(&bytes[..end]);
    bytes[end..end + 4].copy_from_slice(&checksum.to_le_bytes());
    assert_eq!(replay(&bytes).unwrap(), packets);
}

#[test]
fn frames_out_of_order_are_an_error() {
    let packets = program(60, 20_000);
    let bytes = record(&packets);
    let start = header().to_bytes().len();
    // The first frame's stored length is the fifth word of its head.
    let stored = u32::from_le_bytes(bytes[start + 16..start + 20].try_into().unwrap()) as usize;
    let second = start + super::format::HEAD_LEN + stored;
    let without_first = [&bytes[..start], &bytes[second..]].concat();
    assert!(matches!(replay(&without_first), Err(StreamError::Corrupt { .. })));
}

#[test]
fn a_truncated_trace_yields_its_whole_frames_when_allowed() {
    let packets = program(60, 20_000);
    let bytes = record(&packets);
    let cut = &bytes[..bytes.len() - 10];
    let mut source = FileSource::from_reader(cut, "t".into()).unwrap().allow_truncated(true);
    let (mut packet, mut got) = (Packet::default(), Vec::new());
    while source.next(&mut packet).unwrap() {
        got.push(packet.clone());
    }
    assert_eq!(got, packets, "only the end mark is missing");
    assert!(matches!(source.truncated(), Some(StreamError::Truncated { .. })));
    let cut = &bytes[..bytes.len() / 2];
    let mut source = FileSource::from_reader(cut, "t".into()).unwrap().allow_truncated(true);
    let mut number = 0;
    while source.next(&mut packet).unwrap() {
        assert_eq!(packet, packets[number]);
        number += 1;
    }
    assert!(number > 0 && number < packets.len());
}

#[test]
fn a_full_disk_is_reported_and_what_was_written_stays_readable() {
    let packets = program(60, 20_000);
    let room = record(&packets).len() * 2 / 3;
    let memory = Memory { room: Some(room), ..Memory::default() };
    let mut recorder = RecordingWriter::into_sink(memory.clone(), "t".into(), &header()).unwrap();
    let failed = packets.iter().find_map(|p| recorder.write(&mut p.clone()).err());
    let error = failed.or_else(|| recorder.finish().err()).expect("the disk is full");
    let StreamError::Recording { kept_packets, source, .. } = error else { panic!("{error}") };
    assert_eq!(source.raw_os_error(), Some(libc::ENOSPC));
    assert!(kept_packets > 0);
    let bytes = memory.bytes.lock().unwrap().clone();
    let mut source = FileSource::from_reader(bytes.as_slice(), "t".into()).unwrap();
    let mut packet = Packet::default();
    for expected in &packets[..kept_packets as usize] {
        assert!(source.next(&mut packet).unwrap());
        assert_eq!(&packet, expected);
    }
    assert!(matches!(source.next(&mut packet), Err(StreamError::Truncated { .. })));
    assert!(!source.next(&mut packet).unwrap(), "after an error the stream is over");
}

#[test]
fn a_device_without_room_is_an_error_with_its_reason() {
    let path = std::path::Path::new("/dev/full");
    if !path.exists() {
        skips::without("there is no /dev/full");
        return;
    }
    let error = RecordingWriter::create(path, &header()).err().expect("no room");
    assert!(error.to_string().contains("No space left"), "{error}");
}

/// Words that are likely to be events, and some that are not.
fn word() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => (0..12u32).prop_map(block),
        6 => (0..4u16, any::<bool>(), 0..8u8, 0..64u64)
            .prop_map(|(i, s, z, a)| mem(i, s, z, a * 8)),
        1 => any::<u64>(),
        1 => (0..1024u16).prop_map(value),
        1 => (0..6u8, 0..255u8).prop_map(|(k, n)| {
            control(Control::from_code(k).unwrap(), n, u64::from(n))
        }),
    ]
}

fn packets() -> impl Strategy<Value = Vec<Packet>> {
    let def = (any::<u64>(), prop::collection::vec(1..=15u8, 1..20));
    let packet =
        (any::<u32>(), prop::collection::vec(def, 0..4), prop::collection::vec(word(), 0..300));
    let object = (any::<u32>(), any::<[u64; 3]>(), ".{0,40}");
    let packet = (packet, prop::collection::vec(object, 0..3));
    prop::collection::vec(packet, 0..12).prop_map(|list| {
        let mut id = 0..;
        let define = |id, addr, lens: Vec<u8>| {
            let bytes = lens.iter().flat_map(|&l| std::iter::repeat_n(l, l.into())).collect();
            BlockDef { id, addr, lens, bytes }
        };
        list.into_iter()
            .map(|((thread, defs, events), objects)| {
                let object = |(first_block, numbers, path): (u32, [u64; 3], String)| ObjectDef {
                    first_block,
                    addr: numbers[0],
                    len: numbers[1],
                    offset: numbers[2],
                    path,
                };
                let objects = objects.into_iter().map(object).collect();
                let defs = defs.into_iter().zip(&mut id);
                let blocks = defs.map(|((addr, lens), id)| define(id, addr, lens)).collect();
                Packet { thread, objects, blocks, events }
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_packets_read_back(packets in packets()) {
        prop_assert_eq!(replay(&record(&packets)).unwrap(), packets);
    }

    #[test]
    fn contents_that_make_no_sense_are_refused_and_never_panic(
        packets in packets(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut encoder = super::encode::Encoder::new();
        packets.iter().for_each(|p| encoder.add(p));
        let mut contents = Vec::new();
        encoder.frame(&mut contents);
        for (at, to) in changes {
            let at = at.index(contents.len());
            contents[at] = to;
        }
        if let Some(mut frame) = super::decode::Frame::new(contents) {
            let mut decoder = super::decode::Decoder::new();
            let mut packet = Packet::default();
            while !frame.is_empty() && decoder.packet(&mut frame, &mut packet).is_some() {}
        }
    }
}
