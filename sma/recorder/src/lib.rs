//! Preloaded into a program (`LD_PRELOAD`), it records every allocation and free.
//!
//! ```text
//! malloc, free, … (hooks.rs) ──> the C library's __libc_malloc, …
//!        └──> log::record ──> a record of the raw file in shared memory (traces::raw)
//!                └ setup.rs: which file, which process; log.rs: room for more records
//! ```
//! Nothing here allocates, locks or keeps a file open: the hooks run before `main`, in every thread
//! and inside the dynamic linker. The real functions are those that the C library exports under its
//! own names, so no lookup is needed. Data written to shared memory outlives the process however it
//! ends. One process is recorded, the one that is started, through each of its own `exec` calls;
//! its children find the file claimed and stay silent.

mod hooks;
mod log;
mod setup;
