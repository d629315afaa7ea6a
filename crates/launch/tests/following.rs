//! A program that replaces itself continues to be traced.

use crate::common::{Bench, options, run};
use mallacc_launch::Fate;
use stream::event::Control;

#[test]
fn every_call_that_replaces_the_program_is_followed() {
    let Some(mut options) = options() else { return };
    options.env.push(("VALUE".into(), "inherited".into()));
    let bench = Bench::new();
    let program = bench.compile("replace.c", &["-pthread"]);
    for (how, value) in [
        ("execve", "given"),
        ("execv", "inherited"),
        ("execvp", "inherited"),
        ("execvpe", "given"),
        ("execl", "inherited"),
        ("execlp", "inherited"),
        ("execle", "given"),
        ("fexecve", "given"),
        ("thread", "inherited"),
    ] {
        let run = run(options.clone(), &[&program, how]);
        assert_eq!(run.stdout, format!("zero {value}\n"), "{how}");
        assert_eq!(run.fate, Fate::Exited(6), "{how}");
        assert_eq!(run.tally.control(Control::Exec), 1, "{how}");
        assert_eq!(run.tally.exit, Some(6), "{how}");
    }
}

#[test]
fn a_program_can_replace_itself_again_and_again() {
    let Some(options) = options() else { return };
    let bench = Bench::new();
    let program = bench.compile("replace.c", &["-pthread"]);
    let path = std::fs::canonicalize(&program).unwrap();
    let run = run(options, &[path.to_str().unwrap(), "self", "4"]);
    assert_eq!((run.fate, run.tally.control(Control::Exec)), (Fate::Exited(6), 4));
}

#[test]
fn scripts_are_followed_to_their_interpreters() {
    let Some(options) = options() else { return };
    let bench = Bench::new();
    let program = bench.compile("replace.c", &["-pthread"]);
    let inner = bench.script("inner", "#!/usr/bin/perl -w\nprint \"@ARGV\"; exit 6;\n");
    let outer = bench.script("outer", &format!("#!{inner} x  y \n"));
    let run = run(options, &[&program, "script", &outer]);
    let text = r#"-c echo "$0 $VALUE"; exit 6 zero"#;
    assert_eq!(run.stdout, format!("x  y {outer} {text}"));
    assert_eq!((run.fate, run.tally.control(Control::Exec)), (Fate::Exited(6), 1));
}

#[test]
fn what_cannot_be_executed_fails_as_it_would_natively() {
    let Some(options) = options() else { return };
    let bench = Bench::new();
    let program = bench.compile("replace.c", &["-pthread"]);
    let run = run(options, &[&program, "missing"]);
    assert_eq!((run.fate, run.tally.control(Control::Exec)), (Fate::Exited(6), 0));
}

#[test]
fn an_emptied_environment_does_not_end_the_tracing() {
    let Some(options) = options() else { return };
    let run =
        run(options, &["env", "-i", "A=1", "/bin/sh", "-c", "exec /bin/sh -c 'echo $A$HOME'"]);
    assert_eq!(run.stdout, "1\n");
    assert_eq!(run.tally.control(Control::Exec), 2);
}
