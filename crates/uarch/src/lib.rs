//! Machine configuration and the out-of-order core model.
//!
//! Reading order: [`params`] (what can be set), [`machine`] (a whole machine from a TOML file),
//! `core` (a uop's life), then its stages: [`frontend`], [`calendar`] and [`ports`] (ports and
//! reservation station), [`stores`], [`retire`]; [`calls`] measures allocator calls.

pub mod calendar;
pub mod calls;
mod core;
pub mod frontend;
pub mod machine;
pub mod observe;
pub mod params;
pub mod ports;
pub mod retire;
pub mod stores;

pub use crate::calls::{Call, CallTracker};
pub use crate::core::{Core, CoreCounters, NO_ADDRESS, Step};
pub use crate::machine::Machine;
pub use crate::observe::{Observer, Times, WithDevice};
pub use crate::params::CoreParams;
pub use crate::retire::Component;
