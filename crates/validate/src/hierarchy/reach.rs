//! How many pages the TLBs cover: where a chase over pages shows a step in latency.
//!
//! A chase over pages and one over the same number of densely packed lines find their data in the
//! same cache levels, so the difference is translation. It is zero while the first-level TLB holds
//! all pages, the second level's latency while that TLB does, and a page walk beyond.

use params::ConfigError;
use uarch::Machine;

use super::chase::{Chase, Order};

/// Maximum number of pages in the search.
const PAGES_MAX: u64 = 8192;
/// Increase of the mean in cycles that counts as a step. A single overflowing set among many causes
/// more: nine pages in a set of eight ways, among 1,025, cost 9/1025 of a walk's ten or more
/// cycles.
const STEP: f64 = 0.05;
/// Line size in bytes.
const LINE: u64 = 64;

/// Translation cycles per access of a chase over this number of pages.
pub fn translation(machine: &Machine, pages: u64) -> Result<f64, ConfigError> {
    let apart = Chase::pages(machine, pages)?.cycles_per_access();
    let dense = Chase::lines(machine, pages * LINE, Order::Random)?.cycles_per_access();
    Ok(apart - dense)
}

/// The largest numbers of pages before the first and the second step; [`PAGES_MAX`] if there is no
/// step.
pub fn steps(machine: &Machine) -> Result<[u64; 2], ConfigError> {
    let first = last_below(machine, 1, STEP)?;
    let plateau = (2 * first).min(PAGES_MAX);
    let second = last_below(machine, plateau, translation(machine, plateau)? + STEP)?;
    Ok([first, second])
}

/// The largest number of pages, starting from `least`, whose translation takes at most `cycles`; by
/// bisection.
fn last_below(machine: &Machine, least: u64, cycles: f64) -> Result<u64, ConfigError> {
    let (mut below, mut above) = (least, PAGES_MAX + 1);
    while above - below > 1 {
        let middle = below.midpoint(above);
        if translation(machine, middle)? <= cycles {
            below = middle;
        } else {
            above = middle;
        }
    }
    Ok(below)
}
