//! Mallacc: the malloc cache and the sampling counter (paper, section 4; corrections in
//! `docs/isa.md`). The pure state is in `mcache`; this file adds the timing.
//!
//! Timing: every instruction of the interface is one uop of the malloc-cache unit (plus moves or a
//! load); the list instructions are chained through one invisible register; an entry whose prefetch
//! is outstanding blocks the list instructions of its class until the line has arrived.

use decode::Reg;
use mcache::area::{Estimate, Storage, TECHNOLOGY, synthesised};
use mcache::{Config, ENTRIES_MAX, Fill, Issue, MallocCache, Pop};
use params::{ConfigError, Param, ParamDoc, params, toml};
use stats::counters;
use stream::MarkerOp;

use crate::area::{Area, NM_28, Source};
use crate::{
    Ablations, Accelerator, Checks, Completed, Fallback, InjectKind, Injected, IssueTo, Marker,
    Model, Reply, Setting, Unit,
};

params! {
    /// The malloc cache and its instructions.
    pub struct MallaccParams {
        /// Entries of the malloc cache (paper: 16; its sweep goes from 2 to 32).
        entries: u8 = 16, "", 1..=i64::from(ENTRIES_MAX);
        /// Ranges of class indices instead of requested sizes (paper, section 4.1).
        index: bool = true, "";
        /// Size-class part: `mcszlookup`, `mcszupdate`.
        size_class: bool = true, "";
        /// List part: `mchdpop`, `mchdpush`, `mcnxtprefetch`, `mchdprefetch`.
        list: bool = true, "";
        /// Sampling part: a performance counter replaces the check.
        sampling: bool = true, "";
        /// Access of the malloc cache (the authors' model: 1, and 1 for the index).
        access: u32 = 1, "cycles";
        /// Class index computation, when `index` is on.
        index_access: u32 = 1, "cycles";
        /// The unit takes an instruction every so many cycles (the authors' model: 2).
        interval: u8 = 2, "cycles";
        /// Port of the unit (the authors' model: 1).
        port: u8 = 1, "";
        /// Count the conditional branch to the software fallback after a lookup and a pop.
        fallback_branch: bool = true, "";
        /// Width of Head and Next (paper: 48).
        pointer_bits: u8 = 48, "bits", 16..=64;
        /// Bytes between samples taken by the counter; 0 = sampling not configured, as in the
        /// paper's runs.
        sample_period: u32 = 0, "B";
        /// Interrupt for a sample (the authors measured about 9,983).
        sample_cost: u32 = 9983, "cycles";
    }
}

/// The number of entries that the paper settles on (section 6.2).
const SETTLED_ENTRIES: i64 = 16;
/// Enough entries for all size classes in use (section 6.1): ablations compare the parts, not the
/// size.
const AMPLE_ENTRIES: i64 = 32;
counters! {
    /// Counters of the malloc cache.
    pub struct MallocCacheCounters = Head::one("malloc_cache")
        .title("malloc cache")
        .about("The malloc cache.");

    /// Size-class lookups (`mcszlookup`) that found their class.
    lookup_hits: Count,
    /// Size-class lookups that did not find their class.
    lookup_misses: Count,
    /// Share of the lookups that hit.
    lookup_hit_rate: Fraction = "lookup_hits / (lookup_hits + lookup_misses)"
        [summary("lookups that hit")],
    /// Pops (`mchdpop`) that found Head and Next.
    pop_hits: Count,
    /// Pops that did not find both.
    pop_misses: Count,
    /// Share of the pops that hit.
    pop_hit_rate: Fraction = "pop_hits / (pop_hits + pop_misses)" [summary("pops that hit")],
    /// Pushes (`mchdpush`).
    pushes: Count,
    /// Prefetches after pops (`mcnxtprefetch`, `mchdprefetch`).
    prefetches: Count,
    /// Entries that made room for another class.
    evictions: Count [summary("evictions")],
    /// Entries whose list values were dropped because the list changed on a slow path.
    invalidations: Count,
    /// Times the whole malloc cache was emptied: context switches and `FLUSH` markers.
    flushes: Count,
    /// Cycles that list instructions waited for an entry's outstanding prefetch.
    blocked_cycles: Cycles [summary("blocked cycles")],
    /// Pops whose cached Head or Next differed from the true ones.
    invariant_violations: Count [fault()],
}

/// Mallacc's registry entry.
pub struct MallaccModel;

impl Model for MallaccModel {
    fn name(&self) -> &'static str {
        "mallacc"
    }
    fn describe(&self) -> &'static str {
        "the malloc cache and sampling counter of the Mallacc paper"
    }
    fn parameters(&self) -> &'static [ParamDoc] {
        MallaccParams::declared()
    }
    fn build(&self, settings: &toml::Value) -> Result<Box<dyn Accelerator>, ConfigError> {
        Ok(Box::new(Mallacc::new(MallaccParams::read(settings, "mallacc")?)?))
    }
    fn defaults(&self) -> toml::Value {
        MallaccParams::default().write()
    }
    fn disabled(&self) -> toml::Value {
        let off = MallaccParams {
            size_class: false,
            list: false,
            sampling: false,
            ..MallaccParams::default()
        };
        off.write()
    }
    fn size(&self) -> Option<&'static str> {
        Some("entries")
    }
    fn usual(&self) -> &'static [&'static [Setting]] {
        &[
            &[("entries", toml::Value::Integer(SETTLED_ENTRIES))],
            &[("entries", toml::Value::Integer(AMPLE_ENTRIES))],
        ]
    }
    fn ablations(&self) -> Option<Ablations> {
        Some(Ablations {
            prefix: "m32",
            settings: &[("entries", toml::Value::Integer(AMPLE_ENTRIES))],
            parts: &["size_class", "list", "sampling"],
            refinements: &["index"],
        })
    }
}

/// The invisible register that orders the list instructions.
const ORDER: Reg = Reg::accelerator(0);
/// Result flag, size-class and list temporaries of injected uops.
const FLAGS: Reg = Reg::accelerator(1);
const FIRST: Reg = Reg::accelerator(2);
/// The unit of the malloc cache.
const CACHE: IssueTo = IssueTo::Unit(0);
/// Token bit: the uop belongs to the unit (else it is a prefetch's load).
const UNIT: u32 = 1 << 8;

struct Mallacc {
    params: MallaccParams,
    latency: u32,
    cache: MallocCache,
    sampler: mcache::Sampler,
    counters: MallocCacheCounters,
    /// The pending lookup hit: its register of the requested size.
    lookup_hit: Option<Reg>,
    /// The pending pop hit: class register, class, and what the cache returned.
    pop_hit: Option<(Reg, u8, u64, u64)>,
    /// Whether the last pop hit.
    popped: bool,
    /// For each class, when its outstanding prefetch arrives.
    blocked_until: [u64; 256],
    /// The `not_before` of the last injected unit uop.
    not_before: u64,
}

impl Mallacc {
    fn new(params: MallaccParams) -> Result<Self, ConfigError> {
        let config = Config {
            entries: params.entries,
            index: params.index,
            pointer_bits: params.pointer_bits,
            ..Config::with_entries(params.entries)
        };
        let cache = MallocCache::new(config).map_err(|e| {
            let rule = format!("must be {} to {}", e.low, e.high);
            let near = format!("try {}", e.value.clamp(e.low, e.high));
            ConfigError::rule(&format!("mallacc.{}", e.what), e.value, &rule, &near)
        })?;
        let mut sampler = mcache::Sampler::default();
        sampler.set_period(params.sample_period);
        Ok(Self {
            latency: params.access + if params.index { params.index_access } else { 0 },
            params,
            cache,
            sampler,
            counters: MallocCacheCounters::default(),
            lookup_hit: None,
            pop_hit: None,
            popped: false,
            blocked_until: [0; 256],
            not_before: 0,
        })
    }

    /// A uop of the malloc-cache unit.
    fn unit(&self, srcs: [Reg; 3], dsts: [Reg; 3]) -> Injected {
        Injected {
            to: CACHE,
            latency: self.latency,
            busy: self.params.interval,
            srcs,
            dsts,
            ..Injected::default()
        }
    }

    /// A list instruction's unit uop: ordered after the previous one, and held while the class's
    /// prefetch is outstanding.
    fn list_unit(&mut self, class: u8, srcs: [Reg; 2], dst: Reg) -> Injected {
        let uop = self.unit([srcs[0], srcs[1], ORDER], [dst, ORDER, Reg::NONE]);
        let not_before = self.blocked_until[usize::from(class)];
        Injected { not_before, token: Some(UNIT | u32::from(class)), ..uop }
    }

    fn mov(src: Reg, dst: Reg) -> Injected {
        Injected {
            to: IssueTo::Integer,
            srcs: [src, Reg::NONE, Reg::NONE],
            dsts: [dst, Reg::NONE, Reg::NONE],
            ..Injected::default()
        }
    }

    fn fallback(&self, taken: bool, reply: &mut Reply) {
        if self.params.fallback_branch {
            reply.fallback = Some(Fallback { taken, flags: FLAGS });
        }
    }

    /// `mcszlookup`: two uops, class and (size, flag).
    fn lookup_uops(&self, size: Reg, class: Reg, alloc_size: Reg, reply: &mut Reply) {
        reply.inject.push(self.unit([size, Reg::NONE, Reg::NONE], [class, FIRST, FLAGS]));
        reply.inject.push(Self::mov(FIRST, alloc_size));
    }

    fn lookup(&mut self, marker: &Marker, reply: &mut Reply) {
        if self.cache.lookup(marker.values[0]).is_some() {
            self.counters.lookup_hits += 1;
            self.lookup_hit = Some(marker.regs[0]);
            reply.elide = Some(MarkerOp::Update);
        } else {
            self.counters.lookup_misses += 1;
            self.lookup_hit = None;
            self.lookup_uops(marker.regs[0], Reg::NONE, Reg::NONE, reply);
            self.fallback(true, reply);
        }
    }

    fn update(&mut self, marker: &Marker, reply: &mut Reply) {
        let [_, alloc_size, class] = marker.regs;
        if let Some(size) = self.lookup_hit.take() {
            self.lookup_uops(size, class, alloc_size, reply);
            self.fallback(false, reply);
            return;
        }
        let [size, allocated, number, _] = marker.values;
        let updated = self.cache.update(size, allocated, number as u32);
        if let Some(evicted) = updated.evicted {
            self.counters.evictions += 1;
            self.blocked_until[usize::from(evicted)] = 0;
        }
        reply.inject.push(self.unit(marker.regs, [Reg::NONE; 3]));
    }

    fn sample(&mut self, marker: &Marker, reply: &mut Reply) {
        reply.elide = Some(MarkerOp::SampleEnd);
        if self.params.sample_period != 0 && self.sampler.add(marker.values[0]) {
            let latency = self.params.sample_cost;
            reply.inject.push(Injected { to: CACHE, latency, ..Injected::default() });
        }
    }

    fn pop(&mut self, marker: &Marker, reply: &mut Reply) {
        let class = marker.values[0] as u8;
        match self.cache.pop(u32::from(class)) {
            Pop::Hit { head, next } => {
                self.counters.pop_hits += 1;
                self.pop_hit = Some((marker.regs[0], class, head, next));
                self.popped = true;
                reply.elide = Some(MarkerOp::PopEnd);
            }
            Pop::Miss | Pop::Wait => {
                self.counters.pop_misses += 1;
                self.pop_hit = None;
                self.popped = false;
                self.pop_uops(marker.regs[0], class, [Reg::NONE; 2], reply);
                self.fallback(true, reply);
            }
        }
    }

    /// `mchdpop`: three uops, the entry through the ordering register, then two moves.
    fn pop_uops(&mut self, reg: Reg, class: u8, results: [Reg; 2], reply: &mut Reply) {
        let mut unit = self.list_unit(class, [reg, Reg::NONE], FIRST);
        unit.dsts[2] = FLAGS;
        reply.inject.push(unit);
        reply.inject.push(Self::mov(FIRST, results[0]));
        reply.inject.push(Self::mov(FIRST, results[1]));
    }

    fn pop_end(&mut self, marker: &Marker, reply: &mut Reply) {
        let Some((reg, class, head, next)) = self.pop_hit.take() else { return };
        if (head, next) != (marker.values[0], marker.values[1]) {
            self.counters.invariant_violations += 1;
        }
        self.pop_uops(reg, class, [marker.regs[0], marker.regs[1]], reply);
        self.fallback(false, reply);
    }

    fn prefetch(&mut self, marker: &Marker, reply: &mut Reply) {
        let [class, head, next, after] = marker.values;
        let class = class as u8;
        self.counters.prefetches += 1;
        let (fill, address, reg, value) = if self.popped {
            (Fill::Next, next, marker.regs[2], after)
        } else {
            (Fill::Head, head, marker.regs[1], next)
        };
        reply.inject.push(self.list_unit(class, [marker.regs[0], reg], FIRST));
        if let Issue::Issued(ticket) = self.cache.prefetch_issue(u32::from(class), fill, address) {
            // Program order: the value is what memory holds now. The entry blocks until it arrives.
            self.cache.prefetch_return(ticket, value);
            reply.inject.push(Injected {
                kind: InjectKind::Prefetch(address),
                to: IssueTo::Load,
                srcs: [reg, FIRST, Reg::NONE],
                token: Some(u32::from(class)),
                ..Injected::default()
            });
        }
    }

    fn push(&mut self, marker: &Marker, reply: &mut Reply) {
        let class = marker.values[0] as u8;
        self.counters.pushes += 1;
        self.cache.push(u32::from(class), marker.values[1]);
        reply.inject.push(self.list_unit(class, [marker.regs[0], marker.regs[1]], Reg::NONE));
    }

    fn invalidate(&mut self, marker: &Marker, reply: &mut Reply) {
        let class = marker.values[0] as u8;
        self.counters.invalidations += 1;
        self.cache.invalidate(u32::from(class));
        reply.inject.push(self.list_unit(class, [marker.regs[0], Reg::NONE], Reg::NONE));
    }
}

impl Accelerator for Mallacc {
    fn units(&self) -> Vec<Unit> {
        vec![Unit { port: self.params.port }]
    }

    fn on_marker(&mut self, marker: &Marker, reply: &mut Reply) {
        let (size_class, list) = (self.params.size_class, self.params.list);
        match marker.op {
            MarkerOp::Lookup if size_class => self.lookup(marker, reply),
            MarkerOp::Update if size_class => self.update(marker, reply),
            // Without the size-class part, the entries still have to be created by something: the
            // list part alone keeps the update (the authors' "real-list" ablation).
            MarkerOp::Update if list => self.update(marker, reply),
            MarkerOp::Sample if self.params.sampling => self.sample(marker, reply),
            MarkerOp::Pop if list => self.pop(marker, reply),
            MarkerOp::PopEnd if list => self.pop_end(marker, reply),
            MarkerOp::Push if list => self.push(marker, reply),
            MarkerOp::Prefetch if list => self.prefetch(marker, reply),
            MarkerOp::Invalidate if list => self.invalidate(marker, reply),
            MarkerOp::Flush if list => {
                self.counters.flushes += 1;
                self.cache.flush_lists();
            }
            _ => {}
        }
        self.not_before = reply.inject.first().map_or(0, |uop| uop.not_before);
    }

    fn completed(&mut self, completed: Completed) {
        let class = (completed.token & 0xff) as usize;
        if completed.token & UNIT == 0 {
            self.blocked_until[class] = completed.done;
        } else {
            self.counters.blocked_cycles += self.not_before.saturating_sub(completed.ready);
        }
    }

    fn context_switch(&mut self) {
        self.counters.flushes += 1;
        self.cache.flush();
        self.lookup_hit = None;
        self.pop_hit = None;
        self.popped = false;
        self.blocked_until = [0; 256];
    }

    fn statistics(&self, walk: &mut stats::Walk<'_>) {
        walk.one(&self.counters);
    }

    fn checks(&self) -> Checks {
        Checks {
            made: self.counters.pop_hits + self.counters.pop_misses,
            failed: self.counters.invariant_violations,
            what: "pops",
            failure: "found a cached Head or Next that was not the true one",
        }
    }

    /// The paper's estimate for any size. The synthesised RTL only at sizes that were synthesised,
    /// without interpolation, and only for the whole unit: it was not synthesised in parts, nor
    /// with the wide keys that a cache without a class index needs.
    fn area(&self) -> Vec<Area> {
        let MallaccParams { entries, pointer_bits, index, .. } = self.params;
        let estimate = Estimate::scaled(entries, pointer_bits, index).total_um2();
        let mut areas = vec![Area {
            source: Source::Estimate,
            method: "the paper's CACTI figures for 16 entries (section 6.4), scaled",
            technology: NM_28,
            um2_min: estimate,
            um2_max: estimate,
        }];
        let MallaccParams { size_class, list, sampling, .. } = self.params;
        let whole = index && size_class && list && sampling;
        let found = synthesised(entries, pointer_bits, Storage::Flop).filter(|_| whole);
        if let Some(synthesis) = found {
            let (low, high) = synthesis.area_28nm_um2;
            areas.push(Area {
                source: Source::Synthesis,
                method: "RTL with flip-flops, cells only",
                technology: TECHNOLOGY,
                um2_min: synthesis.area_um2,
                um2_max: synthesis.area_um2,
            });
            areas.push(Area {
                source: Source::Synthesis,
                method: "RTL with flip-flops, cells only, scaled by cell geometry",
                technology: NM_28,
                um2_min: f64::from(low),
                um2_max: f64::from(high),
            });
        }
        areas
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Choice;
    use crate::area::find;

    fn areas(settings: &str) -> Vec<Area> {
        Choice::parse(&format!("mallacc:{settings}")).unwrap().build().unwrap().area()
    }

    #[test]
    fn a_synthesised_size_states_the_estimate_and_the_rtl_in_the_same_technology() {
        let areas = areas("entries=16");
        let estimate = find(&areas, Source::Estimate, NM_28).unwrap();
        // Section 6.4: CAM 873, SRAM 346, class index 265.
        assert_eq!((estimate.um2_min, estimate.um2_max), (1484.0, 1484.0));
        let rtl = find(&areas, Source::Synthesis, NM_28).unwrap();
        let row = synthesised(16, 48, Storage::Flop).unwrap();
        let (low, high) = row.area_28nm_um2;
        assert_eq!((rtl.um2_min, rtl.um2_max), (f64::from(low), f64::from(high)));
        let cells = find(&areas, Source::Synthesis, TECHNOLOGY).unwrap();
        assert_eq!((cells.um2_min, cells.um2_max), (row.area_um2, row.area_um2));
    }

    #[test]
    fn what_was_not_synthesised_has_an_estimate_alone() {
        for settings in [
            "entries=12",
            "entries=64",
            "entries=16,pointer_bits=40",
            "entries=16,index=off",
            "entries=16,list=off",
            "entries=16,size_class=off",
            "entries=16,sampling=off",
        ] {
            let sources: Vec<Source> = areas(settings).iter().map(|area| area.source).collect();
            assert_eq!(sources, [Source::Estimate], "{settings}");
        }
        assert_eq!(Choice::parse("limit").unwrap().build().unwrap().area(), []);
    }

    #[test]
    fn the_estimates_index_part_is_shared_by_all_entries_and_goes_with_the_index() {
        let estimate = |settings: &str| areas(settings)[0].um2_max;
        assert_eq!(estimate("entries=32"), 2.0 * (873.0 + 346.0) + 265.0);
        assert_eq!(estimate("entries=16,index=off"), 873.0 + 346.0);
    }
}
