//! Each mechanism of the pipeline against a value derived from the machine's parameters.

use crate::rig;

use crate::rig::{DATA, Rig, close};
use decode::Block;
use mallacc_uarch::{Component, Core, Machine};
use memory::{Alias, Ranged};

const ADD_RAX_RAX: &str = "48 01 c0";
const ADD_RBX_RBX: &str = "48 01 db";
const ADD_RCX_RCX: &str = "48 01 c9";
const ADD_RDX_RDX: &str = "48 01 d2";
const IMUL_RAX_RAX: &str = "48 0f af c0";
const NOP: &str = "90";

#[test]
fn a_chain_of_additions_takes_a_cycle_each() {
    close(Rig::new().unrolled(&[ADD_RAX_RAX], &[], 400), 1.0);
}

#[test]
fn independent_instructions_are_bound_by_the_allocation_width() {
    let mut rig = Rig::new();
    let width = f64::from(rig.machine.core.allocate_width);
    // Four 1-byte nops: predecode marks five per cycle, so the width of 4 is the bottleneck.
    close(rig.unrolled(&[NOP, NOP, NOP, NOP], &[], 400), 4.0 / width);
}

#[test]
fn a_multiplication_takes_three_cycles_and_port_one_takes_one_each_cycle() {
    close(Rig::new().unrolled(&[IMUL_RAX_RAX], &[], 400), 3.0);
    // imul rbx,rax,1; imul rcx,rax,1: independent of each other, both on port 1.
    let two = ["48 6b d8 01", "48 6b c8 01"];
    close(Rig::new().unrolled(&two, &[], 400), 2.0);
}

#[test]
fn a_pointer_chase_takes_the_first_level_latency() {
    let mut rig = Rig::new();
    let latency = rig.machine.memory.l1d.latency as f64;
    close(rig.unrolled(&["48 8b 00"], &[DATA], 200), latency); // mov rax,[rax]
}

#[test]
fn a_pointer_chase_in_a_scratch_pad_takes_its_latency_and_independent_loads_hide_it() {
    // 192 ROB entries pass in 48 cycles at a width of 4: a latency of 40 can be hidden.
    for latency in [2, 40] {
        let mut machine = Machine::default();
        machine.memory.scratchpad.base = DATA;
        machine.memory.scratchpad.size = 4096;
        machine.memory.scratchpad.latency = latency;
        let mut rig = Rig::<Ranged>::mapped(machine.clone(), "none");
        close(rig.unrolled(&["48 8b 00"], &[DATA], 200), latency as f64); // mov rax,[rax]
        // mov rbx,[rax] and seven nops: eight fused uops.
        let (width, mut code) = (f64::from(machine.core.allocate_width), vec!["48 8b 18"]);
        code.extend([NOP; 7]);
        close(Rig::<Ranged>::mapped(machine, "none").unrolled(&code, &[DATA], 400), 8.0 / width);
    }
}

#[test]
fn an_index_register_costs_a_load_one_more_cycle() {
    let mut rig = Rig::new();
    let latency = rig.machine.memory.l1d.latency as f64;
    close(rig.unrolled(&["48 8b 04 08"], &[DATA], 200), latency + 1.0); // mov rax,[rax+rcx]
}

#[test]
fn a_load_without_base_register_is_no_pointer_chase() {
    let mut rig = Rig::new();
    let latency = rig.machine.memory.l1d.latency;
    // mov rax,[rax]; mov rbx,[rip+0]: the address of the second load comes from no load.
    rig.unrolled(&["48 8b 00", "48 8b 1d 00 00 00 00"], &[DATA; 2], 20);
    let log = rig.log();
    let took = |at: usize| log[at].uops[0].1.completed - log[at].uops[0].1.issued;
    let last = log.len() - 1;
    assert_eq!((took(last - 1), took(last)), (latency, latency + 1));
}

#[test]
fn a_counter_in_memory_takes_forwarding_plus_the_addition() {
    let mut rig = Rig::new();
    let forward = f64::from(rig.machine.core.store_forward);
    // add qword [rsp],1: load (forwarded), add (1 cycle), store data.
    close(rig.unrolled(&["48 83 04 24 01"], &[DATA, DATA], 400), forward + 1.0);
}

#[test]
fn a_vector_register_is_forwarded_a_cycle_later() {
    let forward = f64::from(Machine::default().core.store_forward);
    // mov rax,[rsp]; mov [rsp],rax and the same with movups and xmm0.
    let (integer, vector) = (["48 8b 04 24", "48 89 04 24"], ["0f 10 04 24", "0f 11 04 24"]);
    close(Rig::new().unrolled(&integer, &[DATA, DATA], 400), forward);
    close(Rig::new().unrolled(&vector, &[DATA, DATA], 400), forward + 1.0);
}

#[test]
fn an_address_that_was_forwarded_is_not_there_early() {
    let machine = Machine::default();
    let forward = f64::from(machine.core.store_forward);
    let latency = machine.memory.l1d.latency as f64;
    // mov rax,[rsp]; mov rax,[rax+8]; mov [rsp],rax: the second load is not a cycle faster.
    let code = ["48 8b 04 24", "48 8b 40 08", "48 89 04 24"];
    let cycles = Rig::new().unrolled(&code, &[DATA, DATA + 64, DATA], 400);
    close(cycles, forward + latency + 1.0);
}

#[test]
fn a_load_wider_than_the_store_waits_until_the_store_has_written() {
    let mut rig = Rig::new();
    // mov [rsp],al; mov rax,[rsp]
    let cycles = rig.unrolled(&["88 04 24", "48 8b 04 24"], &[DATA, DATA], 100);
    let fail = f64::from(rig.machine.core.store_forward_fail);
    assert!(cycles >= fail, "{cycles} cycles, at least {fail}");
    assert_eq!(rig.core.counters().forward_failures, 100, "each load follows its store");
}

#[test]
fn zero_idioms_break_the_chain_and_take_no_port() {
    // imul rax,rax; xor eax,eax: the next multiplication does not wait.
    let cycles = Rig::new().unrolled(&[IMUL_RAX_RAX, "31 c0"], &[], 400);
    close(cycles, 1.0);
}

#[test]
fn moves_are_eliminated_unless_switched_off() {
    // mov rcx,rax; lea rax,[rcx+1]: the chain is the lea alone, or move and lea. Two nops of four
    // bytes make it 4 uops and 15 bytes, one cycle of the front end.
    let code = ["48 89 c1", "48 8d 41 01", "0f 1f 40 00", "0f 1f 40 00"];
    close(Rig::new().unrolled(&code, &[], 400), 1.0);
    let mut machine = Machine::default();
    machine.core.move_elimination = false;
    close(Rig::with(machine).unrolled(&code, &[], 400), 2.0);
}

#[test]
fn a_page_fault_that_takes_no_time_is_no_exception() {
    // mov rcx,[rbx] to an untouched page, then 160 nops, which fit behind it in the ROB (192): they
    // are allocated meanwhile, 4 per cycle, and retire 4 per cycle after it. An exception of one
    // cycle squashes them: they are allocated again after it.
    let last = |cycles: u64| {
        let mut machine = Machine::default();
        machine.memory.page_fault.cycles = cycles;
        let mut rig = Rig::with(machine);
        let load = rig.block(0x40_0000, &["48 8b 0b"]);
        let nops = [0, 1, 2, 3].map(|at| rig.block(0x40_0003 + 40 * at, &["90"; 40]));
        rig.touch(&load, &[DATA]);
        for block in &nops {
            rig.touch(block, &[]);
        }
        rig.step(&load, &[0x7000_0000], nops[0].addr);
        for block in &nops {
            rig.step(block, &[], block.addr + 40);
        }
        let log = rig.log();
        let (first, last) = (log[0].retired, log.last().unwrap());
        assert_eq!(rig.core.counters().page_faults, 1);
        (last.retired - first, last.allocated < first)
    };
    assert_eq!(last(0), (160 / 4, true));
    assert_eq!(last(1), (160 / 4, false));
}

#[test]
fn a_length_changing_prefix_stalls_predecode() {
    let mut rig = Rig::new();
    let stall = f64::from(rig.machine.core.decode.lcp_stall);
    // add ax,0x1234 (66 05 iw) and 12 bytes of nops: one 16-byte block per iteration.
    let nop12 = ["0f 1f 84 00 00 00 00 00", "0f 1f 40 00"];
    let cycles = rig.unrolled(&["66 05 34 12", nop12[0], nop12[1]], &[], 200);
    close(cycles, 1.0 + stall);
}

#[test]
fn a_fused_compare_and_branch_is_one_uop() {
    let mut rig = Rig::new();
    // cmp rax,rbx; jne +0 (not taken)
    let block = rig.block(0x40_0000, &["48 39 d8", "75 00"]);
    rig.touch(&block, &[]);
    rig.step(&block, &[], block.branch.next);
    assert_eq!(rig.log().len(), 1);
    assert_eq!(rig.core.counters().retired, 2);
}

#[test]
fn a_short_loop_streams_from_the_loop_buffer() {
    // Five additions (independent), dec, jnz: 6 fused uops, 4 per cycle.
    let body = [ADD_RAX_RAX, ADD_RBX_RBX, ADD_RCX_RCX, ADD_RDX_RDX, "48 01 f6", "ff cf", "75 ed"];
    let mut rig = Rig::new();
    let streamed = rig.looped(&body, &[], 1000);
    close(streamed, 6.0 / 4.0);
    let mut machine = Machine::default();
    machine.core.loop_buffer = 0;
    let taken = f64::from(machine.core.taken_branch);
    // Without it: two delivery groups, the second followed by the taken branch's bubble.
    close(Rig::with(machine).looped(&body, &[], 1000), 1.0 + taken);
}

#[test]
fn jumps_that_the_first_target_buffer_holds_take_one_cycle_and_others_what_a_branch_takes() {
    // A circle of jumps (jmp +2, each to the next one; the last one back), 8 entries.
    let circle = |jumps: u64| {
        let mut machine = Machine::default();
        machine.core.near_branches = 8;
        machine.core.loop_buffer = 0;
        let mut rig = Rig::with(machine);
        let block = |rig: &mut Rig, at: u64| rig.block(0x40_0000 + 4 * at, &["eb 02"]);
        let blocks: Vec<Block> = (0..jumps - 1).map(|at| block(&mut rig, at)).collect();
        let back = (-4 * (jumps as i8 - 1) - 2) as u8;
        let last = rig.block(0x40_0000 + 4 * (jumps - 1), &[&format!("eb {back:02x}")]);
        let mut middle = 0;
        for round in 0..200 {
            if round == 100 {
                middle = rig.core.cycles();
            }
            for block in blocks.iter().chain([&last]) {
                rig.step(block, &[], block.branch.target);
            }
        }
        (rig.core.cycles() - middle) as f64 / (100 * jumps) as f64
    };
    close(circle(8), 1.0);
    // Twice as many as fit: each was the first to be replaced.
    close(circle(16), f64::from(Machine::default().core.taken_branch));
}

#[test]
fn a_mispredicted_branch_delays_the_next_uop_by_the_stated_penalty() {
    let mut rig = Rig::new();
    let branch = rig.block(0x40_0000, &["48 39 d8", "75 40"]);
    let (target, next) = (branch.branch.target, branch.branch.next);
    let fallen = rig.block(next, &[ADD_RAX_RAX]);
    rig.touch(&branch, &[]);
    // The code after the branch comes from the uop cache, and the branch is known to be taken.
    rig.step(&fallen, &[], next + 3);
    for _ in 0..40 {
        rig.step(&branch, &[], target);
    }
    rig.log();
    let before = rig.core.counters().mispredicts;
    rig.step(&branch, &[], next);
    rig.step(&fallen, &[], next + 3);
    let seen = rig.log();
    assert_eq!(rig.core.counters().mispredicts, before + 1);
    let done = seen[0].uops[0].1.completed;
    let redirect = u64::from(rig.machine.core.mispredict_redirect);
    assert_eq!(seen[1].delivered, done + redirect);
    assert_eq!(seen[1].allocated, done + redirect + 1);
}

#[test]
fn the_reorder_buffer_bounds_how_many_misses_overlap() {
    let mut rig = Rig::new();
    let rob = rig.machine.core.rob as usize;
    // mov rax,[rip]: a miss, then nops up to the ROB's size, then another miss.
    let load = rig.block(0x40_0000, &["48 8b 05 00 00 00 00"]);
    let nops = rig.block(0x40_0007, &[NOP; 64]);
    let lines: Vec<u64> = (0..8).map(|i| DATA + 4096 * i).collect();
    for &line in &lines {
        rig.touch(&load, &[line + 2048]); // the page is mapped, the line is not cached
    }
    rig.touch(&nops, &[]);
    let mut issue_gap = |filler: usize, pair: usize| {
        rig.log();
        rig.core.context_switch();
        rig.step(&load, &[lines[pair]], 0);
        for _ in 0..filler / 64 {
            rig.step(&nops, &[], 0);
        }
        rig.step(&load, &[lines[pair + 1]], 0);
        let seen = rig.log();
        let first = &seen[0];
        let last = seen.last().unwrap();
        (first.retired, last.allocated)
    };
    let (retired, allocated) = issue_gap(rob - 64, 0);
    assert!(allocated < retired, "both fit: {allocated} before {retired}");
    let (retired, allocated) = issue_gap(rob, 2);
    assert_eq!(allocated, retired, "the second waits for the first one's entry");
}

#[test]
fn a_push_and_pop_need_no_stack_pointer_uop_but_an_explicit_use_does() {
    let mut rig = Rig::new();
    // push rax; pop rcx: store (fused), load.
    let plain = rig.block(0x40_0000, &["50", "59"]);
    rig.touch(&plain, &[DATA, DATA]);
    rig.step(&plain, &[DATA, DATA], 0);
    assert_eq!(rig.core.counters().uops, 3, "store address, store data, load");
    // push rax; mov rcx,rsp: synchronise, then move.
    let used = rig.block(0x40_0100, &["50", "48 89 e1"]);
    rig.touch(&used, &[DATA]);
    rig.step(&used, &[DATA], 0);
    assert_eq!(rig.core.counters().uops, 3 + 2 + 1 + 1);
}

#[test]
fn a_full_store_queue_holds_up_allocation() {
    let mut rig = Rig::new();
    let sq = rig.machine.core.sq as usize;
    let store = rig.block(0x40_0000, &["48 89 05 00 00 00 00"]); // mov [rip],rax
    for i in 0..=sq as u64 {
        rig.touch(&store, &[DATA + 4096 * i + 2048]);
    }
    for i in 0..=sq as u64 {
        rig.step(&store, &[DATA + 4096 * i], 0);
    }
    let seen = rig.log();
    assert!(seen[sq - 1].allocated < seen[0].retired + 20, "as many as there are entries fit");
    assert!(seen[sq].allocated > seen[0].retired + 100, "one more waits for a miss to be written");
}

#[test]
fn the_cpi_stack_sums_to_the_cycles() {
    let mut rig = Rig::new();
    rig.unrolled(&["48 8b 00", IMUL_RAX_RAX, "88 04 24", "48 8b 04 24"], &[DATA; 3], 50);
    let stack = rig.core.cpi_stack();
    assert_eq!(stack.iter().sum::<u64>(), rig.core.cycles());
    assert!(stack[Component::Base as usize] > 0);
}

/// Machine clears in 100 runs of a store whose address the instruction computes, followed by a load
/// from the same address, which is known at once.
fn clears_in_100_runs(address: &str) -> u64 {
    let mut rig = Rig::new();
    // …; mov [rbx],rax; mov rcx,[rsp]
    let block = rig.block(0x40_0000, &[address, "48 89 03", "48 8b 0c 24"]);
    rig.touch(&block, &[DATA, DATA]);
    for _ in 0..100 {
        rig.step(&block, &[DATA, DATA], 0);
    }
    rig.core.counters().order_clears
}

#[test]
fn a_load_that_would_be_too_early_each_time_is_cleared_once_and_then_waits() {
    // imul rbx,rbx: the store's address is always later than the load's.
    assert_eq!(clears_in_100_runs("48 0f af db"), 1);
}

#[test]
fn a_store_address_one_cycle_after_the_load_is_still_found() {
    // lea rbx,[rdx+8]: 1 cycle, so the store's address issues a cycle after the load.
    assert_eq!(clears_in_100_runs("48 8d 5a 08"), 0);
    // imul rbx,rdx,8: 3 cycles.
    assert_eq!(clears_in_100_runs("48 6b da 08"), 1);
}

#[test]
fn a_uop_that_waited_for_an_entry_counts_in_its_group() {
    let mut rig = Rig::new();
    let width = rig.machine.core.allocate_width as usize;
    // mov [rip],rax behind misses fills the store queue; then a store and eight nops.
    let store = "48 89 05 00 00 00 00";
    let block = rig.block(0x40_0000, &[store, NOP, NOP, NOP, NOP, NOP, NOP, NOP, NOP]);
    for i in 0..100 {
        rig.touch(&block, &[DATA + 4096 * i + 2048]);
    }
    for i in 0..100 {
        rig.step(&block, &[DATA + 4096 * i], 0);
    }
    let cycles: Vec<u64> = rig.log().iter().map(|seen| seen.allocated).collect();
    let most = cycles.chunk_by(|a, b| a == b).map(<[u64]>::len).max();
    assert_eq!(most, Some(width));
}

#[test]
fn an_injected_uop_that_waited_for_an_entry_counts_in_its_group() {
    let mut rig = Rig::new();
    let width = rig.machine.core.allocate_width as usize;
    // Six dependent multiplications (18 cycles) of 15 fused uops: before 192 of them fill the ROB,
    // 60 multiplications fill the reservation station. push rbx; lea rsp,[rsp+8] needs a
    // stack-pointer uop between them.
    let mut code = vec![IMUL_RAX_RAX; 6];
    code.extend(["53", "48 8d 64 24 08"]);
    code.extend([NOP; 6]);
    rig.unrolled(&code, &[DATA], 200);
    let seen = rig.log();
    assert!(seen.iter().any(|slot| slot.uops.is_empty() && slot.delayed), "one has waited");
    let cycles: Vec<u64> = seen.iter().map(|slot| slot.allocated).collect();
    let most = cycles.chunk_by(|a, b| a == b).map(<[u64]>::len).max();
    assert_eq!(most, Some(width));
}

#[test]
fn moves_beyond_the_entries_for_shared_registers_execute() {
    // mov rcx,rax; …; add rcx,rcx: five copies of rax; the sources are never written.
    let copies = ["48 89 c1", "48 89 c2", "48 89 c3", "48 89 c6", "48 89 c7"];
    let executed = |entries| {
        let mut machine = Machine::default();
        machine.core.move_entries = entries;
        let mut rig = Rig::with(machine);
        rig.unrolled(&copies, &[], 50);
        rig.log()
            .iter()
            .flat_map(|slot| &slot.uops)
            .filter(|(_, times)| times.port.is_some())
            .count()
    };
    assert_eq!(executed(0), 5 * 50, "without entries all execute");
    // rax keeps an entry, and each move counts for two cycles: of eight moves in two cycles at most
    // four find an entry, but the very first does.
    let some = executed(4);
    assert!(0 < some && some < executed(2) && executed(2) < executed(0), "{some}");
}

#[test]
fn a_load_that_misses_the_first_level_tlb_issues_again_after_its_translation() {
    let mut rig = Rig::<Alias>::mapped(Machine::default(), "none");
    // mov rax,[rax+rcx], each from another page, all of them mapped to one frame.
    let block = rig.block(0x40_0000, &["48 8b 04 08"]);
    rig.touch(&block, &[DATA]);
    rig.core.functional_mut().memory.alias(0xfff);
    rig.touch(&block, &[DATA]);
    let pages = 200;
    let mut middle = 0;
    for page in 1..=pages {
        let address = DATA + 4096 * page;
        rig.core.functional_mut().memory.warm_translation(address);
        rig.step(&block, &[address], 0);
        if page == pages / 2 {
            middle = rig.core.cycles();
        }
    }
    let cycles = (rig.core.cycles() - middle) as f64 / (pages / 2) as f64;
    let indexed = (rig.machine.memory.l1d.latency + 1) as f64;
    // The second-level TLB's latency, and the following cycle, in which the load issues again.
    close(cycles, indexed + rig.machine.memory.stlb.latency as f64 + 1.0);
}

#[test]
fn loads_that_wait_for_one_page_all_take_their_port_twice() {
    let mut rig = Rig::<Alias>::mapped(Machine::default(), "none");
    // Eight loads from one page: four cycles on two ports, and four more to issue again.
    let block = rig.block(0x40_0000, &["48 8b 03"; 8]);
    rig.touch(&block, &[DATA; 8]);
    rig.core.functional_mut().memory.alias(0xfff);
    rig.touch(&block, &[DATA; 8]);
    let pages = 200;
    let mut middle = 0;
    for page in 1..=pages {
        let address = DATA + 4096 * page;
        rig.core.functional_mut().memory.warm_translation(address);
        rig.step(&block, &[address; 8], 0);
        if page == pages / 2 {
            middle = rig.core.cycles();
        }
    }
    let cycles = (rig.core.cycles() - middle) as f64 / (pages / 2) as f64;
    close(cycles, 2.0 * 8.0 / 2.0);
}

#[test]
fn a_locked_exchange_and_add_takes_as_long_as_any_locked_operation() {
    // lock xadd [rsp],rax and lock add [rsp],rax: uops.info measured 19 cycles each on Haswell.
    for code in ["f0 48 0f c1 04 24", "f0 48 01 04 24"] {
        let cycles = Rig::new().unrolled(&[code], &[DATA, DATA], 200);
        assert!((cycles - 19.0).abs() <= 1.0, "{code}: {cycles}");
    }
}

#[test]
fn loads_that_wait_have_entries_of_their_own_number_in_the_reservation_station() {
    let rig = Rig::new();
    let (all, entries) = (rig.machine.core.rs as usize, rig.machine.core.rs_loads as usize);
    // mov rax,[rip], a miss, and then uops that wait for it: when they were allocated, when the
    // first of them issued, and when the data arrived.
    let behind_a_miss = |code: &str, count: usize| {
        let mut rig = Rig::new();
        let miss = rig.block(0x40_0000, &["48 8b 05 00 00 00 00"]);
        let waiting = rig.block(0x40_0007, &vec![code; count]);
        let addresses = vec![DATA + 2048; waiting.mem_operands.len()];
        rig.touch(&miss, &[DATA + 2048]);
        rig.touch(&waiting, &addresses);
        rig.step(&miss, &[DATA], 0);
        rig.step(&waiting, &addresses, 0);
        let seen = rig.log();
        let times = |slot: &rig::Seen| slot.uops[0].1;
        let first = seen[1..].iter().map(|slot| times(slot).issued).min().unwrap();
        let allocated: Vec<u64> = seen[1..].iter().map(|slot| slot.allocated).collect();
        (allocated, first, times(&seen[0]).completed)
    };
    let (loads, issued, data) = behind_a_miss("48 8b 58 08", entries + 1); // mov rbx,[rax+8]
    assert!(loads[entries - 1] < data, "so many loads wait");
    assert_eq!(loads[entries], issued + 1, "one more takes the entry of the first to issue");
    let (additions, issued, data) = behind_a_miss("48 01 c3", all + 1); // add rbx,rax
    assert!(additions[all - 1] < data, "arithmetic has all entries");
    assert_eq!(additions[all], issued + 1);
}

#[test]
fn loads_that_depend_on_loads_fill_their_entries_before_their_ports() {
    // mov rax,[rsp+8]; mov rbp,[rax+8]; mov r14,[rax]: three loads on two ports.
    let code = ["48 8b 44 24 08", "48 8b 68 08", "4c 8b 30"];
    let cycles = |entries| {
        let mut machine = Machine::default();
        machine.core.rs_loads = entries;
        Rig::with(machine).unrolled(&code, &[DATA; 3], 600)
    };
    close(cycles(Machine::default().core.rs), 3.0 / 2.0);
    // With three entries the next iteration's first load can be allocated when the address of the
    // other two is known: one latency later, that of the pointer chase.
    assert!(cycles(3) > Machine::default().memory.l1d.latency as f64);
    assert!(cycles(Machine::default().core.rs_loads) > 1.6, "hardware: 1.76 (BHive)");
}
