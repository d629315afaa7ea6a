//! Bytes to packets: the inverse of [`super::encode`]. Whatever the bytes are, nothing panics.

use super::bytes::{get, take, take_u64, unfold};
use super::encode::token;
use super::model::{Model, expected_beyond};
use crate::Packet;
use crate::event::{LOW48, block};
use crate::live::wire::{self, Definition};

/// Maximum number of elements in a block: a generous bound on what the largest live packet can
/// hold.
const ELEMENTS_MAX: u64 = 1 << 24;

/// The contents of a frame that have not been decoded yet.
#[derive(Default)]
pub struct Frame {
    bytes: Vec<u8>,
    /// Start and end of each run.
    runs: [(usize, usize); 5],
}

impl Frame {
    /// Splits a frame's contents; `None` if the lengths do not add up.
    pub fn new(bytes: Vec<u8>) -> Option<Self> {
        let mut runs = [(0, 0); 5];
        let mut rest = bytes.as_slice();
        for run in &mut runs {
            let len = usize::try_from(get(&mut rest)?).ok()?;
            let start = bytes.len() - rest.len();
            take(&mut rest, len)?;
            *run = (start, start + len);
        }
        rest.is_empty().then_some(Self { bytes, runs })
    }

    /// Whether every packet has been decoded.
    pub fn is_empty(&self) -> bool {
        self.runs[0].0 == self.runs[0].1
    }

    /// Whether no bytes are left over.
    pub fn is_used_up(&self) -> bool {
        self.runs.iter().all(|&(start, end)| start == end)
    }
}

/// Decodes frames into packets.
pub struct Decoder {
    model: Model,
    payloads: Vec<u64>,
}

/// The runs of a frame while a packet is being decoded.
struct Runs<'a> {
    tokens: &'a [u8],
    heads: &'a [u8],
    payloads: &'a [u8],
}

impl Decoder {
    /// A decoder at the start of a file.
    pub fn new() -> Self {
        Self { model: Model::new(), payloads: Vec::new() }
    }

    /// Decodes the next packet of a frame into an empty `packet`; `None` if the bytes are not
    /// valid.
    pub fn packet(&mut self, frame: &mut Frame, packet: &mut Packet) -> Option<()> {
        let bytes = std::mem::take(&mut frame.bytes);
        let run = |(start, end): (usize, usize)| &bytes[start..end];
        let [mut head, mut blocks, tokens, heads, payloads] = frame.runs.map(run);
        let mut runs = Runs { tokens, heads, payloads };
        let done = self.runs(&mut head, &mut blocks, &mut runs, packet);
        let left = [head, blocks, runs.tokens, runs.heads, runs.payloads].map(<[u8]>::len);
        for ((start, end), left) in frame.runs.iter_mut().zip(left) {
            *start = *end - left;
        }
        frame.bytes = bytes;
        done
    }

    fn runs(
        &mut self,
        head: &mut &[u8],
        blocks: &mut &[u8],
        runs: &mut Runs<'_>,
        packet: &mut Packet,
    ) -> Option<()> {
        packet.thread = u32::try_from(get(head)?).ok()?;
        let (defined, tokens) = (get(head)?, get(head)?);
        for _ in 0..defined {
            match wire::decode(blocks)? {
                Definition::Object(object) => packet.objects.push(object),
                Definition::Block(block) => {
                    packet.blocks.push(block);
                    self.model.define();
                }
            }
        }
        let tokens = take(&mut runs.tokens, usize::try_from(tokens).ok()?)?;
        for &token in tokens {
            if token == token::WORD {
                word(&mut runs.heads, &mut packet.events)?;
            } else if token & (token::UNUSED) == 0 && token & token::KIND != token::WORD {
                self.block(token, runs, &mut packet.events)?;
            } else {
                return None;
            }
        }
        Some(())
    }

    #[inline(always)]
    fn block(&mut self, token: u8, runs: &mut Runs<'_>, events: &mut Vec<u64>) -> Option<()> {
        let id = match token & token::KIND {
            token::BY_PATH => self.model.by_path(),
            token::BY_LAST => self.model.by_last(),
            _ => u32::try_from(get(&mut runs.heads)?).ok()?,
        };
        if id as usize >= self.model.blocks() {
            return None;
        }
        self.model.enter(id);
        events.push(block(id));
        let mut beyond: &[u8] = &[];
        let sites = if token & token::RESHAPED != 0 {
            let count = get(&mut runs.heads).filter(|&n| n <= ELEMENTS_MAX)? as usize;
            let mut heads = take(&mut runs.heads, count * 2)?;
            let sites = self.model.reshape(id, count);
            for site in sites.iter_mut() {
                site.head = u16::from_le_bytes(take(&mut heads, 2)?.try_into().ok()?);
            }
            beyond = heads;
            sites
        } else {
            let (sites, count) = self.model.sites(id);
            if sites.len() != count {
                return None;
            }
            sites
        };
        let moved = token & token::MOVED != 0;
        if !moved && !beyond.is_empty() {
            return None;
        }
        self.payloads.clear();
        for site in sites {
            let distance = if moved { unfold(get(&mut runs.payloads)?) } else { 0 };
            let payload = site.expected().wrapping_add(distance as u64);
            site.learn(payload);
            element(site.head, payload, events)?;
            if !beyond.is_empty() {
                self.payloads.push(payload);
            }
        }
        for head in beyond.chunks_exact(2) {
            let distance = unfold(get(&mut runs.payloads)?);
            let payload = expected_beyond(&self.payloads).wrapping_add(distance as u64);
            self.payloads.push(payload);
            element(u16::from_le_bytes([head[0], head[1]]), payload, events)?;
        }
        Some(())
    }
}

/// Appends a memory access or a value.
#[inline(always)]
fn element(head: u16, payload: u64, events: &mut Vec<u64>) -> Option<()> {
    let word = u64::from(head) << 48;
    match head >> 14 {
        0b00 if payload <= LOW48 => events.push(word | payload),
        0b10 => events.extend([word, payload]),
        _ => return None,
    }
    Some(())
}

/// Appends a word that is not a block entry, with the raw words that follow it.
fn word(heads: &mut &[u8], events: &mut Vec<u64>) -> Option<()> {
    let raw = get(heads).filter(|&n| n <= 0xff)?;
    for _ in 0..=raw {
        events.push(take_u64(heads)?);
    }
    Some(())
}
