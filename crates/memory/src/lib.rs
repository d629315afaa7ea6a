//! Caches, TLBs, prefetchers and DRAM with time stamps.
//!
//! ```text
//!            private half (Private, Translation)              shared half (Shared)
//!   fetch ──> L1I ─┐                                ┊
//!                  ├─> level 0 ─> … ─> level p-1 ───┊──> level p ─> … ─> level n-1 ─> DRAM
//!   load, ──> L1D ─┘                                ┊                      touched pages
//!   store      └ DTLB, ITLB ─> STLB ─> walker (reads through the L1D)
//! ```
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
//! as the one that asked. Resources with a bound (line fill buffers, superqueues, page walkers,
//! DRAM banks and channels) keep the intervals they are taken in, see [`Memory`].
//!
//! # Levels
//!
//! There is one cache ([`cache::Cache`]) and one miss path ([`private::Private`]): a miss takes an
//! entry of the cache's fill buffers, asks the next level, brings the line in, and hands a dirty
//! victim on. The L1I and the L1D have a side towards the core as well (splits, write cycles, hits
//! without a search) and stay named. The one to four levels behind them are a list in the machine
//! file, `[[memory.level]]`, from the inside out:
//!
//! - A level with a `superqueue` keeps the arrivals of its lines and bounds how many are on their
//!   way. Without one, arrivals are kept by whoever asked, who is asked first; that is right for a
//!   level that nothing but requests from inside fills.
//! - An `inclusive` level takes a line that leaves it out of everything inside it, of the private
//!   half that it serves. A dirty line that such a level no longer has passes it by; any other
//!   level takes it in.
//! - A `shared` level belongs to the shared half, with DRAM and the pages touched so far.
//!
//! # Two halves
//!
//! [`Memory`] owns its private half and holds the shared one in a box that can be taken out and
//! lent to another [`Memory`] ([`Memory::take_shared`], [`Memory::put_shared`]): the cores of a
//! chip take turns on one. An L1 hit never looks at it. There is no coherence between private
//! halves: an inclusive shared level reaches only the half it is lent to.
//!
//! # Choices by name
//!
//! Replacement policies ([`replacement`]) and prefetchers ([`prefetch`]) are each a list of models
//! with a name, a sentence and their parameters. A machine file selects them by name for each
//! cache. Both are dispatched by an enumeration: the hit path calls nothing through a pointer.
//!
//! # Only who needs it pays
//!
//! [`Memory`] is generic over a [`Mapping`] of data addresses: [`Flat`] (every address is a place
//! of its own, in the caches) compiles to nothing; [`Alias`] maps pages to one frame, and
//! [`Ranged`] puts a device behind an address range.
//!
//! Not modelled: physical page placement (addresses are virtual throughout, but for [`Alias`]),
//! 2 MB pages, coherence with other cores, cache bank conflicts, DRAM refresh, dropping of
//! prefetches under load (a prefetch that finds no free buffer waits instead, so that contents
//! stay independent of time).

mod access;
mod array;
mod cache;
mod caches;
mod calendar;
mod dram;
mod fill;
mod mapping;
mod memory;
#[cfg(test)]
mod naive;
mod pages;
mod params;
pub mod prefetch;
mod private;
pub mod replacement;
mod resources;
mod shared;
mod statistics;
mod translate;
mod validate;

pub use access::{Access, Depth, Level, TlbLevel};
pub use mapping::{Alias, Device, Flat, Mapping, Ranged, Scratchpad};
pub use memory::Memory;
pub use params::*;
pub use shared::Shared;
pub use statistics::{
    CacheStatistics, DramStatistics, LevelStatistics, MemoryStatistics, TlbStatistics,
    WalkStatistics,
};
