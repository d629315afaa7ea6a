//! The stream's counts, compared with what programs are known to do.

use crate::common::{Bench, Tally, deterministic, run};
use std::process::Command;

/// How much more a program does with the second arguments than with the first.
fn difference(program: &str, less: &[&str], more: &[&str]) -> Option<[u64; 3]> {
    let tally = |args: &[&str]| -> Option<Tally> {
        Some(run(deterministic()?, &[&[program], args].concat()).tally)
    };
    let (less, more) = (tally(less)?, tally(more)?);
    Some([
        more.instructions - less.instructions,
        more.loads - less.loads,
        more.stores - less.stores,
    ])
}

#[test]
fn a_loop_counts_to_the_instruction() {
    let bench = Bench::new();
    let program = bench.compile("loop.c", &[]);
    let Some(difference) = difference(&program, &["1000000"], &["3000000"]) else { return };
    // Two million rounds of four instructions, one load and one store.
    assert_eq!(difference, [8_000_000, 2_000_000, 2_000_000]);
}

#[test]
fn wide_accesses_come_in_pieces_of_eight_bytes() {
    let bench = Bench::new();
    let program = bench.compile("wide.c", &[]);
    let Some(difference) = difference(&program, &["1000"], &["2000"]) else { return };
    assert_eq!(difference, [4 * 1000, 32 / 8 * 1000, 32 / 8 * 1000]);
}

#[test]
fn a_repeated_string_instruction_counts_once_with_all_its_accesses() {
    let bench = Bench::new();
    let program = bench.compile("repeat.c", &[]);
    // Same number of digits, so that reading the numbers takes the same path.
    let Some(bytes) = difference(&program, &["1000", "1"], &["3000", "1"]) else { return };
    // A buffer is full after so many words, and the instruction is entered again in the next one.
    let entries = |words: u64| words / stream::live::layout::FULL_WORDS as u64 + 1;
    assert_eq!(bytes[1..], [2000, 2000]);
    assert!(bytes[0] <= entries(2 * 2000), "{}", bytes[0]);
    let Some(long) = difference(&program, &["100000", "1"], &["200000", "1"]) else { return };
    assert_eq!(long[1..], [100_000, 100_000]);
    assert!(long[0] <= entries(2 * 100_000), "{}", long[0]);
}

#[test]
fn compiled_work_counts_as_many_instructions_as_valgrind_counts() {
    if !skips::have("valgrind") {
        return;
    }
    let bench = Bench::new();
    let program = bench.compile("work.c", &[]);
    let valgrind = |n: &str| -> u64 {
        let mut command = Command::new("valgrind");
        command.args(["--tool=lackey", "--basic-counts=yes", &program, n]);
        let text = String::from_utf8(command.output().unwrap().stderr).unwrap();
        let count = text.lines().find_map(|l| l.split("guest instrs:").nth(1)).expect("a count");
        count.trim().replace(',', "").parse().unwrap()
    };
    let Some([instructions, ..]) = difference(&program, &["2"], &["9"]) else { return };
    let expected = valgrind("9") - valgrind("2");
    assert!(expected > 1_000_000, "enough work to compare: {expected}");
    // Valgrind counts retired instructions one by one.
    let off = instructions.abs_diff(expected);
    assert!(off * 10_000 <= expected, "{instructions} here, {expected} under valgrind");
}
