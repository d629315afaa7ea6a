//! Caches, TLBs, prefetchers and DRAM with time stamps.
//!
//! The hierarchy answers one question: when can the data of this access be used? It is asked in
//! **program order**, each access with its own cycle, so the cycles of successive calls need not
//! rise: a younger independent load may ask with an earlier cycle than an older one.
//!
//! What the caches hold depends on the order of the calls alone, never on their cycles. So a
//! `warm_*` call leaves exactly the state that its timed twin leaves, only without times, and a
//! prefetcher is a function of the access stream.
//!
//! A line carries the cycle at which its data arrives. An access before that cycle waits for it
//! (it merges with the line in flight); an access from before the line was even asked for counts
//! as the one that asked. Resources with a bound (line fill buffers, superqueue, page walkers,
//! DRAM banks and channels) keep the intervals they are taken in, see [`Memory`].
//!
//! Not modelled: physical page placement (addresses are virtual throughout, but for
//! [`Memory::alias`], which maps pages to one frame), 2 MB pages,
//! coherence with other cores, cache bank conflicts, DRAM refresh, dropping of prefetches under
//! load (a prefetch that finds no free buffer waits instead, so that contents stay independent
//! of time).

mod access;
mod array;
mod caches;
mod calendar;
mod dram;
mod fill;
mod memory;
#[cfg(test)]
mod naive;
mod pages;
mod params;
mod prefetch;
mod scratchpad;
mod slots;
mod statistics;
mod translate;
mod validate;

pub use access::{Access, Level, TlbLevel};
pub use memory::Memory;
pub use params::*;
pub use statistics::{
    CacheStatistics, DramStatistics, MemoryStatistics, TlbStatistics, WalkStatistics,
};
