//! What the hierarchy counts.

use stats::{Counts, Walk, counters};

counters! {
    /// Counters of a cache. `accesses` are demand accesses: of the L1D the loads and stores (each
    /// half of a split one), of the L1I the fetches, of the outer levels what the inner ones miss
    /// and what the page walker misses in the L1D. `hits + misses == accesses`.
    pub struct CacheStatistics = Head::list("cache", "caches")
        .title("caches, demand accesses")
        .about(
            "One cache. Accesses are demand accesses: of the L1D the loads and stores (each half \
             of a split one), of the L1I the fetches, of the outer levels what the inner ones miss \
             and what the page walker misses in the L1D.",
        )
        .balanced("hits + misses", "accesses");

    /// Demand accesses.
    accesses: Accesses,
    /// Demand accesses that found their line.
    hits: Accesses,
    /// Of the hits, those that waited for a line in flight.
    hits_in_flight: Accesses [since(2)],
    /// Demand accesses that did not find their line.
    misses: Accesses,
    /// Dirty lines handed to the next level.
    writebacks: Lines,
    /// Lines that prefetchers brought into this cache.
    prefetches: Lines,
    /// Prefetched lines that a later demand access used.
    prefetch_hits: Lines,
    /// Of the used ones, those still in flight at their first use.
    prefetches_late: Lines [since(2)],
    /// Lines that made room for another.
    evictions: Lines [since(2)],
    /// Prefetched lines that left without having been used.
    prefetches_unused: Lines [since(3)],
    /// Share of the demand accesses that hit.
    hit_rate: Fraction = "hits / accesses" [hit_rate()],
    /// Demand misses per 1,000 instructions.
    mpki: PerThousandInstructions = "1000 * (misses / core.instructions)" [miss_rate()],
    /// Share of the prefetched lines that were used, of those that were either used or lost.
    prefetch_accuracy: Fraction = "prefetch_hits / (prefetch_hits + prefetches_unused)",
}

counters! {
    /// Counters of a TLB. `hits + misses == accesses`.
    pub struct TlbStatistics = Head::list("tlb", "tlbs")
        .title("translation buffers")
        .about("One translation buffer.")
        .balanced("hits + misses", "accesses");

    /// Translations requested.
    accesses: Accesses,
    /// Translations found.
    hits: Accesses,
    /// Translations not found.
    misses: Accesses,
    /// Share of the translations that were found.
    hit_rate: Fraction = "hits / accesses" [hit_rate()],
    /// Misses per 1,000 instructions.
    mpki: PerThousandInstructions = "1000 * (misses / core.instructions)" [miss_rate()],
}

counters! {
    /// Counters of the page walker.
    pub struct WalkStatistics = Head::one("walk")
        .key("page_walker")
        .title("page walker")
        .about("The page walker.")
        .since(2);

    /// Walks.
    walks: Count,
    /// Cycles from the start of a walk to its end, over all walks (timed calls only).
    cycles: Cycles,
    /// Page-table entries found in the L1D.
    reads_l1d: Accesses,
    /// Page-table entries found in the L2.
    reads_l2: Accesses,
    /// Page-table entries found in a level between the L2 and the last-level cache.
    reads_l3: Accesses,
    /// Page-table entries found in the LLC.
    reads_llc: Accesses,
    /// Page-table entries read from memory.
    reads_dram: Accesses,
    /// First touches of a page.
    page_faults: Count,
}

counters! {
    /// Counters of memory.
    pub struct DramStatistics = Head::one("dram").title("DRAM").about("Memory.").since(2);

    /// Lines read.
    reads: Lines,
    /// Lines written.
    writes: Lines,
    /// Reads that found their row open.
    row_hits: Lines,
    /// Share of the reads that found their row open.
    row_hit_rate: Fraction = "row_hits / reads",
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
    /// The levels beyond the first, innermost first.
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

impl Counts for MemoryStatistics {
    fn visit(&self, walk: &mut Walk<'_>) {
        walk.named("L1I", &self.l1i);
        walk.named("L1D", &self.l1d);
        for level in &self.levels {
            walk.named(&level.name, &level.cache);
        }
        walk.named("ITLB", &self.itlb);
        walk.named("DTLB", &self.dtlb);
        walk.named("STLB", &self.stlb);
        walk.one(&self.walk);
        walk.one(&self.dram);
    }
}
