//! Prefetches by instruction address: a load whose address moves by a constant stride asks one
//! stride ahead.

use crate::params::PrefetchParams;

/// What a load instruction did.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    pc: u64,
    last: u64,
    stride: i32,
    confidence: u8,
}

/// Equal strides in a row before an entry prefetches: the manual gives no number; with two, the
/// third access of a stream is the first to prefetch.
const TRUSTED: u8 = 2;

/// The table.
#[derive(Clone, Debug)]
pub(crate) struct IpStride {
    entries: Vec<Entry>,
    stride_max: u64,
    line_mask: u64,
    line_shift: u32,
}

impl IpStride {
    pub(crate) fn new(params: &PrefetchParams, line: u64) -> Self {
        Self {
            entries: vec![Entry::default(); params.ip_stride_entries as usize],
            stride_max: params.ip_stride_bytes_max,
            line_mask: !(line - 1),
            line_shift: line.trailing_zeros(),
        }
    }

    /// Observes a load and returns a line to prefetch, another one of the same 4 KB page.
    #[inline(always)]
    pub(crate) fn load(&mut self, pc: u64, addr: u64) -> Option<u64> {
        let at = pc as usize & (self.entries.len() - 1);
        let entry = &mut self.entries[at];
        if entry.pc != pc {
            *entry = Entry { pc, last: addr, ..Entry::default() };
            return None;
        }
        let stride = addr.wrapping_sub(entry.last) as i64;
        entry.last = addr;
        if stride == 0 {
            return None;
        }
        if stride != i64::from(entry.stride) {
            let short = stride.unsigned_abs() <= self.stride_max;
            entry.stride = if short { stride as i32 } else { 0 };
            entry.confidence = u8::from(short);
            return None;
        }
        if entry.confidence < TRUSTED {
            entry.confidence += 1;
        }
        let next = addr.wrapping_add_signed(stride);
        let same_page = (next ^ addr) >> crate::translate::PAGE_SHIFT == 0;
        let other_line = (next ^ addr) & self.line_mask != 0;
        let trusted = entry.confidence >= TRUSTED;
        (trusted && same_page && other_line).then_some(next >> self.line_shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(entries: u32) -> IpStride {
        let params = PrefetchParams { ip_stride_entries: entries, ..PrefetchParams::default() };
        assert_eq!(params.ip_stride_bytes_max, 2048);
        IpStride::new(&params, 64)
    }

    #[test]
    fn the_third_access_of_a_stride_asks_for_the_fourth() {
        for stride in [64_i64, 200, -128, 2048] {
            let mut table = fresh(256);
            let base = 0x1_0000 + 0xfff * i64::from(stride < 0);
            let at = |n: i64| (base + n * stride) as u64;
            assert_eq!(table.load(7, at(0)), None);
            assert_eq!(table.load(7, at(1)), None);
            let third = table.load(7, at(2));
            let in_page = at(3) >> 12 == at(2) >> 12;
            assert_eq!(third, in_page.then_some(at(3) / 64), "stride {stride}");
        }
    }

    #[test]
    fn a_small_stride_asks_only_where_it_enters_the_next_line() {
        let mut table = fresh(256);
        let asked: Vec<u64> = (0..32).filter_map(|n| table.load(9, 0x2000 + 8 * n)).collect();
        assert_eq!(asked, [0x2040, 0x2080, 0x20c0, 0x2100].map(|addr| addr / 64));
    }

    #[test]
    fn strides_beyond_the_limit_and_over_the_page_are_left_alone() {
        let mut table = fresh(256);
        assert!((0..20).all(|n| table.load(1, n * 2112).is_none()));
        let mut table = fresh(256);
        for n in 0..200 {
            let addr = n * 192;
            if let Some(next) = table.load(1, addr) {
                assert_eq!((next * 64) >> 12, addr >> 12);
            }
        }
    }

    #[test]
    fn another_instruction_in_the_same_entry_starts_anew() {
        let mut table = fresh(16);
        for n in 0..3 {
            table.load(1, 64 * n);
        }
        assert_eq!(table.load(17, 0x5000), None);
        assert_eq!(table.load(1, 192), None);
    }
}
