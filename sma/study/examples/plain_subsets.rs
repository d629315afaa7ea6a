//! Writes subsets of traces as plain text, which the benches of `sma/sma` replay.
//!
//! `cargo run --release -p mallacc-study --example plain_subsets -- traces out`
//!
//! Writes `out/BYTES-NAME.txt`: subsets of a program for a memory, one operation per line: slot and
//! bytes, 0 bytes for a free. It writes as many subsets in succession as make up 100,000
//! operations, because a processor memorises the branches of a shorter replay.
#![allow(missing_docs)]

use mallacc_study::Op;
use mallacc_study::figures::Input;
use mallacc_study::paper::PROGRAMS;
use std::fmt::Write;
use std::path::Path;

const OPERATIONS: usize = 100_000;

fn main() -> std::io::Result<()> {
    let mut folders = std::env::args().skip(1);
    let from = folders.next().unwrap_or_else(|| "traces".into());
    let to = folders.next().unwrap_or_else(|| "subsets".into());
    std::fs::create_dir_all(&to)?;
    for name in PROGRAMS {
        let Ok(input) = Input::open(Path::new(&from), name, false) else {
            println!("{name}: no {from}/{name}.amt");
            continue;
        };
        for bytes in [4096, 65536] {
            let (mut text, mut operations, mut seed) = (String::new(), 0, 0);
            while operations < OPERATIONS {
                let subset = input.whole.subset(bytes, seed);
                operations += subset.ops.len();
                seed += 1;
                for op in subset.ops {
                    let (slot, bytes) = match op {
                        Op::Alloc { slot, bytes } => (slot, bytes),
                        Op::Free { slot } => (slot, 0),
                    };
                    writeln!(text, "{slot} {bytes}").expect("a string grows");
                }
            }
            std::fs::write(Path::new(&to).join(format!("{bytes}-{name}.txt")), text)?;
        }
    }
    Ok(())
}
