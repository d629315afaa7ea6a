//! Allocation: width, and the entries of ROB, LQ and SQ.

use crate::params::CoreParams;
use crate::retire::Component;

/// Rings are powers of two at least as long as the queues.
const ROB_RING: usize = 512;
const QUEUE_RING: usize = 256;

/// Assigns allocation cycles in program order.
pub struct Allocator {
    width: u32,
    rob: u64,
    lq: u64,
    sq: u64,
    /// The allocation cycle, and the fused uops allocated in it.
    pub cycle: u64,
    pub used: u32,
    /// What caused the last move to a later cycle.
    pub held: Component,
    barrier: u64,
    barrier_cause: Component,
    retired: [u64; ROB_RING],
    retired_count: u64,
    allocated_count: u64,
    loads: [u64; QUEUE_RING],
    load_count: u64,
    stores: [u64; QUEUE_RING],
    store_count: u64,
}

impl Allocator {
    /// Everything empty at cycle 0.
    pub fn new(params: &CoreParams) -> Self {
        Self {
            width: params.allocate_width,
            rob: u64::from(params.rob),
            lq: u64::from(params.lq),
            sq: u64::from(params.sq),
            cycle: 0,
            used: 0,
            held: Component::FetchBandwidth,
            barrier: 0,
            barrier_cause: Component::Serialize,
            retired: [0; ROB_RING],
            retired_count: 0,
            allocated_count: 0,
            loads: [0; QUEUE_RING],
            load_count: 0,
            stores: [0; QUEUE_RING],
            store_count: 0,
        }
    }

    /// Nothing is allocated before `cycle`.
    pub fn barrier(&mut self, cycle: u64, cause: Component) {
        if cycle > self.barrier {
            self.barrier = cycle;
            self.barrier_cause = cause;
        }
    }

    /// The earliest cycle for the next fused uop, delivered at `delivered`. `late` is what stalled
    /// allocation if delivery decides.
    #[inline(always)]
    pub fn next(&mut self, delivered: u64, late: Component) -> u64 {
        let mut cycle = self.cycle;
        if self.used >= self.width {
            cycle += 1;
        }
        if delivered > cycle {
            cycle = delivered;
            self.held = late;
        }
        if self.barrier > cycle {
            cycle = self.barrier;
            self.held = self.barrier_cause;
        }
        let oldest = self.allocated_count.wrapping_sub(self.rob) as usize % ROB_RING;
        if self.retired[oldest] > cycle {
            cycle = self.retired[oldest];
            self.held = Component::Execute;
        }
        self.allocated_count += 1;
        cycle
    }

    /// The newest fused uop retired at `cycle`: its ROB entry is free from then on.
    #[inline(always)]
    pub fn retired(&mut self, cycle: u64) {
        self.retired[self.retired_count as usize % ROB_RING] = cycle;
        self.retired_count += 1;
    }

    /// Cycle at which a load-queue entry frees up.
    #[inline(always)]
    pub fn load_entry(&self) -> u64 {
        self.loads[self.load_count.wrapping_sub(self.lq) as usize % QUEUE_RING]
    }

    /// A load holds an entry until about `cycle` (its completion; retirement is not known yet).
    #[inline(always)]
    pub fn load_done(&mut self, cycle: u64) {
        self.loads[self.load_count as usize % QUEUE_RING] = cycle;
        self.load_count += 1;
    }

    /// Cycle at which a store-queue entry frees up.
    #[inline(always)]
    pub fn store_entry(&self) -> u64 {
        self.stores[self.store_count.wrapping_sub(self.sq) as usize % QUEUE_RING]
    }

    /// A store holds an entry until it has written, at `cycle`.
    #[inline(always)]
    pub fn store_done(&mut self, cycle: u64) {
        self.stores[self.store_count as usize % QUEUE_RING] = cycle;
        self.store_count += 1;
    }
}
