//! The hierarchy as a whole. One test program for all files, to keep linking short.

mod halves;
mod latency;
mod timing;
mod warming;
