//! Machine configuration and core models.
//!
//! Reading order: [`params`] (what can be set), [`machine`] (a whole machine from a TOML file),
//! [`core`] (the interface of a core) and [`kind`] (which cores there are); [`functional`] (the
//! state of a core apart from time); [`ooo`] (the life of an out-of-order uop) with its stages
//! [`frontend`], the folder's own files, and [`retire`]; [`calls`] measures allocator calls.

pub mod calls;
pub mod changes;
pub mod core;
pub mod frontend;
pub mod functional;
pub mod kind;
pub mod machine;
pub mod observe;
pub mod ooo;
pub mod params;
pub mod retire;
pub mod step;

pub use crate::calls::{Call, CallTracker, SizeClass};
pub use crate::core::Core;
pub use crate::functional::{Functional, State};
pub use crate::machine::{CodeView, Machine};
pub use crate::observe::{Observer, Times, WithDevice, WithSeed};
pub use crate::ooo::{CoreCounters, OutOfOrder};
pub use crate::params::CoreParams;
pub use crate::retire::{Component, CpiStack};
pub use crate::step::{NO_ADDRESS, Step, StepRecord, Steps};
