//! Stores in flight: forwarding to loads, and which loads may issue ahead of them.

/// Remembered stores: a power of two, at least the store queue's length.
const RING: usize = 128;
/// Index from 8-byte granule to the youngest store that wrote it. Direct-mapped; a collision can
/// lose a forwarding, but never creates one.
const INDEX: usize = 1024;
/// Load predictor entries, indexed by the low 8 bits of the load's address (J. Doweck, "Inside
/// Intel Core Microarchitecture and Smart Memory Access", 2006: a hashed table of saturating
/// counters; T. Downs, "Memory Disambiguation on Skylake": these bits, found by probing).
const PREDICTOR: usize = 256;
/// A load issues ahead of unknown store addresses once it has been right this often ([IOM] memory
/// disambiguation: a saturating counter for each load, reset by a violation). The counters start
/// here: with so few entries, whatever ran before has trained them.
const CONFIDENT: u8 = 15;

#[derive(Clone, Copy, Default)]
struct Store {
    addr: u64,
    size: u64,
    /// Issue cycle of the address and of the data.
    address_issued: u64,
    data_issued: u64,
    /// Cycle in which the store has written the cache.
    written: u64,
}

/// What a load finds among the older stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Older {
    /// No store in flight overlaps: the load reads the cache.
    None,
    /// The youngest overlapping store covers the load: the data issued at this cycle.
    Forward {
        /// Issue cycle of the store's data.
        data_issued: u64,
        /// Issue cycle of the store's address.
        address_issued: u64,
    },
    /// It overlaps without covering: the load waits until the store has written.
    Wait {
        /// Cycle in which the store has written.
        written: u64,
    },
}

/// The store queue's contents as far as they concern loads.
pub struct Stores {
    ring: [Store; RING],
    count: u64,
    index: Vec<(u64, u64)>,
    confidence: Vec<u8>,
    /// Latest issue cycle among all store addresses so far.
    addresses_known: u64,
}

impl Default for Stores {
    fn default() -> Self {
        Self::new()
    }
}

impl Stores {
    /// No stores.
    pub fn new() -> Self {
        Self {
            ring: [Store::default(); RING],
            count: 0,
            index: vec![(u64::MAX, 0); INDEX],
            confidence: vec![CONFIDENT; PREDICTOR],
            addresses_known: 0,
        }
    }

    /// A store enters, in program order and with all its times.
    #[inline]
    pub fn push(
        &mut self,
        addr: u64,
        size: u8,
        address_issued: u64,
        data_issued: u64,
        written: u64,
    ) {
        let size = u64::from(size.max(1));
        self.ring[self.count as usize % RING] =
            Store { addr, size, address_issued, data_issued, written };
        for granule in addr >> 3..=(addr + size - 1) >> 3 {
            self.index[granule as usize % INDEX] = (granule, self.count);
        }
        self.count += 1;
        self.addresses_known = self.addresses_known.max(address_issued);
    }

    /// The youngest store in flight at `cycle` that overlaps the load.
    #[inline]
    pub fn older(&self, addr: u64, size: u8, cycle: u64) -> Older {
        let size = u64::from(size.max(1));
        let end = addr + size;
        let mut youngest: Option<u64> = None;
        for granule in addr >> 3..=(end - 1) >> 3 {
            let (tag, number) = self.index[granule as usize % INDEX];
            if tag != granule {
                continue;
            }
            let found = self.overlapping(number, addr, end, cycle);
            youngest = youngest.max(found);
        }
        let Some(number) = youngest else { return Older::None };
        let store = &self.ring[number as usize % RING];
        if store.addr <= addr && end <= store.addr + store.size {
            Older::Forward { data_issued: store.data_issued, address_issued: store.address_issued }
        } else {
            Older::Wait { written: store.written }
        }
    }

    /// The youngest store from `newest` backwards that overlaps and has not written by `cycle`.
    /// Usually this is `newest` itself; another store in the same granule requires a search of the
    /// queue.
    #[inline]
    fn overlapping(&self, newest: u64, addr: u64, end: u64, cycle: u64) -> Option<u64> {
        let mut number = newest;
        while self.count - number <= RING as u64 {
            let store = &self.ring[number as usize % RING];
            if store.written <= cycle {
                return None; // stores write in order: older ones have written too
            }
            if store.addr < end && addr < store.addr + store.size {
                return Some(number);
            }
            number = number.checked_sub(1)?;
        }
        None
    }

    /// Earliest issue of the load at `pc`: any cycle when it is trusted, otherwise the cycle after
    /// all older store addresses are known.
    #[inline]
    pub fn may_go(&self, pc: u64) -> u64 {
        if self.trusts(pc) { 0 } else { self.addresses_known + 1 }
    }

    fn trusts(&self, pc: u64) -> bool {
        self.confidence[pc as usize % PREDICTOR] >= CONFIDENT
    }

    /// The load at `pc` is done: `conflict` says that an older store to the same location had no
    /// address yet when the load was ready to issue. True if the load issued nevertheless: a
    /// violation.
    #[inline]
    pub fn resolve(&mut self, pc: u64, conflict: bool) -> bool {
        let counter = &mut self.confidence[pc as usize % PREDICTOR];
        if conflict {
            let violated = *counter >= CONFIDENT;
            *counter = 0;
            violated
        } else {
            *counter = (*counter + 1).min(CONFIDENT);
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_inside_the_youngest_overlapping_store_is_forwarded() {
        let mut stores = Stores::new();
        stores.push(0x100, 8, 5, 9, 50);
        stores.push(0x100, 4, 6, 12, 51);
        let forward = |data_issued, address_issued| Older::Forward { data_issued, address_issued };
        assert_eq!(stores.older(0x102, 2, 20), forward(12, 6), "inside the younger");
        assert_eq!(stores.older(0x104, 4, 20), forward(9, 5), "inside the older only");
        assert_eq!(stores.older(0x100, 8, 20), Older::Wait { written: 51 }, "partly younger");
        assert_eq!(stores.older(0x108, 8, 20), Older::None);
        assert_eq!(stores.older(0x102, 2, 51), Older::None, "both have written");
    }

    #[test]
    fn the_oldest_of_a_full_queue_is_still_found() {
        // 114 stores in flight: the store queue of Golden Cove, the longest of all.
        let mut stores = Stores::new();
        for i in 0..114 {
            stores.push(0x1000 + 8 * i, 8, i, i + 1, 999);
        }
        let first = Older::Forward { data_issued: 1, address_issued: 0 };
        assert_eq!(stores.older(0x1000, 8, 200), first);
    }

    #[test]
    fn an_unaligned_store_is_found_through_either_granule() {
        let mut stores = Stores::new();
        stores.push(0x104, 8, 1, 2, 99);
        assert_ne!(stores.older(0x104, 1, 3), Older::None);
        assert_ne!(stores.older(0x10b, 1, 3), Older::None);
        assert_eq!(stores.older(0x10c, 1, 3), Older::None);
        assert_eq!(stores.older(0x103, 1, 3), Older::None);
    }

    #[test]
    fn a_load_is_distrusted_after_a_violation_until_fifteen_peaceful_runs() {
        let mut stores = Stores::new();
        stores.push(0x100, 8, 40, 41, 99);
        assert_eq!(stores.may_go(7), 0, "trusted at first");
        assert!(stores.resolve(7, true), "it had gone ahead");
        for _ in 0..CONFIDENT {
            assert_eq!(stores.may_go(7), 41, "waits for the store's address, issued in 40");
            assert!(!stores.resolve(7, false));
        }
        assert_eq!(stores.may_go(7), 0);
        assert!(stores.resolve(7, true));
        assert!(!stores.resolve(7, true), "it waited: no violation");
    }

    #[test]
    fn loads_whose_addresses_agree_in_eight_bits_share_a_counter() {
        let mut stores = Stores::new();
        stores.push(0x100, 8, 40, 41, 99);
        stores.resolve(0x4007, true);
        assert_eq!(stores.may_go(0x9907), 41);
        assert_eq!(stores.may_go(0x9908), 0);
    }
}
