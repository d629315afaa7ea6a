//! The ports of a core family: maps a uop's set of ports to those of this machine.
//!
//! A family has one [`Scheduler`] for all its ports, or one for arithmetic ports and one for memory
//! ports ([`decode::family::Schedulers`]). Within a scheduler the port with the fewest waiting uops
//! is chosen; where there are two schedulers, only among ports that no uop of the same cycle has
//! been bound to: otherwise six uops per cycle for five ports would crowd onto two. How the
//! hardware chooses is not published.

use accel::IssueTo;
use decode::Family;
use decode::family::{MemoryPorts, Schedulers, ports};

use params::ConfigError;

use super::scheduler::Scheduler;
use super::unit::BusyUnit;

/// One port: a bit of the first scheduler, or of the second in the upper byte.
pub type Port = u16;

/// The scheduler of the memory ports, and which sets belong to it.
struct MemoryScheduler {
    scheduler: Scheduler,
    bits: &'static MemoryPorts,
}

/// The ports and the uops waiting for them.
pub struct Ports {
    first: Scheduler,
    /// For the memory ports, if they have schedulers of their own.
    memory: Option<Box<MemoryScheduler>>,
    /// Uops waiting for the memory ports.
    waiting_for_memory: u32,
    /// Bits of the first and of the second scheduler that this cycle's uops are bound to.
    bound: [u8; 2],
    schedulers: &'static Schedulers,
}

/// A uop's set of ports for an injected uop's purpose. The ports of an accelerator's units are
/// known to the core.
pub fn set_of(to: IssueTo, units: &[AcceleratorUnit]) -> u8 {
    match to {
        IssueTo::Integer => ports::ALU,
        IssueTo::Load => ports::LOAD,
        IssueTo::Branch => ports::BRANCH,
        IssueTo::Unit(number) => {
            units.get(usize::from(number)).map_or(ports::ALU, |unit| unit.port)
        }
    }
}

impl Ports {
    /// All free, at cycle 0.
    pub fn new(family: &'static Family) -> Self {
        let schedulers = &family.schedulers;
        let apart = |bits| Box::new(MemoryScheduler { scheduler: Scheduler::new(), bits });
        Self {
            first: Scheduler::new(),
            memory: schedulers.memory.as_ref().map(apart),
            waiting_for_memory: 0,
            bound: [0; 2],
            schedulers,
        }
    }

    /// The number of a port in the family's own numbering; `None` for no port.
    #[inline(always)]
    pub fn number(&self, port: Port) -> Option<u8> {
        self.schedulers.numbers.get(port.trailing_zeros() as usize).copied()
    }

    /// Uops in the reservation stations at the current allocation cycle.
    #[inline(always)]
    pub fn occupancy(&self) -> u32 {
        self.first.occupancy() + self.waiting_for_memory
    }

    /// Advances allocation to `cycle`; uops issued before it have left.
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
            memory.scheduler.advance(cycle);
            self.waiting_for_memory = memory.scheduler.occupancy();
            self.bound = [0; 2];
        }
    }

    /// The first cycle after the current one in which a waiting uop issues.
    pub fn next_departure(&self) -> u64 {
        let first = self.first.next_departure();
        self.memory.as_ref().map_or(first, |memory| first.min(memory.scheduler.next_departure()))
    }

    /// Loads in the reservation stations.
    #[inline(always)]
    pub fn loads_waiting(&self) -> u32 {
        if self.memory.is_some() { self.loads_apart() } else { self.first.waiting_on(ports::LOAD) }
    }

    #[inline(never)]
    fn loads_apart(&self) -> u32 {
        self.memory.as_ref().map_or(0, |memory| memory.scheduler.waiting_on(memory.bits.load))
    }

    /// The first cycle after the current one in which a load issues.
    #[cold]
    pub fn next_load(&self) -> u64 {
        match &self.memory {
            Some(memory) => memory.scheduler.next_departure_from(memory.bits.load),
            None => self.first.next_departure_from(ports::LOAD),
        }
    }

    /// Binds a uop to one port of a set ([`Scheduler::bind`]).
    #[inline(always)]
    pub fn bind(&mut self, set: u8, slot: u32) -> Port {
        if self.memory.is_some() {
            return self.bind_apart(set);
        }
        Port::from(self.first.bind(set, slot))
    }

    #[inline(never)]
    fn bind_apart(&mut self, set: u8) -> Port {
        let alu = self.schedulers.alu;
        let (scheduler, to_memory, bits) = match (&mut self.memory, set) {
            (Some(memory), ports::LOAD) => (&mut memory.scheduler, true, memory.bits.load),
            (Some(memory), ports::STORE_DATA) => {
                (&mut memory.scheduler, true, memory.bits.store_data)
            }
            (Some(memory), ports::STORE_ADDRESS) => {
                (&mut memory.scheduler, true, memory.bits.store_address)
            }
            (_, ports::ALU) => (&mut self.first, false, alu),
            (_, other) => (&mut self.first, false, other),
        };
        let bound = &mut self.bound[usize::from(to_memory)];
        let free = bits & !*bound;
        let port = scheduler.bind(if free == 0 { bits } else { free }, 0);
        *bound |= port;
        Port::from(port) << (8 * u32::from(to_memory))
    }

    /// Issues a uop bound to `port` ([`Scheduler::issue`]).
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
        let issued = memory.scheduler.issue((port >> 8) as u8, ready);
        self.waiting_for_memory = memory.scheduler.occupancy();
        issued
    }
}

/// A unit added by an accelerator.
pub struct AcceleratorUnit {
    /// Its port, as a set in a uop.
    pub port: u8,
    /// When it is busy.
    pub busy: BusyUnit,
}

impl AcceleratorUnit {
    /// The unit, idle; an error if the family has no unit on that port.
    pub fn new(unit: accel::Unit, family: &Family) -> Result<Self, ConfigError> {
        let Some(port) = family.unit_port(unit.port) else {
            let rule = format!("core family {} has no unit on that port", family.name);
            return Err(ConfigError::rule("port of the accelerator", unit.port, &rule, "try 1"));
        };
        Ok(Self { port, busy: BusyUnit::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ports that uops of a set use in one cycle when more uops come than the set has ports.
    fn taken(family: &'static Family, set: u8) -> Vec<u8> {
        let mut all = Ports::new(family);
        let mut seen = Vec::new();
        for slot in 0..24 {
            let port = all.bind(set, slot);
            if all.issue(port, 10) == 10 {
                seen.extend(all.number(port));
            }
            all.advance(u64::from(slot / 8));
        }
        seen.sort_unstable();
        seen
    }

    fn golden_cove() -> &'static Family {
        Family::find("goldencove").unwrap()
    }

    #[test]
    fn a_unit_sits_on_a_port_that_the_family_has_units_on() {
        let unit = |family, port| AcceleratorUnit::new(accel::Unit { port }, family);
        assert_eq!(unit(golden_cove(), 11).unwrap().port, 1 << 7);
        let error = unit(golden_cove(), 3).err().unwrap().0;
        assert!(error.contains("port of the accelerator = 3: core family goldencove"), "{error}");
    }

    #[test]
    fn golden_coves_sets_are_its_own_ports() {
        let family = golden_cove();
        assert_eq!(taken(family, ports::ALU), [0, 1, 5, 6, 11]);
        assert_eq!(taken(family, ports::LOAD), [2, 3, 10]);
        assert_eq!(taken(family, ports::STORE_DATA), [4, 9]);
        assert_eq!(taken(family, ports::STORE_ADDRESS), [7, 8]);
        assert_eq!(taken(family, ports::BRANCH), [0, 6]);
        assert_eq!(taken(family, 0b1010_0010), [1, 5, 11]);
    }

    #[test]
    fn haswells_sets_are_their_bits() {
        let family = Family::find("haswell").unwrap();
        assert_eq!(taken(family, ports::ALU), [0, 1, 5, 6]);
        assert_eq!(taken(family, ports::LOAD), [2, 3]);
        assert_eq!(taken(family, ports::STORE_ADDRESS), [2, 3, 7]);
    }

    #[test]
    fn both_schedulers_count_as_one_station() {
        let mut all = Ports::new(golden_cove());
        for set in [ports::ALU, ports::LOAD, ports::STORE_DATA] {
            let port = all.bind(set, 0);
            assert_eq!(all.issue(port, 5), 5);
        }
        assert_eq!((all.occupancy(), all.next_departure()), (3, 6));
        all.advance(6);
        assert_eq!(all.occupancy(), 0);
    }
}
