//! The hierarchy as a whole. One program for all test files, so that little is linked.

mod halves;
mod latency;
mod timing;
mod warming;
