//! Memory: channels, each with a data bus and with banks that have one open row.

use crate::calendar::Calendar;
use crate::params::MemoryParams;
use crate::resources::Booked;
use crate::statistics::DramStatistics;
use crate::translate::PAGE_SHIFT;
use crate::variation::Random;

/// A bank: its open row, and when it is busy.
#[derive(Clone, Copy, Debug)]
struct Bank {
    row: u64,
    work: Booked,
}

/// Where a line lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    channel: usize,
    bank: usize,
    row: u64,
}

/// How much earlier or later a read may be in a run with a seed, in nanoseconds. A. Alameldeen and
/// D. Wood, *Variability in Architectural Simulations of Multi-threaded Workloads*, HPCA 2003, add
/// a random 0 to 4 ns to each access; the same width, centred, keeps the mean.
const VARIATION_NS: f64 = 2.0;

/// Random differences of the time that reads take.
#[derive(Clone, Copy, Debug)]
struct Variation {
    random: Random,
    /// Most cycles earlier or later.
    most: u64,
}

/// The memory controller and its channels. A row stays open for some time after its last use, then
/// the bank is closed. Writes go to a write queue: they use the data bus, but nothing waits for
/// them.
#[derive(Clone, Debug)]
pub(crate) struct Dram {
    banks: Vec<Bank>,
    buses: Vec<Calendar>,
    /// Bits of a line number within a 4 KB page.
    page_bits: u32,
    channel_mask: u64,
    channel_bits: u32,
    column_bits: u32,
    bank_mask: u64,
    bank_bits: u32,
    activate: u64,
    precharge: u64,
    row_idle: u64,
    column: u64,
    burst: u64,
    path: u64,
    variation: Option<Variation>,
    pub(crate) statistics: DramStatistics,
}

impl Dram {
    pub(crate) fn new(params: &MemoryParams) -> Self {
        let dram = &params.dram;
        let cycles = |ns: f64| (ns * params.clock_mhz as f64 / 1000.0).round() as u64;
        let burst = cycles(dram.burst_ns).max(1);
        let banks = (dram.channels * dram.banks) as usize;
        Self {
            banks: vec![Bank { row: u64::MAX, work: Booked::default() }; banks],
            buses: vec![Calendar::new(burst); dram.channels as usize],
            page_bits: PAGE_SHIFT - params.line.trailing_zeros(),
            channel_mask: u64::from(dram.channels) - 1,
            channel_bits: dram.channels.trailing_zeros(),
            column_bits: (dram.row_bytes / params.line).trailing_zeros(),
            bank_mask: u64::from(dram.banks) - 1,
            bank_bits: dram.banks.trailing_zeros(),
            activate: cycles(dram.trcd_ns),
            precharge: cycles(dram.trp_ns),
            row_idle: cycles(dram.row_idle_ns),
            column: cycles(dram.tcl_ns),
            burst,
            path: cycles(dram.path_ns),
            variation: (params.seed != 0).then(|| Variation {
                random: Random::new(!params.seed),
                most: cycles(VARIATION_NS.min(dram.path_ns / 2.0)),
            }),
            statistics: DramStatistics::default(),
        }
    }

    /// Neighbouring lines alternate between channels; the row number is folded into the bank
    /// number, so that rows a power of two apart do not all map to one bank. The operating system
    /// hands out 4 KB frames in no particular order; a hash of the page number stands in for that.
    fn place(&self, line: u64) -> Place {
        let page = line >> self.page_bits;
        let frame = page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24;
        let line = frame << self.page_bits | (line & ((1 << self.page_bits) - 1));
        let channel = (line & self.channel_mask) as usize;
        let above = line >> self.channel_bits >> self.column_bits;
        let row = above >> self.bank_bits;
        let bank = (above ^ row) & self.bank_mask;
        Place { channel, bank: (channel << self.bank_bits) + bank as usize, row }
    }

    /// Reads a line for a request that leaves the last level at `cycle`; returns the cycle at which
    /// its data is back there.
    pub(crate) fn read<const TIMED: bool>(&mut self, line: u64, cycle: u64) -> u64 {
        self.statistics.reads += 1;
        if !TIMED {
            return cycle;
        }
        let place = self.place(line);
        let bank = &mut self.banks[place.bank];
        let arrival = cycle + self.path / 2;
        let closes = bank.work.end() + self.row_idle;
        let column_at = if bank.row == place.row && arrival <= closes {
            self.statistics.row_hits += 1;
            let start = bank.work.free_at(arrival, self.burst);
            bank.work.take(start, start + self.burst);
            start
        } else {
            let work = self.activate + self.burst;
            let start = bank.work.free_at(arrival, work);
            // After the bank's last access, another row has to be precharged first.
            let start = match start < bank.work.end() || bank.row == u64::MAX {
                true => start,
                false if start < closes => start + self.precharge,
                false => start.max(closes + self.precharge),
            };
            bank.row = place.row;
            bank.work.take(start, start + work);
            start + self.activate
        };
        let data = self.buses[place.channel].book(column_at + self.column);
        data + self.burst + self.way_back()
    }

    /// Cycles from the end of the data transfer to the last level.
    fn way_back(&mut self) -> u64 {
        let way = self.path - self.path / 2;
        match &mut self.variation {
            None => way,
            Some(Variation { random, most }) => (way + random.below(2 * *most + 1)) - *most,
        }
    }

    /// Writes a line at about `cycle`.
    pub(crate) fn write<const TIMED: bool>(&mut self, line: u64, cycle: u64) {
        self.statistics.writes += 1;
        if TIMED {
            let channel = self.place(line).channel;
            self.buses[channel].book(cycle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(params: &MemoryParams, ns: f64) -> u64 {
        (ns * params.clock_mhz as f64 / 1000.0).round() as u64
    }

    /// Read times with the row open and with the bank closed, and what closing another row adds.
    fn times(params: &MemoryParams) -> (u64, u64, u64) {
        let d = &params.dram;
        let open = [d.path_ns, d.tcl_ns, d.burst_ns].map(|ns| cycles(params, ns)).iter().sum();
        (open, open + cycles(params, d.trcd_ns), cycles(params, d.trp_ns))
    }

    /// Lines of the same bank: one in the same row as line 0, one in another row.
    fn neighbours(dram: &Dram, params: &MemoryParams) -> (u64, u64) {
        let same_row = u64::from(params.dram.channels);
        let at = dram.place(0);
        assert_eq!(dram.place(same_row), at);
        let other_row = |line: &u64| {
            let place = dram.place(*line);
            place.bank == at.bank && place.row != at.row
        };
        (same_row, (0..).find(other_row).unwrap())
    }

    #[test]
    fn a_read_takes_the_time_of_its_bank_and_row() {
        let mut params = MemoryParams::default();
        params.dram.row_idle_ns = 1_000.0;
        let (open, closed, close) = times(&params);
        let idle = cycles(&params, params.dram.row_idle_ns);
        let mut dram = Dram::new(&params);
        let (same_row, other_row) = neighbours(&dram, &params);
        assert_eq!(dram.read::<true>(0, 1_000), 1_000 + closed);
        assert_eq!(dram.read::<true>(same_row, 2_000), 2_000 + open);
        assert_eq!(dram.read::<true>(other_row, 3_000), 3_000 + close + closed);
        let late = 5_000 + idle;
        assert_eq!(dram.read::<true>(other_row, late), late + closed);
        assert_eq!(dram.statistics.row_hits, 1);
    }

    #[test]
    fn with_no_idle_time_a_row_serves_those_who_wait_for_it_and_closes() {
        let mut params = MemoryParams::default();
        params.dram.row_idle_ns = 0.0;
        let (_, closed, _) = times(&params);
        let mut dram = Dram::new(&params);
        let (same_row, _) = neighbours(&dram, &params);
        let burst = cycles(&params, params.dram.burst_ns);
        assert_eq!(dram.read::<true>(0, 0), closed);
        let second = dram.read::<true>(same_row, 0);
        assert!((closed + 1..=closed + burst).contains(&second), "next on the bus: {second}");
        assert_eq!(dram.read::<true>(0, 9_000), 9_000 + closed);
        assert_eq!(dram.statistics.row_hits, 1);
    }

    #[test]
    fn reads_of_one_channel_follow_each_other_on_the_bus_and_of_two_do_not() {
        let params = MemoryParams::default();
        let (_, closed, _) = times(&params);
        let burst = cycles(&params, params.dram.burst_ns);
        let mut dram = Dram::new(&params);
        // Reaches the bank at a multiple of the burst, so that no bus interval is cut short.
        let start = 100 * burst;
        for line in 0..16 {
            let done = dram.read::<true>(line, start);
            let least = start + closed + line / u64::from(params.dram.channels) * burst;
            // A bus interval begins at a multiple of the burst, so up to one burst is gained.
            assert!((least - burst + 1..=least).contains(&done), "{line}: {done}, {least}");
        }
    }

    #[test]
    fn with_a_seed_reads_are_earlier_and_later_by_up_to_two_nanoseconds_and_alike_on_average() {
        let params = MemoryParams { seed: 1, ..MemoryParams::default() };
        let (_, closed, _) = times(&params);
        let most = cycles(&params, VARIATION_NS) as i64;
        let mut dram = Dram::new(&params);
        let late: Vec<i64> = (1..=1_000)
            .map(|n| {
                let start = n * 100_000;
                (dram.read::<true>(0, start) - start) as i64 - closed as i64
            })
            .collect();
        assert_eq!(late.iter().min(), Some(&-most));
        assert_eq!(late.iter().max(), Some(&most));
        // Uniform in 2 * most + 1 values: the mean's standard deviation is
        // sqrt(((2 * most + 1)^2 - 1) / 12 / 1000); five of them.
        let width = (2 * most + 1) as f64;
        let bound = 5.0 * ((width * width - 1.0) / 12.0 / 1_000.0).sqrt();
        let mean = late.iter().sum::<i64>() as f64 / 1_000.0;
        assert!(mean.abs() < bound, "{mean}, {bound}");
    }

    #[test]
    fn an_early_read_does_not_wait_for_a_later_one_of_its_bank() {
        let params = MemoryParams::default();
        let (_, closed, _) = times(&params);
        let mut dram = Dram::new(&params);
        let (_, other_row) = neighbours(&dram, &params);
        assert_eq!(dram.read::<true>(0, 5_000), 5_000 + closed);
        assert_eq!(dram.read::<true>(other_row, 100), 100 + closed);
    }
}
