//! Memory: channels, banks with an open row, and a data bus each.

use crate::calendar::Calendar;
use crate::params::MemoryParams;
use crate::slots::Booked;
use crate::statistics::DramStatistics;

/// A bank: the open row, and when it works.
#[derive(Clone, Copy, Debug)]
struct Bank {
    row: u64,
    work: Booked,
}

/// A line's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    channel: usize,
    bank: usize,
    row: u64,
}

/// The memory controller and its channels. Rows stay open until another row of the bank is asked
/// for. Writes are taken by a write queue: they use the data bus and nobody waits for them.
#[derive(Clone, Debug)]
pub(crate) struct Dram {
    banks: Vec<Bank>,
    buses: Vec<Calendar>,
    channel_mask: u64,
    channel_bits: u32,
    column_bits: u32,
    bank_mask: u64,
    bank_bits: u32,
    activate: u64,
    precharge: u64,
    column: u64,
    burst: u64,
    path: u64,
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
            channel_mask: u64::from(dram.channels) - 1,
            channel_bits: dram.channels.trailing_zeros(),
            column_bits: (dram.row_bytes / params.line).trailing_zeros(),
            bank_mask: u64::from(dram.banks) - 1,
            bank_bits: dram.banks.trailing_zeros(),
            activate: cycles(dram.trcd_ns),
            precharge: cycles(dram.trp_ns),
            column: cycles(dram.tcl_ns),
            burst,
            path: cycles(dram.path_ns),
            statistics: DramStatistics::default(),
        }
    }

    /// Neighbouring lines alternate between channels; the row number is folded into the bank
    /// number, so that rows a power of two apart do not meet in one bank.
    fn place(&self, line: u64) -> Place {
        let channel = (line & self.channel_mask) as usize;
        let above = line >> self.channel_bits >> self.column_bits;
        let row = above >> self.bank_bits;
        let bank = (above ^ row) & self.bank_mask;
        Place { channel, bank: (channel << self.bank_bits) + bank as usize, row }
    }

    /// Reads a line for a request that leaves the last level at `cycle`; the answer is the cycle
    /// at which its data is back there. Without time only the open rows change.
    pub(crate) fn read<const TIMED: bool>(&mut self, line: u64, cycle: u64) -> u64 {
        let place = self.place(line);
        let bank = &mut self.banks[place.bank];
        let open = bank.row == place.row;
        let empty = bank.row == u64::MAX;
        bank.row = place.row;
        self.statistics.reads += 1;
        self.statistics.row_hits += u64::from(open);
        if !TIMED {
            return cycle;
        }
        let row = match (open, empty) {
            (true, _) => 0,
            (false, true) => self.activate,
            (false, false) => self.precharge + self.activate,
        };
        let arrival = cycle + self.path / 2;
        let work = row + self.burst;
        let start = bank.work.free_at(arrival, work);
        bank.work.take(start, start + work);
        let data = self.buses[place.channel].book(start + row + self.column);
        data + self.burst + (self.path - self.path / 2)
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

    /// `(empty bank, open row, other row)` read times from the parameters.
    fn times(params: &MemoryParams) -> (u64, u64, u64) {
        let cycles = |ns: f64| (ns * params.clock_mhz as f64 / 1000.0).round() as u64;
        let d = &params.dram;
        let hit = cycles(d.path_ns) + cycles(d.tcl_ns) + cycles(d.burst_ns);
        let empty = hit + cycles(d.trcd_ns);
        (empty, hit, empty + cycles(d.trp_ns))
    }

    #[test]
    fn a_read_takes_the_time_of_its_row_state() {
        let params = MemoryParams::default();
        let (empty, open, conflict) = times(&params);
        let mut dram = Dram::new(&params);
        let channels = u64::from(params.dram.channels);
        let same_row = channels;
        // The next row of the same bank: banks and row fold as `bank ^ row`.
        let lines_of_row = params.dram.row_bytes / params.line * channels;
        let banks = u64::from(params.dram.banks);
        let other_row = lines_of_row * (banks + 1);
        assert_eq!(dram.place(0).bank, dram.place(other_row).bank);
        assert_ne!(dram.place(0).row, dram.place(other_row).row);
        assert_eq!(dram.read::<true>(0, 1_000), 1_000 + empty);
        assert_eq!(dram.read::<true>(same_row, 2_000), 2_000 + open);
        assert_eq!(dram.read::<true>(other_row, 3_000), 3_000 + conflict);
        assert_eq!(dram.statistics.row_hits, 1);
    }

    #[test]
    fn reads_of_one_channel_follow_each_other_on_the_bus_and_of_two_do_not() {
        let params = MemoryParams::default();
        let (_, open, _) = times(&params);
        let burst = (params.dram.burst_ns * params.clock_mhz as f64 / 1000.0).round() as u64;
        let mut dram = Dram::new(&params);
        let lines: Vec<u64> = (0..16).collect();
        for line in &lines {
            dram.read::<true>(*line, 0);
        }
        let start = 100 * burst;
        let done: Vec<u64> = lines.iter().map(|l| dram.read::<true>(*l, start)).collect();
        for (n, done) in done.iter().enumerate() {
            let before_it = n as u64 / u64::from(params.dram.channels);
            let least = start + open + before_it * burst;
            // A bus time begins at a multiple of the burst, so up to one burst is lost.
            assert!((least..least + burst).contains(done), "{n}: {done}, {least}");
        }
    }

    #[test]
    fn an_early_read_does_not_wait_for_a_later_one_of_its_bank() {
        let params = MemoryParams::default();
        let (empty, open, _) = times(&params);
        let mut dram = Dram::new(&params);
        assert_eq!(dram.read::<true>(0, 5_000), 5_000 + empty);
        let early = dram.read::<true>(u64::from(params.dram.channels), 100);
        assert_eq!(early, 100 + open);
    }
}
