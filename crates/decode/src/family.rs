//! The core families: everything that distinguishes them, as data.
//!
//! A family consists of its instruction tables (`data/*.tsv`), the meaning of the port sets in
//! them, and the grouping of its ports into schedulers. No other code may ask which family it has:
//! every difference is a field here, which the code reads. To add a family, add its tables and one
//! entry.
//!
//! In uops, port sets are named by purpose, [`ports::LOAD`] and so on, for every family, so that
//! accelerators and the rules about the shape of instructions are independent of the family. A
//! [`Family`] maps sets of its own tables to these, and tells a core which physical ports they are.

/// Port sets with a special purpose. All other sets are arithmetic ports.
pub mod ports {
    /// Loads; on some families also the addresses of stores with an index register.
    pub const LOAD: u8 = 0b0000_1100;
    /// Store addresses.
    pub const STORE_ADDRESS: u8 = 0b1000_1100;
    /// Store data.
    pub const STORE_DATA: u8 = 0b0001_0000;
    /// Every port with an integer unit.
    pub const ALU: u8 = 0b0110_0011;
    /// Conditional branches.
    pub const BRANCH: u8 = 0b0100_0001;
    /// Every port with a vector unit.
    pub const VECTOR: u8 = 0b0010_0011;
    /// The port of the shuffle unit.
    pub const P5: u8 = 0b0010_0000;
    /// The port of the divider.
    pub const P0: u8 = 0b0000_0001;
    /// The port of the integer multiplier and the vector adder.
    pub const P1: u8 = 0b0000_0010;
}

/// A core family.
#[derive(Debug)]
pub struct Family {
    /// Its name in machine files.
    pub name: &'static str,
    /// Its instruction tables; later ones replace rows of earlier ones.
    pub(crate) tables: &'static [&'static str],
    /// The family that provides the rows of forms that its own tables lack.
    pub(crate) base: Option<&'static Family>,
    /// Port sets in its tables (bit n = port n) with a special purpose, and the set of that
    /// purpose.
    pub(crate) purposes: &'static [(u16, u8)],
    /// For every other set in its tables: its ports by number, each with the bit that stands for it
    /// in a uop.
    pub(crate) units: &'static [(u8, u8)],
    /// Where the address uop of a store with an index register issues.
    pub(crate) indexed_store_address: u8,
    /// Decoders. If the first takes an instruction of several uops, all together deliver at most as
    /// many uops as there are decoders.
    pub(crate) decoders: u8,
    /// How the ports are grouped.
    pub schedulers: Schedulers,
}

/// The schedulers of a family and the ports that they issue to.
#[derive(Debug)]
pub struct Schedulers {
    /// Bits of [`ports::ALU`] in the arithmetic scheduler.
    pub alu: u8,
    /// Set if memory ports have a separate scheduler; otherwise all sets are used as they are in
    /// the uops.
    pub memory: Option<MemoryPorts>,
    /// Port numbers of the first scheduler's bits, then of the memory scheduler's.
    pub numbers: [u8; 16],
}

/// The memory port sets in the memory scheduler.
#[derive(Debug)]
pub struct MemoryPorts {
    /// Bits of [`ports::LOAD`].
    pub load: u8,
    /// Bits of [`ports::STORE_ADDRESS`].
    pub store_address: u8,
    /// Bits of [`ports::STORE_DATA`].
    pub store_data: u8,
}

/// Eight ports and one scheduler. The sets in uops are this family's own.
static HASWELL: Family = Family {
    name: "haswell",
    // uops.info's measurements, plus forms that they lack.
    tables: &[include_str!("../data/haswell.tsv"), include_str!("../data/haswell_more.tsv")],
    base: None,
    purposes: &[],
    units: &[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7)],
    // Port 7 has only a simple address unit: no index (Intel optimisation manual, table 2-17).
    indexed_store_address: ports::LOAD,
    decoders: 4,
    schedulers: Schedulers {
        alu: ports::ALU,
        memory: None,
        numbers: [0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0],
    },
};

/// Twelve ports. The tables name them as Intel's event counters do: 0, 1, 5, 6 and b (11) for
/// arithmetic, 2, 3 and a (10) for loads, 7 and 8 for store addresses, 4 and 9 for store data.
/// Twelve bits do not fit into the one byte per cycle, so memory ports have a separate scheduler
/// here, as in the hardware:
///
/// ```text
///   set in the uop            scheduler  its bits
///   LOAD                      memory     1 to 3   ports 10, 2, 3
///   STORE_DATA                memory     4, 5     ports 4, 9
///   STORE_ADDRESS             memory     6, 7     ports 8, 7
///   ALU                       arithmetic 0, 1, 5, 6, 7   ports 0, 1, 5, 6, 11
///   any other                 arithmetic its own, bit 7 for port 11
/// ```
static GOLDEN_COVE: Family = Family {
    name: "goldencove",
    // LLVM's scheduling model, plus better measured values. Its tables have rows without uops for
    // additions of small immediates, which rename executes.
    tables: &[include_str!("../data/goldencove.tsv"), include_str!("../data/goldencove_more.tsv")],
    base: Some(&HASWELL),
    purposes: &[
        (0b0100_0000_1100, ports::LOAD),
        (0b0001_1000_0000, ports::STORE_ADDRESS),
        (0b0010_0001_0000, ports::STORE_DATA),
        (0b1000_0110_0011, ports::ALU),
    ],
    units: &[(0, 0), (1, 1), (5, 5), (6, 6), (11, 7)],
    indexed_store_address: ports::STORE_ADDRESS,
    // The core has six decoders; the rules for multi-uop instructions were found on Haswell's four.
    decoders: 4,
    schedulers: Schedulers {
        alu: 0b1110_0011,
        memory: Some(MemoryPorts {
            load: 0b0000_1110,
            store_address: 0b1100_0000,
            store_data: 0b0011_0000,
        }),
        numbers: [0, 1, 2, 3, 4, 5, 6, 11, 0, 10, 2, 3, 4, 9, 8, 7],
    },
};

/// All families.
static FAMILIES: [&Family; 2] = [&HASWELL, &GOLDEN_COVE];

impl Family {
    /// All families.
    pub fn all() -> &'static [&'static Family] {
        &FAMILIES
    }

    /// The family of that name.
    pub fn find(name: &str) -> Option<&'static Family> {
        Self::all().iter().copied().find(|family| family.name == name)
    }

    /// The uop port set for the port with this number; `None` if the family has no such port or if
    /// only the memory pipeline uses it.
    pub fn unit_port(&self, number: u8) -> Option<u8> {
        let (_, bit) = self.units.iter().find(|(port, _)| *port == number)?;
        Some(1 << bit)
    }

    /// The numbers of all ports, in order.
    pub fn ports(&self) -> Vec<u8> {
        let arithmetic = self.units.iter().map(|(port, _)| *port);
        let memory = self
            .schedulers
            .memory
            .as_ref()
            .map_or(0, |memory| memory.load | memory.store_address | memory.store_data);
        let memory = (0..8).filter(|bit| memory >> bit & 1 == 1);
        let memory = memory.map(|bit| self.schedulers.numbers[8 + bit]);
        let mut ports: Vec<u8> = arithmetic.chain(memory).collect();
        ports.sort_unstable();
        ports
    }

    /// The uop port set for a set of the family's tables, which has one bit per port number.
    pub(crate) fn set(&self, mask: u16) -> Option<u8> {
        if let Some((_, set)) = self.purposes.iter().find(|(of, _)| *of == mask) {
            return Some(*set);
        }
        let mut set = 0;
        for number in (0..16).filter(|number| mask >> number & 1 == 1) {
            set |= self.unit_port(number)?;
        }
        Some(set)
    }
}

impl PartialEq for Family {
    /// Names are unique, so comparing them is enough.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Family {}

/// The family for machine files that do not name one.
impl Default for &'static Family {
    fn default() -> Self {
        &HASWELL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (at, family) in Family::all().iter().enumerate() {
            assert!(Family::all()[..at].iter().all(|other| other.name != family.name));
            assert_eq!(Family::find(family.name), Some(*family));
        }
        assert_eq!(Family::find("hasvell"), None);
    }

    #[test]
    fn ports_are_numbered_as_the_manufacturer_does() {
        let ports = |name| Family::find(name).unwrap().ports();
        assert_eq!(ports("haswell"), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(ports("goldencove"), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    }

    #[test]
    fn every_port_of_a_purpose_has_a_number_of_its_own() {
        for family in Family::all() {
            let Some(memory) = &family.schedulers.memory else { continue };
            let numbers = |bits: u8, from: u32| {
                let set = (0..8).filter(move |bit| bits >> bit & 1 == 1);
                set.map(move |bit| family.schedulers.numbers[(from + bit) as usize])
            };
            let mut all: Vec<u8> = numbers(family.schedulers.alu, 0)
                .chain(numbers(memory.load | memory.store_address | memory.store_data, 8))
                .collect();
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count, "{}", family.name);
            assert_eq!(memory.load & (memory.store_address | memory.store_data), 0);
        }
    }
}
