//! Rules that the parameters must satisfy.

use crate::access::Depth;
use crate::array::ASSOC_MAX;
use crate::params::MemoryParams;
use crate::prefetch;
use crate::replacement::Policy;
use params::ConfigError;
use std::ops::RangeInclusive;

/// The most levels beyond the first.
pub(crate) const LEVELS_MAX: usize = Depth::ALL.len();
/// Line sizes: a 32-byte window of the uop cache, a 32-byte vector and a page-table entry (8 bytes)
/// span one or two lines; a 4 KB page has enough lines for prefetchers to follow a stream, and 256
/// bytes is the largest line of a known processor (IBM z).
const LINE: RangeInclusive<u64> = 32..=256;

/// Upper bound on the size of a cache and the number of entries of a table: a typing error must not
/// ask the host for all its memory.
const SIZE_MAX: u64 = 1 << 32;
const ENTRIES_MAX: u64 = 1 << 24;
/// Upper bound on a latency; beyond it the arrival times would overflow their word.
const CYCLES_MAX: u64 = 1 << 20;

impl MemoryParams {
    /// Checks every rule; the error names the first broken one and the remedy.
    pub fn validate(&self) -> Result<(), ConfigError> {
        within("clock_mhz", self.clock_mhz, 1, 100_000)?;
        if !self.line.is_power_of_two() || !LINE.contains(&self.line) {
            let rule = format!("must be a power of two from {} to {}", LINE.start(), LINE.end());
            let near = self.line.checked_next_power_of_two().unwrap_or(u64::MAX);
            let near = near.clamp(*LINE.start(), *LINE.end());
            return Err(ConfigError::rule("line", self.line, &rule, &format!("try {near}")));
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
        self.prefetchers()?;
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
        let (l1i, l1d) = (&self.l1i, &self.l1d);
        self.cache("l1i", l1i.size, l1i.assoc, &l1i.replacement, &l1i.prefetchers)?;
        self.cache("l1d", l1d.size, l1d.assoc, &l1d.replacement, &l1d.prefetchers)?;
        within("l1i.fill_buffers", l1i.fill_buffers.into(), 1, 1024)?;
        within("l1d.fill_buffers", l1d.fill_buffers.into(), 1, 1024)?;
        if !(1..=LEVELS_MAX).contains(&self.level.len()) {
            let rule = format!("must be from 1 to {LEVELS_MAX}");
            let remedy = "write as many [[memory.level]] sections";
            let count = format!("{} levels", self.level.len());
            return Err(ConfigError::rule("level", count, &rule, remedy));
        }
        (0..self.level.len()).try_for_each(|at| self.level(at))
    }

    /// Rules for all caches.
    fn cache(
        &self,
        name: &str,
        size: u64,
        assoc: u32,
        replacement: &str,
        prefetchers: &[String],
    ) -> Result<(), ConfigError> {
        within(&format!("{name}.assoc"), assoc.into(), 1, ASSOC_MAX.into())?;
        let key = format!("{name}.size");
        let unit = u64::from(assoc) * self.line;
        within(&key, size, unit, SIZE_MAX)?;
        if !size.is_multiple_of(unit) {
            let rule = format!("must be divisible by assoc * line ({assoc} * {})", self.line);
            let near = ((size + unit / 2) / unit).max(1) * unit;
            return Err(ConfigError::rule(&key, size, &rule, &format!("try {near}")));
        }
        Policy::find(&format!("{name}.replacement"), replacement)?;
        let key = format!("{name}.prefetchers");
        for (at, prefetcher) in prefetchers.iter().enumerate() {
            let model = prefetch::find(&key, prefetcher)?;
            if model.by_instruction && name != "l1d" {
                let rule = "is trained on instruction addresses, which only the L1D sees";
                return Err(ConfigError::rule(
                    &key,
                    prefetcher,
                    rule,
                    "list it in l1d.prefetchers",
                ));
            }
            if prefetchers[..at].contains(prefetcher) {
                return Err(ConfigError::rule(
                    &key,
                    prefetcher,
                    "is listed twice",
                    "leave one out",
                ));
            }
        }
        Ok(())
    }

    /// Rules for a level beyond the first.
    fn level(&self, at: usize) -> Result<(), ConfigError> {
        let (level, name) = (&self.level[at], format!("level[{at}]"));
        let key = |key: &str| format!("{name}.{key}");
        self.name(at)?;
        self.cache(&name, level.size, level.assoc, &level.replacement, &level.prefetchers)?;
        within(&key("superqueue"), level.superqueue.into(), 0, 1024)?;
        if level.superqueue == 0 && !level.prefetchers.is_empty() {
            let rule = "must be at least 1 in a level with prefetchers, whose lines it holds";
            let remedy = "give the number of lines in flight, or remove the prefetchers";
            return Err(ConfigError::rule(&key("superqueue"), 0, rule, remedy));
        }
        let first = self.l1i.size + self.l1d.size;
        if level.inclusive && level.size < first {
            let rule = format!("must hold both first-level caches, which it includes ({first})");
            let remedy = "make it larger";
            return Err(ConfigError::rule(&key("size"), level.size, &rule, remedy));
        }
        if at > 0 && self.level[at - 1].shared && !level.shared {
            let rule = format!("must be true beyond a shared level (level[{}])", at - 1);
            return Err(ConfigError::rule(&key("shared"), "false", &rule, "write true"));
        }
        Ok(())
    }

    /// Level names stand beside the names of other groups of counters, which never have this form.
    fn name(&self, at: usize) -> Result<(), ConfigError> {
        let (name, key) = (&self.level[at].name, format!("level[{at}].name"));
        let shown = format!("{name:?}");
        let letter = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
        let fits =
            name.starts_with('L') && (2..=8).contains(&name.len()) && name.chars().all(letter);
        if !fits || name == "L1I" || name == "L1D" {
            let rule = "must be L and one to seven capital letters or digits, not L1I or L1D";
            return Err(ConfigError::rule(&key, shown, rule, "write L2, L3 or LLC"));
        }
        match self.level[..at].iter().position(|level| level.name == *name) {
            None => Ok(()),
            Some(other) => {
                let rule = format!("is also the name of level[{other}]");
                Err(ConfigError::rule(&key, shown, &rule, "give each level a name of its own"))
            }
        }
    }

    fn prefetchers(&self) -> Result<(), ConfigError> {
        let p = &self.prefetch;
        for (name, value, most) in [
            ("prefetch.ip_stride_entries", p.ip_stride_entries, 1 << 16),
            ("prefetch.streams", p.streams, 1 << 16),
            ("prefetch.access_map_pages", p.access_map_pages, 1 << 16),
        ] {
            within(name, value.into(), 1, most)?;
            power_of_two(name, value.into())?;
        }
        let lines_max = prefetch::LINES_MAX as u64;
        within("prefetch.ip_stride_bytes_max", p.ip_stride_bytes_max, 1, 4096)?;
        within("prefetch.streamer_confirm", p.streamer_confirm.into(), 1, 16)?;
        within("prefetch.streamer_distance", p.streamer_distance.into(), 1, 256)?;
        within("prefetch.streamer_degree", p.streamer_degree.into(), 1, lines_max)?;
        within("prefetch.access_map_degree", p.access_map_degree.into(), 1, lines_max)
    }

    fn times(&self) -> Result<(), ConfigError> {
        for (name, cycles, least) in [
            ("l1i.latency", self.l1i.latency, 0),
            ("l1d.latency", self.l1d.latency, 1),
            ("l1d.write_cycles", self.l1d.write_cycles, 0),
            ("l1d.line_split_cycles", self.l1d.line_split_cycles, 0),
            ("l1d.page_split_cycles", self.l1d.page_split_cycles, 0),
            ("stlb.latency", self.stlb.latency, 0),
            ("walk.cycles", self.walk.cycles, 0),
        ] {
            within(name, cycles, least, CYCLES_MAX)?;
        }
        let mut inside = ("l1d.latency".to_owned(), self.l1d.latency);
        for (at, level) in self.level.iter().enumerate() {
            let key = |key: &str| format!("level[{at}].{key}");
            within(&key("latency"), level.latency, 1, CYCLES_MAX)?;
            within(&key("path"), level.path, 0, CYCLES_MAX)?;
            within(&key("interval"), level.interval, 1, CYCLES_MAX)?;
            let (before, least) = inside;
            if level.latency < least {
                let rule = format!("must be at least {before} ({least}), which it includes");
                let remedy = "give the whole load-to-use";
                return Err(ConfigError::rule(&key("latency"), level.latency, &rule, remedy));
            }
            let sum = if level.path > 0 { "latency + path" } else { "latency" };
            inside = (key(sum), level.load_to_use());
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
    use crate::params::LevelParams;

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
        let cases: [(Change, &str); 26] = [
            (|p| p.line = 48, "line = 48: must be a power of two from 32 to 256; try 64"),
            (|p| p.line = 16, "line = 16: must be a power of two from 32 to 256; try 32"),
            (|p| p.line = 4096, "line = 4096: must be a power of two from 32 to 256; try 256"),
            (|p| p.line = u64::MAX, "try 256"),
            (|p| p.level[0].assoc = 17, "level[0].assoc = 17: must be from 1 to 16"),
            (|p| p.level[1].assoc = 0, "level[1].assoc = 0:"),
            (|p| p.level[0].size = 48_000, "level[0].size = 48000: must be divisible by assoc"),
            (|p| p.l1d.size = 0, "l1d.size = 0:"),
            (|p| p.level[1].size = 16 << 10, "level[1].size = 16384: must hold both"),
            (|p| p.l1d.fill_buffers = 0, "l1d.fill_buffers = 0:"),
            (|p| p.dtlb.entries = 63, "dtlb.entries = 63: must be divisible by dtlb.assoc (4)"),
            (|p| p.level[0].latency = 3, "level[0].latency = 3: must be at least l1d.latency (4)"),
            (|p| p.level[1].latency = 9, "level[1].latency = 9: must be at least level[0].latency"),
            (|p| p.dram.banks = 12, "dram.banks = 12: must be a power of two; try 16"),
            (|p| p.dram.tcl_ns = f64::NAN, "dram.tcl_ns = NaN:"),
            (|p| p.walk.walkers = 0, "walk.walkers = 0:"),
            (|p| p.prefetch.streams = 33, "prefetch.streams = 33:"),
            (|p| p.level.clear(), "level = 0 levels: must be from 1 to 4;"),
            (
                |p| p.level[1].name = "L2".into(),
                "level[1].name = \"L2\": is also the name of level[0]",
            ),
            (|p| p.level[1].name = "llc".into(), "level[1].name = \"llc\": must be L and"),
            (|p| p.level[0].superqueue = 0, "level[0].superqueue = 0: must be at least 1"),
            (|p| p.level[0].prefetchers.push("ip_stride".into()), "which only the L1D sees"),
            (|p| p.l1d.prefetchers.push("next_line".into()), "= next_line: is listed twice"),
            (|p| p.l1d.prefetchers.push("nextline".into()), "Did you mean \"next_line\"?"),
            (|p| p.level[1].replacement = "slru".into(), "level[1].replacement \"slru\": unknown"),
            (
                |p| {
                    p.level[0].shared = true;
                    p.level[1].shared = false;
                },
                "level[1].shared = false: must be true beyond a shared level (level[0])",
            ),
        ];
        for (change, part) in cases {
            let message = error(change);
            assert!(message.contains(part), "{message}");
            assert!(!message.contains('\n') && !message.contains("  "), "{message}");
        }
    }

    #[test]
    fn a_fifth_level_is_one_too_many() {
        let add = |p: &mut MemoryParams, count: usize| {
            for n in 0..count {
                let name = format!("L{}", 3 + n);
                p.level.insert(1 + n, LevelParams { name, ..p.level[0].clone() });
            }
        };
        let mut four = MemoryParams::default();
        add(&mut four, LEVELS_MAX - 2);
        assert_eq!(four.validate(), Ok(()));
        let message = error(|p| add(p, LEVELS_MAX - 1));
        assert!(message.starts_with("level = 5 levels: must be from 1 to 4;"), "{message}");
    }
}
