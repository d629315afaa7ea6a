//! The Mallacc paper's figures and tables, side by side with what was measured here.
//!
//! Measured [`results::Run`]s in, tables with verdicts out; nothing here runs or prints anything or
//! depends on a simulator.
//!
//! ```text
//! figure ──> needs ── subjects and configurations that have to be measured (for the runner)
//! Study (runs by subject) ──> derive ──> Derived: table + a value for each claim
//!                                            │
//! claims (the paper's values, rules) ────────┤
//! causes (why a claim differs) ──────────────┴──> Sheet ──> text, Markdown, JSON, CSV
//! ```
//!
//! - [`figure`]: the figures, how each is defined, what it needs.
//! - [`subject`]: the programs, and the paper's counterpart of each.
//! - [`claims`]: what the paper states, where, and the rule that a measured value is held to. A
//!   rule belongs to a claim and is the same for every program.
//! - [`causes`]: why a claim is not met: the result of an experiment, with the configuration and
//!   the day it was established on and a band for every figure that a run can check; or "not
//!   established".
//! - [`study`], [`derive`]: from runs to figures.
//! - [`ttest`]: the paper's significance test.
//! - [`render`]: sheets as text and data.

pub mod causes;
pub mod claims;
pub mod derive;
pub mod figure;
pub mod needs;
pub mod render;
pub mod sheet;
pub mod study;
pub mod subject;
pub mod ttest;
pub mod verdict;

pub use figure::Figure;
pub use needs::{Need, needs};
pub use sheet::{Cell, Check, Sheet, Table};
pub use study::{Measured, Study};
pub use subject::{Kind, SUBJECTS, Subject};
