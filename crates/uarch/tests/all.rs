//! The core as a whole. One program for all test files, so that little is linked.

mod decoders;
mod fences;
mod levels;
mod lines;
mod mallacc;
mod pipeline;
mod rig;
