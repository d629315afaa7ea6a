//! What the machines are fed with.

use std::sync::Arc;

use decode::Block;
use uarch::StepRecord;

/// Something other than a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// This many steps.
    Steps(u32),
    /// From here on instructions are timed (else they only warm caches, predictors and
    /// accelerator).
    Timed(bool),
    /// Another thread runs from here on.
    ContextSwitch,
    /// A range of addresses is no longer mapped.
    Unmap {
        /// First address.
        addr: u64,
        /// Length in bytes.
        len: u64,
    },
    /// All counts so far are void: the region of interest starts.
    Restart,
    /// A sample's measured interval begins.
    SampleBegin,
    /// It is over.
    SampleEnd {
        /// Program instructions in it, the same for all machines.
        instructions: u64,
    },
}

/// A piece of the stream, shared by all machines.
#[derive(Debug, Default)]
pub struct Batch {
    /// Blocks first used in this batch, as each view of code decodes them; their numbers continue
    /// those of earlier batches.
    pub blocks: Vec<Vec<Arc<Block>>>,
    /// What happens, in order.
    pub items: Vec<Item>,
    /// The steps that the items count.
    pub steps: Vec<StepRecord>,
    /// Addresses of the steps' memory operands.
    pub addresses: Vec<u64>,
    /// Marker values of the steps.
    pub values: Vec<u64>,
}
