//! Programs started under QEMU, and what their streams hold. One program for all test files, so
//! that little is linked.

mod common;
mod counting;
mod determinism;
mod following;
mod markers;
mod recording;
mod running;
