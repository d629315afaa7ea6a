//! The blocks that the program holds.
//!
//! A `realloc` marker has the new size and not the old block. The old block is recognised by the
//! copy, which begins with a load from its first byte. If no block is recognised, any block may be
//! the one, and all become doubtful: nothing is concluded from a doubtful block.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::Spot;
use crate::finding::{Findings, Kind};

/// Blocks of at least this many bytes are aligned to as many (System V ABI: `max_align_t`).
const ALIGNED: u64 = 16;
/// The smaller ones.
const ALIGNED_SMALL: u64 = 8;

/// A block that was handed out.
#[derive(Clone, Copy)]
struct Block {
    len: u64,
    at: Spot,
    /// It may have been freed if this is below [`Memory::sure_from`].
    age: u64,
}

/// The blocks that the program holds.
#[derive(Default)]
pub struct Memory {
    blocks: BTreeMap<u64, Block>,
    age: u64,
    sure_from: u64,
    /// A call's result was not seen: blocks may be held that are not known.
    incomplete: bool,
    /// More than one thread has run.
    off: bool,
    /// Blocks whose first byte was loaded in the `realloc` in progress.
    copied: BTreeSet<u64>,
    /// Blocks compared.
    pub compared: u64,
}

impl Memory {
    /// Two threads run from now on, in an order that is not known exactly.
    pub fn stop(&mut self) {
        self.off = true;
        self.blocks.clear();
    }

    /// Whether blocks are no longer compared.
    pub fn stopped(&self) -> bool {
        self.off
    }

    /// A call was left without its result.
    pub fn incomplete(&mut self) {
        self.incomplete = true;
        self.sure_from = self.age + 1;
    }

    /// A call hands out `size` bytes at `addr`. `bytes`: what the class hands out, if it is known.
    pub fn hand_out(
        &mut self,
        addr: u64,
        size: u64,
        bytes: u64,
        at: Spot,
        findings: &mut Findings,
    ) {
        if addr == 0 || self.off {
            return;
        }
        let alignment = if size >= ALIGNED { ALIGNED } else { ALIGNED_SMALL };
        if !addr.is_multiple_of(alignment) {
            findings.add(Kind::Misaligned, at, None);
        }
        self.compared += 1;
        let len = size.max(bytes).max(1);
        while let Some((start, other)) = self.overlapping(addr, len) {
            if other.age >= self.sure_from {
                let kind = if start == addr { Kind::HandedOutTwice } else { Kind::Overlap };
                findings.add(kind, at, Some(other.at));
                // Which of the two a free is about is not known.
                self.incomplete = true;
            }
            self.blocks.remove(&start);
        }
        self.age += 1;
        self.blocks.insert(addr, Block { len, at, age: self.age });
    }

    fn overlapping(&self, addr: u64, len: u64) -> Option<(u64, Block)> {
        let (&start, &block) = self.blocks.range(..addr.saturating_add(len)).next_back()?;
        (start.saturating_add(block.len) > addr).then_some((start, block))
    }

    /// The program frees `addr`. `caller`: the instruction that called.
    pub fn free(&mut self, addr: u64, caller: Option<Spot>, at: Spot, findings: &mut Findings) {
        if addr == 0 || self.off {
            return;
        }
        if self.blocks.remove(&addr).is_none() && !self.incomplete {
            findings.add(Kind::FreeOfUnknown, caller.unwrap_or(at), Some(at));
        }
    }

    /// A `realloc` begins.
    pub fn realloc(&mut self) {
        self.copied.clear();
    }

    /// A load in a `realloc`, or the pointer of a push or a nested free in it.
    pub fn touched(&mut self, addr: u64) {
        if self.blocks.contains_key(&addr) {
            self.copied.insert(addr);
        }
    }

    /// A `realloc` to `size` bytes ends with the block `addr`.
    pub fn reallocated(&mut self, addr: u64, size: u64, at: Spot, findings: &mut Findings) {
        if self.off || (addr == 0 && size > 0) {
            return;
        }
        let copied = std::mem::take(&mut self.copied);
        if let Some(block) = self.blocks.get_mut(&addr)
            && block.age >= self.sure_from
            && !copied.iter().any(|old| *old != addr)
        {
            // It stays where it is.
            (block.len, block.at) = (size.max(1), at);
            return;
        }
        if copied.iter().all(|old| *old == addr) {
            self.sure_from = self.age + 1;
        }
        for old in copied {
            if let Some(block) = self.blocks.get_mut(&old) {
                block.age = 0;
            }
        }
        self.sure_from = self.sure_from.max(1);
        self.hand_out(addr, size, 0, at, findings);
    }

    /// A new image begins.
    pub fn clear(&mut self) {
        *self = Self { off: self.off, compared: self.compared, ..Self::default() };
    }
}
