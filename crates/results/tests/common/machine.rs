//! A made-up machine that counts, with declarations of its own: nothing here is a model's.

use stats::{Counts, Layout, Schema, Values, Walk, counters};

counters! {
    /// Cycles by cause.
    pub struct Cpi = Head::one("cpi").key("cpi_stack").title("CPI stack").about("Causes.")
        .parts_of("cycles")
        .since(2);

    /// Of the core.
    base: Cycles,
    /// Of loads.
    data_cache: Cycles,
    /// Of branches.
    branches: Cycles,
}

counters! {
    /// A cache.
    pub struct Cache = Head::list("cache", "caches").title("caches").about("One cache.")
        .balanced("hits + misses", "accesses");

    /// Accesses.
    accesses: Accesses,
    /// Found.
    hits: Accesses,
    /// Not found.
    misses: Accesses,
    /// Written back.
    writebacks: Lines,
    /// Fetched ahead.
    prefetches: Lines,
    /// Fetched ahead and used.
    prefetch_hits: Lines,
    /// Replaced.
    evictions: Lines [since(2)],
    /// Share found.
    hit_rate: Fraction = "hits / accesses" [hit_rate()],
    /// Misses per 1,000 instructions.
    mpki: PerThousandInstructions = "1000 * (misses / instructions)" [miss_rate()],
    /// Share used.
    prefetch_accuracy: Fraction = "prefetch_hits / prefetches",
}

counters! {
    /// A translation buffer.
    pub struct Tlb = Head::list("tlb", "tlbs").title("translation buffers").about("One of them.")
        .balanced("hits + misses", "accesses");

    /// Asked for.
    accesses: Accesses,
    /// Found.
    hits: Accesses,
    /// Not found.
    misses: Accesses,
    /// Share found.
    hit_rate: Fraction = "hits / accesses" [hit_rate()],
    /// Misses per 1,000 instructions.
    mpki: PerThousandInstructions = "1000 * (misses / instructions)" [miss_rate()],
}

counters! {
    /// Branches.
    pub struct Predictor = Head::one("predictor").title("branches").about("The predictor.");

    /// Conditional ones.
    conditional: Branches,
    /// Of them, wrong.
    conditional_mispredicted: Branches,
    /// Indirect ones.
    indirect: Branches,
    /// Of them, wrong.
    indirect_mispredicted: Branches,
    /// Returns.
    returns: Branches,
    /// Of them, wrong.
    returns_mispredicted: Branches,
    /// Share right.
    accuracy: Fraction = "1 - conditional_mispredicted / conditional"
        [hit_rate(), called("directions right")],
    /// Wrong per 1,000 instructions.
    mpki: PerThousandInstructions =
        "1000 * ((conditional_mispredicted + indirect_mispredicted + returns_mispredicted) / instructions)"
        [miss_rate(), called("branches")],
}

counters! {
    /// A device.
    pub struct MallocCache = Head::one("malloc_cache").title("malloc cache").about("A device.");

    /// Lookups that hit.
    lookup_hits: Count,
    /// Lookups that missed.
    lookup_misses: Count,
    /// Share of the lookups that hit.
    lookup_hit_rate: Fraction = "lookup_hits / (lookup_hits + lookup_misses)"
        [summary("lookups that hit")],
    /// Pops that hit.
    pop_hits: Count,
    /// Pops that missed.
    pop_misses: Count,
    /// Share of the pops that hit.
    pop_hit_rate: Fraction = "pop_hits / (pop_hits + pop_misses)" [summary("pops that hit")],
    /// Pushes.
    pushes: Count,
    /// Prefetches.
    prefetches: Count,
    /// Entries replaced.
    evictions: Count [summary("evictions")],
    /// Entries dropped.
    invalidations: Count,
    /// Times emptied.
    flushes: Count,
    /// Cycles waited.
    blocked_cycles: Cycles [summary("blocked cycles")],
    /// Pops that returned a wrong pointer.
    invariant_violations: Count [fault()],
}

/// What a machine of the tests counted; every part may be missing.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    pub cpi: Option<Cpi>,
    pub caches: Vec<(String, Cache)>,
    pub tlbs: Vec<(String, Tlb)>,
    pub predictor: Option<Predictor>,
    pub malloc_cache: Option<MallocCache>,
}

impl Counts for Machine {
    fn visit(&self, walk: &mut Walk<'_>) {
        self.cpi.iter().for_each(|counters| walk.one(counters));
        self.caches.iter().for_each(|(name, cache)| walk.named(name, cache));
        self.tlbs.iter().for_each(|(name, tlb)| walk.named(name, tlb));
        self.predictor.iter().for_each(|counters| walk.one(counters));
        self.malloc_cache.iter().for_each(|counters| walk.one(counters));
    }
}

impl Machine {
    /// Its values.
    pub fn values(&self) -> Values {
        Layout::of(self).values(&stats::Reading::of(self))
    }

    /// Its declarations.
    pub fn schema(&self) -> Schema {
        Layout::of(self).schema()
    }

    /// One with every part, whose caches and translation buffers have these names.
    pub fn whole(caches: &[&str], tlbs: &[&str]) -> Self {
        Self {
            cpi: Some(Cpi::default()),
            caches: caches.iter().map(|name| ((*name).to_owned(), Cache::default())).collect(),
            tlbs: tlbs.iter().map(|name| ((*name).to_owned(), Tlb::default())).collect(),
            predictor: Some(Predictor::default()),
            malloc_cache: Some(MallocCache::default()),
        }
    }
}

/// Everything that the machines of the tests can count.
pub fn declared() -> Schema {
    Machine::whole(&["L1I", "L1D", "L2", "LLC"], &["ITLB", "DTLB", "STLB"]).schema()
}
