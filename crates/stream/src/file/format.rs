//! The frames of a file: lengths, numbers and checksums.

use super::bytes::{take, take_u32, take_u64};

/// First bytes of a recording. The first has its high bit set and the last is a line feed, so that
/// a transfer in text mode is detected.
pub const MAGIC: [u8; 8] = *b"\x93MTRACE\n";
/// The version written, and the highest one read. Version 1 had no objects; otherwise it is the
/// same.
pub const VERSION: u32 = 2;
/// Maximum length of the header in bytes.
pub const HEADER_MAX: u32 = 16 << 20;
/// Maximum length of a frame's contents in bytes, compressed or not.
pub const CONTENTS_MAX: u32 = 1 << 30;
/// Bytes of a frame's head and of the end mark.
pub const HEAD_LEN: usize = 32;

const FRAME: u32 = u32::from_le_bytes(*b"FRAM");
const END: u32 = u32::from_le_bytes(*b"MEND");

/// What a recording says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The program as the user named it.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// How the recording was made, as JSON text.
    pub parameters: String,
}

/// The totals of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets.
    pub packets: u64,
    /// Event words.
    pub words: u64,
    /// Block definitions.
    pub blocks: u64,
}

/// What separates the contents of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// A frame follows.
    Frame {
        /// Its number, from 0.
        number: u32,
        /// Packets in it.
        packets: u32,
        /// Bytes of its contents.
        length: u32,
        /// Bytes as stored in the file.
        stored: u32,
        /// CRC-32 of the bytes as stored.
        checksum: u32,
    },
    /// The end: number of frames, and totals.
    End {
        /// Number of frames.
        frames: u32,
        /// Their totals. Blocks and packets are stored modulo 2^32.
        totals: Totals,
    },
}

impl Header {
    /// The header as bytes, with magic, version and checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = Vec::new();
        let mut text = |s: &str| {
            body.extend((s.len() as u32).to_le_bytes());
            body.extend(s.as_bytes());
        };
        text(&self.program);
        text(&self.parameters);
        self.args.iter().for_each(|arg| text(arg));
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((body.len() as u32).to_le_bytes());
        bytes.extend(body);
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// The header from the bytes between its length and its checksum.
    pub fn from_body(mut body: &[u8]) -> Option<Self> {
        let mut text = || {
            let len = take_u32(&mut body)? as usize;
            String::from_utf8(take(&mut body, len)?.to_vec()).ok()
        };
        let (program, parameters) = (text()?, text()?);
        let mut args = Vec::new();
        while !body.is_empty() {
            let len = take_u32(&mut body)? as usize;
            args.push(String::from_utf8(take(&mut body, len)?.to_vec()).ok()?);
        }
        Some(Self { program, args, parameters })
    }
}

impl Head {
    /// As bytes, with its own checksum.
    pub fn to_bytes(self) -> [u8; HEAD_LEN] {
        let mut bytes = Vec::with_capacity(HEAD_LEN);
        match self {
            Self::Frame { number, packets, length, stored, checksum } => {
                for word in [FRAME, number, packets, length, stored, checksum, 0] {
                    bytes.extend(word.to_le_bytes());
                }
            }
            Self::End { frames, totals } => {
                for word in [END, frames, totals.packets as u32, totals.blocks as u32] {
                    bytes.extend(word.to_le_bytes());
                }
                bytes.extend(totals.words.to_le_bytes());
                bytes.extend(0u32.to_le_bytes());
            }
        }
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        let mut whole = [0; HEAD_LEN];
        whole.copy_from_slice(&bytes);
        whole
    }

    /// From bytes; `None` if the checksum or the kind is wrong.
    pub fn from_bytes(bytes: &[u8; HEAD_LEN]) -> Option<Self> {
        let (mut body, mut checksum) = bytes.split_at(HEAD_LEN - 4);
        if crc32fast::hash(body) != take_u32(&mut checksum)? {
            return None;
        }
        let from = &mut body;
        Some(match take_u32(from)? {
            FRAME => Self::Frame {
                number: take_u32(from)?,
                packets: take_u32(from)?,
                length: take_u32(from)?,
                stored: take_u32(from)?,
                checksum: take_u32(from)?,
            },
            END => {
                let frames = take_u32(from)?;
                let (packets, blocks) = (take_u32(from)?, take_u32(from)?);
                let words = take_u64(from)?;
                let totals = Totals { packets: packets.into(), words, blocks: blocks.into() };
                Self::End { frames, totals }
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_read_back_and_a_change_of_any_bit_is_noticed() {
        let totals = Totals { packets: 5, words: 1 << 40, blocks: 7 };
        let frame = Head::Frame { number: 1, packets: 2, length: 3, stored: 4, checksum: 5 };
        for head in [frame, Head::End { frames: 9, totals }] {
            let bytes = head.to_bytes();
            assert_eq!(Head::from_bytes(&bytes), Some(head));
            for bit in 0..HEAD_LEN * 8 {
                let mut changed = bytes;
                changed[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(Head::from_bytes(&changed), None, "bit {bit}");
            }
        }
    }
}
