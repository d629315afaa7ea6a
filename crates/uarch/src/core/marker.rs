//! Markers: to the accelerator and back.

use super::*;
use accel::{Completed, InjectKind, Injected, Marker};
use stream::marker::MarkerSite;

impl<O: Observer> Core<O> {
    /// A marker executes. `timed`: injected uops take time; else only state changes (warming).
    pub(super) fn marker(&mut self, site: &MarkerSite, values: &[u64], pc: u64, timed: bool) {
        let mut marker = Marker { op: site.op, regs: site.regs.map(Reg::gpr), values: [0; 4], pc };
        for (to, from) in marker.values.iter_mut().zip(values) {
            *to = *from;
        }
        self.end_region(site.op);
        match site.op {
            MarkerOp::CallBegin(kind) if timed => {
                self.calls.begin(kind, marker.values[0], self.block_retired);
            }
            MarkerOp::CallEnd if timed => self.calls.end(),
            MarkerOp::Update => self.calls.class(marker.values[2] as u8),
            MarkerOp::Trash => self.memory.trash_lru_half(),
            _ => {}
        }
        let mut reply = std::mem::take(&mut self.reply);
        reply.clear();
        self.accelerator.on_marker(&marker, &mut reply);
        if timed {
            for injected in &reply.inject {
                self.inject(injected);
            }
        } else {
            self.warm_injected(&reply);
        }
        if let Some(fallback) = reply.fallback {
            self.fallback_branch(&marker, fallback, timed);
        }
        if reply.elide.is_some() {
            self.elide_until = reply.elide;
        }
        self.reply = reply;
    }

    /// An elided region ends at its closing marker, and at whatever says that it was left.
    fn end_region(&mut self, op: MarkerOp) {
        let Some(end) = self.elide_until else { return };
        let leaves = matches!(
            op,
            MarkerOp::CallEnd
                | MarkerOp::CallBegin(_)
                | MarkerOp::Invalidate
                | MarkerOp::Flush
                | MarkerOp::Lookup
                | MarkerOp::Sample
                | MarkerOp::Pop
        );
        if op == end || leaves {
            self.elide_until = None;
        }
    }

    fn inject(&mut self, injected: &Injected) {
        self.counters.uops += 1;
        self.counters.injected += 1;
        self.open_slot(true);
        let ready = self.wait_for_station().max(self.sources_ready(&injected.srcs));
        let port = self.ports.bind(injected.ports, self.allocator.used.wrapping_sub(1));
        let wanted = ready.max(injected.not_before);
        let (issued, free) = if injected.kind == InjectKind::MallocUnit {
            self.issue_in_malloc_unit(port, ready, wanted, u64::from(injected.busy))
        } else {
            (self.ports.issue(port, wanted), ready)
        };
        let mut done = issued + u64::from(injected.latency);
        let mut result = done;
        if let InjectKind::Prefetch(address) = injected.kind {
            result = self.memory.load(0, address, 8, issued).ready;
            done = issued + 1;
        }
        let names = self.set_ready(&injected.dsts, result);
        self.moves.written(names, self.allocator.cycle);
        self.slot.completed = done;
        self.slot.waited = if wanted > ready { Component::Accelerator } else { Component::Execute };
        if let Some(token) = injected.token {
            let completed = Completed { token, ready: free.max(ready), issued, done: result };
            self.accelerator.completed(completed);
        }
        self.finish_instruction();
    }

    /// The first cycle in which both the port and the unit are free. Also says when the uop would
    /// have started if its entry had not been blocked.
    fn issue_in_malloc_unit(
        &mut self,
        port: Port,
        ready: u64,
        wanted: u64,
        busy: u64,
    ) -> (u64, u64) {
        let unblocked = self.malloc_unit.first_free(ready, busy);
        let start = self.malloc_unit.first_free(wanted, busy);
        let issued = self.ports.issue(port, start);
        let start = self.malloc_unit.first_free(issued, busy);
        self.malloc_unit.reserve(start, busy, self.allocator.cycle);
        (start, unblocked)
    }

    /// The branch to the software fallback, predicted by two-bit counters of its own: it exists
    /// only where there is an accelerator, and the program's branches must not feel it.
    fn fallback_branch(&mut self, marker: &Marker, fallback: accel::Fallback, timed: bool) {
        let counter = &mut self.fallbacks[(marker.pc as usize >> 2) % FALLBACKS];
        let predicted = *counter >= 2;
        *counter = if fallback.taken { (*counter + 1).min(3) } else { counter.saturating_sub(1) };
        if !timed {
            return;
        }
        self.inject(&Injected {
            ports: BRANCH_PORTS,
            srcs: [fallback.flags, Reg::NONE, Reg::NONE],
            ..Injected::default()
        });
        self.branch_done = self.slot.completed;
        if predicted != fallback.taken {
            self.mispredicted(0);
        }
    }

    /// The uop that adds the stack engine's offset to the stack pointer.
    pub(super) fn synchronise_stack(&mut self) {
        let rsp = [Reg::RSP, Reg::NONE, Reg::NONE];
        self.inject(&Injected {
            ports: INTEGER_PORTS,
            srcs: rsp,
            dsts: rsp,
            ..Injected::default()
        });
        self.counters.injected -= 1;
    }
}

/// Additions issue to any integer port (uops.info, Haswell).
const INTEGER_PORTS: u8 = 0b0110_0011;
/// Conditional branches issue to ports 0 and 6 (uops.info, Haswell: `JNZ`).
const BRANCH_PORTS: u8 = 0b0100_0001;
