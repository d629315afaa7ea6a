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
//! increase: a younger independent load may ask with an earlier cycle than an older one.
//!
//! What the caches hold depends only on the order of the calls, never on their cycles. So a
//! `warm_*` call leaves exactly the state that its timed twin leaves, only without times, and a
//! prefetcher is a function of the access stream.
//!
//! A line carries the cycle at which its data arrives. An access before that cycle waits for it (it
//! merges with the line in flight); an access from before the line was even requested counts as the
//! one that requested it. Bounded resources (line fill buffers, superqueues, page walkers, DRAM
//! banks and channels) remember the intervals in which they are taken, see [`Memory`].
//!
//! # Levels
//!
//! There is one cache ([`cache::Cache`]) and one miss path ([`private::Private`]): a miss takes an
//! entry of the cache's fill buffers, asks the next level, fills the line, and passes a dirty
//! victim on. The L1I and the L1D also have an interface to the core (splits, write cycles, hits
//! without a search), so they keep names of their own. The one to four levels behind them are a
//! list in the machine file, `[[memory.level]]`, innermost first:
//!
//! - A level with a `superqueue` keeps the arrivals of its lines and bounds how many are in flight.
//!   Without one, the requester, which is asked first, keeps the arrivals; that is correct for a
//!   level that is filled only by requests from inside.
//! - A line evicted from an `inclusive` level is evicted from everything inside it, in the private
//!   half that it serves. A dirty line that such a level no longer has bypasses it; any other level
//!   takes it in.
//! - A `shared` level belongs to the shared half, with DRAM and the pages touched so far.
//!
//! # Two halves
//! [`Memory`] owns its private half and holds the shared one in a box that can be taken out and
//! lent to another [`Memory`] ([`Memory::take_shared`], [`Memory::put_shared`]): the cores of a
//! chip take turns on one shared half. An L1 hit never looks at it. There is no coherence between
//! private halves: an inclusive shared level reaches only the half it is lent to.
//!
//! # Models selected by name
//!
//! Replacement policies ([`replacement`]) and prefetchers ([`prefetch`]) are each a list of models
//! with a name, a sentence and their parameters. A machine file selects them by name for each
//! cache. Both are enumerations: the hit path makes no indirect calls.
//!
//! # No cost unless used
//!
//! [`Memory`] is generic over a [`Mapping`] of data addresses: [`Flat`] (every address is a
//! distinct location, in the caches) compiles to nothing; [`Alias`] maps pages to one frame, and
//! [`Ranged`] puts a device behind an address range.
//!
//! Not modelled: physical page placement (addresses are virtual throughout, except for [`Alias`]),
//! 2 MB pages, coherence with other cores, cache bank conflicts, DRAM refresh, dropping of
//! prefetches under load (a prefetch that finds no free buffer waits instead, so that contents stay
//! independent of time).

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
pub mod variation;

pub use access::{Access, Depth, Level, TlbLevel};
pub use mapping::{Alias, Device, Flat, Mapping, Ranged, Scattered, Scratchpad};
pub use memory::Memory;
pub use params::*;
pub use shared::Shared;
pub use statistics::{
    CacheStatistics, DramStatistics, LevelStatistics, MemoryStatistics, TlbStatistics,
    WalkStatistics,
};
