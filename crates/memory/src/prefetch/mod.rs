//! Hardware prefetchers: each sees accesses and names lines, independently of caches and times.
//!
//! A cache shows them accesses: the L1D every load, with the address of its instruction; the L1I
//! its misses; a level beyond the first every request except the page walker's. The lines that they
//! name are filled into that cache unless present, in the order of the cache's list (but see
//! [`Chain`]). To add one: a file, a variant of [`Prefetcher`], and a line in [`MODELS`].

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

/// The most lines that a prefetcher names on one access.
pub const LINES_MAX: usize = 16;

/// The description of a prefetcher.
pub struct Model {
    /// Unique name, as in machine files.
    pub name: &'static str,
    /// One sentence.
    pub text: &'static str,
    /// Its parameters: keys of [`PrefetchParams`].
    pub parameters: &'static [&'static str],
    /// It uses the address of the instruction, which only the L1D knows.
    pub by_instruction: bool,
    build: fn(&PrefetchParams, u64) -> Prefetcher,
}

/// Every prefetcher there is.
pub static MODELS: &[Model] = &[
    Model {
        name: "ip_stride",
        text: "By instruction address: a load that repeats its stride prefetches one stride ahead.",
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
        text: "Ascending or descending accesses within a 4 KB page, several lines ahead.",
        parameters: &["streams", "streamer_confirm", "streamer_distance", "streamer_degree"],
        by_instruction: false,
        build: |p, line| Prefetcher::Streamer(Streamer::new(p, line)),
    },
    Model {
        name: "adjacent",
        text: "The other line of an aligned pair on a miss.",
        parameters: &[],
        by_instruction: false,
        build: |_, _| Prefetcher::Adjacent(Adjacent),
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

/// The model with this name; `key` is the key that names it in the machine file.
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
    pub(crate) line: u64,
    /// The cache did not have the line.
    pub(crate) missed: bool,
}

/// A prefetcher with its state.
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
    /// A new prefetcher of this name; `key` is the key that names it in the machine file.
    fn find(key: &str, name: &str, p: &MemoryParams) -> Result<Self, ConfigError> {
        Ok((find(key, name)?.build)(&p.prefetch, p.line))
    }

    /// Observes an access and adds the lines to prefetch: others of the same 4 KB page, at most
    /// [`LINES_MAX`].
    #[inline]
    pub(crate) fn see(&mut self, seen: Seen, wanted: &mut Vec<u64>) {
        let Seen { pc, addr, line, missed } = seen;
        let one = match self {
            Self::Streamer(p) => return p.request(line, wanted),
            Self::AccessMap(p) => return p.access(line, wanted),
            Self::IpStride(p) => p.load(pc, addr),
            Self::NextLine(p) => p.load(line),
            Self::NextOnMiss(p) => p.access(line, missed),
            Self::Adjacent(p) => p.access(line, missed),
        };
        if let Some(line) = one {
            wanted.push(line);
        }
    }
}

/// The prefetchers of a cache. Every load goes through those of the L1D, so the two that it usually
/// has are kept apart from the list and checked first.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) ip_stride: Option<IpStride>,
    pub(crate) next_line: Option<NextLine>,
    pub(crate) list: Vec<Prefetcher>,
}

impl Chain {
    /// New prefetchers with these names for the cache `key`; `every_load`: it sees every load.
    pub(crate) fn new(
        key: &str,
        names: &[String],
        every_load: bool,
        p: &MemoryParams,
    ) -> Result<Self, ConfigError> {
        let key = format!("{key}.prefetchers");
        let mut chain = Self { ip_stride: None, next_line: None, list: Vec::new() };
        for name in names {
            match Prefetcher::find(&key, name, p)? {
                Prefetcher::IpStride(p) if every_load => chain.ip_stride = Some(p),
                Prefetcher::NextLine(p) if every_load => chain.next_line = Some(p),
                other => chain.list.push(other),
            }
        }
        Ok(chain)
    }
}

#[cfg(test)]
mod tests;
