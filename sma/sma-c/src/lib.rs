//! The C library of `sma`: `include/sma.h` describes each function.
//!
//! C selects block size and kind by macros before it includes the header, so every choice is a
//! family of functions here, `sma_<block>_<kind>_<operation>`, and a linker that collects sections
//! (`--gc-sections`) keeps only what is called. Kinds: `plain` (the paper's), `checked`, `exact`
//! (every multiple of the granule) and `fine` (several cores).
#![cfg_attr(not(feature = "std"), no_std)]

mod family;
mod status;

pub use family::{CHeap, CPool};
pub use status::Status;

/// Reached only through an error in the library itself.
#[cfg(not(feature = "std"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    #[cfg(feature = "abort")]
    {
        unsafe extern "C" {
            safe fn abort() -> !;
        }
        abort()
    }
    #[cfg(not(feature = "abort"))]
    loop {
        core::hint::spin_loop();
    }
}
