//! Programs started under QEMU, and the contents of their streams. All test files form one program,
//! to save linking.

mod common;
mod counting;
mod determinism;
mod following;
mod markers;
mod recording;
mod running;
