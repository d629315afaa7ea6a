//! Preloaded into a program (`LD_PRELOAD`), it records every allocation and free.
//!
//! ```text
//! malloc, free, … (hooks.rs) ──> the C library's __libc_malloc, …
//!        └──> log::record ──> a record of the raw file in shared memory (traces::raw)
//!                └ setup.rs: which file, which process; log.rs: room for more records
//! ```
//! Nothing here allocates, locks or keeps a file open: the hooks run before `main`, in every
//! thread and inside the dynamic linker. The real functions are those that the C library exports
//! under its own names, so that none has to be searched for. What is written into shared memory
//! outlives the process whatever ends it. One process is recorded, the one that is started, through
//! each `exec` of its own; its children find it recorded and stay silent.

mod hooks;
mod log;
mod setup;
