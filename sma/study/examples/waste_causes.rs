//! Why SMA's advantage is small at 16 kB: waste by cause and program, and an experiment.
//!
//! `cargo run --release -p mallacc-study --example waste_causes -- traces`
//!
//! *small* and *large* are the same subsets without the requests above, or up to, a block: they
//! show whether regions within blocks or runs of blocks lose more than dlmalloc's chunks.
#![allow(missing_docs)]

use mallacc_study::figures::Input;
use mallacc_study::paper::PROGRAMS;
use mallacc_study::replay::replay;
use mallacc_study::{Kind, Op, Subset};
use std::path::Path;

const BYTES: u32 = 16 << 10;
const BLOCK: u32 = 128;

/// The subset with changed sizes; those that become 0 are left out.
fn changed(subset: &Subset, size: impl Fn(u32) -> u32) -> Subset {
    let mut kept = vec![false; subset.slots as usize];
    let mut ops = Vec::new();
    for op in &subset.ops {
        match *op {
            Op::Alloc { slot, bytes } => {
                kept[slot as usize] = size(bytes) > 0;
                if size(bytes) > 0 {
                    ops.push(Op::Alloc { slot, bytes: size(bytes) });
                }
            }
            Op::Free { slot } if std::mem::take(&mut kept[slot as usize]) => ops.push(*op),
            Op::Free { .. } => {}
        }
    }
    Subset { ops, ..subset.clone() }
}

/// Mean percentage of the memory over subsets: state, tags, internal, external, total.
fn mean(kind: Kind, subsets: &[Subset]) -> [f64; 5] {
    let mut sum = [0.0; 5];
    let done: Vec<_> = subsets.iter().filter_map(|subset| replay(kind, BYTES, subset)).collect();
    for waste in done.iter().map(|done| &done.waste) {
        let parts = [waste.state, waste.tags, waste.internal, waste.external, waste.total()];
        let scale = 100.0 / f64::from(BYTES) / done.len() as f64;
        sum.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part * scale);
    }
    sum
}

fn main() {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "traces".into());
    let sma = Kind::Sma(BLOCK);
    println!("percent of 16 kB: state, tags, internal, external, all");
    let mut means: Vec<(&str, Vec<[f64; 5]>)> = Vec::new();
    for name in PROGRAMS {
        let Ok(input) = Input::open(Path::new(&folder), name, false) else {
            println!("{name}: no {folder}/{name}.amt");
            continue;
        };
        let subsets = input.subsets(BYTES, 10);
        let each = |size: &dyn Fn(u32) -> u32| -> Vec<Subset> {
            subsets.iter().map(|subset| changed(subset, size)).collect()
        };
        let small = each(&|bytes| if bytes <= BLOCK { bytes } else { 0 });
        let large = each(&|bytes| if bytes > BLOCK { bytes } else { 0 });
        let rows = [
            ("SMA", sma, &subsets),
            ("SMA (exact)", Kind::Exact(BLOCK), &subsets),
            ("DLmalloc", Kind::Dlmalloc, &subsets),
            ("SMA (32B)", Kind::Sma(32), &subsets),
            ("SMA, small", sma, &small),
            ("DLmalloc, small", Kind::Dlmalloc, &small),
            ("SMA, large", sma, &large),
            ("DLmalloc, large", Kind::Dlmalloc, &large),
        ];
        for (at, (what, kind, subsets)) in rows.into_iter().enumerate() {
            let parts = mean(kind, subsets);
            println!("{name} {what:18} {}", parts.map(|part| format!("{part:6.1}")).join(""));
            if means.len() <= at {
                means.push((what, Vec::new()));
            }
            means[at].1.push(parts);
        }
    }
    for (what, rows) in means {
        let mean = |part: usize| rows.iter().map(|row| row[part]).sum::<f64>() / rows.len() as f64;
        println!("mean {what:17} {}", [0, 1, 2, 3, 4].map(|p| format!("{:6.1}", mean(p))).join(""));
    }
}
