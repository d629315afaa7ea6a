//! Hardware prefetchers: each sees accesses and names lines, and knows neither caches nor times.
//!
//! A cache shows its prefetchers, in the order of its list: the L1D every load, with the address of
//! its instruction; the L1I its misses; a level beyond the first every request but the page
//! walker's. What they name is brought into that cache unless it is there. Adding one: a file, a
//! variant of [`Prefetcher`], and a line in [`MODELS`].

mod access_map;
mod adjacent;
mod ip_stride;
mod next_line;
mod streamer;

use params::{ConfigError, unknown_name};

use crate::params::{MemoryParams, PrefetchParams};
use access_map::AccessMap;
use adjacent::Adjacent;
use ip_stride::IpStride;
use next_line::{NextLine, NextOnMiss};
use streamer::Streamer;

/// Lines that a prefetcher names on one access at most.
pub const LINES_MAX: usize = 16;

/// What is known of a prefetcher.
pub struct Model {
    /// Unique name, as in machine files.
    pub name: &'static str,
    /// One sentence.
    pub text: &'static str,
    /// Its parameters: keys of [`PrefetchParams`].
    pub parameters: &'static [&'static str],
    /// It goes by the address of the instruction, which the L1D alone knows.
    pub by_instruction: bool,
    build: fn(&PrefetchParams, u64) -> Prefetcher,
}

/// Every prefetcher there is.
pub static MODELS: &[Model] = &[
    Model {
        name: "ip_stride",
        text: "By instruction address: a load whose address moves by the same stride asks one \
               ahead.",
        parameters: &["ip_stride_entries", "ip_stride_bytes_max"],
        by_instruction: true,
        build: |p, line| Prefetcher::IpStride(IpStride::new(p, line)),
    },
    Model {
        name: "next_line",
        text: "The next line after two accesses to ascending neighbouring lines.",
        parameters: &[],
        by_instruction: false,
        build: |_, line| Prefetcher::NextLine(NextLine::new(line)),
    },
    Model {
        name: "next_line_code",
        text: "The next line on a miss.",
        parameters: &[],
        by_instruction: false,
        build: |_, line| Prefetcher::NextOnMiss(NextOnMiss::new(line)),
    },
    Model {
        name: "streamer",
        text: "Ascending or descending accesses within a 4 KB page, with a distance ahead.",
        parameters: &["streams", "streamer_confirm", "streamer_distance", "streamer_degree"],
        by_instruction: false,
        build: |p, line| Prefetcher::Streamer(Streamer::new(p, line)),
    },
    Model {
        name: "adjacent",
        text: "The other line of an aligned pair on a miss.",
        parameters: &[],
        by_instruction: false,
        build: |_, line| Prefetcher::Adjacent(Adjacent::new(line)),
    },
    Model {
        name: "access_map",
        text: "Strides found in a map of the lines accessed in each 4 KB page, whatever the order \
               in time (Ishii, Inaba and Hiraki, AMPM, ICS 2009).",
        parameters: &["access_map_pages", "access_map_degree"],
        by_instruction: false,
        build: |p, line| Prefetcher::AccessMap(AccessMap::new(p, line)),
    },
];

/// The model of a name; `key` is what names it in the machine file.
pub(crate) fn find(key: &str, name: &str) -> Result<&'static Model, ConfigError> {
    MODELS.iter().find(|model| model.name == name).ok_or_else(|| {
        let valid: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
        unknown_name(key, name, name, &valid)
    })
}

/// An access as a prefetcher sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// Address of the instruction, where it is known.
    pub(crate) pc: u64,
    pub(crate) addr: u64,
    /// The cache did not have the line.
    pub(crate) missed: bool,
}

/// A prefetcher at work.
#[derive(Clone, Debug)]
pub(crate) enum Prefetcher {
    IpStride(IpStride),
    NextLine(NextLine),
    NextOnMiss(NextOnMiss),
    Streamer(Streamer),
    Adjacent(Adjacent),
    AccessMap(AccessMap),
}

impl Prefetcher {
    /// A fresh one of this name; `key` is what names it in the machine file.
    pub(crate) fn find(key: &str, name: &str, p: &MemoryParams) -> Result<Self, ConfigError> {
        Ok((find(key, name)?.build)(&p.prefetch, p.line))
    }

    /// Sees an access and adds the lines to prefetch: others of the same 4 KB page, at most
    /// [`LINES_MAX`].
    #[inline(always)]
    pub(crate) fn see(&mut self, seen: Seen, wanted: &mut Vec<u64>) {
        match self {
            Self::IpStride(p) => wanted.extend(p.load(seen.pc, seen.addr)),
            Self::NextLine(p) => wanted.extend(p.load(seen.addr)),
            _ => self.see_rare(seen, wanted),
        }
    }

    /// The prefetchers that no load goes through on today's machines.
    #[inline(never)]
    fn see_rare(&mut self, seen: Seen, wanted: &mut Vec<u64>) {
        match self {
            Self::IpStride(_) | Self::NextLine(_) => {}
            Self::NextOnMiss(p) => wanted.extend(p.access(seen.addr, seen.missed)),
            Self::Streamer(p) => p.request(seen.addr, wanted),
            Self::Adjacent(p) => wanted.extend(p.access(seen.addr, seen.missed)),
            Self::AccessMap(p) => p.access(seen.addr, wanted),
        }
    }
}

#[cfg(test)]
mod tests;
