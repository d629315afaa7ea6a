//! Writes a recording. Compression and output run on a separate thread.

use super::encode::Encoder;
use super::format::{CONTENTS_MAX, Head, Header, Totals};
use crate::{Packet, StreamError};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Approximate number of words in a frame: 8 MiB before compression.
const FRAME_WORDS: usize = 1 << 20;
/// Packets queued to that thread.
const QUEUE: usize = 8;
/// The lowest of zstd's ordinary compression levels.
const LEVEL: i32 = 1;

/// Where frames go.
pub trait Sink: Write + Send + 'static {
    /// Cuts off everything past `len`.
    fn cut(&mut self, len: u64) -> io::Result<()>;
}

impl Sink for File {
    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)?;
        self.seek(io::SeekFrom::Start(len)).map(|_| ())
    }
}

/// Writes a recording.
pub struct RecordingWriter {
    send: Option<SyncSender<Packet>>,
    spare: Receiver<Packet>,
    worker: Option<JoinHandle<Result<Totals, StreamError>>>,
}

impl RecordingWriter {
    /// Begins a recording at `path`; an existing file is replaced.
    pub fn create(path: &Path, header: &Header) -> Result<Self, StreamError> {
        let file = File::create(path).map_err(|source| StreamError::Io {
            what: "cannot create",
            path: path.display().to_string(),
            source,
        })?;
        Self::into_sink(file, path.display().to_string(), header)
    }

    /// Begins a recording in `sink`; messages call it `path`.
    pub(super) fn into_sink(
        sink: impl Sink,
        path: String,
        header: &Header,
    ) -> Result<Self, StreamError> {
        let mut frames = Frames::new(sink, path, header)?;
        let (send, packets) = sync_channel::<Packet>(QUEUE);
        let (give_back, spare) = sync_channel(QUEUE + 2);
        let worker = std::thread::Builder::new().name("mtrace".into()).spawn(move || {
            for packet in packets {
                frames.add(&packet)?;
                // The buffers are reused. If nobody takes them back, they are simply freed.
                let _ = give_back.try_send(packet);
            }
            frames.finish()
        });
        let worker = worker.map_err(|source| StreamError::Io {
            what: "cannot start a thread to write",
            path: "trace".into(),
            source,
        })?;
        Ok(Self { send: Some(send), spare, worker: Some(worker) })
    }

    /// Writes a packet. Its buffers are exchanged for others with unspecified contents. An error
    /// may concern an earlier packet; the writer cannot be used afterwards.
    pub fn write(&mut self, packet: &mut Packet) -> Result<(), StreamError> {
        let full = std::mem::replace(packet, self.spare.try_recv().unwrap_or_default());
        let sent = self.send.as_ref().is_some_and(|send| send.send(full).is_ok());
        if sent { Ok(()) } else { self.join().map(|_| ()) }
    }

    /// Writes the remaining packets and the end mark.
    pub fn finish(mut self) -> Result<Totals, StreamError> {
        self.join()
    }

    fn join(&mut self) -> Result<Totals, StreamError> {
        self.send = None;
        match self.worker.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) | None => {
                Err(StreamError::Feeder("the writer of the trace has stopped".into()))
            }
        }
    }
}

/// Frames on their way into a sink.
struct Frames<S: Sink> {
    sink: S,
    path: String,
    encoder: Encoder,
    contents: Vec<u8>,
    number: u32,
    /// Length of the file up to the last whole frame.
    length: u64,
    written: Totals,
    added: Totals,
}

impl<S: Sink> Frames<S> {
    fn new(sink: S, path: String, header: &Header) -> Result<Self, StreamError> {
        let mut frames = Self {
            sink,
            path,
            encoder: Encoder::new(),
            contents: Vec::new(),
            number: 0,
            length: 0,
            written: Totals::default(),
            added: Totals::default(),
        };
        frames.output(&header.to_bytes())?;
        Ok(frames)
    }

    fn add(&mut self, packet: &Packet) -> Result<(), StreamError> {
        self.encoder.add(packet);
        self.added.packets += 1;
        self.added.words += packet.events.len() as u64;
        self.added.blocks += packet.blocks.len() as u64;
        if self.encoder.weight() >= FRAME_WORDS { self.frame() } else { Ok(()) }
    }

    fn frame(&mut self) -> Result<(), StreamError> {
        let packets = self.encoder.packets();
        self.contents.clear();
        self.encoder.frame(&mut self.contents);
        let compressed = zstd::bulk::compress(&self.contents, LEVEL);
        let stored = compressed.map_err(|source| self.failed(source))?;
        let small = |len: usize| u32::try_from(len).ok().filter(|&n| n <= CONTENTS_MAX);
        let (Some(length), Some(size)) = (small(self.contents.len()), small(stored.len())) else {
            return Err(self.failed(io::Error::other("a packet of over 1 GiB")));
        };
        let head = Head::Frame {
            number: self.number,
            packets,
            length,
            stored: size,
            checksum: crc32fast::hash(&stored),
        };
        self.output(&[&head.to_bytes()[..], &stored].concat())?;
        self.number += 1;
        self.written = self.added;
        Ok(())
    }

    fn finish(mut self) -> Result<Totals, StreamError> {
        if self.encoder.packets() > 0 {
            self.frame()?;
        }
        let totals = self.added;
        self.output(&Head::End { frames: self.number, totals }.to_bytes())?;
        self.sink.flush().map_err(|source| self.failed(source))?;
        Ok(totals)
    }

    /// Writes all of `bytes` or none.
    fn output(&mut self, bytes: &[u8]) -> Result<(), StreamError> {
        match self.sink.write_all(bytes) {
            Ok(()) => {
                self.length += bytes.len() as u64;
                Ok(())
            }
            Err(source) => {
                // Readers also detect a partial frame, so a failure here loses nothing.
                let _ = self.sink.cut(self.length);
                Err(self.failed(source))
            }
        }
    }

    fn failed(&self, source: io::Error) -> StreamError {
        StreamError::Recording {
            path: self.path.clone(),
            kept_packets: self.written.packets,
            kept_words: self.written.words,
            source,
        }
    }
}
