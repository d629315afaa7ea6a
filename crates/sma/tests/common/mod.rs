//! What the tests, the benches and the fuzz target share.
#![allow(dead_code, missing_docs)]

pub mod drive;
pub mod entry;
pub mod memory;
pub mod model;
pub mod trace;

/// A small generator with a stated seed: the same run every time.
#[derive(Clone)]
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        // splitmix64: every seed, zero too, is a good one.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// Operations of a long walk: `quick`, or a hundred times that with `SMA_LONG=1`.
pub fn operations(quick: usize) -> usize {
    if cfg!(miri) {
        quick / 500
    } else if std::env::var_os("SMA_LONG").is_some_and(|v| v == "1") {
        quick * 100
    } else {
        quick
    }
}
