//! Where a stream's blocks begin and end follows from QEMU's translation, which differs between
//! versions; what a program takes does not.

use std::sync::atomic::AtomicBool;

use accel::Choice;
use mallacc_sim::{ConfigSpec, Plan, Sample, Seeds, run};
use stream::{BlockDef, Packet, Source, StreamError, event};
use uarch::Machine;

/// A stream of one packet.
struct Stream(Option<Packet>);

impl Source for Stream {
    fn next(&mut self, packet: &mut Packet) -> Result<bool, StreamError> {
        match self.0.take() {
            Some(own) => {
                *packet = own;
                Ok(true)
            }
            None => Ok(false),
        }
    }
}

/// Every figure of a run of these events over blocks at consecutive addresses.
fn figures(first: u64, blocks: &[&[&[u8]]], events: &[u64]) -> Vec<u64> {
    let mut packet = Packet::default();
    let mut addr = first;
    for (id, code) in (0..).zip(blocks) {
        let lens = code.iter().map(|insn| insn.len() as u8).collect();
        packet.blocks.push(BlockDef { id, addr, lens, bytes: code.concat() });
        addr += code.concat().len() as u64;
    }
    packet.events = events.to_vec();
    let spec = ConfigSpec::new("baseline", Machine::default(), Choice::parse("none").unwrap());
    let sample = Sample { period: 10_000, warm: 1_000, measure: 1_000 };
    let plan =
        Plan { skip: 0, max: None, sample, budget: None, roi_only: false, seeds: Seeds::ONE };
    let stop = AtomicBool::new(false);
    let outcome = run(&mut Stream(Some(packet)), plan, &[spec], &stop, &mut ()).unwrap();
    let measured = &outcome.measured[0];
    let values = measured.values(&measured.whole);
    ["cycles", "uops"]
        .into_iter()
        .map(|name| values.get("core", name).unwrap())
        .chain([values.get("l1d", "accesses").unwrap_or_default()])
        .collect()
}

/// `add rax, rbx`, `cmp rax, rcx`, and a jump back to the start of the three: 8 bytes.
const ADD: &[u8] = &[0x48, 0x01, 0xd8];
const CMP: &[u8] = &[0x48, 0x39, 0xc8];
const JUMP: &[u8] = &[0x75, 0xf8];

#[test]
fn a_pair_that_fuses_does_so_wherever_the_block_is_cut() {
    let rounds = |blocks: &[u32]| -> Vec<u64> {
        blocks.iter().cycle().take(blocks.len() * 1000).map(|&id| event::block(id)).collect()
    };
    let whole = figures(0x1000, &[&[ADD, CMP, JUMP]], &rounds(&[0]));
    assert_eq!(whole[1], 2 * 1000, "the compare and the jump are one uop");
    assert_eq!(figures(0x1000, &[&[ADD, CMP], &[JUMP]], &rounds(&[0, 1])), whole);
    assert_eq!(figures(0x1000, &[&[ADD], &[CMP], &[JUMP]], &rounds(&[0, 1, 2])), whole);
    // The jump begins a line of the instruction cache: no version fuses.
    let apart = figures(0x1000 - 6, &[&[ADD, CMP, JUMP]], &rounds(&[0]));
    assert_eq!(apart[1], 3 * 1000);
    assert_eq!(figures(0x1000 - 6, &[&[ADD, CMP], &[JUMP]], &rounds(&[0, 1])), apart);
}

#[test]
fn a_string_instruction_goes_on_where_the_stream_enters_it_again() {
    let stos: &[u8] = &[0xf3, 0x48, 0xab];
    let store = |at: u64| event::mem(0, true, 3, 0x10_0000 + 8 * at);
    let once: Vec<u64> = std::iter::once(event::block(0)).chain((0..1000).map(store)).collect();
    let mut again = once.clone();
    again.insert(500, event::block(0));
    again.insert(300, event::block(0));
    let whole = figures(0x1000, &[&[stos]], &once);
    assert_eq!(figures(0x1000, &[&[stos]], &again), whole);
    // Four iterations move 32 bytes at once.
    let half = figures(0x1000, &[&[stos]], &once[..501]);
    assert!(whole[1] > half[1] + 100, "{whole:?} {half:?}");
}
