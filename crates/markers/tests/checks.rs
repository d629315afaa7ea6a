//! Each rule on a stream made by hand: a call per block, with the markers and values of a test.

use mallacc_markers::{Checker, Kind};
use stream::event::Control;
use stream::event::{block, control, mem, value};
use stream::marker::{MAGIC, SLOT};
use stream::{BlockDef, CallKind, MarkerOp, Packet};

/// Address and class of the objects.
const A: u64 = 0x7000_0000;
const B: u64 = 0x7000_0100;
const C: u64 = 0x7000_0200;
const CLASS: u64 = 3;

/// A program under construction. All its code is at different addresses.
#[derive(Default)]
struct Program {
    checker: Checker,
    packet: Packet,
    blocks: u32,
}

impl Program {
    fn block(&mut self, addr: u64, insns: &[Vec<u8>]) -> u32 {
        let lens = insns.iter().map(|insn| insn.len() as u8).collect();
        let def = BlockDef { id: self.blocks, addr, lens, bytes: insns.concat() };
        self.packet.blocks.push(def);
        self.blocks += 1;
        self.blocks - 1
    }

    /// Executes markers in a block that starts at `addr`.
    fn markers_at(&mut self, addr: u64, markers: &[(MarkerOp, &[u64])]) -> &mut Self {
        let mut insns = Vec::new();
        let mut events = Vec::new();
        for (op, values) in markers {
            insns.push(carrier(*op));
            for (at, number) in values.iter().enumerate() {
                if at < op.operands() {
                    insns.push(store());
                }
                events.extend([value(insns.len() as u16 - 1), *number]);
            }
        }
        let id = self.block(addr, &insns);
        self.packet.events.push(block(id));
        self.packet.events.extend(events);
        self
    }

    fn markers(&mut self, markers: &[(MarkerOp, &[u64])]) -> &mut Self {
        let addr = 0x40_0000 + u64::from(self.blocks) * 0x1000;
        self.markers_at(addr, markers)
    }

    /// A call instruction that pushes its return address at `slot`.
    fn call(&mut self, slot: u64) -> &mut Self {
        let id = self.block(0x1000, &[vec![0xe8, 0, 0, 0, 0]]);
        self.packet.events.extend([block(id), mem(0, true, 3, slot)]);
        self
    }

    /// A return that takes its address from `slot`.
    fn ret(&mut self, slot: u64) -> &mut Self {
        let id = self.block(0x2000, &[vec![0xc3]]);
        self.packet.events.extend([block(id), mem(0, false, 3, slot)]);
        self
    }

    /// Goes on with another thread.
    fn thread(&mut self, thread: u32) -> &mut Self {
        self.checker.packet(&self.packet);
        self.packet = Packet { thread, ..Packet::default() };
        self
    }

    /// What is wrong, and how often.
    fn findings(&mut self) -> Vec<(Kind, u64)> {
        let thread = self.packet.thread;
        self.thread(thread);
        let report = self.checker.report();
        report.findings.iter().map(|found| (found.kind, found.count)).collect()
    }
}

fn carrier(op: MarkerOp) -> Vec<u8> {
    let mut code = vec![0x0f, 0x1f, 0x80];
    code.extend((MAGIC + u32::from(op.code())).to_le_bytes());
    code
}

fn store() -> Vec<u8> {
    let mut code = vec![0x48, 0x89, 0x84, 0x24];
    code.extend(SLOT.to_le_bytes());
    code
}

const POP: (MarkerOp, &[u64]) = (MarkerOp::Pop, &[CLASS]);

/// A pop that takes `head` and leaves `next`.
fn pop(of: &mut Program, head: u64, next: u64) -> &mut Program {
    of.markers(&[POP, (MarkerOp::PopEnd, &[head, next])])
}

fn push(of: &mut Program, object: u64) -> &mut Program {
    of.markers(&[(MarkerOp::Push, &[CLASS, object])])
}

#[test]
fn a_list_that_its_markers_describe_is_clean() {
    let mut program = Program::default();
    push(&mut program, A);
    push(&mut program, B);
    pop(&mut program, B, A);
    pop(&mut program, A, 0);
    program.markers(&[POP, (MarkerOp::Invalidate, &[CLASS])]);
    pop(&mut program, C, B);
    assert_eq!(program.findings(), []);
    assert_eq!(program.checker.report().counts.compared, 2, "one pop found an unknown list");
}

#[test]
fn what_a_pop_finds_tells_how_a_list_was_changed() {
    for (found, kind) in [
        ([A, 0], Kind::UnmarkedPop),
        ([C, B], Kind::UnmarkedPush),
        ([C, 0], Kind::ListChanged),
        ([B, C], Kind::LinkChanged),
    ] {
        let mut program = Program::default();
        push(&mut program, A);
        push(&mut program, B);
        pop(&mut program, found[0], found[1]);
        assert_eq!(program.findings(), [(kind, 1)], "{found:x?}");
    }
}

#[test]
fn invalidate_flush_and_another_thread_make_a_list_unknown() {
    const NOTHING: (MarkerOp, &[u64]) = (MarkerOp::RoiEnd, &[]);
    let ways: [fn(&mut Program) -> &mut Program; 3] = [
        |program| program.markers(&[(MarkerOp::Invalidate, &[CLASS])]),
        |program| program.markers(&[(MarkerOp::Flush, &[])]),
        |program| program.thread(1).markers(&[NOTHING]).thread(0),
    ];
    for way in ways {
        let mut program = Program::default();
        push(&mut program, A);
        way(&mut program);
        pop(&mut program, C, B);
        assert_eq!(program.findings(), []);
    }
}

#[test]
fn an_object_cannot_be_on_a_list_twice_and_null_on_none() {
    let mut program = Program::default();
    push(&mut program, A);
    push(&mut program, A);
    push(&mut program, 0);
    pop(&mut program, 0, 0);
    assert_eq!(
        program.findings(),
        [(Kind::NullObject, 1), (Kind::NullObject, 1), (Kind::PushedTwice, 1)]
    );
}

#[test]
fn a_prefetch_has_the_values_of_its_pop_and_the_word_that_the_list_holds() {
    let prefetch = |class, word| {
        let mut program = Program::default();
        push(&mut program, A);
        push(&mut program, B);
        push(&mut program, C);
        pop(&mut program, C, B);
        program.markers(&[(MarkerOp::Prefetch, &[class, C, B, word])]);
        program.findings()
    };
    assert_eq!(prefetch(CLASS, A), []);
    assert_eq!(prefetch(CLASS, C), [(Kind::LinkChanged, 1)]);
    assert_eq!(prefetch(CLASS + 1, A), [(Kind::PrefetchMismatch, 1)]);
}

#[test]
fn regions_close_what_they_open() {
    use MarkerOp::{Lookup, PopEnd, Sample, SampleEnd, Update};
    let one = |markers: &[(MarkerOp, &[u64])]| Program::default().markers(markers).findings();
    assert_eq!(one(&[(Lookup, &[24]), (Update, &[24, 32, 2])]), []);
    assert_eq!(one(&[(Lookup, &[24]), POP, (PopEnd, &[A, B])]), [(Kind::LookupOpen, 1)]);
    assert_eq!(one(&[(Update, &[24, 32, 2])]), [(Kind::UpdateAlone, 1)]);
    assert_eq!(one(&[(Lookup, &[20]), (Update, &[24, 32, 2])]), [(Kind::UpdateSize, 1)]);
    assert_eq!(one(&[(Lookup, &[24]), (Update, &[24, 16, 2])]), [(Kind::SizeTooSmall, 1)]);
    assert_eq!(one(&[(Lookup, &[24]), (Update, &[24, 32, 256])]), [(Kind::ClassTooLarge, 1)]);
    assert_eq!(one(&[(Sample, &[24]), (SampleEnd, &[])]), []);
    assert_eq!(
        one(&[(Sample, &[24]), (Lookup, &[24]), (Update, &[24, 32, 2])]),
        [(Kind::SampleOpen, 1)]
    );
    assert_eq!(one(&[(SampleEnd, &[])]), [(Kind::SampleEndAlone, 1)]);
    assert_eq!(one(&[(PopEnd, &[A, B])]), [(Kind::PopEndAlone, 1)]);
    assert_eq!(one(&[POP, (MarkerOp::Push, &[CLASS, A])]), [(Kind::PopOpen, 1)]);
    assert_eq!(one(&[POP, (MarkerOp::Flush, &[])]), []);
}

#[test]
fn a_class_has_one_size_and_a_size_has_one_class() {
    for second in [[24, 48, 2], [24, 32, 3]] {
        let mut program = Program::default();
        program.markers(&[(MarkerOp::Lookup, &[24]), (MarkerOp::Update, &[24, 32, 2])]);
        program.markers(&[(MarkerOp::Lookup, &[24]), (MarkerOp::Update, &second)]);
        assert_eq!(program.findings(), [(Kind::ClassAmbiguous, 1)], "{second:?}");
    }
}

const BEGIN: (MarkerOp, &[u64]) = (MarkerOp::CallBegin(CallKind::Malloc), &[24]);
const FREE: (MarkerOp, &[u64]) = (MarkerOp::CallBegin(CallKind::Free), &[A]);
const END: (MarkerOp, &[u64]) = (MarkerOp::CallEnd, &[A]);
/// Slots of a caller and of what it calls.
const OUTER: u64 = 0x7fff_0000;
const INNER: u64 = 0x7ffe_ff00;

#[test]
fn begins_and_ends_balance_by_the_returns_between_them() {
    let mut whole = Program::default();
    whole.call(OUTER).markers(&[BEGIN]).call(INNER).ret(INNER).markers(&[END]).ret(OUTER);
    assert_eq!(whole.findings(), []);
    assert_eq!(whole.checker.report().counts.ended, 1);
    let mut missing = Program::default();
    missing.call(OUTER).markers(&[BEGIN]).ret(OUTER);
    assert_eq!(missing.findings(), [(Kind::EndMissing, 1)]);
    let mut early = Program::default();
    early.call(OUTER).markers(&[BEGIN]).call(INNER).markers(&[END]).ret(INNER).ret(OUTER);
    assert_eq!(early.findings(), [(Kind::EndTooEarly, 1)]);
    let mut twice = Program::default();
    twice.call(OUTER).markers(&[BEGIN, BEGIN, END]).ret(OUTER);
    assert_eq!(twice.findings(), [(Kind::BeginTwice, 1)]);
    assert_eq!(Program::default().markers(&[END]).findings(), [(Kind::EndWithoutBegin, 1)]);
}

#[test]
fn a_call_that_is_left_by_a_jump_is_found_at_the_next_call_from_above() {
    let mut program = Program::default();
    program.call(OUTER).call(INNER).markers(&[BEGIN]).call(OUTER);
    assert_eq!(program.findings(), [(Kind::EndMissing, 1)]);
}

/// `malloc(24)` that returns A, or `free(A)`.
fn whole_call(of: &mut Program, begin: (MarkerOp, &[u64])) {
    of.call(OUTER).markers(&[begin, END]).ret(OUTER);
}

#[test]
fn blocks_are_handed_out_and_freed_in_turn() {
    let run = |calls: &[(MarkerOp, &[u64])]| {
        let mut program = Program::default();
        calls.iter().for_each(|begin| whole_call(&mut program, *begin));
        program.findings()
    };
    assert_eq!(run(&[BEGIN, FREE, BEGIN, FREE]), []);
    assert_eq!(run(&[BEGIN, BEGIN]), [(Kind::HandedOutTwice, 1)]);
    assert_eq!(run(&[BEGIN, FREE, FREE]), [(Kind::FreeOfUnknown, 1)]);
}

#[test]
fn blocks_do_not_overlap_and_are_aligned() {
    let malloc = |of: &mut Program, result| {
        of.call(OUTER).markers(&[BEGIN, (MarkerOp::CallEnd, &[result])]).ret(OUTER);
    };
    let mut beside = Program::default();
    malloc(&mut beside, A);
    malloc(&mut beside, A + 32);
    assert_eq!(beside.findings(), []);
    let mut over = Program::default();
    malloc(&mut over, A);
    malloc(&mut over, A + 16);
    assert_eq!(over.findings(), [(Kind::Overlap, 1)], "24 bytes do not fit into 16");
    let mut odd = Program::default();
    malloc(&mut odd, A + 8);
    assert_eq!(odd.findings(), [(Kind::Misaligned, 1)]);
}

#[test]
fn a_block_that_realloc_has_copied_from_may_be_handed_out_again() {
    let mut program = Program::default();
    whole_call(&mut program, BEGIN);
    let realloc: (MarkerOp, &[u64]) = (MarkerOp::CallBegin(CallKind::Realloc), &[100]);
    program.call(OUTER).markers(&[realloc]);
    let load = program.block(0x3000, &[vec![0x48, 0x8b, 0x07]]);
    program.packet.events.extend([block(load), mem(0, false, 3, A)]);
    program.markers(&[(MarkerOp::CallEnd, &[B])]).ret(OUTER);
    whole_call(&mut program, BEGIN);
    assert_eq!(program.findings(), []);
}

#[test]
fn blocks_are_not_compared_once_a_second_thread_has_run() {
    let mut program = Program::default();
    whole_call(&mut program, BEGIN);
    program.thread(1);
    whole_call(&mut program, BEGIN);
    assert_eq!(program.findings(), []);
    assert!(program.checker.report().counts.threads);
}

#[test]
fn a_new_image_starts_afresh() {
    let mut program = Program::default();
    whole_call(&mut program, BEGIN);
    push(&mut program, A);
    program.packet.events.push(control(Control::Exec, 0, 0));
    whole_call(&mut program, BEGIN);
    pop(&mut program, C, 0);
    assert_eq!(program.findings(), []);
}

#[test]
fn markers_that_are_cut_or_cross_a_page_are_found() {
    let mut crossing = Program::default();
    crossing.markers_at(0x40_0ff8, &[POP, (MarkerOp::PopEnd, &[A, B])]);
    assert_eq!(crossing.findings(), [(Kind::CrossesPage, 1)]);
    let mut cut = Program::default();
    let id = cut.block(0x40_0000, &[carrier(MarkerOp::Pop), vec![0x90]]);
    cut.packet.events.extend([block(id), block(id)]);
    assert_eq!(cut.findings(), [(Kind::OperandsMissing, 2)]);
}
