//! Times of the malloc cache's instructions in the pipeline, derived from the parameters of
//! `accel::mallacc`: the unit takes 2 cycles (1, and 1 for the index) and accepts an instruction
//! every 2.

use crate::rig::{DATA, Rig, close, marker};
use decode::Block;
use mallacc_uarch::Machine;
use stream::{CallKind, MarkerOp};

const UNIT: f64 = 2.0;
const MOVE: f64 = 1.0;
const ADD: f64 = 1.0;
const RAX: u8 = 0;
const RCX: u8 = 1;
const RDX: u8 = 2;
const RSI: u8 = 6;
const RDI: u8 = 7;

fn rig(accelerator: &str) -> Rig {
    Rig::accelerated(Machine::default(), accelerator)
}

fn block(rig: &mut Rig, code: &[Vec<String>]) -> Block {
    let flat: Vec<&str> = code.iter().flatten().map(String::as_str).collect();
    let block = rig.block(0x40_0000, &flat);
    rig.core.functional_mut().memory.warm_fetch(block.addr);
    block
}

fn plain(text: &str) -> Vec<String> {
    vec![text.to_owned()]
}

/// Enters the class, with objects `a` and `b` at the head of its list.
fn seed(rig: &mut Rig, class: u64, a: u64, b: u64) {
    let code = [
        marker(MarkerOp::Lookup, &[RDI]),
        marker(MarkerOp::Update, &[RDI, RDX, RSI]),
        marker(MarkerOp::Push, &[RSI, RAX]),
        marker(MarkerOp::Push, &[RSI, RAX]),
    ];
    let block = block(rig, &code);
    rig.step_marked(&block, &[], &[32, 32, 32, class, class, b, class, a]);
}

#[test]
fn a_lookup_hit_gives_the_class_after_two_cycles_and_the_size_after_three() {
    // lookup(rdi) … update(rdi, rdx, rsi); add rdi,rsi (class) or add rdi,rdx (size).
    for (add, latency) in [("4801f7", UNIT), ("4801d7", UNIT + MOVE)] {
        let mut rig = rig("mallacc:entries=4,fallback_branch=off");
        seed(&mut rig, 5, DATA, DATA + 64);
        let code = [
            marker(MarkerOp::Lookup, &[RDI]),
            plain("480fafff"), // imul rdi,rdi: elided
            marker(MarkerOp::Update, &[RDI, RDX, RSI]),
            plain(add),
        ];
        let block = block(&mut rig, &code);
        close(rig.repeated(&block, &[32, 32, 32, 5], 200), latency + ADD);
    }
}

#[test]
fn without_the_index_a_lookup_takes_one_cycle_less_but_the_unit_still_paces_it() {
    let mut rig = rig("mallacc:entries=4,fallback_branch=off,index=off");
    seed(&mut rig, 5, DATA, DATA + 64);
    let code = [
        marker(MarkerOp::Lookup, &[RDI]),
        marker(MarkerOp::Update, &[RDI, RDX, RSI]),
        plain("4801f7"),
    ];
    let block = block(&mut rig, &code);
    close(rig.repeated(&block, &[32, 32, 32, 5], 200), UNIT - 1.0 + ADD);
}

#[test]
fn list_instructions_are_chained_in_program_order() {
    let mut rig = rig("mallacc:entries=4,fallback_branch=off");
    seed(&mut rig, 5, DATA, DATA + 64);
    // Pop a, push a: the list ends as it began.
    let code = [
        marker(MarkerOp::Pop, &[RSI]),
        marker(MarkerOp::PopEnd, &[RAX, RDX]),
        marker(MarkerOp::Push, &[RSI, RAX]),
    ];
    let block = block(&mut rig, &code);
    // Without a prefetch every other pop misses; the test accepts that. Each pop is one unit uop;
    // on a hit the push also waits for the popped object's move.
    let values = [5, DATA, DATA + 64, 5, DATA];
    let cycles = rig.repeated(&block, &values, 200);
    assert!(cycles >= 2.0 * UNIT, "{cycles}");
    assert_eq!(rig.core.functional_mut().markers.accelerator().checks().failed, 0);
}

#[test]
fn an_outstanding_prefetch_blocks_the_class_until_the_line_has_arrived() {
    let mut rig = rig("mallacc:entries=4,fallback_branch=off");
    let (a, b, c) = (DATA, DATA + 64, DATA + 128);
    seed(&mut rig, 5, a, b);
    rig.core.functional_mut().memory.warm_load(0, b, 8);
    let code = [
        marker(MarkerOp::Pop, &[RSI]),
        marker(MarkerOp::PopEnd, &[RAX, RDX]),
        marker(MarkerOp::Prefetch, &[RCX, RAX, RDX]),
        marker(MarkerOp::Push, &[RCX, RDI]),
    ];
    let block = block(&mut rig, &code);
    let values = [5, a, b, 5, a, b, c, 5, a];
    let cycles = rig.repeated(&block, &values, 200);
    let load = rig.machine.memory.l1d.latency as f64;
    // Pop, its move of next, the prefetch's unit uop, the load, the push: one chain.
    close(cycles, UNIT + MOVE + UNIT + load + UNIT);
    let values = stats::Layout::of(&rig.core).values(&stats::Reading::of(&rig.core));
    let counted = |name| values.get("malloc_cache", name);
    assert_eq!((counted("pop_hits"), counted("invariant_violations")), (Some(200), Some(0)));
    // Blocked from when the push could have issued (after the prefetch's unit uop) until the line
    // arrives.
    assert_eq!(counted("blocked_cycles"), Some(200 * load as u64));
}

#[test]
fn lookups_do_not_wait_for_a_blocked_class() {
    let mut rig = rig("mallacc:entries=4,fallback_branch=off");
    let (a, b, c) = (DATA, DATA + 64, DATA + 128);
    seed(&mut rig, 5, a, b);
    rig.core.functional_mut().memory.warm_load(0, b, 8);
    let mut code = vec![
        marker(MarkerOp::Pop, &[RSI]),
        marker(MarkerOp::PopEnd, &[RAX, RDX]),
        marker(MarkerOp::Prefetch, &[RCX, RAX, RDX]),
        marker(MarkerOp::Push, &[RCX, RDI]),
    ];
    let values = vec![5, a, b, 5, a, b, c, 5, a];
    let without = {
        let block = block(&mut rig, &code);
        rig.repeated(&block, &values, 200)
    };
    code.push(marker(MarkerOp::Lookup, &[RDI]));
    code.push(marker(MarkerOp::Update, &[RDI, RDX, RSI]));
    let all = [&values[..], &[32, 32, 32, 5]].concat();
    let block = block(&mut rig, &code);
    // The lookup finds a free slot in the unit while the class is blocked.
    close(rig.repeated(&block, &all, 200), without);
}

#[test]
fn the_limit_leaves_only_what_is_not_marked() {
    let mut rig = rig("limit");
    let code = [
        marker(MarkerOp::Lookup, &[RDI]),
        plain("480fafff"), // imul rdi,rdi
        marker(MarkerOp::Update, &[RDI, RDX, RSI]),
        plain("4801f7"), // add rdi,rsi
    ];
    let block = block(&mut rig, &code);
    close(rig.repeated(&block, &[32, 32, 32, 5], 200), ADD);
    assert_eq!(rig.core.counters().elided, 200);
}

#[test]
fn a_call_lasts_from_its_first_retirement_to_that_of_its_return() {
    let mut rig = rig("none");
    let mut code = vec![marker(MarkerOp::CallBegin(CallKind::Malloc), &[RDI])];
    code.extend((0..10).map(|_| plain("480fafc0"))); // ten dependent multiplications of 3 cycles
    code.push(marker(MarkerOp::CallEnd, &[RAX]));
    code.push(plain("c3"));
    let block = block(&mut rig, &code);
    for _ in 0..20 {
        rig.core.functional_mut().memory.warm_load(0, DATA, 8);
        rig.step_marked(&block, &[DATA], &[64, DATA]);
    }
    let calls = std::mem::take(&mut rig.core.functional_mut().calls.finished);
    assert_eq!(calls.len(), 20);
    // The first multiplication retires, then nine more of three cycles each, then the return with
    // the last of them or a cycle later.
    let steady = calls.last().unwrap();
    assert_eq!((steady.kind, steady.argument), (CallKind::Malloc, 64));
    assert!((27..=28).contains(&steady.cycles), "{} cycles", steady.cycles);
}
