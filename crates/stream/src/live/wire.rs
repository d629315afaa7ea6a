//! Block definitions as bytes: number, address, count, lengths, code; little-endian.

use crate::BlockDef;

/// Bytes before the lengths.
const FIXED: usize = 4 + 8 + 2;

/// Length of a block's encoding.
pub fn encoded_len(insns: usize, code: usize) -> usize {
    FIXED + insns + code
}

/// Appends a block's encoding.
pub fn encode(block: &BlockDef, out: &mut Vec<u8>) {
    out.extend(block.id.to_le_bytes());
    out.extend(block.addr.to_le_bytes());
    out.extend((block.lens.len() as u16).to_le_bytes());
    out.extend(&block.lens);
    out.extend(&block.bytes);
}

/// Takes one block off the front of `bytes`; `None` if it is cut short or malformed.
pub fn decode(bytes: &mut &[u8]) -> Option<BlockDef> {
    let (fixed, rest) = bytes.split_at_checked(FIXED)?;
    let id = u32::from_le_bytes(fixed[0..4].try_into().ok()?);
    let addr = u64::from_le_bytes(fixed[4..12].try_into().ok()?);
    let count = u16::from_le_bytes(fixed[12..14].try_into().ok()?);
    let (lens, rest) = rest.split_at_checked(usize::from(count))?;
    let code = lens.iter().map(|&l| usize::from(l)).sum();
    let (code, rest) = rest.split_at_checked(code)?;
    let block = BlockDef { id, addr, lens: lens.to_vec(), bytes: code.to_vec() };
    *bytes = rest;
    block.is_well_formed().then_some(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_read_back_and_a_cut_anywhere_is_noticed() {
        let block =
            BlockDef { id: 7, addr: 0x4000_1234, lens: vec![1, 3, 15], bytes: (0..19).collect() };
        let mut bytes = Vec::new();
        encode(&block, &mut bytes);
        assert_eq!(bytes.len(), encoded_len(3, 19));
        for cut in 0..bytes.len() {
            assert_eq!(decode(&mut &bytes[..cut]), None, "cut at {cut}");
        }
        bytes.push(0xaa);
        let mut rest = bytes.as_slice();
        assert_eq!(decode(&mut rest), Some(block));
        assert_eq!(rest, [0xaa]);
    }
}
