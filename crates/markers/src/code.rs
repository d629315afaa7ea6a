//! What is known about a block before it is executed.

use stream::BlockDef;
use stream::marker::{self, MarkerSite};

/// Emulators end blocks at pages of this size.
const OS_PAGE: u64 = 4096;

/// An instruction: its block and its index in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spot {
    /// Number of the block.
    pub block: u32,
    /// Index of the instruction.
    pub insn: u16,
}

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With a call.
    Call,
    /// With a return.
    Return,
    /// In another way.
    Other,
}

/// A block.
pub struct Code {
    /// As the stream defines it.
    pub def: BlockDef,
    /// Its markers.
    pub markers: Vec<MarkerSite>,
    /// Carriers that lack their operand stores.
    pub broken: Vec<u16>,
    /// Carriers of markers that cross a page boundary.
    pub crossing: Vec<u16>,
    /// How it ends.
    pub ending: Ending,
}

impl Code {
    /// Analyses a block.
    pub fn of(def: &BlockDef) -> Self {
        let (markers, broken) = marker::scan(def.insns().map(|(_, code)| code));
        let starts: Vec<u64> = def.insns().map(|(addr, _)| addr).collect();
        let crosses = |site: &&MarkerSite| {
            let last = usize::from(site.insn) + site.op.operands();
            let end = starts[last] + u64::from(def.lens[last]) - 1;
            starts[usize::from(site.insn)] / OS_PAGE != end / OS_PAGE
        };
        let crossing = markers.iter().filter(crosses).map(|site| site.insn).collect();
        let ending = def.insns().last().map_or(Ending::Other, |(_, code)| ending(code));
        Self { def: def.clone(), markers, broken, crossing, ending }
    }

    /// Index of the last instruction.
    pub fn last(&self) -> u16 {
        self.def.lens.len().saturating_sub(1) as u16
    }

    /// The address of an instruction, and the code from there to the block's end.
    pub fn at(&self, insn: u16) -> (u64, &[u8]) {
        let before = &self.def.lens[..usize::from(insn).min(self.def.lens.len())];
        let offset = before.iter().map(|&len| usize::from(len)).sum::<usize>();
        (self.def.addr + offset as u64, &self.def.bytes[offset..])
    }
}

/// Near calls and returns (Intel SDM volume 2: E8, FF /2, C3, C2), with the prefixes that compilers
/// put before them.
fn ending(code: &[u8]) -> Ending {
    let prefix = |byte: &&u8| matches!(byte, 0x66 | 0xf2 | 0xf3 | 0x2e | 0x3e | 0x40..=0x4f);
    let prefixes = code.iter().take_while(prefix).count();
    match &code[prefixes..] {
        [0xe8, ..] => Ending::Call,
        [0xff, modrm, ..] if (modrm >> 3) & 7 == 2 => Ending::Call,
        [0xc2 | 0xc3, ..] => Ending::Return,
        _ => Ending::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_returns_are_recognised() {
        for call in [&[0xe8, 1, 2, 3, 4][..], &[0xff, 0xd0], &[0x41, 0xff, 0x54, 0x24, 8]] {
            assert_eq!(ending(call), Ending::Call, "{call:x?}");
        }
        for ret in [&[0xc3][..], &[0xf3, 0xc3], &[0xf2, 0xc3], &[0xc2, 8, 0]] {
            assert_eq!(ending(ret), Ending::Return, "{ret:x?}");
        }
        for other in [&[0xff, 0xe0][..], &[0xff, 0x30], &[0xe9, 0, 0, 0, 0], &[0xf3]] {
            assert_eq!(ending(other), Ending::Other, "{other:x?}");
        }
    }
}
