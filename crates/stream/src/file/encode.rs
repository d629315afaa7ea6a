//! Packets to bytes, relative to the model's predictions. [`super::decode`] is the inverse.
//!
//! The contents of a frame are five runs of bytes, each preceded by its length:
//! - `packets`: per packet, thread, number of definitions, number of tokens
//! - `blocks`: definitions of objects and blocks, see [`crate::live::wire`]
//! - `tokens`: one byte for each block entry with its elements, each control event, and each other
//!   word
//! - `heads`: block numbers, shapes and words that were not predicted
//! - `payloads`: addresses and values, as differences from their predictions

use super::bytes::{fold, put};
use super::model::{Model, expected_beyond};
use crate::Packet;
use crate::event::{LOW48, block};
use crate::live::wire;

/// Bits of a token.
pub mod token {
    /// The block is the one predicted from the last four.
    pub const BY_PATH: u8 = 0;
    /// The block is the one predicted from the last one.
    pub const BY_LAST: u8 = 1;
    /// The block's number follows.
    pub const EXPLICIT: u8 = 2;
    /// Not a block: the word follows, with any raw words of a control event.
    pub const WORD: u8 = 3;
    /// Mask of the four kinds.
    pub const KIND: u8 = 3;
    /// The elements differ from the last time: their number and heads follow.
    pub const RESHAPED: u8 = 4;
    /// Not all payloads match their predictions: all differences follow.
    pub const MOVED: u8 = 8;
    /// Bits that must be 0.
    pub const UNUSED: u8 = !15;
}

/// Encodes packets into frames.
pub struct Encoder {
    model: Model,
    runs: [Vec<u8>; 5],
    packets: u32,
    words: usize,
    heads: Vec<u16>,
    payloads: Vec<u64>,
}

const PACKETS: usize = 0;
const BLOCKS: usize = 1;
const TOKENS: usize = 2;
const HEADS: usize = 3;
const PAYLOADS: usize = 4;

impl Encoder {
    /// An encoder at the start of a file.
    pub fn new() -> Self {
        Self {
            model: Model::new(),
            runs: Default::default(),
            packets: 0,
            words: 0,
            heads: Vec::new(),
            payloads: Vec::new(),
        }
    }

    /// Words added since the last frame, including block definitions, converted to words.
    pub fn weight(&self) -> usize {
        self.words + self.runs[BLOCKS].len() / 8
    }

    /// Packets added since the last frame.
    pub fn packets(&self) -> u32 {
        self.packets
    }

    /// Adds a packet to the frame.
    pub fn add(&mut self, packet: &Packet) {
        for object in &packet.objects {
            wire::encode_object(object, &mut self.runs[BLOCKS]);
        }
        for block in &packet.blocks {
            wire::encode(block, &mut self.runs[BLOCKS]);
            self.model.define();
        }
        let before = self.runs[TOKENS].len();
        let mut words = packet.events.as_slice();
        while let Some((&word, rest)) = words.split_first() {
            let id = word as u32;
            words = if word == block(id) && (id as usize) < self.model.blocks() {
                self.block(id, rest)
            } else {
                self.word(word, rest)
            };
        }
        let tokens = self.runs[TOKENS].len() - before;
        let out = &mut self.runs[PACKETS];
        put(out, u64::from(packet.thread));
        put(out, (packet.objects.len() + packet.blocks.len()) as u64);
        put(out, tokens as u64);
        self.packets += 1;
        self.words += packet.events.len();
    }

    /// Ends the frame and appends its contents to `out`.
    pub fn frame(&mut self, out: &mut Vec<u8>) {
        for run in &mut self.runs {
            put(out, run.len() as u64);
            out.append(run);
        }
        self.packets = 0;
        self.words = 0;
    }

    /// Encodes the entry of block `id` and its elements from the front of `words`; returns the
    /// rest.
    #[inline(always)]
    fn block<'a>(&mut self, id: u32, words: &'a [u64]) -> &'a [u64] {
        let mut token = if id == self.model.by_path() {
            token::BY_PATH
        } else if id == self.model.by_last() {
            token::BY_LAST
        } else {
            put(&mut self.runs[HEADS], u64::from(id));
            token::EXPLICIT
        };
        self.model.enter(id);
        let left = self.elements(words);
        let count = self.heads.len();
        let (mut sites, had) = self.model.sites(id);
        // Elements beyond the remembered ones have no predicted heads.
        let same = had == count
            && sites.len() == count
            && sites.iter().zip(&self.heads).all(|(site, &head)| site.head == head);
        if !same {
            token |= token::RESHAPED;
            put(&mut self.runs[HEADS], count as u64);
            for head in &self.heads {
                self.runs[HEADS].extend(head.to_le_bytes());
            }
            sites = self.model.reshape(id, count);
            for (site, &head) in sites.iter_mut().zip(&self.heads) {
                site.head = head;
            }
        }
        let expected = |(site, &payload): (&super::model::Site, &u64)| site.expected() == payload;
        let kept = sites.len();
        if kept < count || !sites.iter().zip(&self.payloads).all(expected) {
            token |= token::MOVED;
            let out = &mut self.runs[PAYLOADS];
            for (site, &payload) in sites.iter_mut().zip(&self.payloads) {
                put(out, fold(payload.wrapping_sub(site.expected()) as i64));
                site.learn(payload);
            }
            for at in kept..count {
                let expected = expected_beyond(&self.payloads[..at]);
                put(out, fold(self.payloads[at].wrapping_sub(expected) as i64));
            }
        } else {
            for (site, &payload) in sites.iter_mut().zip(&self.payloads) {
                site.learn(payload);
            }
        }
        self.runs[TOKENS].push(token);
        left
    }

    /// Takes memory accesses and values off the front of `words`, as heads and payloads.
    #[inline(always)]
    fn elements<'a>(&mut self, mut words: &'a [u64]) -> &'a [u64] {
        self.heads.clear();
        self.payloads.clear();
        loop {
            words = match words {
                [word, rest @ ..] if word >> 62 == 0b00 => {
                    self.heads.push((word >> 48) as u16);
                    self.payloads.push(word & LOW48);
                    rest
                }
                [word, value, rest @ ..] if word >> 62 == 0b10 && word & LOW48 == 0 => {
                    self.heads.push((word >> 48) as u16);
                    self.payloads.push(*value);
                    rest
                }
                left => return left,
            }
        }
    }

    /// Encodes a word as it is, with the raw words of a control event; returns the rest.
    fn word<'a>(&mut self, word: u64, words: &'a [u64]) -> &'a [u64] {
        let raw = if word >> 62 == 0b11 { (word >> 48) as usize & 0xff } else { 0 };
        let raw = raw.min(words.len());
        self.runs[TOKENS].push(token::WORD);
        let out = &mut self.runs[HEADS];
        put(out, raw as u64);
        out.extend(word.to_le_bytes());
        for word in &words[..raw] {
            out.extend(word.to_le_bytes());
        }
        &words[raw..]
    }
}
