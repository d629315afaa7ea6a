//! How many pages the TLBs cover: where a chase over pages takes a step.
//!
//! A chase over pages and one over as many lines packed densely find their data in the same cache
//! levels; what the pages take more is translation. It is nothing while the first-level TLB holds
//! all pages, the second level's latency while that does, and a page walk beyond.

use params::ConfigError;
use uarch::Machine;

use super::chase::{Chase, Order};

/// Pages that the search looks at most.
const PAGES_MAX: u64 = 8192;
/// Cycles by which the mean must rise to be a step: one overflowing set of many costs more. (Nine
/// pages in a set of eight ways, among 1,025: 9/1025 of a walk's ten cycles or more.)
const STEP: f64 = 0.05;
/// Bytes of a line.
const LINE: u64 = 64;

/// Cycles of translation in an access of a chase over so many pages.
pub fn translation(machine: &Machine, pages: u64) -> Result<f64, ConfigError> {
    let apart = Chase::pages(machine, pages)?.cycles_per_access();
    let dense = Chase::lines(machine, pages * LINE, Order::Random)?.cycles_per_access();
    Ok(apart - dense)
}

/// The largest numbers of pages before the first and the second step; [`PAGES_MAX`] where there
/// is none.
pub fn steps(machine: &Machine) -> Result<[u64; 2], ConfigError> {
    let first = last_below(machine, 1, STEP)?;
    let plateau = (2 * first).min(PAGES_MAX);
    let second = last_below(machine, plateau, translation(machine, plateau)? + STEP)?;
    Ok([first, second])
}

/// The largest number of pages from `least` on whose translation takes at most `cycles`, by
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
