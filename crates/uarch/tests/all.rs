//! The core as a whole. One test program for all files, to keep linking short.

mod decoders;
mod fences;
mod levels;
mod lines;
mod mallacc;
mod pipeline;
mod rig;
