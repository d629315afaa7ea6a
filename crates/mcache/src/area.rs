//! What a malloc cache costs in silicon: the paper's analytic estimate, scaled to other sizes, and
//! beside it the figures of our own synthesis, at the sizes that were synthesised.

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

/// Read bits of an entry: two pointers, a 20-bit size, a valid bit (Mallacc paper, section 6.4).
pub fn sram_bits(pointer_bits: u8) -> u32 {
    2 * u32::from(pointer_bits) + 20 + 1
}

impl Estimate {
    /// The paper's estimate for another size: arrays in proportion to the entries, the read part
    /// also to the bits that the pointers take. CACTI's arrays of this size have a fixed part too,
    /// so the estimate for small caches is somewhat too low. Without the class index there is
    /// nothing to compute.
    pub fn scaled(entries: u8, pointer_bits: u8, index: bool) -> Self {
        let of_entries = f64::from(entries) / f64::from(PAPER_ENTRIES);
        let of_bits = f64::from(sram_bits(pointer_bits)) / f64::from(sram_bits(PAPER_POINTER_BITS));
        Self {
            cam_um2: PAPER.cam_um2 * of_entries,
            sram_um2: PAPER.sram_um2 * of_entries * of_bits,
            index_um2: if index { PAPER.index_um2 } else { 0.0 },
        }
    }

    /// The sum of the parts.
    pub fn total_um2(&self) -> f64 {
        self.cam_um2 + self.sram_um2 + self.index_um2
    }
}

/// The library of [`SYNTHESISED`].
pub const TECHNOLOGY: &str = "ASAP7, 7 nm";

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

/// Every configuration of the RTL in ASAP7, a predictive 7 nm library (`make area-all` in `rtl/`:
/// yosys of pyosys 0.70 and OpenSTA; the same figures are in `rtl/area.json`).
pub const SYNTHESISED: [Synthesis; 24] = [
    row(4, 32, Storage::Flop, 3970, 454.87, 7800, 838.4, (2300, 3942)),
    row(8, 32, Storage::Flop, 6501, 764.95, 13117, 882.9, (3867, 6630)),
    row(16, 32, Storage::Flop, 11569, 1381.76, 23693, 902.9, (6986, 11975)),
    row(32, 32, Storage::Flop, 22333, 2676.39, 45892, 988.8, (13531, 23195)),
    row(4, 48, Storage::Flop, 4848, 542.61, 9304, 945.1, (2743, 4703)),
    row(8, 48, Storage::Flop, 7758, 919.02, 15758, 961.5, (4646, 7965)),
    row(16, 48, Storage::Flop, 14214, 1684.86, 28890, 938.8, (8518, 14602)),
    row(32, 48, Storage::Flop, 26838, 3228.99, 55367, 1011.3, (16324, 27985)),
    row(4, 32, Storage::Gated, 2929, 377.34, 6470, 823.6, (1908, 3270)),
    row(8, 32, Storage::Gated, 4376, 613.21, 10515, 931.8, (3100, 5314)),
    row(16, 32, Storage::Gated, 7561, 1114.01, 19102, 855.8, (5632, 9655)),
    row(32, 32, Storage::Gated, 14040, 2104.48, 36085, 979.9, (10639, 18239)),
    row(4, 48, Storage::Gated, 3348, 442.34, 7585, 926.2, (2236, 3834)),
    row(8, 48, Storage::Gated, 5025, 729.34, 12506, 962.4, (3687, 6321)),
    row(16, 48, Storage::Gated, 8542, 1305.49, 22385, 1006.9, (6600, 11314)),
    row(32, 48, Storage::Gated, 15910, 2490.72, 42708, 1147.1, (12592, 21586)),
    row(4, 32, Storage::Latch, 2888, 340.31, 5835, 873.1, (1720, 2949)),
    row(8, 32, Storage::Latch, 4391, 553.53, 9491, 896.7, (2798, 4797)),
    row(16, 32, Storage::Latch, 7583, 978.99, 16786, 970.9, (4949, 8485)),
    row(32, 32, Storage::Latch, 14512, 1877.96, 32201, 1051.4, (9494, 16276)),
    row(4, 48, Storage::Latch, 3362, 401.26, 6880, 882.3, (2029, 3478)),
    row(8, 48, Storage::Latch, 5130, 647.42, 11101, 960.8, (3273, 5611)),
    row(16, 48, Storage::Latch, 8773, 1152.8, 19767, 1001.3, (5828, 9991)),
    row(32, 48, Storage::Latch, 15989, 2163.83, 37103, 1057.2, (10939, 18753)),
];

/// The figures of a configuration that was synthesised; sizes in between have none.
pub fn synthesised(entries: u8, pointer_bits: u8, storage: Storage) -> Option<&'static Synthesis> {
    SYNTHESISED.iter().find(|row| {
        (row.entries, row.pointer_bits, row.storage) == (entries, pointer_bits, storage)
    })
}

const fn row(
    entries: u8,
    pointer_bits: u8,
    storage: Storage,
    cells: u32,
    area_um2: f64,
    gate_equivalents: u32,
    critical_path_ps: f64,
    area_28nm_um2: (u32, u32),
) -> Synthesis {
    Synthesis {
        entries,
        pointer_bits,
        storage,
        cells,
        area_um2,
        gate_equivalents,
        critical_path_ps,
        area_28nm_um2,
    }
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
        let estimate = Estimate::scaled(PAPER_ENTRIES, PAPER_POINTER_BITS, true);
        assert_eq!(estimate, PAPER);
        assert_eq!(estimate.total_um2(), 873.0 + 346.0 + 265.0);
    }

    #[test]
    fn the_read_bits_are_the_papers() {
        // Section 6.4: 234 bytes of SRAM for 16 entries.
        assert_eq!(sram_bits(48) * 16 / 8, 234);
    }

    #[test]
    fn arrays_grow_with_their_entries_and_the_index_does_not() {
        let (small, large) = (Estimate::scaled(8, 48, true), Estimate::scaled(32, 48, true));
        assert_eq!((large.cam_um2, large.sram_um2), (4.0 * small.cam_um2, 4.0 * small.sram_um2));
        assert_eq!(small.index_um2, large.index_um2);
        assert_eq!(Estimate::scaled(8, 48, false).index_um2, 0.0);
        // 2 x 32 + 21 bits instead of 2 x 48 + 21.
        let narrow = Estimate::scaled(16, 32, true);
        assert!((narrow.sram_um2 - 346.0 * 85.0 / 117.0).abs() < 1e-9);
        assert_eq!(narrow.cam_um2, PAPER.cam_um2);
    }

    #[test]
    fn the_synthesised_figures_are_those_of_the_table_that_the_flow_wrote() {
        let table: serde_json::Value = serde_json::from_str(include_str!("../../../rtl/area.json"))
            .expect("the flow writes JSON");
        let rows = table["rows"].as_array().expect("a list of rows");
        assert_eq!(rows.len(), SYNTHESISED.len());
        for (row, ours) in rows.iter().zip(&SYNTHESISED) {
            let number = |name: &str| row[name].as_f64().expect("a number");
            let storage = match ours.storage {
                Storage::Flop => "flop",
                Storage::Gated => "gated",
                Storage::Latch => "latch",
            };
            assert_eq!(row["storage"], storage);
            assert_eq!(number("entries"), f64::from(ours.entries));
            assert_eq!(number("pointer_bits"), f64::from(ours.pointer_bits));
            assert_eq!(number("cells"), f64::from(ours.cells));
            assert_eq!(number("area"), ours.area_um2);
            assert_eq!(number("gate_equivalents"), f64::from(ours.gate_equivalents));
            assert_eq!(number("critical_path_ps"), ours.critical_path_ps);
            assert_eq!(row["area_28nm_um2"][0], ours.area_28nm_um2.0);
            assert_eq!(row["area_28nm_um2"][1], ours.area_28nm_um2.1);
        }
    }

    #[test]
    fn storage_costs_less_from_flops_to_gated_flops_to_latches() {
        let area = |entries, pointer_bits, storage| {
            synthesised(entries, pointer_bits, storage).expect("it was synthesised").area_um2
        };
        for entries in [4, 8, 16, 32] {
            for bits in [32, 48] {
                let gated = area(entries, bits, Storage::Gated);
                assert!(gated < area(entries, bits, Storage::Flop));
                assert!(area(entries, bits, Storage::Latch) < gated);
            }
        }
    }

    #[test]
    fn area_per_speedup_needs_a_speedup() {
        assert_eq!(um2_per_percent(1484.0, 0.5), Some(2968.0));
        assert_eq!(um2_per_percent(1484.0, 0.0), None);
        assert_eq!(um2_per_percent(1484.0, -1.0), None);
    }
}
