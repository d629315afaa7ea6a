//! The input of a core: executions of decoded blocks, in program order.

use std::sync::Arc;

use decode::Block;

/// The memory operand has no address: masked off, zero iterations, or not executed.
pub const NO_ADDRESS: u64 = u64::MAX;

/// One execution of a block.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The block.
    pub block: &'a Block,
    /// An address, or [`NO_ADDRESS`], for each of its memory operands.
    pub addresses: &'a [u64],
    /// If it ends with a repeated string instruction: addresses of the iterations after the first,
    /// as many for each as the instruction has memory operands.
    pub repeats: &'a [u64],
    /// Values of its markers' operands, in order.
    pub values: &'a [u64],
    /// Address of the block that this thread executes next; 0 if there is none.
    pub next: u64,
}

/// A step as stored in a batch: numbers and offsets into shared arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepRecord {
    /// The block's number.
    pub block: u32,
    /// First address; there is one for each memory operand of the block.
    pub first_address: u32,
    /// Addresses of further iterations of a repeated string instruction, which follow those.
    pub repeats: u32,
    /// First marker value.
    pub first_value: u32,
    /// Number of marker values.
    pub values: u32,
    /// Address of the block that comes next; 0 if unknown.
    pub next: u64,
}

/// A run of steps of one batch.
#[derive(Clone, Copy, Debug)]
pub struct Steps<'a> {
    blocks: &'a [Arc<Block>],
    records: &'a [StepRecord],
    addresses: &'a [u64],
    values: &'a [u64],
}

impl<'a> Steps<'a> {
    /// The steps of `records`, whose offsets point into `addresses` and `values` and whose block
    /// numbers are indices into `blocks`.
    pub fn new(
        blocks: &'a [Arc<Block>],
        records: &'a [StepRecord],
        addresses: &'a [u64],
        values: &'a [u64],
    ) -> Self {
        Self { blocks, records, addresses, values }
    }

    /// Calls `take` for each step in order.
    #[inline(always)]
    pub fn for_each(self, mut take: impl FnMut(&Step)) {
        for record in self.records {
            let block = &*self.blocks[record.block as usize];
            let (address, value) = (record.first_address as usize, record.first_value as usize);
            let repeats = address + block.mem_operands.len();
            take(&Step {
                block,
                addresses: &self.addresses[address..repeats],
                repeats: &self.addresses[repeats..repeats + record.repeats as usize],
                values: &self.values[value..value + record.values as usize],
                next: record.next,
            });
        }
    }
}
