//! One stream through many machines. All test files form one program, to save linking.

mod conformance;
mod cores;
mod counters;
mod cuts;
mod documents;
mod operations;
mod program;
mod seeds;
