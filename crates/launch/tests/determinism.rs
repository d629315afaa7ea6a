//! Two runs of one program give the same stream, word for word.

mod common;

use common::{Bench, deterministic, run};
use mallacc_launch::Options;

fn same_twice(program: &[&str]) {
    let Some(options) = deterministic() else { return };
    let first = run(options.clone(), program);
    let second = run(options, program);
    assert_eq!(first.stdout, second.stdout);
    assert!(first.tally.instructions > 10_000, "{:?}", first.tally);
    assert_eq!(first.tally, second.tally);
}

#[test]
fn a_program_that_prints_and_allocates_repeats_exactly() {
    let bench = Bench::new();
    same_twice(&[&bench.compile("alloc.c", &[])]);
}

#[test]
fn perl_with_hashes_repeats_exactly() {
    let script = r#"my %h; $h{"key$_"} = $_ for 1..3000; print join ",", (keys %h)[0..5]"#;
    same_twice(&["perl", "-e", script]);
}

#[test]
fn python_with_sets_repeats_exactly() {
    if std::path::Path::new("/usr/bin/python3").exists() {
        same_twice(&["/usr/bin/python3", "-c", "print({'a', 'b', 'c', 'd'})"]);
    } else {
        println!("skipped: there is no /usr/bin/python3");
    }
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
