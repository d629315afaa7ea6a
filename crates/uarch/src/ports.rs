//! The ports of a core family: what a uop's set of ports is on this machine.
//!
//! Haswell has eight ports and one [`Calendar`] for them. Golden Cove has twelve, and a scheduler
//! for arithmetic apart from those for memory, so it has two calendars:
//!
//! ```text
//!   set in the uop            calendar   its bits
//!   LOAD                      memory     1 to 3   ports 10, 2, 3
//!   STORE_DATA                memory     4, 5     ports 4, 9
//!   STORE_ADDRESS             memory     6, 7     ports 8, 7
//!   ALU                       arithmetic 0, 1, 5, 6, 7   ports 0, 1, 5, 6, 11
//!   any other                 arithmetic its own, bit 7 for port 11
//! ```
//!
//! Within a calendar the port with the fewest waiting uops is chosen, as on Haswell, but of those
//! that no uop of the same cycle has been given: six uops a cycle for five ports would otherwise
//! crowd on two. How the hardware chooses is not published.

use decode::Family;
use decode::table::ports;

use crate::calendar::Calendar;

/// One port: a bit of the first calendar, or of the second in the upper byte.
pub type Port = u16;

/// Ports of loads in the calendar of memory.
const LOADS: u8 = 0b0000_1110;

/// The ports and the uops that wait for them.
pub struct Ports {
    first: Calendar,
    /// Of the ports to memory where they have schedulers of their own.
    memory: Option<Box<Calendar>>,
    /// Uops that wait for those.
    waiting_for_memory: u32,
    /// Bits of the first calendar and of the other that this cycle's uops are bound to.
    bound: [u8; 2],
}

impl Ports {
    /// All free, at cycle 0.
    pub fn new(family: Family) -> Self {
        let memory = (family == Family::GoldenCove).then(Box::default);
        Self { first: Calendar::new(), memory, waiting_for_memory: 0, bound: [0; 2] }
    }

    /// Uops in the reservation stations at the current allocation cycle.
    #[inline(always)]
    pub fn occupancy(&self) -> u32 {
        self.first.occupancy() + self.waiting_for_memory
    }

    /// Moves allocation on to `cycle`; uops issued before it have left.
    #[inline(always)]
    pub fn advance(&mut self, cycle: u64) {
        self.first.advance(cycle);
        if self.memory.is_some() {
            self.advance_memory(cycle);
        }
    }

    #[inline(never)]
    fn advance_memory(&mut self, cycle: u64) {
        if let Some(memory) = &mut self.memory {
            memory.advance(cycle);
            self.waiting_for_memory = memory.occupancy();
            self.bound = [0; 2];
        }
    }

    /// The first cycle after the current one in which a waiting uop issues.
    pub fn next_departure(&self) -> u64 {
        let first = self.first.next_departure();
        self.memory.as_ref().map_or(first, |memory| first.min(memory.next_departure()))
    }

    /// Loads in the reservation stations.
    #[inline(always)]
    pub fn loads_waiting(&self) -> u32 {
        if self.memory.is_some() { self.loads_apart() } else { self.first.waiting_on(ports::LOAD) }
    }

    #[inline(never)]
    fn loads_apart(&self) -> u32 {
        self.memory.as_ref().map_or(0, |memory| memory.waiting_on(LOADS))
    }

    /// The first cycle after the current one in which a load issues.
    #[cold]
    pub fn next_load(&self) -> u64 {
        let first = || self.first.next_departure_from(ports::LOAD);
        self.memory.as_ref().map_or_else(first, |memory| memory.next_departure_from(LOADS))
    }

    /// Binds a uop to one port of a set ([`Calendar::bind`]).
    #[inline(always)]
    pub fn bind(&mut self, set: u8, slot: u32) -> Port {
        if self.memory.is_some() {
            return self.bind_apart(set);
        }
        Port::from(self.first.bind(set, slot))
    }

    #[inline(never)]
    fn bind_apart(&mut self, set: u8) -> Port {
        let (to_memory, bits) = match set {
            ports::LOAD => (true, LOADS),
            ports::STORE_DATA => (true, 0b0011_0000),
            ports::STORE_ADDRESS => (true, 0b1100_0000),
            ports::ALU => (false, 0b1110_0011),
            other => (false, other),
        };
        let calendar = match &mut self.memory {
            Some(memory) if to_memory => &mut **memory,
            _ => &mut self.first,
        };
        let bound = &mut self.bound[usize::from(to_memory)];
        let free = bits & !*bound;
        let port = calendar.bind(if free == 0 { bits } else { free }, 0);
        *bound |= port;
        Port::from(port) << (8 * u32::from(to_memory))
    }

    /// Issues a uop bound to `port` ([`Calendar::issue`]).
    #[inline(always)]
    pub fn issue(&mut self, port: Port, ready: u64) -> u64 {
        if port > 0xff {
            return self.issue_to_memory(port, ready);
        }
        self.first.issue(port as u8, ready)
    }

    #[inline(never)]
    fn issue_to_memory(&mut self, port: Port, ready: u64) -> u64 {
        let Some(memory) = &mut self.memory else { return ready };
        let issued = memory.issue((port >> 8) as u8, ready);
        self.waiting_for_memory = memory.occupancy();
        issued
    }
}

/// The number of a port in the family's own counting; `None` for no port.
pub fn number(family: Family, port: Port) -> Option<u8> {
    const GOLDEN_COVE: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 11, 0, 10, 2, 3, 4, 9, 8, 7];
    let bit = (port != 0).then(|| port.trailing_zeros() as u8)?;
    Some(if family == Family::GoldenCove { GOLDEN_COVE[usize::from(bit)] } else { bit })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ports to which uops of a set go in one cycle when more come than it has.
    fn taken(family: Family, set: u8) -> Vec<u8> {
        let mut all = Ports::new(family);
        let mut seen = Vec::new();
        for slot in 0..24 {
            let port = all.bind(set, slot);
            if all.issue(port, 10) == 10 {
                seen.extend(number(family, port));
            }
            all.advance(u64::from(slot / 8));
        }
        seen.sort_unstable();
        seen
    }

    #[test]
    fn golden_coves_sets_are_its_own_ports() {
        let family = Family::GoldenCove;
        assert_eq!(taken(family, ports::ALU), [0, 1, 5, 6, 11]);
        assert_eq!(taken(family, ports::LOAD), [2, 3, 10]);
        assert_eq!(taken(family, ports::STORE_DATA), [4, 9]);
        assert_eq!(taken(family, ports::STORE_ADDRESS), [7, 8]);
        assert_eq!(taken(family, ports::BRANCH), [0, 6]);
        assert_eq!(taken(family, 0b1010_0010), [1, 5, 11]);
    }

    #[test]
    fn haswells_sets_are_their_bits() {
        let family = Family::Haswell;
        assert_eq!(taken(family, ports::ALU), [0, 1, 5, 6]);
        assert_eq!(taken(family, ports::LOAD), [2, 3]);
        assert_eq!(taken(family, ports::STORE_ADDRESS), [2, 3, 7]);
    }

    #[test]
    fn both_schedulers_count_as_one_station() {
        let mut all = Ports::new(Family::GoldenCove);
        for set in [ports::ALU, ports::LOAD, ports::STORE_DATA] {
            let port = all.bind(set, 0);
            assert_eq!(all.issue(port, 5), 5);
        }
        assert_eq!((all.occupancy(), all.next_departure()), (3, 6));
        all.advance(6);
        assert_eq!(all.occupancy(), 0);
    }
}
