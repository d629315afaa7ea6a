//! Each exit status of the table in `docs/usage.md` is produced here; one that is added without a
//! way to produce it fails.

use crate::common::{Bench, have, live, root};
use std::io::Read as _;
use std::process::Stdio;

/// The first column of the table.
fn documented() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("docs/usage.md")).unwrap();
    let (_, rest) = text.split_once("| status | meaning |\n|---|---|\n").unwrap();
    let rows = rest.lines().take_while(|line| line.starts_with("| "));
    rows.map(|row| row.split('|').nth(1).unwrap().trim().to_owned()).collect()
}

/// An allocator whose list changes without a marker: the second pop finds another object than the
/// one that was pushed last.
const WRONG: &str = "\
#include <stddef.h>
#include \"mallacc.h\"
static char objects[3][32];
static __attribute__((noinline)) void *allocate(size_t size, size_t at) {
  size_t bytes = 32, kind = 3;
  MALLACC_CALL_BEGIN(MALLACC_KIND_MALLOC, size);
  MALLACC_LOOKUP(size);
  MALLACC_UPDATE(size, bytes, kind);
  void *head = objects[at], *next = objects[at + 1];
  void *list = objects;
  MALLACC_POP(kind, list);
  MALLACC_POP_END(head, next, list);
  void *result = head;
  MALLACC_CALL_END(result);
  return result;
}
static __attribute__((noinline)) void release(void *object) {
  size_t kind = 3;
  MALLACC_CALL_BEGIN(MALLACC_KIND_FREE, object);
  MALLACC_PUSH(kind, object);
  MALLACC_CALL_END(object);
}
int main(void) {
  allocate(20, 0);
  release(objects[1]);
  release(objects[0]);
  allocate(20, 1);
  return 0;
}
";

fn produce(status: &str) {
    let bench = Bench::new();
    let run = |program: &[&str]| {
        let options = ["run", "--quiet", "--no-store", "--config", "none", "--"];
        bench.run(&[&options[..], program].concat()).status.code()
    };
    match status {
        "the program's" if live() => {
            assert_eq!(run(&["sh", "-c", "exit 7"]), Some(7));
            let record = ["record", "-q", "-o", "x", "sh", "-c", "exit 9"];
            assert_eq!(bench.run(&record).status.code(), Some(9));
        }
        "128 + N" if live() => {
            assert_eq!(run(&["sh", "-c", "kill -USR1 $$"]), Some(128 + libc::SIGUSR1));
        }
        "0" => {
            assert_eq!(bench.run(&["machines"]).status.code(), Some(0));
            if live() {
                assert!(bench.run(&["record", "-q", "-o", "x", "false"]).status.code() == Some(1));
                let replay = ["replay", "--quiet", "--no-store", "--config", "none", "x"];
                assert_eq!(bench.run(&replay).status.code(), Some(0));
            }
        }
        "1" => {
            assert_eq!(bench.run(&["block", "90", "zz"]).status.code(), Some(1));
            bench.file("b.csv", "hex,cycles_per_100_iterations\nzz,100\n90,25\n");
            assert_eq!(bench.run(&["validate", "blocks", "b.csv"]).status.code(), Some(1));
        }
        "2" => {
            for args in [&["rnu"][..], &["machines", "none"], &["micro", "--iterations", "0"]] {
                assert_eq!(bench.run(args).status.code(), Some(2), "{args:?}");
            }
        }
        "3" if live() => {
            let include = format!("-I{}", root().join("guest/include").display());
            let Some(program) = bench.compile("wrong", WRONG, &[&include]) else { return };
            let run = ["run", "--no-store", "--config", "mallacc", "--", &program];
            let output = bench.run(&run);
            let text = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(3), "{text}");
            assert!(text.contains("do not trust the figures"), "{text}");
        }
        "125" => {
            assert_eq!(bench.run(&["replay", "no-such-file"]).status.code(), Some(125));
            assert_eq!(bench.run(&["list"]).status.code(), Some(125), "there is no store");
        }
        "126" => assert_eq!(run(&["/"]), Some(126)),
        "127" => assert_eq!(run(&["no-such-program"]), Some(127)),
        "130, 143, 129" if live() => {
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                let script = "echo up; while :; do :; done";
                let options = ["run", "--no-store", "--config", "none", "--", "sh", "-c", script];
                let mut command = bench.command(&options);
                let mut child =
                    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
                child.stdout.as_mut().unwrap().read_exact(&mut [0; 3]).unwrap();
                let pid = i32::try_from(child.id()).unwrap();
                // SAFETY: kill(2) with the number of a child that has not been waited for.
                unsafe { libc::kill(pid, signal) };
                assert_eq!(child.wait().unwrap().code(), Some(128 + signal));
            }
        }
        "the program's" | "128 + N" | "3" | "130, 143, 129" => {}
        other => panic!("no test produces status {other}"),
    }
}

#[test]
fn every_documented_exit_status_is_produced() {
    let documented = documented();
    assert_eq!(documented.len(), 10, "{documented:?}");
    for status in documented {
        produce(&status);
    }
}

#[test]
fn the_help_names_the_same_statuses() {
    let bench = Bench::new();
    let help = String::from_utf8(bench.run(&["--help"]).stdout).unwrap();
    let (_, statuses) = help.split_once("Exit status:\n").unwrap();
    let lines: Vec<&str> = statuses.trim_end().lines().map(str::trim).collect();
    let documented = documented();
    assert_eq!(lines.len(), documented.len(), "{statuses}");
    for (line, status) in lines.iter().zip(&documented) {
        assert!(line.starts_with(status.as_str()), "{line}: {status}");
    }
}

#[test]
fn a_recorders_status_is_the_programs() {
    if !have("sh") || launch::products::RECORDER.find().is_err() {
        return skips::without_tool("libmallacc_recorder.so is not built; run make");
    }
    let bench = Bench::new();
    let record = ["record-mallocs", "-q", "-o", "x.amt", "sh", "-c", "exit 5"];
    assert_eq!(bench.run(&record).status.code(), Some(5));
}
