//! Reads a trace, block by block or whole.

use crate::codec::{State, decode};
use crate::error::TraceError;
use crate::event::{Event, Header, Totals};
use crate::writer::MAGIC;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;

/// No block is larger: a writer closes one at a fraction of this.
const BLOCK_BYTES_MAX: usize = 1 << 20;
/// No command line is longer.
const HEADER_BYTES_MAX: usize = 16 << 20;
/// Bytes of the end mark's totals.
const TOTALS_BYTES: usize = 96;

/// Reads events from a file.
pub struct Reader<R> {
    input: R,
    path: String,
    at: u64,
    header: Header,
    state: State,
    events: u64,
    totals: Option<Totals>,
}

/// A trace in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// What was recorded.
    pub header: Header,
    /// Every event.
    pub events: Vec<Event>,
    /// The sums of the end mark; `None` if the file was cut short.
    pub totals: Option<Totals>,
}

impl Trace {
    /// Reads a file. With `allow_truncated`, a file that was cut short is read as far as it goes.
    ///
    /// # Errors
    /// See [`TraceError`].
    pub fn open(path: &Path, allow_truncated: bool) -> Result<Self, TraceError> {
        let name = path.display().to_string();
        let file =
            File::open(path).map_err(|source| TraceError::Io { path: name.clone(), source })?;
        Self::read(BufReader::new(file), &name, allow_truncated)
    }

    /// Reads a trace called `name` in errors.
    ///
    /// # Errors
    /// See [`TraceError`].
    pub fn read(input: impl Read, name: &str, allow_truncated: bool) -> Result<Self, TraceError> {
        let mut reader = Reader::new(input, name)?;
        let mut events = Vec::new();
        loop {
            match reader.next_block(&mut events) {
                Ok(true) => {}
                Ok(false) => break,
                Err(TraceError::Truncated { .. }) if allow_truncated => break,
                Err(error) => return Err(error),
            }
        }
        Ok(Self { header: reader.header, events, totals: reader.totals })
    }
}

impl<R: Read> Reader<R> {
    /// Begins reading a trace called `name` in errors.
    ///
    /// # Errors
    /// See [`TraceError`].
    pub fn new(input: R, name: &str) -> Result<Self, TraceError> {
        let mut reader = Self {
            input,
            path: name.to_owned(),
            at: 0,
            header: Header::default(),
            state: State::default(),
            events: 0,
            totals: None,
        };
        let mut magic = Vec::new();
        let first = (&mut reader.input).take(8).read_to_end(&mut magic);
        first.map_err(|source| TraceError::Io { path: name.to_owned(), source })?;
        reader.at += magic.len() as u64;
        if magic != MAGIC {
            return Err(TraceError::NotATrace { path: reader.path, found: magic });
        }
        let [bytes, crc] = reader.words()?;
        let text = reader.checked(bytes as usize, HEADER_BYTES_MAX, crc, "the header")?;
        reader.header = header(&text).ok_or_else(|| reader.damaged("the header's words"))?;
        Ok(reader)
    }

    /// What was recorded.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The sums, after the last block.
    pub fn totals(&self) -> Option<Totals> {
        self.totals
    }

    /// Appends the events of the next block; false after the last.
    ///
    /// # Errors
    /// See [`TraceError`]; nothing is appended in that case.
    pub fn next_block(&mut self, events: &mut Vec<Event>) -> Result<bool, TraceError> {
        if self.totals.is_some() {
            return Ok(false);
        }
        let [bytes, count, crc] = self.words()?;
        if count == 0 {
            return self.end(bytes as usize, crc).map(|()| false);
        }
        let block = self.checked(bytes as usize, BLOCK_BYTES_MAX, crc, "a block")?;
        let (before, mut rest) = (events.len(), block.as_slice());
        for _ in 0..count {
            match decode(&mut rest, &mut self.state) {
                Ok(event) => events.push(event),
                Err(what) => {
                    events.truncate(before);
                    return Err(self.damaged(&what));
                }
            }
        }
        if !rest.is_empty() {
            events.truncate(before);
            return Err(self.damaged(&format!("{} bytes behind {count} events", rest.len())));
        }
        self.events += u64::from(count);
        Ok(true)
    }

    fn end(&mut self, bytes: usize, crc: u32) -> Result<(), TraceError> {
        if bytes != TOTALS_BYTES {
            return Err(self.damaged(&format!("totals of {bytes} bytes: {TOTALS_BYTES}")));
        }
        let text = self.checked(bytes, TOTALS_BYTES, crc, "the end mark")?;
        let mut words = [0; 12];
        for (word, bytes) in words.iter_mut().zip(text.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        }
        let totals = Totals::from_words(words);
        if totals.events != self.events {
            let what = format!("{} events announced, {} found", totals.events, self.events);
            return Err(self.damaged(&what));
        }
        self.totals = Some(totals);
        Ok(())
    }

    fn words<const N: usize>(&mut self) -> Result<[u32; N], TraceError> {
        let mut words = [0; N];
        for word in &mut words {
            let mut bytes = [0; 4];
            self.fill(&mut bytes)?;
            *word = u32::from_le_bytes(bytes);
        }
        Ok(words)
    }

    fn checked(
        &mut self,
        bytes: usize,
        most: usize,
        crc: u32,
        what: &str,
    ) -> Result<Vec<u8>, TraceError> {
        if bytes > most {
            return Err(self.damaged(&format!("{what} of {bytes} bytes: at most {most}")));
        }
        let mut text = vec![0; bytes];
        self.fill(&mut text)?;
        let found = crc32fast::hash(&text);
        if found != crc {
            let what = format!("{what} has the checksum {found:08x} and should have {crc:08x}");
            return Err(self.damaged(&what));
        }
        Ok(text)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), TraceError> {
        match self.input.read_exact(buffer) {
            Ok(()) => {
                self.at += buffer.len() as u64;
                Ok(())
            }
            Err(source) if source.kind() == ErrorKind::UnexpectedEof => {
                Err(TraceError::Truncated { path: self.path.clone(), events: self.events })
            }
            Err(source) => Err(TraceError::Io { path: self.path.clone(), source }),
        }
    }

    fn damaged(&self, what: &str) -> TraceError {
        TraceError::Damaged { path: self.path.clone(), at: self.at, what: what.to_owned() }
    }
}

fn header(mut text: &[u8]) -> Option<Header> {
    let mut command = Vec::new();
    while !text.is_empty() {
        let (length, rest) = text.split_first_chunk::<4>()?;
        let (word, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        command.push(String::from_utf8(word.to_vec()).ok()?);
        text = rest;
    }
    Some(Header { command })
}
