//! Writes the operation stream of a small size-class allocator under random load, as a sample of
//! the format and as input for the RTL bench:
//! `cargo run -p mallacc-mcache --example ops [OPERATIONS [SEED]] > file.ops`.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};

use mallacc_mcache::ops::{Op, Writer};

/// Writes the stream to standard output; a failed write ends the program.
struct Out(io::BufWriter<io::Stdout>);

impl fmt::Write for Out {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write_all(text.as_bytes()).map_err(|_| fmt::Error)
    }
}

/// xorshift64 (Marsaglia).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}

fn main() -> fmt::Result {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| arguments.next().and_then(|a| a.parse().ok()).unwrap_or(default);
    let operations = number(400u64);
    let mut random = Random(number(1u64).max(1));
    let mut writer = Writer::new(Out(io::BufWriter::new(io::stdout())))?;
    let mut lists = vec![Vec::<u64>::new(); 8];
    let mut live = VecDeque::new();
    let mut fresh = 0x7f12_3456_0000u64;
    let mut written = 0;
    while written < operations {
        if live.len() > 40 || (!live.is_empty() && random.below(2) == 0) {
            let at = random.below(live.len() as u64) as usize;
            let (class, pointer): (u32, u64) = live.swap_remove_back(at).ok_or(fmt::Error)?;
            writer.op(Op::Push { class, pointer })?;
            lists[class as usize].push(pointer);
            written += 1;
            continue;
        }
        let size = 1 + random.below(128);
        let class = ((size - 1) / 16) as u32;
        let alloc_size = 16 * (u64::from(class) + 1);
        writer.op(Op::Lookup { size })?;
        writer.op(Op::Update { size, alloc_size, class })?;
        writer.op(Op::Sample { size })?;
        writer.op(Op::Pop { class })?;
        written += 4;
        let list = &mut lists[class as usize];
        if let Some(head) = list.pop() {
            let next = list.last().copied().unwrap_or(0);
            let word = list.len().checked_sub(2).map_or(0, |below| list[below]);
            writer.op(Op::PopEnd { head, next })?;
            writer.op(Op::Prefetch { class, head, next, word })?;
            live.push_back((class, head));
            written += 2;
        } else {
            writer.op(Op::Invalidate { class })?;
            for _ in 0..4 {
                fresh += 0x40;
                list.push(fresh);
            }
            fresh += 0x40;
            live.push_back((class, fresh));
            written += 1;
        }
    }
    writer.op(Op::Flush)?;
    let mut out = writer.finish().0;
    out.flush().map_err(|_| fmt::Error)
}
