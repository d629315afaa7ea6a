//! Blocks whose steady state follows from the machine's parameters.

use mallacc_validate::{BlockError, Blocks, code::parse_hex, steady_state};
use uarch::Machine;

#[track_caller]
fn cycles(hex: &str) -> f64 {
    let machine = Machine::default();
    steady_state(&machine, &parse_hex(hex).unwrap()).unwrap().cycles_per_iteration
}

#[track_caller]
fn close(hex: &str, expected: f64) {
    let cycles = cycles(hex);
    assert!((cycles - expected).abs() < 0.02, "{hex}: {cycles} cycles, expected {expected}");
}

#[test]
fn a_dependent_addition_takes_a_cycle() {
    close("4801c0", 1.0); // add rax, rax
}

#[test]
fn fetch_of_sixteen_bytes_a_cycle_bounds_long_instructions() {
    // mov rbx, imm64: 10 bytes.
    close("48bb0102030405060708", 10.0 / 16.0);
}

#[test]
fn two_load_ports_take_half_a_cycle_for_a_load() {
    close("488b07", 0.5); // mov rax, [rdi]
}

#[test]
fn a_pointer_chase_meets_the_value_that_memory_holds() {
    // mov rax, [rax]: every eight bytes of the page hold its address, so it loads from itself.
    close("488b00", Machine::default().memory.l1d.latency as f64);
}

#[test]
fn equal_address_expressions_meet_and_others_do_not() {
    let forward = f64::from(Machine::default().core.store_forward);
    // add qword [rdi], 1: through the store queue, with a cycle for the addition.
    close("48830701", forward + 1.0);
    // mov rax, [rdi]; add rax, 1; mov [rdi+8], rax: no dependency between iterations; one store a
    // cycle.
    close("488b07 4883c001 48894708", 1.0);
}

#[test]
fn an_advancing_pointer_leaves_its_stores_behind() {
    let forward = f64::from(Machine::default().core.store_forward);
    // add qword [rdi], 1; add rdi, 8: each iteration accesses another address, so none waits for
    // forwarding from the previous one. One store per cycle is the limit.
    let cycles = cycles("48830701 4883c708");
    assert!((1.0..forward).contains(&cycles), "{cycles}");
}

#[test]
fn the_same_block_has_the_same_cycles_to_the_digit() {
    let blocks = Blocks::new(&Machine::default()).unwrap();
    let code = parse_hex("488b07 480fafc1 48894708 4883c710").unwrap();
    assert_eq!(blocks.predict(&code), blocks.predict(&code));
}

#[test]
fn long_blocks_are_predicted_and_longer_ones_refused() {
    let machine = Machine::default();
    let nops = |n: usize| steady_state(&machine, &vec![0x90; n]);
    let width = f64::from(machine.core.allocate_width);
    let predicted = nops(1024).unwrap().cycles_per_iteration;
    assert!((predicted / (1024.0 / width) - 1.0).abs() < 0.01, "{predicted}");
    assert!(matches!(nops(1025), Err(BlockError::TooLong { .. })));
}

#[test]
fn any_bytes_give_a_prediction_or_an_error() {
    let blocks = Blocks::new(&Machine::default()).unwrap();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..2000 {
        let bytes: Vec<u8> = (0..12)
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 56) as u8
            })
            .collect();
        if let Ok(prediction) = blocks.predict(&bytes) {
            assert!(prediction.cycles_per_iteration > 0.0, "{bytes:02x?}");
        }
    }
}

#[test]
fn a_timeline_has_the_events_of_each_uop_in_order() {
    let blocks = Blocks::new(&Machine::default()).unwrap();
    // mov rax, [rdi]; add [rsi], rax: a load; then load, addition, store address, store data.
    let code = parse_hex("488b07 480106").unwrap();
    let timeline = blocks.timeline(&code, 100, 3).unwrap();
    assert_eq!(timeline.uops.len(), 3 * (1 + 4));
    for u in &timeline.uops {
        assert!(u.delivered < u.allocated && u.allocated < u.ready, "{u:?}");
        assert!(u.ready <= u.issued && u.issued < u.completed && u.completed < u.retired, "{u:?}");
    }
    let retired: Vec<u64> = timeline.uops.iter().map(|u| u.retired).collect();
    assert!(retired.is_sorted(), "in program order");
    let text = timeline.text();
    assert_eq!(text.lines().count(), 1 + timeline.uops.len());
    let page = mallacc_validate::html::page(&timeline, "a block");
    assert_eq!(page.matches("<tr").count(), 1 + timeline.uops.len());
    assert!(!page.contains("http:") && !page.contains("https:"), "opens without a network");
}

#[track_caller]
fn close_on_golden_cove(hex: &str, expected: f64) {
    let machine = Machine::find("goldencove").unwrap();
    let cycles = steady_state(&machine, &parse_hex(hex).unwrap()).unwrap().cycles_per_iteration;
    assert!((cycles - expected).abs() < 0.02, "{hex}: {cycles} cycles, expected {expected}");
}

#[test]
fn golden_cove_has_three_ports_for_loads_and_five_for_arithmetic() {
    close_on_golden_cove("488b07", 1.0 / 3.0); // mov rax, [rdi]
    // Five chains: add rax, rbx; add rcx, rbx; add rdx, rbx; add rsi, rbx; add rdi, rbx.
    let additions = "4801d84801d94801da4801de4801df";
    close_on_golden_cove(additions, 1.0);
}

#[test]
fn golden_cove_carries_out_additions_of_immediates_at_rename() {
    // add rax, 1; add rax, 1; add rax, rbx: a chain of three additions, of which one remains.
    close_on_golden_cove("4883c0014883c0014801d8", 1.0);
    close("4883c0014883c0014801d8", 3.0);
}
