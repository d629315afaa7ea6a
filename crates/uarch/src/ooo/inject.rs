//! Uops that are not the program's own: the accelerator's and the stack engine's.

use super::ports::set_of;
use super::*;
use accel::{Completed, InjectKind, Injected, IssueTo};
use stream::marker::MarkerSite;

impl<O: Observer> OutOfOrder<O> {
    /// A marker executes; injects what the accelerator puts in its place.
    pub(super) fn marker(&mut self, site: &MarkerSite, values: &[u64], pc: u64) {
        let answer = self.functional.marker(site, values, pc, Some(self.block_retired));
        for injected in &answer.reply.inject {
            self.inject(injected);
        }
        if let Some(fallback) = answer.reply.fallback {
            self.fallback_branch(fallback, answer.mispredicted);
        }
        self.functional.markers.take_back(answer);
    }

    fn inject(&mut self, injected: &Injected) {
        self.counters.uops += 1;
        self.counters.injected += 1;
        self.allocate(true);
        let ready = self.wait_for_station().max(self.sources_ready(&injected.srcs));
        let port =
            self.ports.bind(set_of(injected.to, &self.units), self.allocator.used.wrapping_sub(1));
        let wanted = ready.max(injected.not_before);
        let (issued, free) = match injected.to {
            IssueTo::Unit(number) if injected.busy > 0 => {
                self.issue_in_unit(number, port, [ready, wanted], u64::from(injected.busy))
            }
            _ => (self.ports.issue(port, wanted), ready),
        };
        let mut done = issued + u64::from(injected.latency);
        let mut result = done;
        if let InjectKind::Prefetch(address) = injected.kind {
            result = self.functional.memory.load(0, address, 8, issued).ready;
            done = issued + 1;
        }
        let names = self.set_ready(&injected.dsts, result);
        self.moves.written(names, self.allocator.cycle);
        self.fused.completed = done;
        self.fused.waited =
            if wanted > ready { Component::Accelerator } else { Component::Execute };
        if let Some(token) = injected.token {
            let completed = Completed { token, ready: free.max(ready), issued, done: result };
            self.functional.markers.completed(completed);
        }
        self.finish_instruction();
    }

    /// The first cycle in which both the port and the unit are free. Also returns when the uop
    /// would have started if its entry had not been blocked.
    fn issue_in_unit(
        &mut self,
        number: u8,
        port: Port,
        [ready, wanted]: [u64; 2],
        busy: u64,
    ) -> (u64, u64) {
        let Some(unit) = self.units.get_mut(usize::from(number)) else {
            return (self.ports.issue(port, wanted), ready);
        };
        let unblocked = unit.busy.first_free(ready, busy);
        let start = unit.busy.first_free(wanted, busy);
        let issued = self.ports.issue(port, start);
        let start = unit.busy.first_free(issued, busy);
        unit.busy.reserve(start, busy, self.allocator.cycle);
        (start, unblocked)
    }

    /// The branch to the software fallback.
    fn fallback_branch(&mut self, fallback: accel::Fallback, mispredicted: bool) {
        self.inject(&Injected {
            to: IssueTo::Branch,
            srcs: [fallback.flags, Reg::NONE, Reg::NONE],
            ..Injected::default()
        });
        self.branch_done = self.fused.completed;
        if mispredicted {
            self.mispredicted(0);
        }
    }

    /// The uop that adds the stack engine's offset to the stack pointer.
    pub(super) fn synchronise_stack(&mut self) {
        let rsp = [Reg::RSP, Reg::NONE, Reg::NONE];
        self.inject(&Injected {
            to: IssueTo::Integer,
            srcs: rsp,
            dsts: rsp,
            ..Injected::default()
        });
        self.counters.injected -= 1;
    }
}
