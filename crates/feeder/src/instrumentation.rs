//! Splits QEMU's translation blocks into blocks of the stream.
//!
//! Usually they are identical. A translation block is divided where
//! - there is a repeated string instruction: it is a block of its own, so that its next iteration
//!   can be distinguished from its next execution;
//! - its events might overflow a buffer;
//! - some version of QEMU ends its own block, so that blocks are the same under all of them;
//! - it ends inside a marker, because a guest page or QEMU's limit on instructions ends there: the
//!   marker becomes a block of its own that extends into the next translation block, which then
//!   begins with the rest of it.

use crate::isa::{self, Accesses};
use std::ops::Range;
use stream::BlockDef;
use stream::marker::{self, MarkerOp};

/// Maximum number of memory events of a block. Far below the slack of a buffer, which also takes
/// control events.
pub const EVENTS_MAX: usize = 4096;
/// Bytes of an operand store.
const STORE_LEN: usize = 8;

/// An instruction of a translation block.
#[derive(Clone, Copy, Debug)]
pub struct Insn<'a> {
    /// Guest address.
    pub addr: u64,
    /// Machine code.
    pub bytes: &'a [u8],
}

/// How a part of a translation block is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A block begins here.
    Block,
    /// A block of one repeated string instruction begins here, or continues.
    Repeated,
}

/// How a memory access of an instruction is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The instruction's own; see [`isa::accesses`].
    Own(Accesses),
    /// A marker's operand store: its value is delivered instead.
    Value,
    /// The last operand store of a prefetch marker: the word that its value points to is delivered
    /// too.
    ValueAndNext,
}

/// A run of instructions in a translation block that belong to one block of the stream.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    /// Instructions in the translation block.
    pub insns: Range<usize>,
    /// How it is entered.
    pub entry: Entry,
    /// The block, not yet numbered. Its instructions are those of `insns` and, for a marker that
    /// was cut, those at the start of the next translation block.
    pub block: BlockDef,
    /// The role of each of the block's instructions.
    pub roles: Vec<Role>,
    /// Carriers that lack their operand stores.
    pub broken: usize,
}

/// The rest of a cut marker, at the start of the translation block at a certain address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// Number of the block they belong to.
    pub block: u32,
    /// Index in that block of the first instruction.
    pub base: usize,
    /// The role of each.
    pub roles: Vec<Role>,
}

/// How a translation block is instrumented.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Instrumentation {
    /// Number of instructions at the beginning that belong to the previous block's marker.
    pub rest: usize,
    /// The remaining instructions.
    pub parts: Vec<Part>,
}

/// How to instrument a translation block. `rest` is what is known about its address; `peek` reads
/// guest code past the end.
pub fn of(
    insns: &[Insn<'_>],
    rest: Option<&Rest>,
    peek: impl FnOnce(u64, usize) -> Option<Vec<u8>>,
) -> Instrumentation {
    let rest = rest.map_or(0, |r| r.roles.len());
    let stores = |n: usize| insns.iter().take(n).all(|i| marker::operand_store(i.bytes).is_some());
    // There may be different code at that address by now.
    let rest = if stores(rest) { rest.min(insns.len()) } else { 0 };
    let tail = tail(&insns[rest..]).map(|(at, missing)| (at + rest, missing));
    let (body_end, tail) = match tail {
        Some((carrier, missing)) => match whole_marker(&insns[carrier..], missing, peek) {
            Some(part) => (carrier, Some((carrier, part))),
            None => (insns.len(), None),
        },
        None => (insns.len(), None),
    };
    let mut parts = divide(&insns[..body_end], rest);
    if let Some((carrier, mut marker)) = tail {
        marker.insns = carrier..insns.len();
        parts.push(marker);
    }
    Instrumentation { rest, parts }
}

/// The carrier of a marker that does not end in `insns`, and how many operand stores are missing.
fn tail(insns: &[Insn<'_>]) -> Option<(usize, usize)> {
    let have = insns.iter().rev().take_while(|i| marker::operand_store(i.bytes).is_some()).count();
    let carrier = insns.len().checked_sub(have + 1)?;
    let (op, _) = marker::carrier(insns[carrier].bytes)?;
    let missing = op.operands().checked_sub(have)?;
    (missing > 0).then_some((carrier, missing))
}

/// The block of a cut marker: `insns` are its first instructions, and `missing` stores follow them.
fn whole_marker(
    insns: &[Insn<'_>],
    missing: usize,
    peek: impl FnOnce(u64, usize) -> Option<Vec<u8>>,
) -> Option<Part> {
    let last = insns.last()?;
    let code = peek(last.addr + last.bytes.len() as u64, missing * STORE_LEN)?;
    let stores: Vec<&[u8]> = code.chunks_exact(STORE_LEN).collect();
    let all = stores.len() == missing && stores.iter().all(|s| marker::operand_store(s).is_some());
    all.then(|| part(0..0, insns.iter().map(|i| i.bytes).chain(stores), insns[0].addr))
}

/// Divides the instructions from `from` at repeated string instructions and at the event limit.
fn divide(insns: &[Insn<'_>], from: usize) -> Vec<Part> {
    let mut parts = Vec::new();
    let (mut start, mut events) = (from, 0);
    let close = |start: usize, end: usize, parts: &mut Vec<Part>| {
        if start < end {
            let code = insns[start..end].iter().map(|i| i.bytes);
            parts.push(part(start..end, code, insns[start].addr));
        }
    };
    for (at, insn) in insns.iter().enumerate().skip(from) {
        let most = isa::most_accesses(insn.bytes);
        // A marker must not be divided. It is short, so wait for its end.
        let in_marker = marker::operand_store(insn.bytes).is_some();
        if isa::is_repeated_string(insn.bytes) {
            close(start, at, &mut parts);
            let mut repeated = part(at..at + 1, std::iter::once(insn.bytes), insn.addr);
            repeated.entry = Entry::Repeated;
            parts.push(repeated);
            (start, events) = (at + 1, 0);
        } else if events + most > EVENTS_MAX && !in_marker {
            close(start, at, &mut parts);
            (start, events) = (at, most);
        } else {
            events += most;
        }
        if isa::ends_block(insn.bytes) {
            close(start, at + 1, &mut parts);
            (start, events) = (at + 1, 0);
        }
    }
    close(start, insns.len(), &mut parts);
    parts
}

fn part<'a>(insns: Range<usize>, code: impl Iterator<Item = &'a [u8]>, addr: u64) -> Part {
    let code: Vec<&[u8]> = code.collect();
    let (sites, broken) = marker::scan(code.iter().copied());
    let mut roles: Vec<Role> = code.iter().map(|code| Role::Own(isa::accesses(code))).collect();
    for site in sites {
        let first = usize::from(site.insn) + 1;
        let operands = first..first + site.op.operands();
        roles[operands].fill(Role::Value);
        if site.op == MarkerOp::Prefetch {
            roles[first + site.op.operands() - 1] = Role::ValueAndNext;
        }
    }
    let lens = code.iter().map(|c| c.len() as u8).collect();
    let block = BlockDef { id: 0, addr, lens, bytes: code.concat() };
    Part { insns, entry: Entry::Block, block, roles, broken: broken.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stream::marker::{MAGIC, SLOT};

    const NOP: &[u8] = &[0x90];
    const REP: &[u8] = &[0xf3, 0xa4];

    fn carrier(op: MarkerOp) -> Vec<u8> {
        let mut code = vec![0x0f, 0x1f, 0x80];
        code.extend((MAGIC | u32::from(op.code())).to_le_bytes());
        code
    }

    fn store() -> Vec<u8> {
        let mut code = vec![0x48, 0x89, 0x84, 0x24];
        code.extend(SLOT.to_le_bytes());
        code
    }

    fn place<'a>(code: &[&'a [u8]]) -> Vec<Insn<'a>> {
        let mut addr = 0x1000;
        code.iter()
            .map(|bytes| {
                let insn = Insn { addr, bytes };
                addr += bytes.len() as u64;
                insn
            })
            .collect()
    }

    fn no_peek(_: u64, _: usize) -> Option<Vec<u8>> {
        None
    }

    fn shape(of: &Instrumentation) -> Vec<(Range<usize>, Entry)> {
        of.parts.iter().map(|p| (p.insns.clone(), p.entry)).collect()
    }

    #[test]
    fn an_ordinary_block_is_one_part() {
        let insns = place(&[NOP, NOP, NOP]);
        let found = of(&insns, None, no_peek);
        assert_eq!(shape(&found), [(0..3, Entry::Block)]);
        assert_eq!(found.parts[0].block.addr, 0x1000);
        assert_eq!(found.parts[0].block.lens, [1, 1, 1]);
        assert!(found.parts[0].block.is_well_formed());
    }

    #[test]
    fn a_repeated_string_instruction_is_a_block_of_its_own() {
        let insns = place(&[NOP, REP]);
        let found = of(&insns, None, no_peek);
        assert_eq!(shape(&found), [(0..1, Entry::Block), (1..2, Entry::Repeated)]);
        assert_eq!(found.parts[1].block.addr, 0x1001);
    }

    #[test]
    fn a_block_ends_where_some_version_of_qemu_ends_it() {
        let insns = place(&[NOP, &[0x0f, 0x31], NOP, &[0x0f, 0x31]]);
        let found = of(&insns, None, no_peek);
        assert_eq!(shape(&found), [(0..2, Entry::Block), (2..4, Entry::Block)]);
    }

    #[test]
    fn blocks_are_divided_before_their_events_outgrow_a_buffer() {
        let save: &[u8] = &[0x0f, 0xae, 0x00];
        let insns = place(&[save; 40]);
        let found = of(&insns, None, no_peek);
        let per_part = EVENTS_MAX / isa::most_accesses(save);
        assert_eq!(found.parts.len(), 40_usize.div_ceil(per_part));
        let covered: Vec<usize> = found.parts.iter().flat_map(|p| p.insns.clone()).collect();
        assert_eq!(covered, (0..40).collect::<Vec<_>>());
    }

    #[test]
    fn operand_stores_carry_values_and_the_prefetch_marker_one_more() {
        let (c, s) = (carrier(MarkerOp::Prefetch), store());
        let insns = place(&[NOP, &c, &s, &s, &s, NOP]);
        let found = of(&insns, None, no_peek);
        use Role::{Value, ValueAndNext};
        let plain = Role::Own(Accesses::Plain);
        assert_eq!(found.parts[0].roles, [plain, plain, Value, Value, ValueAndNext, plain]);
        assert_eq!(found.parts[0].broken, 0);
    }

    #[test]
    fn a_marker_cut_by_the_end_becomes_a_whole_block_wherever_it_is_cut() {
        let (c, s) = (carrier(MarkerOp::Update), store());
        let whole: Vec<&[u8]> = vec![NOP, &c, &s, &s, &s, NOP];
        let insns = place(&whole);
        for cut in 2..5 {
            let (first, second) = insns.split_at(cut);
            let peeked = |addr: u64, len: usize| {
                assert_eq!(addr, second[0].addr);
                Some(s.repeat(len / s.len()))
            };
            let one = of(first, None, peeked);
            assert_eq!(shape(&one), [(0..1, Entry::Block), (1..cut, Entry::Block)]);
            let marker = &one.parts[1];
            assert_eq!(marker.block.lens, [7, 8, 8, 8]);
            assert_eq!((marker.broken, marker.roles[1..].to_vec()), (0, vec![Role::Value; 3]));
            let taken = cut - 1;
            let rest = Rest { block: 5, base: taken, roles: marker.roles[taken..].to_vec() };
            let two = of(second, Some(&rest), no_peek);
            assert_eq!(two.rest, 5 - cut);
            assert_eq!(shape(&two), [(5 - cut..6 - cut, Entry::Block)]);
        }
    }

    #[test]
    fn a_marker_whose_stores_are_not_there_is_counted_as_broken() {
        let c = carrier(MarkerOp::Pop);
        let insns = place(&[NOP, &c]);
        let found = of(&insns, None, |_, n| Some(vec![0x90; n]));
        assert_eq!(shape(&found), [(0..2, Entry::Block)]);
        assert_eq!(found.parts[0].broken, 1);
    }

    #[test]
    fn other_code_at_the_address_of_a_rest_is_a_block_as_usual() {
        let insns = place(&[NOP, NOP]);
        let rest = Rest { block: 5, base: 1, roles: vec![Role::Value] };
        let found = of(&insns, Some(&rest), no_peek);
        assert_eq!((found.rest, shape(&found)), (0, vec![(0..2, Entry::Block)]));
    }
}
