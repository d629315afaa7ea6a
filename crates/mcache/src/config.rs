//! The parameters of a malloc cache, and the class index.

use core::fmt;

/// The most entries that a cache can have; the paper's sweep ends at 32 (Figure 17).
pub const ENTRIES_MAX: u8 = 64;
/// The largest size class: 8 bits (paper, section 6.4).
pub const CLASS_MAX: u32 = 0xff;
/// The largest size that an entry can hold: 20 bits (paper, section 6.4).
pub const SIZE_MAX: u64 = 0xf_ffff;
/// The largest class index that a range can hold: 12 bits (paper, section 6.4).
pub const INDEX_MAX: u32 = 0xfff;

/// Parameters of a malloc cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Number of entries, 1 to 64.
    pub entries: u8,
    /// Whether ranges are ranges of class indices instead of requested sizes in bytes.
    pub index: bool,
    /// Width in bits of a range bound when `index` is off, 12 to 20; larger sizes are not cached.
    pub key_bits: u8,
    /// Width in bits of Head and Next, 16 to 64; wider pointers are not cached.
    pub pointer_bits: u8,
}

impl Config {
    /// The paper's cache with another number of entries: class index on, 48-bit pointers.
    pub const fn with_entries(entries: u8) -> Self {
        Self { entries, index: true, key_bits: 20, pointer_bits: 48 }
    }

    /// Checks the parameters; the error names the one out of range.
    pub const fn check(&self) -> Result<(), ConfigError> {
        let (what, value, low, high) = if self.entries < 1 || self.entries > ENTRIES_MAX {
            ("entries", self.entries, 1, ENTRIES_MAX)
        } else if self.key_bits < 12 || self.key_bits > 20 {
            ("key_bits", self.key_bits, 12, 20)
        } else if self.pointer_bits < 16 || self.pointer_bits > 64 {
            ("pointer_bits", self.pointer_bits, 16, 64)
        } else {
            return Ok(());
        };
        Err(ConfigError { what, value, low, high })
    }

    /// The range key of a size: its class index, or the size itself; `None` if it cannot be cached.
    pub fn key(&self, size: u64) -> Option<u32> {
        let size = u32::try_from(size).ok().filter(|&size| u64::from(size) <= SIZE_MAX)?;
        if self.index {
            Some(class_index(size)).filter(|&index| index <= INDEX_MAX)
        } else {
            Some(size).filter(|&size| size >> self.key_bits == 0)
        }
    }

    /// Whether a pointer can be stored without losing bits.
    pub const fn fits(&self, pointer: u64) -> bool {
        self.pointer_bits == 64 || pointer >> self.pointer_bits == 0
    }
}

/// TCMalloc's index of its size-to-class array: steps of 8 bytes up to 1,024, of 128 bytes above
/// (Mallacc paper, Figure 5).
pub const fn class_index(size: u32) -> u32 {
    if size <= 1024 { (size + 7) >> 3 } else { (size + 15_487) >> 7 }
}

/// A parameter outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Name of the parameter.
    pub what: &'static str,
    /// Its value.
    pub value: u8,
    /// Smallest allowed value.
    pub low: u8,
    /// Largest allowed value.
    pub high: u8,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, value, low, high } = *self;
        let nearest = value.clamp(low, high);
        write!(f, "malloc cache: {what} = {value}: must be {low} to {high}; try {nearest}")
    }
}

impl core::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_never_decreases_and_changes_only_after_a_multiple_of_its_step() {
        for size in 0..=SIZE_MAX as u32 {
            let step = if size < 1024 { 8 } else { 128 };
            let rise = class_index(size + 1) - class_index(size);
            assert_eq!(rise, u32::from(size % step == 0), "from {size} to {}", size + 1);
        }
    }

    #[test]
    fn keys_end_at_twelve_bits_with_the_index_and_at_key_bits_without() {
        let on = Config::with_entries(4);
        // The last size with index 4095: (s + 15487) >> 7 = 4095.
        let last = (u64::from(INDEX_MAX) << 7) + 127 - 15_487;
        assert_eq!(on.key(last), Some(INDEX_MAX));
        assert_eq!(on.key(last + 1), None);
        let off = Config { index: false, key_bits: 12, ..on };
        assert_eq!((off.key(4095), off.key(4096)), (Some(4095), None));
        assert_eq!(Config { index: false, ..on }.key(SIZE_MAX + 1), None);
        assert_eq!(on.key(u64::MAX), None);
    }

    #[test]
    fn a_parameter_out_of_range_is_named_with_its_range_and_the_nearest_value() {
        let error = Config::with_entries(65).check().expect_err("65 entries");
        let text = error.to_string();
        assert_eq!(text, "malloc cache: entries = 65: must be 1 to 64; try 64");
        let narrow = Config { pointer_bits: 8, ..Config::with_entries(1) };
        assert_eq!(narrow.check().expect_err("8 bits").what, "pointer_bits");
        let wide = Config { key_bits: 21, ..Config::with_entries(1) };
        assert_eq!(wide.check().expect_err("21 bits").what, "key_bits");
    }
}
