//! The input of the machines.

use std::sync::Arc;

use decode::Block;
use uarch::StepRecord;

/// Something other than a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// This many steps.
    Steps(u32),
    /// From here on, instructions are timed, or (if false) only warm caches, predictors and the
    /// accelerator.
    Timed(bool),
    /// The next allocator call is made by the call at the end of the block with this number less
    /// one; 0: it is not known.
    Caller(u32),
    /// Another thread runs from here on.
    ContextSwitch,
    /// A range of addresses is no longer mapped.
    Unmap {
        /// First address.
        addr: u64,
        /// Length in bytes.
        len: u64,
    },
    /// A program begins, with its stack at this address.
    Stack(u64),
    /// The region of interest starts: all counts so far are discarded.
    Restart,
    /// A phase of a run that is not sampled ends.
    PhaseEnd {
        /// Program instructions in it, the same for all machines.
        instructions: u64,
    },
    /// A sample's measured interval begins.
    SampleBegin,
    /// A sample's measured interval ends.
    SampleEnd {
        /// Program instructions in it, the same for all machines.
        instructions: u64,
    },
}

/// A piece of the stream, shared by all machines.
#[derive(Debug, Default)]
pub struct Batch {
    /// Blocks first used in this batch, as decoded for each view of code; their numbers continue
    /// those of earlier batches.
    pub blocks: Vec<Vec<Arc<Block>>>,
    /// What happens, in order.
    pub items: Vec<Item>,
    /// The steps that the items refer to.
    pub steps: Vec<StepRecord>,
    /// Addresses of the steps' memory operands.
    pub addresses: Vec<u64>,
    /// Marker values of the steps.
    pub values: Vec<u64>,
}
