//! What the hierarchy counts.

/// Declares a group of counters, which can list itself.
macro_rules! counters {
    ($(#[$meta:meta])* $name:ident { $( $(#[doc = $doc:literal])+ $field:ident $unit:literal, )* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $( $(#[doc = $doc])+ pub $field: u64, )*
        }
        impl $name {
            /// Calls `each(name, unit, text, value)` for every counter, in order.
            pub fn for_each(&self, mut each: impl FnMut(&'static str, &'static str, &'static str, u64)) {
                $( each(stringify!($field), $unit, concat!($($doc),+).trim_ascii(), self.$field); )*
            }
        }
    };
}

counters! {
    /// Counters of a cache. `accesses` are demand accesses: of the L1D the loads and stores (each
    /// half of a split one), of the L1I the fetches, of the outer levels what the inner ones miss
    /// and what the page walker misses in the L1D. `hits + misses == accesses`.
    CacheStatistics {
        /// Demand accesses.
        accesses "",
        /// Demand accesses that found their line.
        hits "",
        /// Of the hits, those that waited for a line in flight.
        hits_in_flight "",
        /// Demand accesses that did not find their line.
        misses "",
        /// Lines that prefetchers brought into this cache.
        prefetches "",
        /// Prefetched lines that a later access used.
        prefetches_useful "",
        /// Of the useful ones, those still in flight at their first use.
        prefetches_late "",
        /// Dirty lines handed to the next level.
        writebacks "",
        /// Lines that made room for another.
        evictions "",
    }
}

counters! {
    /// Counters of a TLB. `hits + misses == accesses`.
    TlbStatistics {
        /// Translations asked for.
        accesses "",
        /// Found here.
        hits "",
        /// Not found here.
        misses "",
    }
}

counters! {
    /// Counters of the page walker.
    WalkStatistics {
        /// Walks.
        walks "",
        /// Cycles from the start of a walk to its end, over all walks (timed calls only).
        cycles "cycles",
        /// Page-table entries found in the L1D.
        reads_l1d "",
        /// Page-table entries found in the L2.
        reads_l2 "",
        /// Page-table entries found in a level between the L2 and the last-level cache.
        reads_l3 "",
        /// Page-table entries found in the LLC.
        reads_llc "",
        /// Page-table entries read from memory.
        reads_dram "",
        /// First touches of a page.
        page_faults "",
    }
}

counters! {
    /// Counters of memory.
    DramStatistics {
        /// Lines read.
        reads "lines",
        /// Lines written.
        writes "lines",
        /// Reads that found their row open.
        row_hits "",
    }
}

/// A cache level beyond the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelStatistics {
    /// Its name in the machine file.
    pub name: String,
    /// Its counters.
    pub cache: CacheStatistics,
}

/// All counters of the hierarchy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryStatistics {
    /// First-level instruction cache.
    pub l1i: CacheStatistics,
    /// First-level data cache.
    pub l1d: CacheStatistics,
    /// The levels beyond the first, from the inside out.
    pub levels: Vec<LevelStatistics>,
    /// Instruction TLB.
    pub itlb: TlbStatistics,
    /// Data TLB.
    pub dtlb: TlbStatistics,
    /// Second-level TLB.
    pub stlb: TlbStatistics,
    /// Page walker.
    pub walk: WalkStatistics,
    /// Memory.
    pub dram: DramStatistics,
}

impl MemoryStatistics {
    /// Calls `each(group, name, unit, text, value)` for every counter, in order. The group of a
    /// level is its name in lower case.
    pub fn for_each(
        &self,
        mut each: impl FnMut(&str, &'static str, &'static str, &'static str, u64),
    ) {
        let levels = self.levels.iter().map(|level| (level.name.to_lowercase(), &level.cache));
        let first = [("l1i", &self.l1i), ("l1d", &self.l1d)];
        let first = first.map(|(group, cache)| (group.to_owned(), cache));
        for (group, cache) in first.into_iter().chain(levels) {
            cache.for_each(|name, unit, text, value| each(&group, name, unit, text, value));
        }
        for (group, tlb) in [("itlb", &self.itlb), ("dtlb", &self.dtlb), ("stlb", &self.stlb)] {
            tlb.for_each(|name, unit, text, value| each(group, name, unit, text, value));
        }
        self.walk.for_each(|name, unit, text, value| each("walk", name, unit, text, value));
        self.dram.for_each(|name, unit, text, value| each("dram", name, unit, text, value));
    }
}
