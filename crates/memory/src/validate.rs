//! Rules that the parameters have to keep.

use crate::array::ASSOC_MAX;
use crate::params::MemoryParams;
use params::ConfigError;

/// Greatest size of a cache and number of entries of a table: keeps a slip of the pen from
/// asking the host for all its memory.
const SIZE_MAX: u64 = 1 << 32;
const ENTRIES_MAX: u64 = 1 << 24;
/// Greatest time of one step; beyond it the arrival times would overflow their word.
const CYCLES_MAX: u64 = 1 << 20;

impl MemoryParams {
    /// Checks every rule; the error names the first broken one and the remedy.
    pub fn validate(&self) -> Result<(), ConfigError> {
        within("clock_mhz", self.clock_mhz, 1, 100_000)?;
        if !self.line.is_power_of_two() || !(16..=4096).contains(&self.line) {
            let rule = "must be a power of two from 16 to 4096";
            return Err(ConfigError::rule("line", self.line, rule, "try 64"));
        }
        self.caches()?;
        for (name, entries, assoc) in [
            ("itlb", self.itlb.entries, self.itlb.assoc),
            ("dtlb", self.dtlb.entries, self.dtlb.assoc),
            ("stlb", self.stlb.entries, self.stlb.assoc),
        ] {
            table(&format!("{name}.entries"), &format!("{name}.assoc"), entries, assoc)?;
        }
        table("walk.pde_entries", "walk.pde_assoc", self.walk.pde_entries, self.walk.pde_assoc)?;
        within("walk.walkers", self.walk.walkers.into(), 1, 64)?;
        within("prefetch.ip_stride_entries", self.prefetch.ip_stride_entries.into(), 1, 1 << 16)?;
        power_of_two("prefetch.ip_stride_entries", self.prefetch.ip_stride_entries.into())?;
        within("prefetch.ip_stride_bytes_max", self.prefetch.ip_stride_bytes_max, 1, 4096)?;
        within("prefetch.streams", self.prefetch.streams.into(), 1, 1 << 16)?;
        power_of_two("prefetch.streams", self.prefetch.streams.into())?;
        within("prefetch.streamer_confirm", self.prefetch.streamer_confirm.into(), 1, 16)?;
        within("prefetch.streamer_distance", self.prefetch.streamer_distance.into(), 1, 256)?;
        within("prefetch.streamer_degree", self.prefetch.streamer_degree.into(), 1, 16)?;
        within("scratchpad.latency", self.scratchpad.latency, 1, 10_000)?;
        if self.scratchpad.base.checked_add(self.scratchpad.size).is_none() {
            let rule = "scratchpad.base + scratchpad.size must be below 2^64";
            return Err(ConfigError::rule(
                "scratchpad.size",
                self.scratchpad.size,
                rule,
                "try 4096",
            ));
        }
        within("page_fault.code_pages", self.page_fault.code_pages, 1, 512)?;
        power_of_two("page_fault.code_pages", self.page_fault.code_pages)?;
        self.times()?;
        self.memory()
    }

    fn caches(&self) -> Result<(), ConfigError> {
        for (name, size, assoc) in [
            ("l1i", self.l1i.size, self.l1i.assoc),
            ("l1d", self.l1d.size, self.l1d.assoc),
            ("l2", self.l2.size, self.l2.assoc),
            ("llc", self.llc.size, self.llc.assoc),
        ] {
            within(&format!("{name}.assoc"), assoc.into(), 1, ASSOC_MAX.into())?;
            let key = format!("{name}.size");
            let unit = u64::from(assoc) * self.line;
            within(&key, size, unit, SIZE_MAX)?;
            if !size.is_multiple_of(unit) {
                let rule = format!(
                    "must be divisible by assoc * line ({assoc} * {line})",
                    line = self.line
                );
                let near = ((size + unit / 2) / unit).max(1) * unit;
                return Err(ConfigError::rule(&key, size, &rule, &format!("try {near}")));
            }
        }
        for (name, entries) in [
            ("l1i.fill_buffers", self.l1i.fill_buffers),
            ("l1d.fill_buffers", self.l1d.fill_buffers),
            ("l2.superqueue", self.l2.superqueue),
        ] {
            within(name, entries.into(), 1, 1024)?;
        }
        let inner = self.l1i.size + self.l1d.size;
        if self.llc.size < inner {
            let rule = format!("must hold both first-level caches, which it includes ({inner})");
            return Err(ConfigError::rule("llc.size", self.llc.size, &rule, "make it larger"));
        }
        Ok(())
    }

    fn times(&self) -> Result<(), ConfigError> {
        for (name, cycles, least) in [
            ("l1i.latency", self.l1i.latency, 0),
            ("l1d.latency", self.l1d.latency, 1),
            ("l1d.write_cycles", self.l1d.write_cycles, 0),
            ("l1d.line_split_cycles", self.l1d.line_split_cycles, 0),
            ("l1d.page_split_cycles", self.l1d.page_split_cycles, 0),
            ("l2.latency", self.l2.latency, 1),
            ("l2.interval", self.l2.interval, 1),
            ("llc.latency", self.llc.latency, 1),
            ("llc.path", self.llc.path, 0),
            ("llc.interval", self.llc.interval, 1),
            ("stlb.latency", self.stlb.latency, 0),
            ("walk.cycles", self.walk.cycles, 0),
        ] {
            within(name, cycles, least, CYCLES_MAX)?;
        }
        let levels = [
            ("l2.latency", self.l2.latency, "l1d.latency", self.l1d.latency),
            ("llc.latency", self.llc.latency, "l2.latency", self.l2.latency),
        ];
        for (name, value, below, least) in levels {
            if value < least {
                let rule = format!("must be at least {below} ({least}), it contains that time");
                return Err(ConfigError::rule(name, value, &rule, "give the whole load-to-use"));
            }
        }
        Ok(())
    }

    fn memory(&self) -> Result<(), ConfigError> {
        let dram = &self.dram;
        within("dram.channels", dram.channels.into(), 1, 64)?;
        power_of_two("dram.channels", dram.channels.into())?;
        within("dram.banks", dram.banks.into(), 1, 1024)?;
        power_of_two("dram.banks", dram.banks.into())?;
        within("dram.row_bytes", dram.row_bytes, self.line, 1 << 20)?;
        power_of_two("dram.row_bytes", dram.row_bytes)?;
        for (name, ns) in [
            ("dram.trcd_ns", dram.trcd_ns),
            ("dram.trp_ns", dram.trp_ns),
            ("dram.tcl_ns", dram.tcl_ns),
            ("dram.row_idle_ns", dram.row_idle_ns),
            ("dram.burst_ns", dram.burst_ns),
            ("dram.path_ns", dram.path_ns),
        ] {
            if !(0.0..=10_000.0).contains(&ns) {
                let rule = "must be from 0 to 10000";
                return Err(ConfigError::rule(name, ns, rule, "give nanoseconds"));
            }
        }
        Ok(())
    }
}

fn within(name: &str, value: u64, least: u64, most: u64) -> Result<(), ConfigError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    let rule = format!("must be from {least} to {most}");
    let near = value.clamp(least, most);
    Err(ConfigError::rule(name, value, &rule, &format!("try {near}")))
}

fn power_of_two(name: &str, value: u64) -> Result<(), ConfigError> {
    if value.is_power_of_two() {
        return Ok(());
    }
    let near = value.next_power_of_two();
    Err(ConfigError::rule(name, value, "must be a power of two", &format!("try {near}")))
}

fn table(name: &str, ways: &str, entries: u32, assoc: u32) -> Result<(), ConfigError> {
    within(ways, assoc.into(), 1, ASSOC_MAX.into())?;
    within(name, entries.into(), assoc.into(), ENTRIES_MAX)?;
    if !entries.is_multiple_of(assoc) {
        let rule = format!("must be divisible by {ways} ({assoc})");
        let near = ((entries + assoc / 2) / assoc).max(1) * assoc;
        return Err(ConfigError::rule(name, entries, &rule, &format!("try {near}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(change: impl FnOnce(&mut MemoryParams)) -> String {
        let mut params = MemoryParams::default();
        change(&mut params);
        params.validate().unwrap_err().0
    }

    #[test]
    fn the_default_keeps_every_rule() {
        assert_eq!(MemoryParams::default().validate(), Ok(()));
    }

    #[test]
    fn a_size_that_leaves_a_set_incomplete_is_told_the_nearest_that_does_not() {
        // 48000 / 512 = 93.75, so 94 sets: 94 * 512 = 48128.
        assert_eq!(
            error(|p| p.l1d.size = 48_000),
            "l1d.size = 48000: must be divisible by assoc * line (8 * 64); try 48128"
        );
    }

    #[test]
    fn each_broken_rule_names_its_key_and_value() {
        type Change = fn(&mut MemoryParams);
        let cases: [(Change, &str); 12] = [
            (|p| p.line = 48, "line = 48:"),
            (|p| p.l2.assoc = 17, "l2.assoc = 17: must be from 1 to 16"),
            (|p| p.llc.assoc = 0, "llc.assoc = 0:"),
            (|p| p.l1d.size = 0, "l1d.size = 0:"),
            (|p| p.llc.size = 16 << 10, "llc.size = 16384: must hold both"),
            (|p| p.l1d.fill_buffers = 0, "l1d.fill_buffers = 0:"),
            (|p| p.dtlb.entries = 63, "dtlb.entries = 63: must be divisible by dtlb.assoc (4)"),
            (|p| p.l2.latency = 3, "l2.latency = 3: must be at least l1d.latency (4)"),
            (|p| p.dram.banks = 12, "dram.banks = 12: must be a power of two; try 16"),
            (|p| p.dram.tcl_ns = f64::NAN, "dram.tcl_ns = NaN:"),
            (|p| p.walk.walkers = 0, "walk.walkers = 0:"),
            (|p| p.prefetch.streams = 33, "prefetch.streams = 33:"),
        ];
        for (change, part) in cases {
            let message = error(change);
            assert!(message.contains(part), "{message}");
        }
    }
}
