//! String instructions with a repeat prefix: one instruction, many iterations.

use decode::Block;

use crate::step::{NO_ADDRESS, Step};

/// Bytes that copies and fills move at a time ([IOM] enhanced `rep movsb`: 32-byte accesses).
const FAST_STRING_BYTES: u64 = 32;

/// The current string instruction.
#[derive(Default)]
pub struct Repeats {
    /// Its address; 0 if there is none.
    address: u64,
    /// Bytes moved since the last iteration that cost uops.
    bytes: u64,
    /// Addresses of one iteration, at the indices of its block's memory operands.
    buffer: Vec<u64>,
}

impl Repeats {
    /// Whether the block is another iteration of the string instruction that ran last, entered
    /// again.
    #[inline(always)]
    pub fn continues(&self, block: &Block) -> bool {
        self.address != 0 && block.addr == self.address
    }

    /// A block begins that is not another iteration.
    #[inline(always)]
    pub fn restart(&mut self) {
        self.bytes = 0;
    }

    /// A block has executed.
    #[inline(always)]
    pub fn note(&mut self, block: &Block) {
        self.address = match block.insns.last() {
            Some(insn) if insn.rep => block.addr + u64::from(insn.offset),
            _ => 0,
        };
    }

    /// Whether another iteration of the block's last instruction costs uops, and if so whether the
    /// instruction stores. Copies and fills move up to 32 bytes at a time, so only every 32nd byte
    /// costs uops; compares and scans cost uops for every element.
    pub fn costs(&mut self, block: &Block, addresses: &[u64]) -> Option<bool> {
        let insn = block.insns.last()?;
        let first = usize::from(insn.first_mem_operand);
        let operands = &block.mem_operands[first..first + usize::from(insn.mem_operands)];
        let stores = operands.iter().any(|operand| operand.store);
        if stores {
            self.bytes += operands.first().map_or(1, |operand| u64::from(operand.size));
            if self.bytes < FAST_STRING_BYTES || addresses.get(first) == Some(&NO_ADDRESS) {
                return None;
            }
            self.bytes = 0;
        }
        Some(stores)
    }

    /// The buffer for [`each_iteration`], lent to its caller.
    pub fn take_buffer(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.buffer)
    }

    /// Takes the buffer back.
    pub fn give_back(&mut self, buffer: Vec<u64>) {
        self.buffer = buffer;
    }
}

/// Runs the iterations after the first of the block's last instruction, each as a step with the
/// addresses of that iteration.
pub fn each_iteration(step: &Step, buffer: &mut Vec<u64>, mut run: impl FnMut(&Step)) {
    let Some(insn) = step.block.insns.last() else { return };
    let (first, count) = (usize::from(insn.first_mem_operand), usize::from(insn.mem_operands));
    if count == 0 {
        return;
    }
    buffer.clear();
    buffer.extend_from_slice(step.addresses);
    for addresses in step.repeats.chunks_exact(count) {
        buffer[first..first + count].copy_from_slice(addresses);
        run(&Step { addresses: buffer, repeats: &[], ..*step });
    }
}
