//! The command as its users see it. One test program for all files, to keep linking short.

mod answers;
mod blocks;
mod call_sites;
mod commands;
mod common;
mod copied;
mod doctor;
mod documentation;
mod end_to_end;
mod errors;
mod exit_status;
mod markers;
mod paper;
mod places;
mod record_mallocs;
mod report;
mod setup;
mod sma_study;
mod store;
mod validate;
mod workloads;
