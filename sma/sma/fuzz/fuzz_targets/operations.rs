//! Interprets bytes as operations, wrong frees among them, on a checked heap and on a naive model.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| sma_rig::entry::run(bytes));
