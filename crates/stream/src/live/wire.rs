//! Definitions as bytes, little-endian. A block: number, address, count, lengths, code. An object:
//! [`OBJECT`], address, length, offset, first block, length of the path, path.

use crate::{BlockDef, ObjectDef};

/// Bytes of a block before the lengths.
const FIXED: usize = 4 + 8 + 2;
/// Bytes of an object before the path.
const FIXED_OBJECT: usize = 4 + 8 + 8 + 8 + 4 + 2;
/// Stands in place of a block's number.
const OBJECT: u32 = u32::MAX;

/// What the bytes define.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// A block.
    Block(BlockDef),
    /// An object.
    Object(ObjectDef),
}

/// Appends a block's encoding.
pub fn encode(block: &BlockDef, out: &mut Vec<u8>) {
    out.extend(block.id.to_le_bytes());
    out.extend(block.addr.to_le_bytes());
    out.extend((block.lens.len() as u16).to_le_bytes());
    out.extend(&block.lens);
    out.extend(&block.bytes);
}

/// Appends an object's encoding. A path beyond [`ObjectDef::PATH_MAX`] is cut.
pub fn encode_object(object: &ObjectDef, out: &mut Vec<u8>) {
    let most = object.path.len().min(ObjectDef::PATH_MAX);
    let end = (0..=most).rev().find(|&end| object.path.is_char_boundary(end)).unwrap_or(0);
    out.extend(OBJECT.to_le_bytes());
    for number in [object.addr, object.len, object.offset] {
        out.extend(number.to_le_bytes());
    }
    out.extend(object.first_block.to_le_bytes());
    out.extend((end as u16).to_le_bytes());
    out.extend(&object.path.as_bytes()[..end]);
}

/// Takes one definition off the front of `bytes`; `None` if it is cut short or malformed.
pub fn decode(bytes: &mut &[u8]) -> Option<Definition> {
    let id = u32::from_le_bytes(*bytes.first_chunk()?);
    if id == OBJECT {
        return decode_object(bytes).map(Definition::Object);
    }
    let (fixed, rest) = bytes.split_at_checked(FIXED)?;
    let addr = u64::from_le_bytes(fixed[4..12].try_into().ok()?);
    let count = u16::from_le_bytes(fixed[12..14].try_into().ok()?);
    let (lens, rest) = rest.split_at_checked(usize::from(count))?;
    let code = lens.iter().map(|&l| usize::from(l)).sum();
    let (code, rest) = rest.split_at_checked(code)?;
    let block = BlockDef { id, addr, lens: lens.to_vec(), bytes: code.to_vec() };
    *bytes = rest;
    block.is_well_formed().then_some(Definition::Block(block))
}

fn decode_object(bytes: &mut &[u8]) -> Option<ObjectDef> {
    let (fixed, rest) = bytes.split_at_checked(FIXED_OBJECT)?;
    let number = |at: usize| Some(u64::from_le_bytes(fixed[at..at + 8].try_into().ok()?));
    let (addr, len, offset) = (number(4)?, number(12)?, number(20)?);
    let first_block = u32::from_le_bytes(fixed[28..32].try_into().ok()?);
    let length = u16::from_le_bytes(fixed[32..34].try_into().ok()?);
    let (path, rest) = rest.split_at_checked(usize::from(length))?;
    let path = String::from_utf8(path.to_vec()).ok()?;
    *bytes = rest;
    let object = ObjectDef { first_block, addr, len, offset, path };
    (object.path.len() <= ObjectDef::PATH_MAX).then_some(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads back whole, and not at all if it is cut anywhere.
    fn reads_back(mut bytes: Vec<u8>, expected: Definition) {
        for cut in 0..bytes.len() {
            assert_eq!(decode(&mut &bytes[..cut]), None, "cut at {cut}");
        }
        bytes.push(0xaa);
        let mut rest = bytes.as_slice();
        assert_eq!(decode(&mut rest), Some(expected));
        assert_eq!(rest, [0xaa]);
    }

    #[test]
    fn blocks_read_back_and_a_cut_anywhere_is_noticed() {
        let block =
            BlockDef { id: 7, addr: 0x4000_1234, lens: vec![1, 3, 15], bytes: (0..19).collect() };
        let mut bytes = Vec::new();
        encode(&block, &mut bytes);
        reads_back(bytes, Definition::Block(block));
    }

    #[test]
    fn objects_read_back_and_a_cut_anywhere_is_noticed() {
        let path = "/usr/lib/libü.so".to_owned();
        let object = ObjectDef { first_block: 9, addr: 1 << 46, len: 4096, offset: 8192, path };
        let mut bytes = Vec::new();
        encode_object(&object, &mut bytes);
        reads_back(bytes, Definition::Object(object));
    }

    #[test]
    fn a_path_that_is_too_long_is_cut_at_a_character() {
        let path = "ü".repeat(ObjectDef::PATH_MAX);
        let mut bytes = Vec::new();
        encode_object(&ObjectDef { path, ..ObjectDef::default() }, &mut bytes);
        let Some(Definition::Object(read)) = decode(&mut bytes.as_slice()) else {
            panic!("not an object");
        };
        assert_eq!(read.path, "ü".repeat(ObjectDef::PATH_MAX / "ü".len()));
    }
}
