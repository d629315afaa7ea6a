//! All runs of a program give the same stream, word for word.
//!
//! Each runs twice, or `MALLACC_REPEATS` times with all processors kept busy (`make test-repeats`).

use crate::common::{Bench, deterministic, options, run};
use mallacc_launch::Options;
use std::fs::{File, FileTimes};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

/// Number of runs of each program.
fn repeats() -> usize {
    let asked = std::env::var("MALLACC_REPEATS").ok();
    asked.map_or(2, |text| text.parse::<usize>().expect("MALLACC_REPEATS is a number").max(2))
}

/// Keeps all processors busy while it exists, if many repetitions were requested.
struct Busy(Arc<AtomicBool>, Vec<JoinHandle<()>>);

impl Busy {
    fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let threads = if repeats() > 2 { processors } else { 0 };
        let spin = |stop: Arc<AtomicBool>| {
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop()
                }
            })
        };
        let spinning = (0..threads).map(|_| spin(Arc::clone(&stop))).collect();
        Self(stop, spinning)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

/// Runs a program repeatedly, calling `between` before each run but the first.
fn same_every_time(program: &[&str], mut between: impl FnMut()) {
    let Some(options) = deterministic() else { return };
    let _busy = Busy::start();
    let first = run(options.clone(), program);
    assert!(first.tally.instructions > 10_000, "{:?}", first.tally);
    for number in 1..repeats() {
        between();
        let other = run(options.clone(), program);
        assert_eq!(first.stdout, other.stdout, "run {number}");
        assert_eq!(first.tally, other.tally, "run {number}");
    }
}

#[test]
fn a_program_that_prints_and_allocates_repeats_exactly() {
    let bench = Bench::new();
    same_every_time(&[&bench.compile("alloc.c", &[])], || ());
}

#[test]
fn perl_with_hashes_repeats_exactly() {
    let script = r#"my %h; $h{"key$_"} = $_ for 1..3000; print join ",", (keys %h)[0..5]"#;
    same_every_time(&["perl", "-e", script], || ());
}

#[test]
fn python_with_sets_repeats_exactly() {
    if skips::have("/usr/bin/python3") {
        same_every_time(&["/usr/bin/python3", "-c", "print({'a', 'b', 'c', 'd'})"], || ());
    }
}

/// A file that was written a day ago and last read at a whole second.
fn file(bench: &Bench) -> (String, SystemTime) {
    let path = bench.0.path().join("file");
    let day = Duration::from_secs(24 * 60 * 60);
    let read = SystemTime::UNIX_EPOCH + Duration::from_secs(1_500_000_000);
    std::fs::write(&path, "text").unwrap();
    set_times(path.to_str().unwrap(), FileTimes::new().set_accessed(read).set_modified(read - day));
    (path.display().to_string(), read)
}

fn set_times(path: &str, times: FileTimes) {
    File::options().write(true).open(path).unwrap().set_times(times).unwrap();
}

/// Python converts a file's times to numbers and takes a shorter path for 0 nanoseconds. So the
/// first run on a fresh machine used to differ from the second, which saw the time of the first
/// one's reads.
#[test]
fn python_that_looks_at_a_file_repeats_exactly_though_the_file_is_read_in_between() {
    if !skips::have("/usr/bin/python3") {
        return;
    }
    let bench = Bench::new();
    let (path, read) = file(&bench);
    let script = "import os, sys; os.stat(sys.argv[1])";
    let mut nanoseconds = 0;
    same_every_time(&["/usr/bin/python3", "-c", script, &path], || {
        nanoseconds += 123_456_789;
        set_times(&path, FileTimes::new().set_accessed(read + Duration::from_nanos(nanoseconds)));
    });
}

#[test]
fn no_call_tells_a_deterministic_run_when_a_file_was_last_read() {
    let Some(options) = options() else { return };
    let bench = Bench::new();
    let program = bench.compile("times.c", &[]);
    let (path, _) = file(&bench);
    let told = |deterministic: bool| {
        let output = run(Options { deterministic, ..options.clone() }, &[&program, &path]).stdout;
        let lines: Vec<String> = output.lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 5, "stat, lstat, fstat, newfstatat, statx: {output}");
        lines
    };
    let (read, written) = ("1500000000.000000000", "1499913600.000000000");
    assert_eq!(told(false), vec![format!("{read} {written}"); 5]);
    assert_eq!(told(true), vec![format!("{written} {written}"); 5]);
}

#[test]
fn the_size_of_the_users_environment_does_not_move_the_stack() {
    let Some(options) = deterministic() else { return };
    let bench = Bench::new();
    let program = bench.compile("stack.c", &[]);
    let with = |value: &str| {
        let env = vec![("SOME_VARIABLE".into(), value.into())];
        run(Options { env, ..options.clone() }, &[&program]).stdout
    };
    let (short, long) = (with("x"), with(&"x".repeat(3000)));
    assert!(short.starts_with("0x"), "{short}");
    assert_eq!(short, long);
}
