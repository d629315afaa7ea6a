//! The legacy decoders: when a fused uop is delivered.

use crate::rig::Rig;

const NOP_8: &str = "0f 1f 84 00 00 00 00 00";
const NOP_5: &str = "0f 1f 44 00 00";
const NOP_3: &str = "0f 1f 00";
const NOP_4: &str = "0f 1f 40 00";
const NOP: &str = "90";
const CMP: &str = "48 39 d8";
const OR: &str = "48 09 d8";

/// Cycles from the delivery of the first uop to that of each, at the start of a 16-byte block.
fn delivered(code: &[&str]) -> Vec<u64> {
    let mut rig = Rig::new();
    let block = rig.block(0x40_0000, code);
    rig.touch(&block, &[]);
    rig.step(&block, &[], 0);
    let log = rig.log();
    log.iter().map(|seen| seen.delivered - log[0].delivered).collect()
}

#[test]
fn an_escape_byte_takes_no_place_in_the_block_before_its_opcode() {
    // Five of three bytes and a sixth that begins with the block's last byte. If its opcode is
    // there too, it is the sixth that the predecoder finds, and waits one cycle after the first
    // five; the block after it begins a cycle later. If an escape byte is there, only the block of
    // its opcode counts.
    let (opcode, escape) = ("83 c0 01", "0f b6 c1"); // add eax,1; movzx eax,cl
    let code = |last| [NOP_3, NOP_3, NOP_3, NOP_3, NOP_3, last];
    assert_eq!(delivered(&code(opcode)).last(), Some(&2));
    assert_eq!(delivered(&code(escape)).last(), Some(&1));
}

#[test]
fn a_comparison_at_the_end_of_what_is_marked_waits_for_its_successor() {
    // The comparison ends with the 16-byte block; the next instruction is marked a cycle later, and
    // only then is it known that no branch follows.
    assert_eq!(delivered(&[NOP_8, NOP_5, CMP, NOP]), [0, 0, 1, 1]);
    // Nothing fuses with `or`; below, the successor is in the same block.
    assert_eq!(delivered(&[NOP_8, NOP_5, OR, NOP]), [0, 0, 0, 1]);
    assert_eq!(delivered(&[NOP_8, NOP_4, CMP, NOP]), [0, 0, 0, 0]);
}
