//! The line size of the machine, wherever the core counts in lines.

use crate::rig::Rig;
use mallacc_uarch::Machine;

const NOP_8: &str = "0f 1f 84 00 00 00 00 00";
const LINES: [u64; 3] = [32, 64, 128];

fn machine(line: u64) -> Machine {
    let mut machine = Machine::default();
    machine.memory.line = line;
    machine
}

fn fetches(rig: &mut Rig) -> u64 {
    rig.core.functional_mut().memory.statistics().l1i.accesses
}

#[test]
fn straight_code_is_fetched_a_line_at_a_time() {
    for line in LINES {
        let mut rig = Rig::with(machine(line));
        let block = rig.block(0x40_0000, &[NOP_8; 32]);
        let lines = u64::from(block.len) / line;
        rig.touch(&block, &[]);
        assert_eq!(fetches(&mut rig), lines, "warmed, lines of {line} bytes");
        // Nothing is in the uop cache yet, so the decoders fetch every line.
        rig.step(&block, &[], 0);
        assert_eq!(fetches(&mut rig), 2 * lines, "timed, lines of {line} bytes");
    }
}
