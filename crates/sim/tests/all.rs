//! One stream through many machines. One program for all test files, so that little is linked.

mod conformance;
mod cores;
mod counters;
mod documents;
mod operations;
mod program;
