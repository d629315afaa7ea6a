//! Reads a recording.

use super::decode::{Decoder, Frame};
use super::format::{CONTENTS_MAX, HEAD_LEN, HEADER_MAX, Head, Header, MAGIC, Totals, VERSION};
use crate::{Packet, Source, StreamError};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// A recording as a source of packets.
pub struct FileSource<R: Read = BufReader<File>> {
    from: R,
    path: String,
    header: Header,
    offset: u64,
    decoder: Decoder,
    frame: Frame,
    /// Packets of the current frame that have not been read.
    owed: u32,
    frames: u32,
    read: Totals,
    allow_truncated: bool,
    truncated: Option<StreamError>,
    over: bool,
}

impl FileSource {
    /// Opens a recording and reads its header.
    pub fn open(path: &Path) -> Result<Self, StreamError> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|source| StreamError::Io {
            what: "cannot read",
            path: name.clone(),
            source,
        })?;
        Self::from_reader(BufReader::with_capacity(1 << 20, file), name)
    }
}

impl<R: Read> FileSource<R> {
    /// Reads a recording from any reader; messages call it `path`.
    pub fn from_reader(mut from: R, path: String) -> Result<Self, StreamError> {
        let mut offset = 0;
        let header = read_header(&mut from, &path, &mut offset)?;
        Ok(Self {
            from,
            path,
            header,
            offset,
            decoder: Decoder::new(),
            frame: Frame::default(),
            owed: 0,
            frames: 0,
            read: Totals::default(),
            allow_truncated: false,
            truncated: None,
            over: false,
        })
    }

    /// Whether a truncated recording ends normally at its last whole frame instead of with an
    /// error.
    pub fn allow_truncated(mut self, allow: bool) -> Self {
        self.allow_truncated = allow;
        self
    }

    /// What the recording says about itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Totals read so far; at the end, everything.
    pub fn read(&self) -> Totals {
        self.read
    }

    /// Where and why the recording was cut short, if that was allowed.
    pub fn truncated(&self) -> Option<&StreamError> {
        self.truncated.as_ref()
    }

    /// Reads the next frame; returns whether there was one.
    fn next_frame(&mut self) -> Result<bool, StreamError> {
        let at = self.offset;
        let mut bytes = [0; HEAD_LEN];
        self.fill(&mut bytes, at, "the next frame or the end mark")?;
        match Head::from_bytes(&bytes) {
            Some(Head::Frame { number, packets, length, stored, checksum })
                if number == self.frames && length.max(stored) <= CONTENTS_MAX =>
            {
                self.contents(at, length as usize, stored as usize, checksum)?;
                self.owed = packets;
                self.frames += 1;
                Ok(true)
            }
            Some(Head::Frame { number, .. }) => {
                Err(self.corrupt(at, format!("frame {} expected, {number} found", self.frames)))
            }
            Some(Head::End { frames, totals }) => {
                self.over = true;
                self.check_end(at, frames, totals)?;
                Ok(false)
            }
            None => Err(self.corrupt(at, "the checksum of a frame's head is wrong".into())),
        }
    }

    fn contents(
        &mut self,
        at: u64,
        length: usize,
        stored: usize,
        checksum: u32,
    ) -> Result<(), StreamError> {
        let mut bytes = Vec::new();
        let take = (&mut self.from).take(stored as u64).read_to_end(&mut bytes);
        take.map_err(|source| self.io(source))?;
        self.offset += bytes.len() as u64;
        if bytes.len() < stored {
            let missing = stored - bytes.len();
            return Err(self.cut(at, format!("{missing} bytes of frame {}", self.frames)));
        }
        if crc32fast::hash(&bytes) != checksum {
            return Err(self.corrupt(at, format!("the checksum of frame {} is wrong", self.frames)));
        }
        let contents = zstd::bulk::decompress(&bytes, length);
        let frame = contents.ok().filter(|c| c.len() == length).and_then(Frame::new);
        self.frame = frame.ok_or_else(|| {
            self.corrupt(at, format!("frame {} cannot be decompressed", self.frames))
        })?;
        Ok(())
    }

    fn check_end(&mut self, at: u64, frames: u32, totals: Totals) -> Result<(), StreamError> {
        let low = |n: u64| n & 0xffff_ffff;
        let read = self.read;
        let agree = frames == self.frames
            && totals.packets == low(read.packets)
            && totals.blocks == low(read.blocks)
            && totals.words == read.words;
        if !agree {
            return Err(
                self.corrupt(at, "the end mark's totals differ from those of the frames".into())
            );
        }
        let mut one = [0];
        match self.from.read(&mut one) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.corrupt(self.offset, "bytes follow the end mark".into())),
            Err(source) => Err(self.io(source)),
        }
    }

    fn fill(&mut self, into: &mut [u8], at: u64, what: &str) -> Result<(), StreamError> {
        match fill(&mut self.from, into) {
            Ok(got) => {
                self.offset += got as u64;
                if got == into.len() { Ok(()) } else { Err(self.cut(at, what.to_owned())) }
            }
            Err(source) => Err(self.io(source)),
        }
    }

    fn io(&self, source: std::io::Error) -> StreamError {
        StreamError::Io { what: "cannot read", path: self.path.clone(), source }
    }

    fn cut(&self, offset: u64, missing: String) -> StreamError {
        let detail = format!("{missing} missing; {}", self.so_far());
        StreamError::Truncated { path: self.path.clone(), offset, detail }
    }

    fn corrupt(&self, offset: u64, what: String) -> StreamError {
        let detail = format!("{what}; {}", self.so_far());
        StreamError::Corrupt { path: self.path.clone(), offset, detail }
    }

    fn so_far(&self) -> String {
        format!("{} packets with {} words before it are intact", self.read.packets, self.read.words)
    }
}

impl<R: Read> Source for FileSource<R> {
    fn next(&mut self, packet: &mut Packet) -> Result<bool, StreamError> {
        packet.clear();
        while self.owed == 0 && !self.over {
            if !self.frame.is_used_up() {
                self.over = true;
                return Err(
                    self.corrupt(self.offset, "a frame is longer than its head says".into())
                );
            }
            if let Err(error) = self.next_frame() {
                self.over = true;
                if self.allow_truncated && matches!(error, StreamError::Truncated { .. }) {
                    self.truncated = Some(error);
                    return Ok(false);
                }
                return Err(error);
            }
        }
        if self.over {
            return Ok(false);
        }
        self.owed -= 1;
        if self.frame.is_empty() || self.decoder.packet(&mut self.frame, packet).is_none() {
            self.over = true;
            return Err(self.corrupt(self.offset, "a packet is malformed".into()));
        }
        self.read.packets += 1;
        self.read.words += packet.events.len() as u64;
        self.read.blocks += packet.blocks.len() as u64;
        Ok(true)
    }
}

fn read_header(from: &mut impl Read, path: &str, offset: &mut u64) -> Result<Header, StreamError> {
    let io = |source| StreamError::Io { what: "cannot read", path: path.to_owned(), source };
    let cut = |offset: u64| StreamError::Truncated {
        path: path.to_owned(),
        offset,
        detail: "the rest of the header is missing".into(),
    };
    let corrupt =
        |detail: String| StreamError::Corrupt { path: path.to_owned(), offset: 0, detail };
    let mut start = [0; 16];
    let got = fill(from, &mut start).map_err(io)?;
    let known = got.min(MAGIC.len());
    if start[..known] != MAGIC[..known] || got == 0 {
        return Err(StreamError::Foreign {
            path: path.to_owned(),
            found: printable(&start[..known]),
            expected: printable(&MAGIC),
        });
    }
    if got < start.len() {
        return Err(cut(got as u64));
    }
    let word =
        |at: usize| u32::from_le_bytes([start[at], start[at + 1], start[at + 2], start[at + 3]]);
    let (version, len) = (word(8), word(12));
    if version > VERSION {
        let path = path.to_owned();
        return Err(StreamError::Newer { path, found: version, supported: VERSION });
    }
    if version == 0 || len > HEADER_MAX {
        return Err(corrupt(format!("version {version}, a header of {len} bytes")));
    }
    let mut body = Vec::new();
    from.take(u64::from(len) + 4).read_to_end(&mut body).map_err(io)?;
    *offset = (start.len() + body.len()) as u64;
    if body.len() < len as usize + 4 {
        return Err(cut(*offset));
    }
    let checksum = body.split_off(len as usize);
    let whole = [&start[..], &body].concat();
    if crc32fast::hash(&whole).to_le_bytes() != checksum[..] {
        return Err(corrupt("the header's checksum is wrong".into()));
    }
    Header::from_body(&body).ok_or_else(|| corrupt("the header is malformed".into()))
}

/// Reads until `into` is full or the input ends; returns the number of bytes.
fn fill(from: &mut impl Read, into: &mut [u8]) -> std::io::Result<usize> {
    let mut got = 0;
    while got < into.len() {
        match from.read(&mut into[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(got)
}

fn printable(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "nothing, since it is empty".into();
    }
    format!("\"{}\"", bytes.escape_ascii())
}
