//! The paper's numbers: McIlroy, Dickman, Sventek, "Efficient dynamic heap allocation of
//! scratch-pad memory", ISMM 2008. Its figures are pictures; only numbers from the text and the
//! tables are here, each with its source.

/// The programs, by the paper's short names, in the order of its figures.
pub const PROGRAMS: [&str; 7] = ["a2p", "gcc", "gst", "cvt", "ogg", "pyt", "tar"];

/// dlmalloc's state on the paper's processor in bytes (Tables 1 and 2).
pub const DLMALLOC_STATE_BYTES: u64 = 516;

/// A column of Table 1 or 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resources {
    /// State memory in bytes.
    pub state: f64,
    /// Code memory in instructions.
    pub code: f64,
    /// Average allocation time in cycles.
    pub allocation: f64,
    /// Average free time in cycles.
    pub free: f64,
}

const fn resources(state: f64, code: f64, allocation: f64, free: f64) -> Resources {
    Resources { state, code, allocation, free }
}

/// Table 1, 4 kB of local memory: SMA, SMA (LM), SMA (CAM), DLmalloc.
pub const TABLE_1: [Resources; 4] = [
    resources(40.0, 297.0, 72.8, 52.4),
    resources(56.0, 364.0, 53.2, 36.9),
    resources(104.0, 443.0, 50.9, 34.6),
    resources(516.0, 1634.0, 70.7, 95.2),
];

/// Table 2, 16 kB of shared memory: SMA, SMA (LM), DLmalloc.
pub const TABLE_2: [Resources; 3] = [
    resources(112.0, 430.0, 335.6, 207.4),
    resources(128.0, 503.0, 150.3, 189.2),
    resources(516.0, 1723.0, 530.0, 721.0),
];

/// How much less SMA wastes than DLmalloc at 4 kB, percent (section 5.4, Figure 8).
pub const LESS_WASTE_4K: f64 = 40.0;
/// The same at 16 kB for SMA and for SMA (LM) (section 5.4, Figure 10).
pub const LESS_WASTE_16K: [f64; 2] = [15.0, 12.0];
/// The memory size in bytes from which SMA has no advantage with blocks of 128 and of 32 bytes
/// (section 5.4, Figure 12).
pub const EVEN_BYTES: [u64; 2] = [128 << 10, 512 << 10];
/// Speed-up of four cores over one: Coarse, Fine, Coarse and Fine with pools (section 5.5,
/// Figure 13).
pub const SPEEDUP_4: [f64; 4] = [1.6, 2.0, 2.4, 3.0];
/// Largest overhead of either lock on one core, percent (section 5.5).
pub const LOCK_OVERHEAD: f64 = 6.0;
