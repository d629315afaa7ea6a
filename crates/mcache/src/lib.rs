//! The pure malloc cache: state only, no cycles, no statistics; golden model of the RTL.
//!
//! A malloc cache keeps, for a few size classes, the mapping from requested sizes to the class and
//! copies of the first two objects of the class's free list (Mallacc paper, section 4.1). The free
//! list in memory remains authoritative. What software promises and what the cache guarantees is in
//! `docs/isa.md`; in short:
//!
//! - a valid Head is the true first object, a valid Next is the one after it;
//! - a lookup matches at most one entry, and the block it names is large enough;
//! - anything may be dropped at any time; nothing wrong is ever kept.
//!
//! ```
//! use mallacc_mcache::{Config, Fill, Issue, MallocCache, Mapping, Pop};
//!
//! let mut cache = MallocCache::new(Config::with_entries(16))?;
//! assert_eq!(cache.lookup(24), None);
//! cache.update(24, 32, 3); // software computed it: class 3, 32 bytes
//! assert_eq!(cache.lookup(30), Some(Mapping { class: 3, alloc_size: 32 }));
//!
//! cache.push(3, 0x1000);
//! cache.push(3, 0x2000);
//! assert_eq!(cache.pop(3), Pop::Hit { head: 0x2000, next: 0x1000 });
//! // The list's new head is 0x1000: prefetch the word it holds into Next.
//! if let Issue::Issued(ticket) = cache.prefetch_issue(3, Fill::Next, 0x1000) {
//!     assert_eq!(cache.pop(3), Pop::Wait);
//!     cache.prefetch_return(ticket, 0x5000);
//! }
//! assert_eq!(cache.pop(3), Pop::Hit { head: 0x1000, next: 0x5000 });
//! # Ok::<(), mallacc_mcache::ConfigError>(())
//! ```
#![cfg_attr(not(any(test, feature = "std")), no_std)]

pub mod area;
mod cache;
#[cfg(feature = "capi")]
pub mod capi;
mod config;
mod list;
pub mod ops;
mod outcome;
mod sampler;

pub use cache::{Entry, MallocCache};
pub use config::{CLASS_MAX, Config, ConfigError, ENTRIES_MAX, INDEX_MAX, SIZE_MAX, class_index};
pub use outcome::{
    Fill, Issue, Mapping, Pop, Push, Returned, Speculative, Ticket, Update, Updated, Violation,
};
pub use sampler::Sampler;
