//! Time per prediction with its update, on a synthetic mix of branches.
//! `cargo run --release -p mallacc-predict --example predict_speed`

use mallacc_predict::{BranchKind, PredictParams, Predictor};
use std::hint::black_box;
use std::time::Instant;

/// A branch as it executes.
struct Branch {
    kind: BranchKind,
    pc: u64,
    taken: bool,
    target: u64,
}

/// A mix typical of compiled programs: four fifths conditional, most of them biased, some in
/// patterns, some random; calls with their returns; a few indirect.
fn mix(count: usize) -> Vec<Branch> {
    let mut random = 0x1234_5678_9abc_def1_u64;
    let mut stack = Vec::new();
    let mut branches = Vec::with_capacity(count);
    while branches.len() < count {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let site = (random >> 20) % 2_000;
        let pc = 0x40_0000 + site * 7;
        let target = pc + 64 + site % 50;
        let n = branches.len() as u64;
        let (kind, taken, target) = match random % 100 {
            0..=69 => (BranchKind::Conditional, site.is_multiple_of(3), target),
            70..=77 => (BranchKind::Conditional, (n / 4).is_multiple_of(2 + site % 5), target),
            78..=79 => (BranchKind::Conditional, random >> 60 & 1 == 0, target),
            80..=87 => (BranchKind::Jump, true, target),
            88..=92 if stack.len() < 12 => {
                stack.push(pc + 5);
                (BranchKind::Call, true, target + 0x1000)
            }
            93..=97 => match stack.pop() {
                Some(address) => (BranchKind::Return, true, address),
                None => continue,
            },
            _ => (BranchKind::IndirectJump, true, target + n / 8 % 4 * 32),
        };
        branches.push(Branch { kind, pc, taken, target });
    }
    branches
}

fn main() {
    let branches = mix(1_000_000);
    let mut predictor = Predictor::new(&PredictParams::default()).expect("the default is valid");
    // The minimum of several rounds, since other processes disturb the measurement.
    let mut least = f64::MAX;
    for chunk in branches.chunks(100_000).cycle().take(40) {
        let start = Instant::now();
        for b in chunk {
            black_box(predictor.predict_and_update(b.kind, b.pc, b.taken, b.target, b.pc + 5));
        }
        least = least.min(start.elapsed().as_nanos() as f64 / chunk.len() as f64);
    }
    println!("{least:.1} ns per branch");
    let total = predictor.statistics().total();
    let share = 100.0 * total.mispredicted as f64 / total.executed as f64;
    println!("{share:.1} % mispredicted, {} BTB misses", total.btb_misses);
}
