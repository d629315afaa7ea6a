//! A recording replays exactly the live stream.

use crate::common::{Bench, Tally, deterministic, run_each};
use std::path::Path;
use stream::file::{FileSource, Header, RecordingWriter};
use stream::{Packet, Source, StreamError};

fn replay(path: &Path) -> Result<Tally, StreamError> {
    let mut source = FileSource::open(path)?;
    let (mut packet, mut tally) = (Packet::default(), Tally::default());
    while source.next(&mut packet)? {
        tally.add(&packet);
    }
    Ok(tally)
}

#[test]
fn a_recording_replays_what_was_live_word_for_word_and_takes_little_room() {
    let Some(options) = deterministic() else { return };
    let bench = Bench::new();
    let program = bench.compile("alloc.c", &[]);
    let path = bench.0.path().join("a.mtrace");
    let header = Header { program: program.clone(), ..Header::default() };
    let mut recorder = RecordingWriter::create(&path, &header).unwrap();
    let run = run_each(options.clone(), &[&program], |packet| {
        recorder.write(&mut packet.clone()).unwrap();
    });
    let live = run.unwrap().tally;
    let totals = recorder.finish().unwrap();
    assert_eq!(totals.packets, live.packets);
    let replayed = replay(&path).unwrap();
    assert_eq!(replayed, live);
    // Another live run of the same program also gives the same stream.
    assert_eq!(run_each(options, &[&program], |_| ()).unwrap().tally, live);
    let size = std::fs::metadata(&path).unwrap().len();
    // Uncompressed, a word is 8 bytes.
    assert!(size * 10 < totals.words * 8, "{size} bytes for {} words", totals.words);
}

#[test]
fn a_recording_of_a_program_that_was_killed_is_whole() {
    let Some(options) = deterministic() else { return };
    let bench = Bench::new();
    let program = bench.compile("faults.c", &[]);
    let path = bench.0.path().join("k.mtrace");
    let mut recorder = RecordingWriter::create(&path, &Header::default()).unwrap();
    let run = run_each(options, &[&program, "10", "die"], |packet| {
        recorder.write(&mut packet.clone()).unwrap();
    });
    recorder.finish().unwrap();
    assert_eq!(replay(&path).unwrap(), run.unwrap().tally);
}
