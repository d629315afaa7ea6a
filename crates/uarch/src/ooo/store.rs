//! Stores: address and data issue separately; the write happens in order after retirement.

use super::*;

/// A store of the current instruction.
#[derive(Clone, Copy, Default)]
pub struct PendingStore {
    operand: u16,
    address: u64,
    size: u8,
    address_issued: u64,
    data_issued: u64,
    /// Cycles taken by a fence that writes nothing (`sfence`); 0 for stores.
    fence: u8,
}

impl<O: Observer> OutOfOrder<O> {
    #[inline(always)]
    fn pending_store(&mut self, step: &Step, uop: &Uop) -> usize {
        let known =
            self.pending[..self.pending_count].iter().position(|p| p.operand == uop.mem_operand);
        known.unwrap_or_else(|| {
            let at = self.pending_count.min(self.pending.len() - 1);
            let operand = usize::from(uop.mem_operand);
            self.pending[at] = PendingStore {
                operand: uop.mem_operand,
                address: step.addresses.get(operand).copied().unwrap_or(NO_ADDRESS),
                size: step.block.mem_operands.get(operand).map_or(8, |s| s.size),
                address_issued: 0,
                data_issued: 0,
                fence: if uop.flags.has(UopFlags::STORE_FENCE) { uop.latency } else { 0 },
            };
            self.pending_count = at + 1;
            at
        })
    }

    #[inline(always)]
    pub(super) fn store_address(&mut self, step: &Step, uop: &Uop, ready: u64) -> (u64, Component) {
        let port = self.ports.bind(uop.ports, self.allocator.used.wrapping_sub(1));
        let issued = self.ports.issue(port, ready);
        let at = self.pending_store(step, uop);
        self.pending[at].address_issued = issued;
        let store = self.pending[at];
        let (mut completed, mut waited) = (issued + 1, Component::Execute);
        if store.address != NO_ADDRESS {
            let size = u32::from(store.size);
            let access = self.functional.memory.store_address_tlb(store.address, size, issued);
            completed = completed.max(access.ready);
            if access.page_fault {
                (completed, waited) = self.page_fault(completed, waited);
            }
        }
        self.observer
            .executed(uop, Times { ready, issued, completed, port: self.ports.number(port) });
        (completed, waited)
    }

    #[inline(always)]
    pub(super) fn store_data(&mut self, step: &Step, uop: &Uop, ready: u64) -> (u64, Component) {
        let port = self.ports.bind(uop.ports, self.allocator.used.wrapping_sub(1));
        let issued = self.ports.issue(port, ready);
        let at = self.pending_store(step, uop);
        self.pending[at].data_issued = issued;
        let completed = issued + 1;
        self.observer
            .executed(uop, Times { ready, issued, completed, port: self.ports.number(port) });
        (completed, Component::Execute)
    }

    /// The instruction has retired: its stores write in order, one per cycle; missing lines are
    /// requested as soon as the store has retired, so misses overlap.
    pub(super) fn write_stores(&mut self) {
        let retired = self.retire.last();
        for at in 0..self.pending_count {
            let store = self.pending[at];
            if store.address == NO_ADDRESS {
                let mut done = retired;
                if store.fence > 0 {
                    self.written = self.written.max(retired) + u64::from(store.fence);
                    done = self.written;
                }
                self.allocator.store_done(done);
                continue;
            }
            let access =
                self.functional.memory.store(store.address, u32::from(store.size), retired + 1);
            self.written = (self.written + 1).max(access.ready);
            self.allocator.store_done(self.written);
            self.stores.push(
                self.functional.memory.place(store.address),
                store.size,
                store.address_issued,
                store.data_issued,
                self.written,
            );
        }
        self.pending_count = 0;
    }
}
