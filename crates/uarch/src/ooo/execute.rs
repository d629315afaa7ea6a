//! One uop: allocation, issue, completion.

use super::*;

/// A load with its own address searches the store queue one cycle after it issues: it still finds
/// stores whose address uop has issued by then. (Without this, blocks of the BHive measurements
/// with a store and a load in neighbouring cycles come out up to four times too slow.)
const STORE_SEARCH: u64 = 1;

impl<O: Observer> OutOfOrder<O> {
    #[inline(always)]
    pub(super) fn uop(&mut self, step: &Step, uop: &Uop, pc: u64) {
        if !uop.flags.has(UopFlags::FUSED | UopFlags::MERGE) {
            self.allocate(true);
        } else if uop.flags.has(UopFlags::UNLAMINATED) {
            self.allocate(false);
        } else if uop.flags.has(UopFlags::MERGE) {
            self.allocate_alone();
        }
        self.counters.uops += 1;
        if uop.flags.has(UopFlags::NO_EXEC | UopFlags::MOVE) && self.at_rename(uop) {
            return;
        }
        let floor = self.wait_for_entries(uop);
        let mut ready = floor.max(self.sources_ready(&uop.srcs));
        if uop.flags.has(UopFlags::FENCE | UopFlags::SERIALIZE) {
            ready = self.oldest_and_drained(uop, ready);
        }
        let (done, waited) = match uop.kind {
            UopKind::Exec => self.exec(uop, ready),
            UopKind::Load => self.load(step, uop, pc, ready),
            UopKind::StoreAddress => self.store_address(step, uop, ready),
            UopKind::StoreData => self.store_data(step, uop, ready),
        };
        if uop.flags.has(UopFlags::BRANCH) {
            self.branch_done = done;
        }
        self.complete(uop, done, waited);
    }

    /// Takes a ROB entry and an allocation slot for the next fused uop. `from_queue`: it also
    /// leaves the decoded-uop queue (the split half of an indexed pair does not).
    #[inline(always)]
    pub(super) fn allocate(&mut self, from_queue: bool) {
        self.retire_fused();
        let delivered = if from_queue { self.fetch.deliver() + 1 } else { 0 };
        let cycle = self.allocator.next(delivered, Component::from(self.fetch.cause()));
        self.move_to(cycle);
        self.allocator.used += 1;
        if from_queue {
            self.fetch.allocated(self.allocator.cycle);
        }
        self.fused = FusedUop {
            open: true,
            allocated: self.allocator.cycle,
            held: self.allocator.held,
            completed: 0,
            waited: Component::Execute,
        };
        self.observer.allocated(self.fetch.cycle(), self.allocator.cycle);
    }

    /// Allocates a uop that rename inserts: not from the queue, and in a cycle of its own.
    #[cold]
    fn allocate_alone(&mut self) {
        if self.allocator.used > 0 {
            self.move_to(self.allocator.cycle + 1);
        }
        self.allocate(false);
        self.allocator.used = self.params.allocate_width;
    }

    #[inline(always)]
    fn move_to(&mut self, cycle: u64) {
        if cycle > self.allocator.cycle {
            self.allocator.cycle = cycle;
            self.allocator.used = 0;
            self.ports.advance(cycle);
        }
    }

    /// Uops that complete at rename: nops, idioms and eliminated moves.
    #[inline(always)]
    fn at_rename(&mut self, uop: &Uop) -> bool {
        if uop.flags.has_all(UopFlags::RENAMED) {
            return self.computed_at_rename(uop);
        }
        let mut ready = 0;
        if uop.flags.has(UopFlags::SERIALIZE) {
            self.wait_at_rename(uop);
        }
        if !uop.flags.has(UopFlags::NO_EXEC) {
            let [src, dst] = [uop.srcs[0], uop.dsts[0]];
            if !self.params.move_elimination
                || !self.moves.eliminate(
                    1 << src.0,
                    1 << dst.0,
                    src.0 >= Reg::vec(0).0,
                    self.allocator.cycle,
                )
            {
                return false;
            }
            ready = self.ready[usize::from(uop.srcs[0].0)];
        }
        let chased = self.from_load >> uop.srcs[0].0 & 1 != 0;
        let names = self.set_ready(&uop.dsts, ready);
        self.note_loaded(names, chased);
        if uop.flags.has(UopFlags::NO_EXEC) {
            self.moves.written(names, self.allocator.cycle);
        }
        let done = self.allocator.cycle;
        self.fused.completed = self.fused.completed.max(done);
        self.observer
            .executed(uop, Times { ready: done, issued: done, completed: done, port: None });
        true
    }

    /// A serialising uop that does not execute (`lfence`): allocation waits until all older
    /// instructions have retired.
    #[cold]
    fn wait_at_rename(&mut self, uop: &Uop) {
        if uop.flags.has(UopFlags::LAST) {
            let own = self.allocator.cycle + u64::from(uop.latency);
            self.allocator.barrier(own.max(self.retire.last() + 1), Component::Serialize);
        }
    }

    /// A uop that rename computes: its results are ready when its source is.
    #[inline(never)]
    fn computed_at_rename(&mut self, uop: &Uop) -> bool {
        let done = self.allocator.cycle.max(self.sources_ready(&uop.srcs));
        self.observer
            .executed(uop, Times { ready: done, issued: done, completed: done, port: None });
        self.complete(uop, done, Component::Execute);
        true
    }

    /// The current fused uop waits for an entry: it becomes the first of a later cycle's group.
    #[inline(always)]
    fn hold_to(&mut self, cycle: u64, cause: Component) {
        self.move_to(cycle);
        self.allocator.used = 1;
        self.allocator.held = cause;
        self.fused.held = cause;
        self.fused.allocated = self.allocator.cycle;
        self.observer.delayed(self.allocator.cycle);
    }

    /// Waits for one of the RS entries available to loads.
    #[cold]
    fn wait_for_load_entry(&mut self) {
        while self.ports.loads_waiting() >= self.params.rs_loads {
            self.hold_to(self.ports.next_load(), Component::Execute);
        }
    }

    /// Waits for a free RS entry; returns the earliest issue cycle.
    #[inline(always)]
    pub(super) fn wait_for_station(&mut self) -> u64 {
        while self.ports.occupancy() >= self.params.rs {
            self.hold_to(self.ports.next_departure(), Component::Execute);
        }
        self.allocator.cycle + u64::from(self.params.allocate_to_issue)
    }

    /// Waits for free RS, LQ and SQ entries; returns the earliest issue cycle.
    #[inline(always)]
    fn wait_for_entries(&mut self, uop: &Uop) -> u64 {
        let floor = self.wait_for_station();
        let (free, cause) = match uop.kind {
            UopKind::Load => {
                if self.ports.loads_waiting() >= self.params.rs_loads {
                    self.wait_for_load_entry();
                }
                (self.allocator.load_entry(), Component::Execute)
            }
            UopKind::StoreAddress => (self.allocator.store_entry(), Component::StoreQueue),
            _ => return floor,
        };
        if free > self.allocator.cycle {
            self.hold_to(free, cause);
        }
        self.allocator.cycle + u64::from(self.params.allocate_to_issue)
    }

    /// Fences and serialising instructions issue when all older ones have retired; a fence also
    /// waits for older stores and holds back younger loads.
    #[cold]
    fn oldest_and_drained(&mut self, uop: &Uop, ready: u64) -> u64 {
        let mut ready = ready;
        if uop.flags.has(UopFlags::FENCE | UopFlags::FIRST) {
            ready = ready.max(self.retire.last() + 1);
        }
        if uop.flags.has(UopFlags::FENCE) {
            ready = ready.max(self.written);
            self.load_floor = self.load_floor.max(ready + u64::from(uop.latency));
        }
        if uop.flags.has(UopFlags::SERIALIZE) && uop.flags.has(UopFlags::LAST) {
            self.allocator.barrier(ready + u64::from(uop.latency) + 1, Component::Serialize);
        }
        ready
    }

    #[inline(always)]
    fn exec(&mut self, uop: &Uop, ready: u64) -> (u64, Component) {
        let port = self.ports.bind(uop.ports, self.allocator.used.wrapping_sub(1));
        let issued = if uop.busy == 0 {
            self.ports.issue(port, ready)
        } else {
            let busy = u64::from(uop.busy);
            let free = self.divider.first_free(ready, busy);
            let issued = self.ports.issue(port, free);
            let start = self.divider.first_free(issued, busy);
            self.divider.reserve(start, busy, self.allocator.cycle);
            start
        };
        let done = issued + u64::from(uop.latency);
        self.observer
            .executed(uop, Times { ready, issued, completed: done, port: self.ports.number(port) });
        (done, Component::Execute)
    }

    #[inline(always)]
    fn load(&mut self, step: &Step, uop: &Uop, pc: u64, ready: u64) -> (u64, Component) {
        let port = self.ports.bind(uop.ports, self.allocator.used.wrapping_sub(1));
        let address =
            step.addresses.get(usize::from(uop.mem_operand)).copied().unwrap_or(NO_ADDRESS);
        let ready = ready.max(self.load_floor);
        if address == NO_ADDRESS || uop.flags.has(UopFlags::PREFETCH) {
            let issued = self.ports.issue(port, ready);
            if address != NO_ADDRESS {
                self.functional.memory.prefetch(address, issued);
            }
            self.observer.executed(
                uop,
                Times { ready, issued, completed: issued + 1, port: self.ports.number(port) },
            );
            self.allocator.load_done(issued + 1);
            return (issued + 1, Component::Execute);
        }
        let may_go = ready.max(self.stores.may_go(pc));
        let issued = self.ports.issue(port, may_go);
        let size = step.block.mem_operands[usize::from(uop.mem_operand)].size;
        let mut access = self.functional.memory.load(pc, address, u32::from(size), issued);
        if access.tlb != memory::TlbLevel::L1 {
            self.issue_again(port, issued, &mut access);
        }
        let vector = u64::from(uop.flags.has(UopFlags::VECTOR));
        access.ready += vector + u64::from(vector == 1 || !self.fast_address(uop));
        let address = self.functional.memory.place(address);
        let (mut done, mut waited) =
            self.after_older_stores(pc, address, size, [ready, issued], vector, &access);
        if access.page_fault {
            (done, waited) = self.page_fault(done, waited);
        }
        done += u64::from(uop.latency);
        self.allocator.load_done(done);
        self.observer.executed(
            uop,
            Times { ready: may_go, issued, completed: done, port: self.ports.number(port) },
        );
        (done, waited)
    }

    /// A load that missed the DTLB uses its port once more after its translation is known, in the
    /// following cycle at the earliest. So does each of several loads that wait for one page.
    #[cold]
    fn issue_again(&mut self, port: Port, issued: u64, access: &mut memory::Access) {
        let translated = self.functional.memory.translated().max(issued);
        let again = self.ports.issue(port, translated + 1);
        access.ready += again - translated;
    }

    /// A load is one cycle faster when its base register comes straight from the cache and only a
    /// small displacement is added ([IOM] 2.3.5.1).
    #[inline(always)]
    fn fast_address(&self, uop: &Uop) -> bool {
        let chased = self.from_load >> uop.srcs[0].0 & 1 != 0;
        chased && uop.flags.has(UopFlags::SIMPLE_ADDRESS)
    }

    /// When the load's data is ready, given the stores in flight before it. Whether the load would
    /// have been too early if it had issued when its operands were `ready` decides how far it is
    /// trusted, even when it waited for the stores' addresses. A vector register's data takes one
    /// cycle longer (`vector`), both from a store and from the cache.
    #[inline(always)]
    fn after_older_stores(
        &mut self,
        pc: u64,
        address: u64,
        size: u8,
        [ready, issued]: [u64; 2],
        vector: u64,
        access: &memory::Access,
    ) -> (u64, Component) {
        use super::stores::Older;
        match self.stores.older(address, size, issued) {
            Older::None => {
                self.stores.resolve(pc, false);
                (access.ready, self.load_component(access))
            }
            Older::Forward { data_issued, address_issued } => {
                self.counters.forwards += 1;
                let forward = u64::from(self.params.store_forward) + vector;
                let mut done = (issued + forward - 1).max(data_issued + forward);
                let early = address_issued > ready + STORE_SEARCH;
                let cleared = address_issued > issued + STORE_SEARCH;
                if self.stores.resolve(pc, early) && cleared {
                    self.counters.order_clears += 1;
                    done = done.max(address_issued + u64::from(self.params.memory_order_clear));
                    self.fetch.redirect(done, FetchCause::Redirect);
                }
                (done, Component::Forward)
            }
            Older::Wait { written } => {
                self.counters.forward_failures += 1;
                self.stores.resolve(pc, false);
                let done = access.ready.max(written + u64::from(self.params.store_forward_fail));
                (done, Component::Forward)
            }
        }
    }

    /// The component that waiting for a load is charged to.
    #[inline(always)]
    fn load_component(&self, access: &memory::Access) -> Component {
        use memory::{Level, TlbLevel};
        match access.level {
            Level::L1 if access.tlb == TlbLevel::L1 => Component::LoadL1,
            Level::L1 => Component::LoadTlb,
            Level::FillBuffer => Component::LoadL2,
            Level::Outer(level) => self.served_by[level as usize],
            Level::Dram => Component::LoadDram,
        }
    }

    /// The cycle at which all of these registers are ready.
    #[inline(always)]
    pub(super) fn sources_ready(&self, srcs: &[Reg]) -> u64 {
        srcs.iter().fold(0, |ready, src| ready.max(self.ready[usize::from(src.0)]))
    }

    /// These registers are ready from `ready` on; returns their names, one bit each.
    #[inline(always)]
    pub(super) fn set_ready(&mut self, dsts: &[Reg], ready: u64) -> u64 {
        let mut names = 0;
        for dst in dsts {
            self.ready[usize::from(dst.0)] = ready;
            names |= 1 << dst.0;
        }
        self.ready[usize::from(Reg::NONE.0)] = 0;
        names
    }

    /// Records whether the newest values of these names (one bit each) come straight from the
    /// cache.
    #[inline(always)]
    fn note_loaded(&mut self, names: u64, loaded: bool) {
        let names = names & !(1 << Reg::NONE.0);
        self.from_load = self.from_load & !names | if loaded { names } else { 0 };
    }

    #[inline(always)]
    pub(super) fn complete(&mut self, uop: &Uop, done: u64, waited: Component) {
        let names = self.set_ready(&uop.dsts, done);
        self.note_loaded(names, uop.kind == UopKind::Load && waited != Component::Forward);
        self.moves.written(names, self.allocator.cycle);
        if done >= self.fused.completed {
            self.fused.completed = done;
            self.fused.waited = waited;
        }
    }
}

/// The component that waiting for a load is charged to, by the level beyond the first that served
/// it: the first, the last, and those in between. A single level is the last-level cache.
pub(super) fn served_by(levels: usize) -> [Component; LEVELS] {
    std::array::from_fn(|level| match level {
        _ if level + 1 == levels => Component::LoadLlc,
        0 => Component::LoadL2,
        _ => Component::LoadL3,
    })
}
