//! Tests of the crate.

mod checks;
