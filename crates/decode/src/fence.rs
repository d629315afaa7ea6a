//! Fences: what each one orders, and for how long.
//!
//! The table gives their cycles back to back (uops.info, Haswell) but no latencies, because they
//! have no results. What takes those cycles differs:
//!
//! - `mfence` begins when it is the oldest and all older stores have been written; no younger load
//!   issues until it is done. The next one can begin when it has retired.
//! - `sfence` is an entry of the store queue that takes its number of cycles where a store takes
//!   one: it delays the stores behind it, and stalls the core only when the queue is full.
//! - `lfence` has no uops to execute: younger instructions are allocated only after all older ones
//!   have completed, and no sooner than its number of cycles later.

use iced_x86::Mnemonic;

use crate::table::Row;
use crate::uop::{Uop, UopFlags, UopKind};

/// Cycles from the completion of a fence to the issue of one that waited to be the oldest:
/// retirement, then issue.
const RETIRE_AND_ISSUE: u8 = 2;

/// Sets what the uops of a fence order; leaves other uops unchanged.
pub fn order(mnemonic: Mnemonic, row: &Row, uops: &mut [Uop]) {
    let cycles = row.cycles.round().min(255.0) as u8;
    match (mnemonic, uops) {
        (Mnemonic::Mfence, [first, ..]) => {
            first.latency = cycles.saturating_sub(RETIRE_AND_ISSUE).max(1);
        }
        (Mnemonic::Sfence, [first, ..]) => {
            first.kind = UopKind::StoreAddress;
            first.latency = cycles;
            first.flags.0 |= UopFlags::STORE_FENCE;
        }
        (Mnemonic::Lfence, [.., last]) => last.latency = cycles,
        _ => {}
    }
}
