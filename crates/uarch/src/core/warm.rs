//! Functional warming: caches, predictors and accelerator state change, time does not.

use super::*;
use accel::InjectKind;

const LINE_BYTES: u64 = 64;

impl<O: Observer> Core<O> {
    /// Executes a block without times.
    pub fn warm(&mut self, step: &Step) {
        let block = step.block;
        if self.elide_until.is_none() && block.markers.is_empty() {
            self.warm_code(block);
            for (slot, &address) in block.slots.iter().zip(step.addresses) {
                let pc = block.addr + u64::from(block.insns[usize::from(slot.insn)].offset);
                self.warm_access(pc, slot, address);
            }
        } else {
            self.warm_marked(step);
        }
        if self.elide_until.is_none() && !step.repeats.is_empty() {
            self.warm_repeat(step);
        }
        self.warm_branch(step);
        self.note_repeat(block);
    }

    #[inline(always)]
    fn warm_code(&mut self, block: &Block) {
        let last = block.addr + u64::from(block.len) - 1;
        let mut addr = block.addr;
        loop {
            self.memory.warm_fetch(addr);
            addr = (addr | (LINE_BYTES - 1)) + 1;
            if addr > last {
                break;
            }
        }
    }

    #[inline(always)]
    pub(super) fn warm_access(&mut self, pc: u64, slot: &decode::MemSlot, address: u64) {
        if address == NO_ADDRESS {
            return;
        }
        if slot.store {
            self.memory.warm_store(address, u32::from(slot.size));
        } else {
            self.memory.warm_load(pc, address, u32::from(slot.size));
        }
    }

    fn warm_marked(&mut self, step: &Step) {
        let block = step.block;
        let (mut next_marker, mut next_value) = (0, 0);
        for (index, insn) in block.insns.iter().enumerate() {
            let pc = block.addr + u64::from(insn.offset);
            if let Some(site) = block.markers.get(next_marker)
                && usize::from(site.insn) == index
            {
                next_marker += 1;
                let count = site.op.values();
                let values = step.values.get(next_value..next_value + count).unwrap_or(&[]);
                next_value += count;
                self.marker(site, values, pc, false);
            }
            if insn.marker || self.elide_until.is_some() {
                continue;
            }
            self.memory.warm_fetch(pc);
            let first = usize::from(insn.first_slot);
            for at in first..first + usize::from(insn.mem_slots) {
                let address = step.addresses.get(at).copied().unwrap_or(NO_ADDRESS);
                self.warm_access(pc, &block.slots[at], address);
            }
        }
    }

    pub(super) fn warm_branch(&mut self, step: &Step) {
        let branch = &step.block.branch;
        let Some(kind) = branch::predicted_kind(branch.kind) else { return };
        let taken = kind != predict::BranchKind::Conditional || step.next != branch.next;
        let asynchronous = branch.target != 0 && taken && step.next != branch.target;
        if step.next == 0 || asynchronous {
            return;
        }
        self.predictor.warm(kind, branch.addr, taken, step.next, branch.next);
    }

    /// Injected prefetches touch the cache; nothing waits for them.
    pub(super) fn warm_injected(&mut self, reply: &Reply) {
        for injected in &reply.inject {
            if let InjectKind::Prefetch(address) = injected.kind {
                self.memory.warm_load(0, address, 8);
            }
        }
    }
}
