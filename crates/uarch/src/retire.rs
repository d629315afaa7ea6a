//! In-order retirement and the CPI stack.
//!
//! Every cycle belongs to exactly one component, so the stack sums to the cycles. When a fused uop
//! retires later than the one before it, the last cycle of the gap is base (it retires something);
//! each earlier cycle is charged to what this uop was waiting for at that time: before its
//! allocation (and the fixed distance from there to execution) to what stalled its allocation,
//! after that to its own execution. All older uops have retired by then, so nothing else is left to
//! wait for.

use crate::frontend::FetchCause;

stats::causes! {
    /// Components of the CPI stack.
    pub enum Component, struct CpiStack = Head::one("cpi")
        .key("cpi_stack")
        .title("CPI stack")
        .about(
            "Each cycle has one cause: what held up the oldest instruction that had not retired. \
             The causes sum exactly to the cycles.",
        )
        .parts_of("core.cycles")
        .since(2), Cycles;

    /// Cycles in which something retires.
    Base = "base",
    /// Fetch and decode bandwidth.
    FetchBandwidth = "fetch_bandwidth",
    /// Instruction cache and ITLB misses.
    FetchMiss = "fetch_miss",
    /// Refill after mispredicted branches.
    Mispredict = "mispredict",
    /// Redirects by the decoders: taken branches unknown to the target buffer.
    DecodeRedirect = "decode_redirect",
    /// Execution latency, ports, dependencies.
    Execute = "execute",
    /// Loads that hit L1D.
    LoadL1 = "load_l1",
    /// Loads served by the first level beyond L1D, or by a line on its way to L1D.
    LoadL2 = "load_l2",
    /// Loads served by a level between that one and the last-level cache.
    LoadL3 = "load_l3",
    /// Loads served by the last-level cache.
    LoadLlc = "load_llc",
    /// Loads served by DRAM.
    LoadDram = "load_dram",
    /// DTLB misses of loads.
    LoadTlb = "load_tlb",
    /// Store-to-load forwarding, failed forwarding, memory-order clears.
    Forward = "store_forward",
    /// Store queue full.
    StoreQueue = "store_queue",
    /// Fences, serialising instructions, system calls.
    Serialize = "serialize",
    /// First touch of an operating-system page.
    PageFault = "page_fault" (assumed),
    /// Accelerator: waiting for an outstanding malloc-cache prefetch.
    Accelerator = "accelerator",
}

impl From<FetchCause> for Component {
    #[inline(always)]
    fn from(cause: FetchCause) -> Self {
        match cause {
            FetchCause::Bandwidth => Self::FetchBandwidth,
            FetchCause::Miss => Self::FetchMiss,
            FetchCause::Mispredict => Self::Mispredict,
            FetchCause::Redirect => Self::DecodeRedirect,
        }
    }
}

/// The retirement stage.
pub struct Retire {
    width: u32,
    /// Fixed cycles from allocation to the end of a one-cycle execution.
    shortest: u64,
    last: u64,
    in_cycle: u32,
    /// Cycles charged to each component.
    pub stack: [u64; Component::COUNT],
}

impl Retire {
    /// `allocate_to_issue`: the fixed number of cycles from allocation to issue.
    pub fn new(width: u32, allocate_to_issue: u64) -> Self {
        let shortest = allocate_to_issue + 1;
        Self { width, shortest, last: 0, in_cycle: 0, stack: [0; Component::COUNT] }
    }

    /// The newest retirement cycle.
    #[inline(always)]
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Retires the next fused uop: allocated at `allocated` (stalled by `held`), completed at
    /// `completed` (after waiting for `waited`). Returns its retirement cycle.
    #[inline(always)]
    pub fn retire(
        &mut self,
        allocated: u64,
        held: Component,
        completed: u64,
        waited: Component,
    ) -> u64 {
        let cycle = completed + 1;
        if cycle > self.last {
            self.charge(cycle, allocated, held, waited);
            self.last = cycle;
            self.in_cycle = 1;
        } else if self.in_cycle == self.width {
            self.last += 1;
            self.stack[Component::Base as usize] += 1;
            self.in_cycle = 1;
        } else {
            self.in_cycle += 1;
        }
        self.last
    }

    #[inline(always)]
    fn charge(&mut self, cycle: u64, allocated: u64, held: Component, waited: Component) {
        let gap = cycle - self.last - 1;
        self.stack[Component::Base as usize] += 1;
        if gap > 0 {
            let before = (allocated + self.shortest).saturating_sub(self.last + 1).min(gap);
            self.stack[held as usize] += before;
            self.stack[waited as usize] += gap - before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_retire_in_a_cycle_and_the_fifth_in_the_next() {
        let mut retire = Retire::new(4, 5);
        let cycles: Vec<u64> =
            (0..5).map(|_| retire.retire(0, Component::Execute, 9, Component::Execute)).collect();
        assert_eq!(cycles, [10, 10, 10, 10, 11]);
    }

    #[test]
    fn every_cycle_is_charged_once() {
        let mut retire = Retire::new(4, 5);
        // Allocated at 20: could retire at 20 + 5 + 1 + 1 = 27; a load makes it 60.
        retire.retire(20, Component::FetchMiss, 59, Component::LoadLlc);
        let stack = &retire.stack;
        assert_eq!(stack.iter().sum::<u64>(), 60);
        assert_eq!(stack[Component::Base as usize], 1);
        assert_eq!(stack[Component::FetchMiss as usize], 25, "cycles 1..=25");
        assert_eq!(stack[Component::LoadLlc as usize], 34, "cycles 26..=59");
    }

    #[test]
    fn names_are_unique_and_in_order() {
        for (i, component) in Component::ALL.iter().enumerate() {
            assert_eq!(*component as usize, i);
            assert_eq!(Component::ALL.iter().filter(|c| c.name() == component.name()).count(), 1);
        }
    }
}
