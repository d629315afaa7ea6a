//! `mallacc record-mallocs` on a program whose allocations are known.

use crate::common::{Bench, MALLACC, have, root};
use std::path::Path;
use std::process::{Command, Output};
use traces::{Action, Event, Source, Trace, TraceError};

/// Sizes that nothing else in a process requests.
const PROGRAM: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void* early;
__attribute__((constructor)) static void before_main(void) { early = malloc(70001); }
static void* work(void* arg) {
  for (int i = 0; i < 500; i++) free(malloc(70010 + (long)arg));
  return NULL;
}
int main(int argc, char** argv) {
  free(early);
  pthread_t threads[3];
  for (long i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  if (fork() == 0) {
    free(malloc(70099));
    _exit(0);
  }
  wait(NULL);
  char* p = malloc(70020);
  p = realloc(p, 700021);
  if (!p || realloc(p, (size_t)-1 / 2) != NULL) return 99;
  p = reallocarray(p, 70022, 1);
  void* q = NULL;
  if (posix_memalign(&q, 4096, 70023) != 0 || posix_memalign(&q, 3, 1) == 0) return 98;
  char* z = calloc(70024, 1);
  printf("%d %d\n", z[70023], (int)((size_t)q % 4096));
  fflush(stdout);
  if (strcmp(argv[1], "kill") == 0) raise(SIGKILL);
  if (strcmp(argv[1], "exec") == 0) execlp("sh", "sh", "-c", "exit 5", NULL);
  free(z);
  _exit(3);
}
"#;

/// Compiles the program and records it. If a part is missing, reports it and returns `None`.
fn record(mode: &str) -> Option<(Output, Trace)> {
    let bench = Bench::new();
    if let Err(error) = launch::products::RECORDER.find() {
        skips::without_tool(error);
        return None;
    }
    if !have("gcc") {
        return None;
    }
    std::fs::write(bench.path("p.c"), PROGRAM).unwrap();
    let mut gcc = Command::new("gcc");
    gcc.args(["-O0", "-fno-builtin", "-pthread", "-w", "p.c", "-o", "p"]);
    assert!(gcc.current_dir(bench.path("")).status().unwrap().success());
    let output = bench.run(&["record-mallocs", "-o", "t.amt", "--", "./p", mode]);
    let trace = Trace::open(&bench.path("t.amt"), false).unwrap();
    let left: Vec<_> = std::fs::read_dir(bench.path("")).unwrap().flatten().collect();
    assert_eq!(left.len(), 3, "the raw file is gone: {left:?}");
    Some((output, trace))
}

fn count(trace: &Trace, wanted: u64) -> usize {
    let bytes = |event: &&Event| match event.action {
        Action::Alloc { bytes, .. } | Action::Realloc { bytes, .. } => bytes == wanted,
        _ => false,
    };
    trace.events.iter().filter(bytes).count()
}

/// The action that made the only allocation of this many bytes, and its number.
fn find(trace: &Trace, wanted: u64) -> (u64, Action) {
    let allocates = |event: &&Event| !matches!(event.action, Action::Free { .. } | Action::Exec);
    let mut numbered = (0..).zip(trace.events.iter().filter(allocates));
    let found = numbered.find(|(_, event)| match event.action {
        Action::Alloc { bytes, .. } | Action::Realloc { bytes, .. } => bytes == wanted,
        _ => false,
    });
    found.map(|(id, event)| (id, event.action)).unwrap()
}

#[test]
fn every_call_of_every_thread_is_there_and_the_program_is_as_without() {
    let Some((output, trace)) = record("plain") else { return };
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(output.stdout, b"0 0\n");
    assert_eq!(count(&trace, 70001), 1, "what was allocated before main");
    for thread in 0..3 {
        assert_eq!(count(&trace, 70010 + thread), 500);
    }
    assert_eq!(count(&trace, 70099), 0, "the child's");
    let totals = trace.totals.unwrap();
    // The first thread and three more; the forked child; the realloc that asked for too much.
    assert_eq!((totals.threads, totals.children, totals.failed), (4, 1, 1));
    assert_eq!((totals.lost, totals.torn, totals.implied), (0, 0, 0));
    let (first, _) = find(&trace, 70020);
    let (second, action) = find(&trace, 700021);
    assert_eq!(action, Action::Realloc { id: first, bytes: 700021 });
    assert_eq!(find(&trace, 70022).1, Action::Realloc { id: second, bytes: 70022 });
    let aligned = Action::Alloc { bytes: 70023, source: Source::Aligned(12) };
    assert_eq!(find(&trace, 70023).1, aligned);
    let (zeros, action) = find(&trace, 70024);
    assert_eq!(action, Action::Alloc { bytes: 70024, source: Source::Calloc });
    let last = trace.events.last().unwrap();
    assert_eq!(last.action, Action::Free { id: zeros }, "the last before _exit");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.contains("not in the trace: 1 process that") && text.contains("4 threads"),
        "{text}"
    );
}

#[test]
fn a_killed_program_leaves_everything_up_to_its_end() {
    let Some((output, trace)) = record("kill") else { return };
    assert_eq!(output.status.code(), Some(128 + 9));
    // printf may have allocated its buffer after it.
    let (zeros, _) = find(&trace, 70024);
    assert!(trace.events.iter().all(|event| event.action != Action::Free { id: zeros }));
    assert!(trace.totals.unwrap().allocations >= zeros);
}

#[test]
fn a_program_that_executes_another_is_recorded_on() {
    let Some((output, trace)) = record("exec") else { return };
    assert_eq!(output.status.code(), Some(5));
    let at = trace.events.iter().position(|event| event.action == Action::Exec).unwrap();
    assert!(at + 10 < trace.events.len(), "the shell allocates too");
}

#[test]
fn a_cut_trace_says_what_can_be_done() {
    let Some((_, trace)) = record("plain") else { return };
    let mut bytes = Vec::new();
    let mut writer = traces::Writer::new(&mut bytes, &trace.header).unwrap();
    trace.events.iter().for_each(|event| writer.write(event).unwrap());
    writer.finish(&trace.totals.unwrap()).unwrap();
    let cut = &bytes[..bytes.len() - 1];
    assert!(matches!(
        Trace::read(cut, "t", false),
        Err(TraceError::Truncated { events, .. }) if events == trace.events.len() as u64
    ));
    assert_eq!(Trace::read(cut, "t", true).unwrap().events, trace.events);
}

#[test]
fn a_program_that_is_not_there_leaves_no_file() {
    let bench = Bench::new();
    let output = bench.run(&["record-mallocs", "-o", "t.amt", "--", "no-such-program"]);
    assert_eq!(output.status.code(), Some(127));
    assert!(!bench.path("t.amt").exists());
}

/// The commands in a document's fenced blocks that record allocations; a line that ends in `\`
/// goes on.
fn examples(document: &str) -> Vec<String> {
    let blocks = document.split("```").skip(1).step_by(2);
    let joined = blocks.map(|block| block.replace("\\\n", " "));
    let lines: Vec<String> =
        joined.flat_map(|b| b.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    lines.into_iter().filter(|line| line.starts_with("mallacc record-mallocs")).collect()
}

#[test]
fn the_documented_examples_run_and_record() {
    if let Err(error) = launch::products::RECORDER.find() {
        skips::without_tool(error);
        return;
    }
    if !have("gcc") {
        return;
    }
    let bench = Bench::new();
    // Debian's headers include some from a folder of their architecture.
    bench.file("file.c", "#include <stdio.h>\nint main(void) { return puts(\"x\") < 0; }\n");
    std::fs::create_dir(bench.path("folder")).unwrap();
    let text = std::fs::read_to_string(root().join("docs/amt.md")).unwrap();
    let examples = examples(&text);
    assert_eq!(examples.len(), 2, "{examples:?}");
    let folder = Path::new(MALLACC).parent().unwrap().display();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    for example in examples {
        let mut shell = Command::new("sh");
        shell.args(["-c", &example]).current_dir(bench.path("")).env("PATH", &path);
        let output = shell.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{example}: {errors}");
        let name = example.split(' ').find(|word| word.ends_with(".amt")).unwrap();
        let trace = Trace::open(&bench.path(name), false).unwrap();
        assert!(trace.totals.unwrap().allocations > 100, "{example}: {errors}");
    }
}
