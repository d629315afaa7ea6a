//! What SMA is tested, compared and timed with. Its tests, benches and fuzz target share it, and
//! the study uses its arena for the rival allocators and its cores.
//!
//! It is a crate and not a module included by path, so that every part is compiled once and unused
//! parts are reported.

pub mod arena;
pub mod cores;
pub mod drive;
pub mod entry;
pub mod memory;
pub mod model;
pub mod replay;
pub mod rivals;
pub mod trace;

/// A small generator with an explicit seed: the same run every time.
#[derive(Clone)]
pub struct Rng(pub u64);

impl Rng {
    /// The next 64 bits.
    pub fn draw(&mut self) -> u64 {
        // splitmix64: every seed is good, including zero.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.draw() % n as u64) as usize
    }
}

/// The number of operations of a long walk: `quick`, or a hundred times that with `SMA_LONG=1`.
pub fn operations(quick: usize) -> usize {
    if cfg!(miri) {
        quick / 500
    } else if std::env::var_os("SMA_LONG").is_some_and(|v| v == "1") {
        quick * 100
    } else {
        quick
    }
}
