//! A scheduler: which port issues in which cycle, and how many uops wait for it.
//!
//! Uops are placed in program order, each in the first free cycle of its port at or after the cycle
//! in which its operands are ready. An older uop is placed first and so wins any cycle that both
//! want: that is an oldest-first scheduler without a loop over cycles. The same ring tells how many
//! uops wait in the reservation station, because a uop waits from allocation to its issue slot.

/// Slots of the ring: how far issue may run ahead of allocation. 60 dependent loads from DRAM
/// (60 x 250 cycles) fit.
const RING: usize = 1 << 14;
const MASK: u64 = RING as u64 - 1;

/// Expands a bit mask of ports to one byte per port: the waiting uops that leave in a cycle.
const SPREAD: [u64; 256] = {
    let mut table = [0u64; 256];
    let mut mask = 0;
    while mask < 256 {
        let mut port = 0;
        while port < 8 {
            if mask >> port & 1 == 1 {
                table[mask] |= 1 << (8 * port);
            }
            port += 1;
        }
        mask += 1;
    }
    table
};

/// A one in each byte.
const EVERY_BYTE: u64 = 0x0101_0101_0101_0101;

/// The sum of the bytes, at most 255: also the number of bits that an entry of [`SPREAD`] stands
/// for, which is slow on machines without a population-count instruction.
#[inline(always)]
fn sum(bytes: u64) -> u32 {
    (bytes.wrapping_mul(EVERY_BYTE) >> 56) as u32
}

/// Larger than any port's choice by more than an odd slot tolerates.
const NO_CHOICE: u32 = u32::MAX;

/// Port use by cycle, waiting uops by port, and the reservation station's occupancy.
pub struct Scheduler {
    /// Bit p of slot c: port p issues in cycle c. Slots before `now` are 0.
    ring: Box<[u8]>,
    /// The allocation cycle.
    now: u64,
    /// Waiting uops bound to each port before the current cycle, one byte each.
    waiting: u64,
    /// Bound in the current cycle: seen by the port choice from the next cycle on.
    bound_now: u64,
    /// Issued in the previous cycle: the port choice still counts them.
    leaving: u64,
    /// Uops in the reservation station.
    occupancy: u32,
    /// Loads alternate between ports 2 and 3.
    load_toggle: u8,
}

impl Default for Scheduler {
    fn default() -> Self {
        Self::new()
    }
}

impl Scheduler {
    /// Nothing waiting, at cycle 0.
    pub fn new() -> Self {
        Self {
            ring: vec![0; RING].into_boxed_slice(),
            now: 0,
            waiting: 0,
            bound_now: 0,
            leaving: 0,
            occupancy: 0,
            load_toggle: 0,
        }
    }

    /// Uops in the reservation station at the current allocation cycle.
    #[inline(always)]
    pub fn occupancy(&self) -> u32 {
        self.occupancy
    }

    /// Advances allocation to `cycle`; uops issued before it have left.
    #[inline(always)]
    pub fn advance(&mut self, cycle: u64) {
        self.waiting += self.bound_now;
        self.bound_now = 0;
        if cycle - self.now > 16 {
            self.advance_far(cycle);
            return;
        }
        while self.now < cycle {
            self.leave(self.now);
            self.now += 1;
        }
    }

    #[inline(always)]
    fn leave(&mut self, cycle: u64) {
        let slot = &mut self.ring[(cycle & MASK) as usize];
        self.waiting -= self.leaving;
        self.leaving = SPREAD[usize::from(*slot)];
        self.occupancy -= sum(self.leaving);
        *slot = 0;
    }

    /// A cycle passes in which nothing issues.
    #[inline]
    fn settle(&mut self) {
        self.waiting -= self.leaving;
        self.leaving = 0;
    }

    /// Skips empty runs of eight cycles; stops at once when nothing waits.
    #[cold]
    fn advance_far(&mut self, cycle: u64) {
        while self.now < cycle {
            if self.occupancy == 0 {
                self.settle();
                self.now = cycle;
                return;
            }
            let at = (self.now & MASK) as usize;
            if self.now & 7 == 0 && cycle - self.now >= 8 {
                let eight: [u8; 8] = self.ring[at..at + 8].try_into().unwrap_or([1; 8]);
                if u64::from_ne_bytes(eight) == 0 {
                    self.settle();
                    self.now += 8;
                    continue;
                }
            }
            self.leave(self.now);
            self.now += 1;
        }
    }

    /// Uops in the reservation station that are bound to one of these ports.
    #[inline(always)]
    pub fn waiting_on(&self, ports: u8) -> u32 {
        let counts = self.waiting + self.bound_now - self.leaving;
        sum(counts & (SPREAD[usize::from(ports)] * 0xff))
    }

    /// The first cycle after the current one in which a waiting uop issues.
    pub fn next_departure(&self) -> u64 {
        self.next_departure_from(u8::MAX)
    }

    /// The first cycle after the current one in which a uop bound to one of these ports issues.
    #[cold]
    pub fn next_departure_from(&self, ports: u8) -> u64 {
        let mut cycle = self.now;
        while cycle < self.now + RING as u64 && self.ring[(cycle & MASK) as usize] & ports == 0 {
            cycle += 1;
        }
        cycle + 1
    }

    /// Binds a uop to one of its ports (`ports` has one bit for each), as `slot` of the allocation
    /// group. [uiCA] section 4.1: the port with the fewest waiting uops as counted before this
    /// cycle, the higher number on a tie; the second and fourth uop of a group take the second best
    /// unless it has at least 3 more waiting. A uop counts until one cycle after it has issued (as
    /// in [uiCA]'s published simulator). Loads alternate.
    #[inline(always)]
    pub fn bind(&mut self, ports: u8, slot: u32) -> u8 {
        if ports & (ports - 1) == 0 {
            return ports;
        }
        if ports == 0b1100 {
            self.load_toggle ^= 0b1100;
            return if self.load_toggle == 0 { 0b1000 } else { 0b0100 };
        }
        self.bind_among(ports, slot)
    }

    #[inline]
    fn bind_among(&self, ports: u8, slot: u32) -> u8 {
        // A choice is the port's count times eight plus its distance from port 7: smaller is
        // better. Which port wins is hard to predict, so there is no branch on it.
        let (mut best, mut second) = (NO_CHOICE, NO_CHOICE);
        let mut rest = ports;
        while rest != 0 {
            let port = rest.trailing_zeros();
            rest &= rest - 1;
            let count = (self.waiting >> (8 * port)) as u32 & 0xff;
            let choice = count << 3 | (7 - port);
            second = second.min(best.max(choice));
            best = best.min(choice);
        }
        let swap = slot & 1 == 1 && (second >> 3) - (best >> 3) < 3;
        0x80 >> (if swap { second } else { best } & 7)
    }

    /// Issues a uop bound to `port` (one bit) at the first free cycle from `ready` on, which must
    /// not be before the current cycle. Returns that cycle.
    #[inline(always)]
    pub fn issue(&mut self, port: u8, ready: u64) -> u64 {
        debug_assert!(ready >= self.now);
        let limit = self.now + RING as u64 - 1;
        let mut cycle = ready;
        loop {
            if cycle >= limit {
                // Beyond the ring's horizon nothing is recorded: no conflict, no occupancy.
                return cycle.max(ready);
            }
            let slot = &mut self.ring[(cycle & MASK) as usize];
            if *slot & port == 0 {
                *slot |= port;
                self.bound_now += SPREAD[usize::from(port)];
                self.occupancy += 1;
                return cycle;
            }
            cycle += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_uop_keeps_the_cycle_and_a_younger_one_takes_the_next() {
        let mut scheduler = Scheduler::new();
        assert_eq!(scheduler.issue(1, 10), 10);
        assert_eq!(scheduler.issue(1, 10), 11, "same port");
        assert_eq!(scheduler.issue(2, 10), 10, "another port");
        assert_eq!(scheduler.issue(1, 5), 5, "a younger uop may fill an earlier hole");
    }

    #[test]
    fn occupancy_counts_from_allocation_to_issue() {
        let mut scheduler = Scheduler::new();
        scheduler.issue(1, 3);
        scheduler.issue(1, 300);
        assert_eq!(scheduler.occupancy(), 2);
        scheduler.advance(3);
        assert_eq!(scheduler.occupancy(), 2, "issues in cycle 3: still there at its start");
        scheduler.advance(4);
        assert_eq!(scheduler.occupancy(), 1);
        assert_eq!(scheduler.next_departure(), 301);
        scheduler.advance(301);
        assert_eq!(scheduler.occupancy(), 0);
    }

    #[test]
    fn binding_follows_the_counts_of_the_cycle_before() {
        let mut scheduler = Scheduler::new();
        let ports = 0b0110_0011; // 0, 1, 5, 6
        assert_eq!(scheduler.bind(ports, 0), 1 << 6, "tie: the highest number");
        assert_eq!(scheduler.bind(ports, 1), 1 << 5, "odd slot: the second best");
        for _ in 0..3 {
            scheduler.issue(1 << 6, 10);
        }
        assert_eq!(scheduler.bind(ports, 0), 1 << 6, "not seen before the next cycle");
        scheduler.advance(1);
        assert_eq!(scheduler.bind(ports, 0), 1 << 5);
        assert_eq!(scheduler.bind(0b0110_0000, 1), 1 << 5, "3 more waiting: not the second best");
    }

    #[test]
    fn a_uop_counts_in_the_port_choice_until_a_cycle_after_it_issued() {
        let mut scheduler = Scheduler::new();
        scheduler.issue(1 << 6, 5);
        let choice = |scheduler: &mut Scheduler, cycle| {
            scheduler.advance(cycle);
            scheduler.bind(0b0110_0000, 0)
        };
        assert_eq!(choice(&mut scheduler, 5), 1 << 5, "waits on port 6");
        assert_eq!(choice(&mut scheduler, 6), 1 << 5, "issued in cycle 5");
        assert_eq!(choice(&mut scheduler, 7), 1 << 6, "gone: the higher number");
        scheduler.issue(1 << 6, 8);
        assert_eq!(choice(&mut scheduler, 100), 1 << 6, "gone long ago");
    }
}
