//! The pure malloc cache: state only, no cycles; golden model of the RTL.
