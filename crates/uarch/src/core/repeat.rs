//! String instructions with a repeat prefix: one instruction, many iterations.

use super::*;

/// Bytes that copies and fills move at a time ([IOM] enhanced `rep movsb`: 32-byte accesses).
const FAST_STRING_BYTES: u64 = 32;

impl<O: Observer> Core<O> {
    /// Whether the block is one more iteration of the string instruction that ran last, entered
    /// anew.
    #[inline(always)]
    pub(super) fn continues_repeat(&self, block: &Block) -> bool {
        self.repeating != 0 && block.addr == self.repeating
    }

    #[inline(always)]
    pub(super) fn note_repeat(&mut self, block: &Block) {
        self.repeating = match block.insns.last() {
            Some(insn) if insn.rep => block.addr + u64::from(insn.offset),
            _ => 0,
        };
    }

    /// The iterations after the first of the block's last instruction.
    #[cold]
    pub(super) fn repeat(&mut self, step: &Step) {
        self.each_iteration(step, |core, step| core.repeat_iteration(step, step.addresses, true));
    }

    /// The same without times.
    #[cold]
    pub(super) fn warm_repeat(&mut self, step: &Step) {
        self.each_iteration(step, |core, step| core.repeat_iteration(step, step.addresses, false));
    }

    fn each_iteration(&mut self, step: &Step, mut run: impl FnMut(&mut Self, &Step)) {
        let Some(insn) = step.block.insns.last() else { return };
        let (first, count) = (usize::from(insn.first_slot), usize::from(insn.mem_slots));
        if count == 0 {
            return;
        }
        let mut iteration = std::mem::take(&mut self.iteration);
        iteration.clear();
        iteration.extend_from_slice(step.addresses);
        for addresses in step.repeats.chunks_exact(count) {
            iteration[first..first + count].copy_from_slice(addresses);
            run(self, &Step { addresses: &iteration, repeats: &[], ..*step });
        }
        self.iteration = iteration;
    }

    /// A further iteration: its uops come from the microcode sequencer. Copies and fills move up to
    /// 32 bytes at a time, so only each 32nd byte costs uops; compares and scans pay for every
    /// element.
    pub(super) fn repeat_iteration(&mut self, step: &Step, addresses: &[u64], timed: bool) {
        let block = step.block;
        let Some(insn) = block.insns.last() else { return };
        let first = usize::from(insn.first_slot);
        let slots = &block.slots[first..first + usize::from(insn.mem_slots)];
        let stores = slots.iter().any(|slot| slot.store);
        if stores {
            self.repeat_bytes += slots.first().map_or(1, |slot| u64::from(slot.size));
            if self.repeat_bytes < FAST_STRING_BYTES || addresses.get(first) == Some(&NO_ADDRESS) {
                return;
            }
            self.repeat_bytes = 0;
        }
        let pc = block.addr + u64::from(insn.offset);
        if !timed {
            for (slot, &address) in slots.iter().zip(&addresses[first..]) {
                self.warm_access(pc, slot, address);
            }
            return;
        }
        let first = usize::from(insn.first_uop);
        for uop in &block.uops[first..first + usize::from(insn.uops)] {
            if !stores || uop.kind != UopKind::Exec {
                self.uop(step, uop, pc);
            }
        }
        self.finish_instruction();
    }
}
