//! What is known about each block of a stream.

use std::sync::Arc;

use decode::{Block, BranchKind, Decoder};
use stream::{BlockDef, MarkerOp};

use crate::balance::{Balance, Turn};

/// The feeder ends blocks at pages of this size.
const OS_PAGE: u64 = 4096;
/// Longest instruction in bytes (Intel SDM volume 2, section 2.3.11).
const INSTRUCTION_MAX: u64 = 15;

/// What must be known about a block before it runs.
pub struct Known {
    /// Its number in the stream.
    pub id: u32,
    pub block: Arc<Block>,
    /// What a conditional jump alone in the next block is joined with: the code, if its last
    /// instruction may fuse with one.
    pub open_end: Option<Box<BlockDef>>,
    /// The code, if it is a conditional jump alone.
    pub jump: Option<Box<[u8]>>,
    pub instructions: u64,
    /// Something happens when it is entered: a region of interest, or instructions that are not
    /// in the instruction table.
    pub watched: bool,
    pub unknown: Vec<String>,
    /// Times that it was entered, counted if there are unknown instructions in it.
    pub entered: u64,
    /// Address of the repeated string instruction, if the block consists only of one.
    pub repeats: u64,
    pub ends_with_repeat: u64,
    /// Where it goes on without a branch; 0 if it ends with one.
    pub goes_on: u64,
    pub turn: Turn,
    /// It contains markers that begin or end calls.
    pub has_calls: bool,
    /// The call instruction at its end, if there is one.
    pub call: Box<[u8]>,
    /// It called the allocator.
    pub calls_allocator: bool,
}

impl Known {
    /// Decodes a block, which has this number in the stream, for each view of code.
    pub fn of(id: u32, def: &BlockDef, decoders: &[Decoder]) -> (Self, Vec<Arc<Block>>) {
        let variants = variants(decoders, def);
        let block = &variants[0];
        let unknown = match block.unknown {
            0 => Vec::new(),
            _ => decoders.first().map_or(Vec::new(), |decoder| decoder.unknown(def)),
        };
        let roi = |op| matches!(op, MarkerOp::RoiBegin | MarkerOp::RoiEnd);
        let last_repeat = block.insns.last().filter(|insn| insn.rep);
        let ends = last_repeat.map_or(0, |insn| block.addr + u64::from(insn.offset));
        let jumps = block.branch.kind == BranchKind::Conditional && block.insns.len() == 1;
        let known = Self {
            id,
            open_end: open_end(block, def).map(Box::new),
            jump: jumps.then(|| def.bytes.clone().into()),
            instructions: u64::from(block.insn_count),
            watched: !unknown.is_empty() || block.markers.iter().any(|m| roi(m.op)),
            unknown,
            entered: 0,
            repeats: if block.insns.len() == 1 { ends } else { 0 },
            ends_with_repeat: ends,
            goes_on: if block.branch.kind == BranchKind::None { block.branch.next } else { 0 },
            turn: Turn::of(block),
            call: call_of(block, def),
            calls_allocator: false,
            has_calls: block.markers.iter().any(|m| Balance::counts(m.op)),
            block: Arc::clone(block),
        };
        (known, variants)
    }
}

/// The machine code of the call at the end of a block, if there is one.
fn call_of(block: &Block, def: &BlockDef) -> Box<[u8]> {
    let calls = matches!(block.branch.kind, BranchKind::Call | BranchKind::IndirectCall);
    let call = def.insns().find(|(addr, _)| calls && *addr == block.branch.addr);
    call.map_or(Box::default(), |(_, code)| code.into())
}

/// The code of a block that continues and whose last instruction may fuse with a conditional jump,
/// without what follows that instruction (see [`whole_instructions`]).
fn open_end(block: &Block, def: &BlockDef) -> Option<BlockDef> {
    let last = block.insns.last()?;
    let continues = block.branch.kind == BranchKind::None && last.macro_fusible;
    continues.then(|| {
        let mut whole = def.clone();
        whole.lens.truncate(block.insns.len());
        whole.bytes.truncate(usize::from(block.len));
        whole
    })
}

/// The block in each view. Views share the stream's addresses, so their memory operands must be
/// equal; where a view's differ (a gather has as many as its family loads), the first view's block
/// is used.
fn variants(decoders: &[Decoder], def: &BlockDef) -> Vec<Arc<Block>> {
    let mut variants: Vec<Arc<Block>> = Vec::with_capacity(decoders.len());
    for decoder in decoders {
        let block = whole_instructions(decoder, def);
        let same = variants
            .first()
            .filter(|first| first.mem_operands != block.mem_operands)
            .map(Arc::clone);
        variants.push(same.unwrap_or_else(|| Arc::new(block)));
    }
    variants
}

/// The decoded block, without a last instruction that crosses an OS page boundary: the feeder's
/// translator began it, backed out, and starts the next block with it. The block contains those of
/// its bytes that the translator had read, in pieces of up to four. They are not a valid
/// instruction, because no instruction is a prefix of another.
fn whole_instructions(decoder: &Decoder, def: &BlockDef) -> Block {
    let block = decoder.block(def);
    let left = def.end().next_multiple_of(OS_PAGE) - def.end();
    if block.unknown == 0 || left >= INSTRUCTION_MAX || def.lens.len() < 2 {
        return block;
    }
    let mut whole = def.clone();
    let cut = whole.lens.pop().map_or(0, usize::from);
    whole.bytes.truncate(whole.bytes.len() - cut);
    let shorter = decoder.block(&whole);
    if shorter.unknown < block.unknown { shorter } else { block }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `nop` and the first bytes of `mov rax, [rip + …]` (48 8b 05 and four of displacement).
    fn cut(addr: u64, bytes: usize) -> Block {
        let code = [0x90, 0x48, 0x8b, 0x05, 0x10, 0x20, 0x30, 0x40];
        let (bytes, lens) = (code[..1 + bytes].to_vec(), vec![1, bytes as u8]);
        whole_instructions(
            &Decoder::new(<&decode::Family>::default(), 64),
            &BlockDef { id: 0, addr, lens, bytes },
        )
    }

    #[test]
    fn an_instruction_that_a_page_ends_in_belongs_to_the_next_block_alone() {
        // The displacement is read in one piece, so none of it is present if only two bytes fit.
        for (addr, bytes) in [(0x1ffa, 3), (0x1ffc, 3), (0x1ffe, 1)] {
            let block = cut(addr, bytes);
            assert_eq!((block.insns.len(), block.unknown), (1, 0), "{addr:x}");
            assert_eq!(block.branch.next, addr + 1, "it falls through to where the next begins");
        }
    }

    #[test]
    fn whole_instructions_at_a_page_end_and_unknown_ones_elsewhere_stay() {
        let block = cut(0x1ff8, 7);
        assert_eq!((block.insns.len(), block.unknown), (2, 0));
        let block = cut(0x1f00, 3);
        assert_eq!((block.insns.len(), block.unknown), (2, 1));
    }
}
