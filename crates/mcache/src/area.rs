//! What a malloc cache costs in silicon: the paper's analytic estimate, scaled to other sizes, and
//! the figures of our own synthesis beside it.

/// An area estimate in um^2 at 28 nm, by part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Searched bits: index ranges, classes, LRU ranks.
    pub cam_um2: f64,
    /// Read bits: block size, pointers, valid.
    pub sram_um2: f64,
    /// The shifters and adders of the class index.
    pub index_um2: f64,
}

/// Area of the 16-entry cache's parts at 28 nm: CACTI 6.5+ for the arrays, published adders and
/// shifters scaled for the index (Mallacc paper, section 6.4).
pub const PAPER: Estimate = Estimate { cam_um2: 873.0, sram_um2: 346.0, index_um2: 265.0 };
/// Entries of [`PAPER`].
pub const PAPER_ENTRIES: u8 = 16;
/// Pointer width of [`PAPER`].
pub const PAPER_POINTER_BITS: u8 = 48;
/// A Haswell core with its L1 and L2 caches, in mm^2 (Mallacc paper, section 6.4).
pub const HASWELL_CORE_MM2: f64 = 26.5;

/// Searched bits of an entry: two 12-bit indices, an 8-bit class, log2(entries) bits of LRU rank
/// (Mallacc paper, section 6.4).
pub fn cam_bits(entries: u8) -> u32 {
    24 + 8 + u32::from(entries).max(1).next_power_of_two().trailing_zeros()
}

/// Read bits of an entry: two pointers, a 20-bit size, a valid bit (Mallacc paper, section 6.4).
pub fn sram_bits(pointer_bits: u8) -> u32 {
    2 * u32::from(pointer_bits) + 20 + 1
}

impl Estimate {
    /// The paper's estimate scaled by the number of bits. CACTI's arrays of this size have a fixed
    /// part too, so small caches come out somewhat too small; at 16 entries it is the paper's.
    pub fn analytic(entries: u8, pointer_bits: u8) -> Self {
        let ratio = |bits: u32, paper: u32| {
            f64::from(u32::from(entries) * bits) / f64::from(u32::from(PAPER_ENTRIES) * paper)
        };
        Self {
            cam_um2: PAPER.cam_um2 * ratio(cam_bits(entries), cam_bits(PAPER_ENTRIES)),
            sram_um2: PAPER.sram_um2
                * ratio(sram_bits(pointer_bits), sram_bits(PAPER_POINTER_BITS)),
            index_um2: PAPER.index_um2,
        }
    }

    /// All parts together.
    pub fn total_um2(&self) -> f64 {
        self.cam_um2 + self.sram_um2 + self.index_um2
    }
}

/// How the words of the entries are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Flip-flops with a recirculating multiplexer.
    Flop,
    /// Flip-flops behind a clock gate per word.
    Gated,
    /// Latches behind a clock gate per word.
    Latch,
}

/// A synthesised configuration: cells only, no placement, wires or clock tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Synthesis {
    /// Entries.
    pub entries: u8,
    /// Pointer width in bits.
    pub pointer_bits: u8,
    /// Storage.
    pub storage: Storage,
    /// Number of cells.
    pub cells: u32,
    /// Cell area in the library's um^2 (ASAP7: a predictive 7 nm library).
    pub area_um2: f64,
    /// Area over that of the smallest two-input NAND.
    pub gate_equivalents: u32,
    /// Longest path in ps.
    pub critical_path_ps: f64,
    /// Area at 28 nm in um^2: with 7-track and with 12-track cells (`rtl/synth/flow.py`).
    pub area_28nm_um2: (u32, u32),
}

/// um^2 at 28 nm per percent of speed-up; `None` without a speed-up.
pub fn um2_per_percent(area_um2: f64, speedup_percent: f64) -> Option<f64> {
    (speedup_percent > 0.0).then(|| area_um2 / speedup_percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_sixteen_entries_and_48_bits_the_estimate_is_the_papers() {
        let estimate = Estimate::analytic(PAPER_ENTRIES, PAPER_POINTER_BITS);
        assert_eq!(estimate, PAPER);
        assert_eq!(estimate.total_um2(), 873.0 + 346.0 + 265.0);
    }

    #[test]
    fn the_bits_are_the_papers() {
        // Section 6.4: 72 and 234 bytes of CAM and SRAM for 16 entries.
        assert_eq!(cam_bits(16) * 16 / 8, 72);
        assert_eq!(sram_bits(48) * 16 / 8, 234);
    }

    #[test]
    fn arrays_grow_with_their_bits_and_the_index_does_not() {
        let (small, large) = (Estimate::analytic(8, 48), Estimate::analytic(32, 48));
        assert_eq!(large.sram_um2, 4.0 * small.sram_um2);
        let expected = f64::from(32 * (32 + 5)) / f64::from(8 * (32 + 3));
        assert!((large.cam_um2 / small.cam_um2 - expected).abs() < 1e-12);
        assert_eq!(small.index_um2, large.index_um2);
    }

    #[test]
    fn area_per_speedup_needs_a_speedup() {
        assert_eq!(um2_per_percent(1484.0, 0.5), Some(2968.0));
        assert_eq!(um2_per_percent(1484.0, 0.0), None);
        assert_eq!(um2_per_percent(1484.0, -1.0), None);
    }
}
