//! Finds a program, starts it under QEMU with the feeder and the guest allocator, and provides its
//! stream.
//!
//! ```text
//! name, args ──> program (PATH, #!, ELF) ──> command (QEMU, plugin, environment) ──> Launched
//!    products (plugin, guest library), QEMU ──────────┘                 source, wait, kill, detach
//! ```

mod command;
mod elf;
mod environment;
mod error;
mod handover;
mod launched;
pub mod paths;
mod privileges;
pub mod products;
mod program;
pub mod qemu;
mod script;

pub use command::{Allocator, Options, Prepared, prepare};
pub use elf::{Linkage, OwnAllocator};
pub use error::LaunchError;
pub use launched::Launched;
pub use paths::Paths;
pub use program::{Program, resolve};
pub use qemu::Qemu;
pub use stream::live::Fate;
