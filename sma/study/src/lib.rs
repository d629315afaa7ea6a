//! The study of scratch-pad allocators: the tables and figures of the SMA paper, repeated with
//! today's programs.
//!
//! ```text
//! t.amt ──> subset (95 % rule, seeds) ──> replay ──> waste by cause ──┐
//!                                          │ Subject: sma, dlmalloc,  ├──> figures ──> Table
//!                                          │ dlmalloc of 32 bits, talc│      ^          │
//!                       cycles (simulator) ┴ threads (virtual time) ──┘    paper     render
//! ```
//! Pure functions: running the simulator and reading files is left to the command.
//! `docs/sma-study.md` explains each figure.

pub mod compiled;
pub mod figures;
pub mod model;
pub mod paper;
pub mod render;
pub mod replay;
pub mod subject;
pub mod subset;
pub mod table;
pub mod threads;

pub use replay::Waste;
pub use subject::{Kind, Subject};
pub use subset::{Op, Subset, whole};
pub use table::{Cell, Table};
