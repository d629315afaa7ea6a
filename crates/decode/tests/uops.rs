//! Expected uops of representative instructions. Each expectation is worked out by hand from the
//! table row named beside it (ports, fused/unfused, latencies) and the rule of its mechanism.

use crate::common;

use crate::common::{block, uops};

fn expect(hex: &str, expected: &[&str]) {
    assert_eq!(uops(hex), expected, "{hex}");
    common::check(&block(hex));
}

#[test]
fn integer_operations_take_registers_and_flags() {
    // add r64,r64: 1*p0156, 1 cycle.
    expect("4801d8", &["p0156 cf rax spazo <- rax rbx"]);
    // inc does not change the carry flag.
    expect("48ffc0", &["p0156 rax spazo <- rax"]);
    // cmp writes flags only.
    expect("4839d8", &["p0156 cf spazo <- rax rbx"]);
    // shl r64,i8: 1*p06.
    expect("48c1e005", &["p06 cf rax spazo <- rax"]);
    // imul r64,r64 and with immediate: 1*p1, 3 cycles.
    expect("480fafc3", &["p1 lat3 cf rax spazo <- rax rbx"]);
    expect("486bc364", &["p1 lat3 cf rax spazo <- rbx"]);
    // shld r64,r64,i8: 1*p1, at most 3.
    expect("480fa4d804", &["p1 lat3 cf rax spazo <- rax rbx"]);
    // bsf leaves its destination unchanged if the source is 0, so it reads it; 1*p1, 3 cycles.
    expect("480fbcc3", &["p1 lat3 cf rax spazo <- rax rbx"]);
    // popcnt: the same units, false dependency on the destination.
    expect("f3480fb8c3", &["p1 lat3 cf rax spazo <- rax rbx"]);
    // mov with a 64-bit immediate: 1*p0156, two uop-cache slots.
    expect("48b8f0debc9a78563412", &["p0156 rax <-"]);
    assert!(block("48b8f0debc9a78563412").insns[0].wide_immediate);
}

#[test]
fn lea_takes_its_port_from_the_parts_of_its_address() {
    // Two components: 1*p15, 1 cycle. Three components: 1*p1, 3 cycles. Relative to rip: 1*p1.
    expect("488d040b", &["p15 rax <- rbx rcx"]);
    expect("488d440b08", &["p1 lat3 rax <- rbx rcx"]);
    expect("488d0510000000", &["p1 rax <-"]);
    // [r13+rcx] needs a displacement byte of 0 in its encoding, so it is slow as well.
    expect("498d440d00", &["p1 lat3 rax <- r13 rcx"]);
    assert!(block("498d440d00").mem_operands.is_empty(), "lea accesses nothing");
}

#[test]
fn carry_chains_pass_the_carry_in_one_cycle() {
    // adc r64,r64: 1*p0156+1*p06, 1 from the carry, 2 from the operands.
    expect("4811d8", &["p0156 t2 <- rax rbx", "p06 cf rax spazo <- cf t2"]);
    // adc r64,0 is measured separately: 1*p06.
    expect("4883d000", &["p06 cf rax spazo <- cf rax"]);
    // sbb of one register with itself is not an idiom: it depends on both.
    expect("19c9", &["p0156 t2 <- rcx", "p06 cf rcx spazo <- cf t2"]);
}

#[test]
fn conditional_moves_and_sets_read_the_flags_that_their_condition_needs() {
    // cmove: 1*p0156+1*p06, the old value enters last (1), source and flags first (2).
    expect("480f44c3", &["p0156 t2 <- rbx spazo", "p06 rax <- rax t2"]);
    // cmova needs both groups and one more uop: 1*p0156+2*p06, 1 to 3 cycles.
    expect("480f47c3", &["p0156 t2 <- cf rbx spazo", "p06 t3 <- t2", "p06 rax <- rax t3"]);
    // cmove r64,m64: 2 fused, 3 unfused; the load pairs with the first uop.
    expect("480f4403", &["load p23 t0 <- rbx", "p0156 t2 <- spazo t0 +fused", "p06 rax <- rax t2"]);
    // sete r8: 1*p06, merges into the register. sete m8: 2 fused, 3 unfused.
    expect("0f94c0", &["p06 rax <- rax spazo"]);
    expect("0f9403", &["p06 t6 <- spazo", "sta p237 <- rbx", "std p4 <- t6 +fused"]);
}

#[test]
fn memory_operands_become_loads_and_stores_around_the_operation() {
    // mov r32,m32: 1*p23. With an index, the uop is marked.
    expect("8b03", &["load p23 rax <- rbx"]);
    expect("8b048b", &["load p23 rax <- rbx rcx +indexed"]);
    // add r32,m32: 1 fused, 2 unfused.
    expect("034308", &["load p23 t0 <- rbx", "p0156 cf rax spazo <- rax t0 +fused"]);
    // add m32,r32: 2 fused, 4 unfused: two pairs.
    expect(
        "014308",
        &[
            "load p23 t0 <- rbx",
            "p0156 cf spazo t6 <- rax t0 +fused",
            "sta p237 <- rbx",
            "std p4 <- t6 +fused",
        ],
    );
    // inc m32: 3 fused, 4 unfused: only the store pairs.
    expect(
        "ff03",
        &["load p23 t0 <- rbx", "p0156 spazo t6 <- t0", "sta p237 <- rbx", "std p4 <- t6 +fused"],
    );
    // mov m64,r64: 1 fused, 2 unfused; port 7 has no adder for an index.
    expect("488903", &["sta p237 <- rbx", "std p4 <- rax +fused"]);
    expect("488904cb", &["sta p23 <- rbx rcx +indexed", "std p4 <- rax +fused +indexed"]);
    // Thread-local storage depends on the segment base.
    expect("64488b042528000000", &["load p23 rax <- fs"]);
}

#[test]
fn partial_registers_merge_or_are_renamed_apart() {
    // mov r8,r8 and r16,r16: 1*p0156 reading the old value.
    expect("88d8", &["p0156 rax <- rax rbx"]);
    expect("6689d8", &["p0156 rax <- rax rbx"]);
    // mov r8,m8: 1 fused, 2 unfused: the load and the merge.
    expect("8a03", &["load p23 t0 <- rbx", "p0156 rax <- rax t0 +fused"]);
    // ah is a separate register; reading rax after it needs a merge.
    expect(
        "88dc 4889c1",
        &["p0156 ah <- rbx", "p0156 rax <- ah rax +merge", "p0156 rcx <- rax +move"],
    );
    // A write of the full register discards the high byte.
    expect(
        "88dc b801000000 4889c1",
        &["p0156 ah <- rbx", "p0156 rax <-", "p0156 rcx <- rax +move"],
    );
    // movzx from a high byte that may have been written before the block.
    expect("0fb6c7", &["p0156 rax <- bh rbx"]);
}

#[test]
fn idioms_are_handled_by_rename() {
    // Zeroing: no execution, no dependency; flags are written too.
    expect("31c0", &["none cf rax spazo <-"]);
    expect("4829db", &["none cf rbx spazo <-"]);
    expect("660fefc9", &["none v1 <-"]);
    expect("c5e9efca", &["none v1 <-"]);
    // Not for 8 bits: the rest of the register is unchanged.
    expect("30c0", &["p0156 cf rax spazo <- rax"]);
    // All ones: independent but executed, pcmpeqd xmm,xmm: 1*p15.
    expect("660f76c9", &["p15 v1 <-"]);
    // Moves that can be eliminated, and those that cannot.
    expect("4889d8", &["p0156 rax <- rbx +move"]);
    expect("0fb6c3", &["p0156 rax <- rbx +move"]);
    expect("0f28c1", &["p5 v0 <- v1 +move"]);
    expect("89c0", &["p0156 rax <- rax"]);
    expect("90", &["none <-"]);
    // vzeroupper: 4 slots, nothing executes.
    expect("c5f877", &["none <-", "none <-", "none <-", "none <-"]);
}

#[test]
fn multiplication_gives_the_low_half_before_the_high_half() {
    // mul r64: 1*p06+1*p1, 3 and 4 cycles.
    expect("48f7e3", &["p1 lat3 cf rax t2 <- rax rbx", "p06 cf rdx spazo <- t2"]);
    // mulx r64,r64,r64: the first operand is the high half; no flags.
    expect("c4e2f3f6c3", &["p1 lat3 rcx t2 <- rbx rdx", "p06 rax <- t2"]);
}

#[test]
fn shifts_by_a_register_pass_the_old_flags_on() {
    // shl r64,cl: 3*p06; 2 cycles through the flags, 1 through the value.
    expect("48d3e0", &["p06 rax t2 <- rax rcx", "p06 t3 <- cf rcx spazo", "p06 cf spazo <- t2 t3"]);
    // rol r64,1: 2*p06, the second merges the overflow flag into its group.
    expect("48d1c0", &["p06 rax t2 <- rax", "p06 cf spazo <- spazo t2"]);
    // bt sets the carry and keeps the zero flag: reads the group.
    expect("0fbae003", &["p06 cf spazo <- rax spazo"]);
}

#[test]
fn exchanges_are_three_uops_in_registers() {
    // xchg r64,r64: 3*p0156, 1 and 2 cycles.
    expect("4893", &["p0156 t2 <- rbx", "p0156 rbx <- rax rbx", "p0156 rax <- rax t2"]);
    // xadd r64,r64: 3*p0156, 1 and 2 cycles.
    expect("480fc1d8", &["p0156 t2 <- rax rbx", "p0156 cf rbx spazo <- rax t2", "p0156 rax <- t2"]);
    // bswap r64: 1*p06+1*p15, 2 cycles.
    expect("480fc8", &["p06 t2 <- rax", "p15 rax <- t2"]);
}

#[test]
fn the_stack_engine_leaves_no_uop_for_the_stack_pointer() {
    // push r64 and pop r64: 1*p237+1*p4 and 1*p23.
    expect("50", &["sta p237 <- rsp", "std p4 <- rax +fused"]);
    expect("5b", &["load p23 rbx <- rsp"]);
    // push m64: 2 fused, 3 unfused.
    expect("ff33", &["load p23 t0 <- rbx", "sta p237 <- rsp", "std p4 <- t0 +fused"]);
    // leave: 2*p0156+1*p23; rsp is 2 cycles after rbp, rbp is loaded.
    expect("c9", &["p0156 t2 <- rbp", "p0156 rsp <- t2", "load p23 rbp <- rbp"]);
    let b = block("50 5b ff742408 4889e0 4883ec08 c3");
    let stack: Vec<_> =
        b.insns.iter().map(|i| (i.stack_delta, i.reads_rsp, i.writes_rsp)).collect();
    assert_eq!(
        stack,
        [
            (-8, false, false), // push rax
            (8, false, false),  // pop rbx
            (-8, true, false),  // push [rsp+8]: the address uses the value
            (0, true, false),   // mov rax,rsp
            (0, true, true),    // sub rsp,8
            (8, false, false),  // ret
        ]
    );
}

#[test]
fn branches_go_to_ports_0_and_6_or_6_alone() {
    // Predicted return: a load and a jump in one slot.
    expect("c3", &["load p23 t0 <- rsp", "p6 <- t0 +fused +branch"]);
    expect("ffe0", &["p6 <- rax +branch"]);
    // call r64: 2 fused, 3 unfused.
    expect("ffd0", &["p6 <- rax +branch", "sta p237 <- rsp", "std p4 <- +fused"]);
    expect("7400", &["p06 <- spazo +branch"]);
    expect("7700", &["p06 <- cf spazo +branch"]);
    expect("eb00", &["p6 <- +branch"]);
}

#[test]
fn division_keeps_the_divider_busy() {
    // divsd xmm,xmm: 1*p0, latency at least 10, 8 cycles apart.
    expect("f20f5ec1", &["p0 lat10 busy8 v0 <- v0 v1"]);
    // sqrtsd: the same unit; the upper half of the destination stays, which is a read.
    expect("f20f51c1", &["p0 lat10 busy8 v0 <- v0 v1"]);
    // div r32: 10 uops, 22 cycles to the quotient and one more to the remainder,
    // 11 cycles apart.
    let b = block("f7f1");
    assert_eq!(b.uops.len(), 10);
    assert_eq!(b.uops.iter().map(|u| u32::from(u.latency)).sum::<u32>(), 23);
    assert_eq!(b.uops.iter().map(|u| u32::from(u.busy)).sum::<u32>(), 11);
}

#[test]
fn vector_operations_take_their_units() {
    // addss xmm,m32: 1*p1+1*p23, 3 cycles beyond the load.
    expect("f30f5803", &["load p23 t0 <- rbx", "p1 lat3 v0 <- t0 v0 +fused"]);
    // mulsd: 1*p01, 5 cycles. vfmadd231ps: 1*p01, 5 cycles, three sources.
    expect("f20f59c1", &["p01 lat5 v0 <- v0 v1"]);
    expect("c4e275b8c2", &["p01 lat5 v0 <- v0 v1 v2"]);
    // movups store.
    expect("0f1103", &["sta p237 <- rbx", "std p4 <- v0 +fused"]);
    // haddps: two shuffles, then the adder; 5 cycles.
    expect("f20f7cc1", &["p5 t2 <- v0 v1", "p5 t3 <- t2", "p1 lat3 v0 <- t3"]);
    // psllw xmm,xmm: the count is shuffled first; 1 cycle from the value, 2 from the count.
    expect("660ff1c1", &["p5 t2 <- v1", "p0 v0 <- t2 v0"]);
    // ptest: 2 cycles.
    expect("660f3817c1", &["p5 t2 <- v0 v1", "p0 cf spazo <- t2"]);
    // pextrd r32: shuffle, then out. pinsrw: in, then shuffle into the old value.
    expect("660f3a16c001", &["p5 t2 <- v0", "p0 rax <- t2"]);
    expect("660fc4c001", &["p5 t2 <- rax", "p5 v0 <- t2 v0"]);
    // cvtsi2sd: 1*p1+1*p5, 4 cycles, 3 from the old value. cvttsd2si: 1*p0+1*p1, 4 cycles.
    expect("f2480f2ac0", &["p5 t2 <- rax", "p1 lat3 v0 <- t2 v0"]);
    expect("f2480f2cc0", &["p1 lat2 t2 <- v0", "p0 lat2 rax <- t2"]);
    // movd and movq between the files: 1*p0 and 1*p5.
    expect("660f7ec0", &["p0 rax <- v0"]);
    expect("66480f6ec0", &["p5 v0 <- rax"]);
}

#[test]
fn indexed_pairs_are_split_at_allocation_unless_the_destination_is_a_source() {
    // addps xmm,[base+index]: stays. vaddps with three operands: split.
    expect("0f58048b", &["load p23 t0 <- rbx rcx +indexed", "p1 lat3 v0 <- t0 v0 +fused"]);
    expect("c5f058048b", &["load p23 t0 <- rbx rcx +indexed", "p1 lat3 v0 <- t0 v1 +fused +split"]);
    // cmp has no destination: split.
    expect(
        "3b048b",
        &["load p23 t0 <- rbx rcx +indexed", "p0156 cf spazo <- rax t0 +fused +split"],
    );
    // cmove also reads flags: split.
    expect(
        "480f44048b",
        &[
            "load p23 t0 <- rbx rcx +indexed",
            "p0156 t2 <- spazo t0 +fused +split",
            "p06 rax <- rax t2",
        ],
    );
}

#[test]
fn gathers_have_a_slot_for_each_element() {
    // vpgatherdd xmm: 4*p23 among 20 uops.
    let b = block("c4e26990048b");
    assert_eq!(b.uops.len(), 20);
    assert_eq!(b.mem_operands.len(), 4);
    assert!(b.mem_operands.iter().all(|s| !s.store && s.size == 4));
}

#[test]
fn string_instructions_move_their_pointers_beside_the_data() {
    // movsq: 2*p0156+2*p23+1*p4, one of the p23 is the store's address.
    expect(
        "48a5",
        &[
            "load p23 t0 <- rsi",
            "p0156 rsi <- rsi",
            "p0156 rdi <- rdi",
            "sta p237 <- rdi",
            "std p4 <- t0",
        ],
    );
    // One iteration of a repeated move or store is its accesses; the table's row has the start-up.
    expect("f3a4", &["load p23 t0 <- rsi", "sta p237 <- rdi", "std p4 <- t0 +fused"]);
    let b = block("f3a4");
    assert!(b.insns[0].rep);
    assert_eq!(b.insns[0].rep_startup, 30, "rep movsb: 30.08 cycles");
    assert_eq!(
        b.mem_operands.iter().map(|s| (s.store, s.size)).collect::<Vec<_>>(),
        [(false, 1), (true, 1)]
    );
    // scasb: 2*p0156+1*p23.
    expect("f2ae", &["load p23 t0 <- rdi", "p0156 cf rcx spazo <- rax rcx t0", "p0156 rdi <- rdi"]);
}

#[test]
fn locked_and_serialising_instructions_say_so() {
    let locked = block("f048830301");
    assert!(common::show(&locked.uops[0]).contains("+fence"));
    // lock add m64,i8: 19 cycles each: load to use 5, forwarding 4, the rest between.
    let between: u32 = locked
        .uops
        .iter()
        .filter(|u| u.kind == mallacc_decode::UopKind::Exec)
        .map(|u| u32::from(u.latency))
        .sum();
    assert_eq!(between, 19 - 5 - 4);
    assert!(common::show(&block("488719").uops[0]).contains("+fence"), "xchg with memory");
    assert!(common::show(&block("0faef0").uops[0]).contains("+fence"), "mfence");
    let flags = block("0fa2").uops[0].flags;
    assert!(flags.has(mallacc_decode::UopFlags::SERIALIZE), "cpuid");
    expect("0f180b", &["load p23 <- rbx +prefetch"]);
}

#[test]
fn fences_take_their_measured_cycles_where_they_order() {
    use mallacc_decode::{UopFlags, UopKind};
    // The table: mfence 33.25 cycles, of which retirement and the next one's issue take 2.
    assert_eq!(block("0faef0").uops[0].latency, 33 - 2);
    // sfence 5.98 cycles: an entry of the store queue without a place in memory.
    let sfence = block("0faef8");
    assert!(sfence.uops[0].flags.has(UopFlags::STORE_FENCE));
    assert_eq!((sfence.uops[0].kind, sfence.uops[0].latency), (UopKind::StoreAddress, 6));
    assert!(sfence.mem_operands.is_empty());
    // lfence 4 cycles and two slots without execution: the last one orders.
    let lfence = block("0faee8");
    let last = lfence.uops.last().unwrap();
    assert!(last.flags.has(UopFlags::SERIALIZE) && last.flags.has(UopFlags::NO_EXEC));
    assert_eq!((lfence.uops.len(), last.latency), (2, 4));
}

#[test]
fn the_x87_stack_is_followed_through_a_block() {
    // fld [rbx]; fld [rcx]; faddp st(1); fstp [rdx]: the sum is in the first one's register.
    expect(
        "dd03 dd01 dec1 dd1a",
        &[
            "load p23 x7 <- rbx",
            "load p23 x6 <- rcx",
            "p1 lat3 x7 <- x6 x7",
            "sta p237 <- rdx",
            "std p4 <- x7 +fused",
        ],
    );
}
