//! Counters, each declared once, where a model counts it.
//!
//! ```text
//!  model crate                        sim                              results, report
//!  counters! { struct, kind,    ┌─> Layout ─┬─> Schema ──────────┐
//!    name, unit, sentence,      │  (paths)  │  (what it means)   ├─> View ─> store, JSON, CSV,
//!    formulas }                 │           │                    │   (figures)     tables, page
//!       │                       │           └─> Reading ─> Values┘
//!       └─ Counts::visit(Walk) ─┘              (flat)    (by name)
//! ```
//!
//! - A model keeps its counters in a plain `Copy` struct of `u64` that [`counters!`] declares: the
//!   hot path only adds to a field. The declaration has a name, a unit and a sentence for each
//!   counter, and formulas over counters for derived figures.
//! - [`Counts::visit`] walks a model's groups and gives each its path: `core`, `cache.L1D`. Paths
//!   nest ([`Walk::within`]); identical models are numbered ([`Walk::nth`]): `core[3].cache.L1D`.
//! - A [`Layout`] describes a model's counters and is determined once. A [`Reading`] holds their
//!   values at one moment; differences and sums of readings are plain arithmetic ([`Reading`]).
//! - A [`Schema`] is a layout without the model: it can be stored with the figures it describes,
//!   and merged with others. [`Values`] are counters by path and name.
//! - A [`View`] combines values and schema and computes every figure, including [`Formula`]s.
//!
//! Adding a counter takes one line in the model's declaration and the line that counts. Adding a
//! kind of group takes one declaration. Neither changes any crate that stores or shows figures.

mod declare;
mod formula;
mod layout;
mod macros;
mod schema;
mod unit;
mod values;
mod view;

pub use declare::{Declaration, Figure, Group, Head, Meaning};
pub use formula::{Formula, FormulaError, Number};
pub use layout::{Counts, Layout, Reading, Walk};
pub use schema::{Entry, Kind, Schema, SchemaError};
pub use unit::Unit;
pub use values::Values;
pub use view::View;
