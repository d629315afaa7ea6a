//! Follows a stream and applies all checks.

use stream::event::{self, Control, Event};
use stream::marker::MarkerSite;
use stream::{BlockDef, CallKind, MarkerOp, Packet};

use crate::calls::{Calls, Returned};
use crate::code::{Code, Ending, Spot};
use crate::finding::{Counts, Findings, Kind, Report};
use crate::lists::{Lists, Loads};
use crate::memory::Memory;
use crate::regions::{Classes, Regions};

/// The state of one thread.
#[derive(Default)]
struct Thread {
    calls: Calls,
    regions: Regions,
    /// Loads of the open pop region.
    loads: Loads,
    /// Class, head and next of the last pop in this call.
    popped: Option<[u64; 3]>,
}

/// A memory access of the execution in progress.
#[derive(Clone, Copy)]
struct Access {
    insn: u16,
    store: bool,
    addr: u64,
}

/// Checks the markers of a stream.
#[derive(Default)]
pub struct Checker {
    code: Vec<Code>,
    threads: Vec<Thread>,
    lists: Lists,
    memory: Memory,
    classes: Classes,
    findings: Findings,
    counts: Counts,
    thread: u32,
    /// The execution in progress: its block, accesses and marker values.
    block: Option<u32>,
    accesses: Vec<Access>,
    values: Vec<u64>,
}

impl Checker {
    /// Follows a packet.
    pub fn packet(&mut self, packet: &Packet) {
        self.code.extend(packet.blocks.iter().map(Code::of));
        self.switch(packet.thread);
        let mut words = packet.events.iter();
        while let Some(&word) = words.next() {
            match event::decode(word) {
                Some(Event::Mem { insn, store, addr, .. }) => {
                    self.accesses.push(Access { insn, store, addr });
                }
                Some(Event::Block { id }) => {
                    self.execute();
                    self.block = Some(id);
                }
                Some(Event::Value { .. }) => self.values.extend(words.next()),
                Some(Event::Control { kind, extra, .. }) => {
                    words.by_ref().take(usize::from(extra)).for_each(drop);
                    if kind == Control::Exec {
                        self.execute();
                        self.new_image();
                    }
                }
                None => {}
            }
        }
        // A packet never divides the events of a block.
        self.execute();
    }

    /// The result so far.
    pub fn report(&self) -> Report {
        let counts = Counts {
            ended: self.threads.iter().map(|thread| thread.calls.ended).sum(),
            compared: self.lists.compared,
            blocks: self.memory.compared,
            threads: self.memory.stopped(),
            ..self.counts
        };
        Report { counts, findings: self.findings.sorted() }
    }

    /// The block of a place in the code.
    pub fn block(&self, spot: Spot) -> Option<&BlockDef> {
        self.code.get(spot.block as usize).map(|code| &code.def)
    }

    /// The address of a place in the code, and the code from there to its block's end.
    pub fn code(&self, spot: Spot) -> Option<(u64, &[u8])> {
        self.code.get(spot.block as usize).map(|code| code.at(spot.insn))
    }

    fn switch(&mut self, thread: u32) {
        let index = thread as usize;
        if self.threads.len() <= index {
            self.threads.resize_with(index + 1, Thread::default);
        }
        if thread != self.thread {
            // A context switch empties the malloc cache.
            self.lists.flush();
            self.memory.stop();
            self.thread = thread;
        }
    }

    fn new_image(&mut self) {
        for thread in &mut self.threads {
            thread.calls.clear();
            thread.regions.clear();
        }
        self.lists.clear();
        self.memory.clear();
        self.classes.clear();
    }

    /// The execution in progress is complete.
    fn execute(&mut self) {
        if let Some(id) = self.block.take()
            && let Some(code) = self.code.get(id as usize)
            && let Some(thread) = self.threads.get_mut(self.thread as usize)
        {
            let mut execution = Execution {
                id,
                thread,
                lists: &mut self.lists,
                memory: &mut self.memory,
                classes: &mut self.classes,
                findings: &mut self.findings,
                counts: &mut self.counts,
            };
            execution.run(code, &self.accesses, &self.values);
        }
        self.accesses.clear();
        self.values.clear();
    }
}

/// One execution of a block.
struct Execution<'a> {
    id: u32,
    thread: &'a mut Thread,
    lists: &'a mut Lists,
    memory: &'a mut Memory,
    classes: &'a mut Classes,
    findings: &'a mut Findings,
    counts: &'a mut Counts,
}

impl Execution<'_> {
    fn spot(&self, insn: u16) -> Spot {
        Spot { block: self.id, insn }
    }

    fn run(&mut self, code: &Code, accesses: &[Access], mut values: &[u64]) {
        for (kind, spots) in
            [(Kind::OperandsMissing, &code.broken), (Kind::CrossesPage, &code.crossing)]
        {
            for &insn in spots {
                self.findings.add(kind, self.spot(insn), None);
            }
        }
        let mut rest = accesses;
        for site in &code.markers {
            let before = rest.iter().take_while(|access| access.insn < site.insn).count();
            rest[..before].iter().for_each(|access| self.access(*access));
            rest = &rest[before..];
            // A block that was left by a fault lacks the values of the markers that did not run.
            let Some((own, others)) = values.split_at_checked(site.op.values()) else { return };
            values = others;
            self.marker(site, own);
        }
        rest.iter().for_each(|access| self.access(*access));
        self.end(code, accesses);
    }

    #[inline]
    fn access(&mut self, access: Access) {
        if access.store {
            return self.lists.store(access.addr, self.spot(access.insn));
        }
        if let Some(open) = self.thread.regions.open()
            && open.op == MarkerOp::Pop
        {
            self.thread.loads.push(access.addr);
        }
        if let Some(call) = self.thread.calls.outermost()
            && call.kind == CallKind::Realloc
        {
            self.memory.touched(access.addr);
        }
    }

    /// The call or return at the end of the block.
    #[inline]
    fn end(&mut self, code: &Code, accesses: &[Access]) {
        let (last, at) = (code.last(), self.spot(code.last()));
        let slot = |store: bool| {
            let own = accesses.iter().rev().take_while(|access| access.insn == last);
            own.clone().find(|access| access.store == store).map(|access| access.addr)
        };
        match code.ending {
            Ending::Call => {
                if let Some(slot) = slot(true) {
                    self.thread.calls.call(slot, at, self.findings);
                }
            }
            Ending::Return => {
                let returned =
                    slot(false).map(|slot| self.thread.calls.ret(slot, at, self.findings));
                if returned == Some(Returned::Incomplete) {
                    self.memory.incomplete();
                }
            }
            Ending::Other => {}
        }
    }

    fn marker(&mut self, site: &MarkerSite, values: &[u64]) {
        let at = self.spot(site.insn);
        let mut operands = [0; 4];
        operands[..values.len()].copy_from_slice(values);
        let [a, b, c, d] = operands;
        match site.op {
            MarkerOp::CallBegin(kind) => self.call_begin(kind, a, at),
            MarkerOp::CallEnd => self.call_end(a, at),
            MarkerOp::Lookup => {
                self.counts.lookups += 1;
                self.thread.regions.begin(site.op, a, at, self.findings);
            }
            MarkerOp::Update => {
                let lookup = self.thread.regions.end(MarkerOp::Lookup, at, self.findings);
                self.classes.update([a, b, c], lookup, at, self.findings);
                self.thread.regions.computed = Some((a, b));
            }
            MarkerOp::Sample => self.thread.regions.begin(site.op, a, at, self.findings),
            MarkerOp::SampleEnd => {
                self.thread.regions.end(MarkerOp::Sample, at, self.findings);
            }
            MarkerOp::Pop => {
                self.counts.pops += 1;
                self.thread.regions.begin(site.op, a, at, self.findings);
                self.thread.loads.clear();
            }
            MarkerOp::PopEnd => self.pop_end([a, b], at),
            MarkerOp::Prefetch => self.prefetch([a, b, c], d, at),
            MarkerOp::Push => {
                self.counts.pushes += 1;
                self.thread.regions.end_any(at, self.findings);
                self.lists.push(a, b, at, self.findings);
                self.memory.touched(b);
            }
            MarkerOp::Invalidate => self.invalidate(Some(a), at),
            MarkerOp::Flush => self.invalidate(None, at),
            MarkerOp::RoiBegin | MarkerOp::RoiEnd | MarkerOp::Trash => {}
        }
    }

    fn call_begin(&mut self, kind: CallKind, argument: u64, at: Spot) {
        self.thread.regions.end_any(at, self.findings);
        if !self.thread.calls.begin(kind, argument, at, self.findings) {
            if !kind.allocates() {
                self.memory.touched(argument);
            }
            return;
        }
        self.counts.begun[kind as usize] += 1;
        self.thread.regions.clear();
        self.thread.popped = None;
        if kind == CallKind::Realloc {
            self.memory.realloc();
        } else if !kind.allocates() {
            let caller = self.thread.calls.outermost().and_then(|call| call.caller);
            self.memory.free(argument, caller, at, self.findings);
        }
    }

    fn call_end(&mut self, result: u64, at: Spot) {
        self.thread.regions.end_any(at, self.findings);
        let Some(call) = self.thread.calls.end(at, self.findings) else { return };
        if call.kind == CallKind::Realloc {
            self.memory.reallocated(result, call.argument, at, self.findings);
        } else if call.kind.allocates() {
            let computed = self.thread.regions.computed;
            let bytes = computed.filter(|(size, _)| *size == call.argument);
            let bytes = bytes.map_or(0, |(_, bytes)| bytes);
            self.memory.hand_out(result, call.argument, bytes, at, self.findings);
        }
    }

    fn pop_end(&mut self, [head, next]: [u64; 2], at: Spot) {
        let Some(open) = self.thread.regions.end(MarkerOp::Pop, at, self.findings) else { return };
        self.lists.pop(open.operand, [head, next], &self.thread.loads, at, self.findings);
        self.thread.popped = Some([open.operand, head, next]);
    }

    fn prefetch(&mut self, values: [u64; 3], word: u64, at: Spot) {
        self.thread.regions.end_any(at, self.findings);
        if self.thread.popped == Some(values) {
            self.lists.prefetch(values[0], values[2], word, at, self.findings);
        } else {
            self.findings.add(Kind::PrefetchMismatch, at, None);
        }
    }

    fn invalidate(&mut self, class: Option<u64>, at: Spot) {
        self.counts.invalidations += 1;
        if let Some(empty) = self.thread.regions.invalidate(class, at, self.findings) {
            self.lists.found_empty(empty, at, self.findings);
        }
        match class {
            Some(class) => self.lists.invalidate(class),
            None => self.lists.flush(),
        }
    }
}
