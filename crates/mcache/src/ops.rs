//! Operation streams: what an allocator asked of the malloc cache, as text, one operation per line.
//!
//! A stream records the *program's* side (the marker values of `docs/markers.md`), not what a
//! particular cache did, so one stream drives caches of any size: an `update` is executed only if
//! its lookup missed, and a `prefetch` fills whichever pointer the preceding pop calls for. The
//! values that a pop really returned are in the stream, so a replay can check every hit.
//!
//! ```text
//! mallacc-ops 1
//! # a comment; numbers are decimal, pointers hexadecimal without 0x
//! lookup 24
//! update 24 32 3
//! sample 24
//! pop 3
//! popend 7f0010 7f0020
//! prefetch 3 7f0010 7f0020 7f0030
//! push 3 7f0010
//! invalidate 3
//! flush
//! ```

use core::fmt;

use crate::cache::MallocCache;
use crate::outcome::{Fill, Pop, Push, Returned, Updated};

/// First line of every stream: name and version of the format.
pub const HEADER: &str = "mallacc-ops 1";

/// One operation of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Op {
    /// `lookup size`
    Lookup { size: u64 },
    /// `update size alloc_size class`: what software computes; executed after a lookup miss.
    Update { size: u64, alloc_size: u64, class: u32 },
    /// `sample size`
    Sample { size: u64 },
    /// `pop class`
    Pop { class: u32 },
    /// `popend head next`: what the list really held; follows its `pop` unless the list was empty.
    PopEnd { head: u64, next: u64 },
    /// `push class pointer`
    Push { class: u32, pointer: u64 },
    /// `prefetch class head next word`: the values of the preceding `popend`, and the word at
    /// `next`.
    Prefetch { class: u32, head: u64, next: u64, word: u64 },
    /// `invalidate class`
    Invalidate { class: u32 },
    /// `flush`: every list changed
    Flush,
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Lookup { size } => write!(f, "lookup {size}"),
            Self::Update { size, alloc_size, class } => {
                write!(f, "update {size} {alloc_size} {class}")
            }
            Self::Sample { size } => write!(f, "sample {size}"),
            Self::Pop { class } => write!(f, "pop {class}"),
            Self::PopEnd { head, next } => write!(f, "popend {head:x} {next:x}"),
            Self::Push { class, pointer } => write!(f, "push {class} {pointer:x}"),
            Self::Prefetch { class, head, next, word } => {
                write!(f, "prefetch {class} {head:x} {next:x} {word:x}")
            }
            Self::Invalidate { class } => write!(f, "invalidate {class}"),
            Self::Flush => f.write_str("flush"),
        }
    }
}

/// Writes a stream: the header at once, then a line per operation.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
}

impl<W: fmt::Write> Writer<W> {
    /// Starts a stream.
    pub fn new(mut out: W) -> Result<Self, fmt::Error> {
        writeln!(out, "{HEADER}")?;
        Ok(Self { out })
    }

    /// Appends an operation.
    pub fn op(&mut self, op: Op) -> fmt::Result {
        writeln!(self.out, "{op}")
    }

    /// Returns the text.
    pub fn finish(self) -> W {
        self.out
    }
}

/// A line that is not an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line number, from 1.
    pub line: usize,
    /// What was expected.
    pub expected: &'static str,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operation stream, line {}: expected {}", self.line, self.expected)
    }
}

impl core::error::Error for ParseError {}

/// The operations of a stream's text. Empty lines and lines from `#` on are skipped.
pub fn parse(text: &str) -> impl Iterator<Item = Result<Op, ParseError>> + '_ {
    let mut lines = text.lines().zip(1..);
    let header = match lines.next() {
        Some((HEADER, _)) => None,
        _ => Some(Err(ParseError { line: 1, expected: "the header \"mallacc-ops 1\"" })),
    };
    let body = header.is_none().then_some(lines).into_iter().flatten();
    header.into_iter().chain(body.filter_map(|(line, number)| {
        let words = line.split('#').next().unwrap_or("").trim();
        let parsed = (!words.is_empty()).then(|| parse_line(words))?;
        Some(parsed.map_err(|expected| ParseError { line: number, expected }))
    }))
}

fn parse_line(line: &str) -> Result<Op, &'static str> {
    let mut words = line.split_ascii_whitespace();
    let name = words.next().unwrap_or("");
    let expected = match name {
        "lookup" => "lookup SIZE",
        "update" => "update SIZE ALLOC_SIZE CLASS",
        "sample" => "sample SIZE",
        "pop" => "pop CLASS",
        "popend" => "popend HEAD NEXT",
        "push" => "push CLASS POINTER",
        "prefetch" => "prefetch CLASS HEAD NEXT WORD",
        "invalidate" => "invalidate CLASS",
        "flush" => "flush",
        _ => {
            return Err("lookup, update, sample, pop, popend, push, prefetch, invalidate or flush");
        }
    };
    let mut number =
        |radix| words.next().and_then(|word| u64::from_str_radix(word, radix).ok()).ok_or(expected);
    let narrow = |value: u64| u32::try_from(value).map_err(|_| expected);
    let op = match name {
        "lookup" => Op::Lookup { size: number(10)? },
        "update" => {
            Op::Update { size: number(10)?, alloc_size: number(10)?, class: narrow(number(10)?)? }
        }
        "sample" => Op::Sample { size: number(10)? },
        "pop" => Op::Pop { class: narrow(number(10)?)? },
        "popend" => Op::PopEnd { head: number(16)?, next: number(16)? },
        "push" => Op::Push { class: narrow(number(10)?)?, pointer: number(16)? },
        "prefetch" => Op::Prefetch {
            class: narrow(number(10)?)?,
            head: number(16)?,
            next: number(16)?,
            word: number(16)?,
        },
        "invalidate" => Op::Invalidate { class: narrow(number(10)?)? },
        _ => Op::Flush,
    };
    if words.next().is_some() { Err(expected) } else { Ok(op) }
}

/// What an operation of a stream did to the cache it was replayed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A lookup: whether it hit.
    Lookup(bool),
    /// An update; `None` if its lookup hit.
    Update(Option<Updated>),
    /// A pop.
    Pop(Pop),
    /// A push.
    Push(Push),
    /// A prefetch that returned at once.
    Prefetch(Returned),
    /// The other operations.
    Nothing,
    /// A pop hit whose Head and Next are not the true ones: the cache or the allocator is wrong.
    WrongPop {
        /// What the cache returned.
        got: (u64, u64),
        /// What the list held.
        truth: (u64, u64),
    },
}

/// Replays a stream on a cache in program order, each prefetch returning at once.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The cache.
    pub cache: MallocCache,
    hit: bool,
    popped: Option<(u64, u64)>,
}

impl Replay {
    /// A replay on the given cache.
    pub fn new(cache: MallocCache) -> Self {
        Self { cache, hit: false, popped: None }
    }

    /// Executes the next operation.
    pub fn op(&mut self, op: Op) -> Effect {
        match op {
            Op::Lookup { size } => {
                self.hit = self.cache.lookup(size).is_some();
                Effect::Lookup(self.hit)
            }
            Op::Update { size, alloc_size, class } => {
                Effect::Update((!self.hit).then(|| self.cache.update(size, alloc_size, class)))
            }
            Op::Sample { .. } => Effect::Nothing,
            Op::Pop { class } => {
                let pop = self.cache.pop(class);
                self.popped = match pop {
                    Pop::Hit { head, next } => Some((head, next)),
                    Pop::Miss | Pop::Wait => None,
                };
                Effect::Pop(pop)
            }
            Op::PopEnd { head, next } => match self.popped {
                Some(got) if got != (head, next) => Effect::WrongPop { got, truth: (head, next) },
                _ => Effect::Nothing,
            },
            Op::Push { class, pointer } => Effect::Push(self.cache.push(class, pointer)),
            Op::Prefetch { class, head, next, word } => {
                Effect::Prefetch(if self.popped.is_some() {
                    self.cache.prefetch(class, Fill::Next, next, word)
                } else {
                    self.cache.prefetch(class, Fill::Head, head, next)
                })
            }
            Op::Invalidate { class } => {
                self.cache.invalidate(class);
                Effect::Nothing
            }
            Op::Flush => {
                self.cache.flush_lists();
                Effect::Nothing
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    const ALL: [Op; 9] = [
        Op::Lookup { size: 24 },
        Op::Update { size: 24, alloc_size: 32, class: 3 },
        Op::Sample { size: u64::MAX },
        Op::Pop { class: 3 },
        Op::PopEnd { head: 0x7f00_0000_0010, next: 0 },
        Op::Push { class: 255, pointer: u64::MAX },
        Op::Prefetch { class: 3, head: 0x10, next: 0x20, word: 0x30 },
        Op::Invalidate { class: 0 },
        Op::Flush,
    ];

    #[test]
    fn what_is_written_reads_back() {
        let mut writer = Writer::new(String::new()).expect("a string takes everything");
        for op in ALL {
            writer.op(op).expect("a string takes everything");
        }
        let read: Result<Vec<Op>, _> = parse(&writer.finish()).collect();
        assert_eq!(read, Ok(ALL.to_vec()));
    }

    #[test]
    fn comments_are_skipped_and_errors_name_the_line_and_the_form() {
        let text = "mallacc-ops 1\n\n# nothing\npop 3 # why\npop\n";
        let read: Vec<_> = parse(text).collect();
        assert_eq!(read[0], Ok(Op::Pop { class: 3 }));
        assert_eq!(read[1], Err(ParseError { line: 5, expected: "pop CLASS" }));
        assert_eq!(read.len(), 2);
    }

    #[test]
    fn a_stream_of_another_version_is_refused_as_a_whole() {
        let read: Vec<_> = parse("mallacc-ops 2\npop 3\n").collect();
        assert_eq!(read.len(), 1);
        assert!(read[0].is_err_and(|error| error.line == 1));
    }

    #[test]
    fn surplus_words_unknown_names_and_too_large_classes_are_refused() {
        for line in ["flush 1", "lookup 24 3", "drop 3", "pop 4294967296", "lookup -1"] {
            assert!(parse_line(line).is_err(), "{line}");
        }
    }

    #[test]
    fn a_replay_flags_a_hit_that_is_not_the_list() {
        let mut replay = Replay::new(MallocCache::new(Config::with_entries(2)).expect("valid"));
        replay.op(Op::Lookup { size: 24 });
        replay.op(Op::Update { size: 24, alloc_size: 32, class: 3 });
        replay.op(Op::Push { class: 3, pointer: 0x10 });
        replay.op(Op::Push { class: 3, pointer: 0x20 });
        assert_eq!(
            replay.op(Op::Pop { class: 3 }),
            Effect::Pop(Pop::Hit { head: 0x20, next: 0x10 })
        );
        assert_eq!(replay.clone().op(Op::PopEnd { head: 0x20, next: 0x10 }), Effect::Nothing);
        let (got, truth) = ((0x20, 0x10), (0x20, 0x99));
        assert_eq!(
            replay.op(Op::PopEnd { head: 0x20, next: 0x99 }),
            Effect::WrongPop { got, truth }
        );
    }
}
