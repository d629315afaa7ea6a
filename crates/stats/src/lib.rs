//! Counters, each declared once: where a model counts it.
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
//!   hot path adds to a field and pays for nothing else. The declaration holds a name, a unit and a
//!   sentence for each counter, and formulas over counters for what follows from them.
//! - [`Counts::visit`] walks a model's groups and gives each its path: `core`, `cache.L1D`. Paths
//!   nest ([`Walk::within`]); alike models are numbered ([`Walk::nth`]): `core[3].cache.L1D`.
//! - A [`Layout`] is what one model has to count, found once. A [`Reading`] holds its counters at
//!   one moment; differences and sums of readings are plain arithmetic ([`Reading`]).
//! - A [`Schema`] is a layout without the model: it can be stored beside the figures it describes,
//!   and merged with others. [`Values`] are counters by path and name.
//! - A [`View`] puts values and schema together and works out every figure, [`Formula`]s included.
//!
//! Adding a counter is one line in the model's declaration and the line that counts. Adding a kind
//! of group is one declaration. Neither needs a line in any crate that stores or shows figures.

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
