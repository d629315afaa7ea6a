//! Static code: straight-line runs of instructions as the feeder encountered them.

/// A straight-line run of instructions: entered only at the top, left at the bottom (or, rarely,
/// by a fault in the middle). At most [`BlockDef::MAX_INSNS`] instructions.
///
/// Two blocks may overlap in address; the same code reached at different entry points is described
/// twice. The same address with different bytes (code generated at run time) is a different block.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlockDef {
    /// Dense number, from 0, in order of first appearance.
    pub id: u32,
    /// Guest virtual address of the first instruction.
    pub addr: u64,
    /// Length of each instruction in bytes (1..=15).
    pub lens: Vec<u8>,
    /// Machine code of all instructions, back to back; its length is the sum of `lens`.
    pub bytes: Vec<u8>,
}

impl BlockDef {
    /// Maximum number of instructions in a block; an event's instruction index has 10 bits.
    pub const MAX_INSNS: usize = 1 << 10;

    /// The address and bytes of each instruction in order.
    pub fn insns(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let mut off = 0usize;
        self.lens.iter().map(move |&len| {
            let start = off;
            off += usize::from(len);
            (self.addr + start as u64, &self.bytes[start..off])
        })
    }

    /// Address just past the last instruction.
    pub fn end(&self) -> u64 {
        self.addr + self.bytes.len() as u64
    }

    /// Whether the lengths and bytes agree and respect the bounds above.
    pub fn is_well_formed(&self) -> bool {
        !self.lens.is_empty()
            && self.lens.len() <= Self::MAX_INSNS
            && self.lens.iter().all(|&l| (1..=15).contains(&l))
            && self.lens.iter().map(|&l| usize::from(l)).sum::<usize>() == self.bytes.len()
    }
}
