//! The names that a configuration's counters have in the store, there and back.

use crate::model::{
    CacheStats, CallKind, CallStats, Configuration, CpiComponent, MallocCacheStats, TlbStats,
};
use crate::statistics::{
    CACHE, CALLS, CONFIGURATION, MALLOC_CACHE, Measured, PREDICTOR, Source, Statistic, TLB, find,
};

/// A stored value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stored {
    Count(u64),
    Real(f64),
}

/// Every stored statistic of a configuration by name, in the order of reports.
pub fn flatten(configuration: &Configuration) -> Vec<(String, Stored)> {
    let mut all = Vec::new();
    collect(&mut all, "", CONFIGURATION, configuration);
    for part in &configuration.cpi_stack {
        all.push((format!("cpi.{}", part.name), Stored::Count(part.cycles)));
    }
    for (kind, calls) in configuration.calls.iter() {
        if *calls == CallStats::default() {
            continue;
        }
        let prefix = format!("{}.", kind.name());
        collect(&mut all, &prefix, CALLS, calls);
        if let (Some(min), Some(max)) = (calls.latency.min(), calls.latency.max()) {
            all.push((format!("{prefix}latency_min"), Stored::Count(min)));
            all.push((format!("{prefix}latency_max"), Stored::Count(max)));
        }
    }
    for cache in &configuration.caches {
        collect(&mut all, &format!("cache.{}.", cache.name), CACHE, cache);
    }
    for tlb in &configuration.tlbs {
        collect(&mut all, &format!("tlb.{}.", tlb.name), TLB, tlb);
    }
    collect(&mut all, "predictor.", PREDICTOR, &configuration.predictor);
    if let Some(malloc_cache) = &configuration.malloc_cache {
        collect(&mut all, "malloc_cache.", MALLOC_CACHE, malloc_cache);
    }
    all
}

fn collect<T: Measured>(
    all: &mut Vec<(String, Stored)>,
    prefix: &str,
    slice: &[Statistic<T>],
    item: &T,
) {
    for statistic in slice {
        let value = match &statistic.source {
            Source::Counter { get, .. } => Some(Stored::Count(get(item))),
            Source::Real { get, .. } => get(item).map(Stored::Real),
            Source::Derived { .. } => None,
        };
        all.extend(value.map(|value| (format!("{prefix}{}", statistic.name), value)));
    }
}

/// Sets the statistic `name` of a configuration. A name this version does not know is left alone:
/// a later version of the tool may have counted more.
pub fn restore(configuration: &mut Configuration, name: &str, value: Stored) {
    let Some((group, rest)) = name.split_once('.') else {
        set(CONFIGURATION, configuration, name, value);
        return;
    };
    match group {
        "cpi" => {
            if let Stored::Count(cycles) = value {
                configuration.cpi_stack.push(CpiComponent { name: rest.to_owned(), cycles });
            }
        }
        "cache" => {
            let Some((cache, field)) = rest.rsplit_once('.') else { return };
            let fresh = || CacheStats { name: cache.to_owned(), ..CacheStats::default() };
            let entry = entry(&mut configuration.caches, |item| item.name == cache, fresh);
            set(CACHE, entry, field, value);
        }
        "tlb" => {
            let Some((tlb, field)) = rest.rsplit_once('.') else { return };
            let fresh = || TlbStats { name: tlb.to_owned(), ..TlbStats::default() };
            let entry = entry(&mut configuration.tlbs, |item| item.name == tlb, fresh);
            set(TLB, entry, field, value);
        }
        "predictor" => set(PREDICTOR, &mut configuration.predictor, rest, value),
        "malloc_cache" => {
            let stats = configuration.malloc_cache.get_or_insert_with(MallocCacheStats::default);
            set(MALLOC_CACHE, stats, rest, value);
        }
        _ => {
            if let Some(kind) = kind_named(group) {
                set(CALLS, &mut configuration.calls[kind], rest, value);
            }
        }
    }
}

/// The kind of call of that name.
pub fn kind_named(name: &str) -> Option<CallKind> {
    CallKind::ALL.into_iter().find(|kind| kind.name() == name)
}

fn entry<T>(items: &mut Vec<T>, wanted: impl Fn(&T) -> bool, fresh: impl FnOnce() -> T) -> &mut T {
    let index = items.iter().position(wanted).unwrap_or_else(|| {
        items.push(fresh());
        items.len() - 1
    });
    &mut items[index]
}

fn set<T: Measured>(slice: &'static [Statistic<T>], item: &mut T, name: &str, value: Stored) {
    match (find(slice, name).map(|statistic| &statistic.source), value) {
        (Some(Source::Counter { set, .. }), Stored::Count(count)) => set(item, count),
        (Some(Source::Real { set, .. }), Stored::Real(real)) => set(item, real),
        (Some(Source::Real { set, .. }), Stored::Count(count)) => set(item, count as f64),
        _ => {}
    }
}
