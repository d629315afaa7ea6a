//! Builds a QEMU with plugins for this user where there is none, and looks at what Mallacc finds on
//! this system.
//!
//! ```text
//! find ──> needs ──> lock ──> fetch ──> verify ──> unpack ──> configure ──> ninja ──> try ──> move
//!   └ good: nothing to do       └── cache: everything below one folder, moved at the end ──┘
//! ```
//! It prints nothing: what it does goes to an [`Observer`]. `docs/setup.md` describes it for users.

mod archive;
mod build;
mod cache;
mod child;
pub mod doctor;
mod error;
mod fetch;
mod install;
mod manifest;
mod needs;
mod observer;
mod run;
pub mod sources;
mod space;

pub use error::SetupError;
pub use observer::{Observer, Progress, Unit};
pub use run::{Outcome, Request, found, plan, run};
