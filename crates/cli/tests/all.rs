//! The command as its users meet it. One program for all test files, so that little is linked.

mod blocks;
mod commands;
mod common;
mod end_to_end;
mod errors;
mod paper;
mod record_mallocs;
mod report;
mod sma_study;
mod validate;
mod workloads;
