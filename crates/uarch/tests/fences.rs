//! What fences, locked operations and serialising instructions hold back, against values derived
//! from their measured cycles (uops.info, Haswell) and the machine's parameters.

use crate::rig::{DATA, Rig, close};

const MFENCE: &str = "0f ae f0";
const SFENCE: &str = "0f ae f8";
const LFENCE: &str = "0f ae e8";
const IMUL_RAX_RAX: &str = "48 0f af c0";
const CHASE: &str = "48 8b 00"; // mov rax,[rax]
const STORE: &str = "48 89 0b"; // mov [rbx],rcx

#[test]
fn fences_back_to_back_take_their_measured_cycles() {
    for (code, cycles) in [(MFENCE, 33.0), (SFENCE, 6.0), (LFENCE, 4.0)] {
        close(Rig::new().unrolled(&[code], &[], 200), cycles);
    }
}

#[test]
fn a_store_fence_holds_up_stores_for_its_cycles_and_nothing_else() {
    // The queue writes in order: the fence's six cycles, then one per store.
    close(Rig::new().unrolled(&[SFENCE, STORE, STORE], &[DATA; 2], 400), 6.0 + 2.0);
    // A chain of six loads takes longer than fence and store, and does not wait for them.
    let code = [SFENCE, STORE, CHASE, CHASE, CHASE, CHASE, CHASE, CHASE];
    let mut rig = Rig::new();
    let chain = 6.0 * rig.machine.memory.l1d.latency as f64;
    let mut addresses = [DATA + 64; 7];
    addresses[0] = DATA;
    close(rig.unrolled(&code, &addresses, 400), chain);
}

#[test]
fn a_load_waits_for_a_full_fence_and_arithmetic_does_not() {
    // mfence; mov rcx,[rbx]: the load begins when the fence's 31 cycles are over and retires a
    // cycle after its data arrives; the next fence issues in the cycle after that.
    let mut rig = Rig::new();
    let load = rig.machine.memory.l1d.latency as f64 + 1.0; // not a pointer chase: one cycle more
    close(rig.unrolled(&[MFENCE, "48 8b 0b"], &[DATA], 200), 31.0 + load + 2.0);
    // A multiplication executes in the shadow of the fence and retires with the fence's three
    // slots.
    close(Rig::new().unrolled(&[MFENCE, IMUL_RAX_RAX], &[], 200), 33.0);
}

#[test]
fn nothing_is_allocated_behind_a_load_fence_before_everything_older_has_retired() {
    let mut rig = Rig::new();
    // imul rax,rax; lfence; imul rbx,rbx
    let block = rig.block(0x40_0000, &[IMUL_RAX_RAX, LFENCE, "48 0f af db"]);
    rig.touch(&block, &[]);
    rig.step(&block, &[], 0);
    rig.log();
    rig.step(&block, &[], 0);
    let seen = rig.log();
    assert_eq!(seen.len(), 1 + 2 + 1);
    assert_eq!(seen[3].allocated, seen[0].retired + 1);
}

#[test]
fn a_serialising_instruction_takes_about_its_measured_cycles() {
    // cpuid: 99.43. It also refills the pipeline, which the measurement includes.
    let cycles = Rig::new().unrolled(&["0f a2"], &[], 50);
    assert!((99.0..99.0 * 1.15).contains(&cycles), "{cycles}");
}
