//! Bytes are operations, wrong frees among them, on a checked heap and on a naive model.
#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| common::entry::run(bytes));
