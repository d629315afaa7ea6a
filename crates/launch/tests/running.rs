//! Programs of all kinds run as they would natively, and their streams end as they did.

use crate::common;

use crate::common::{Bench, options, run, run_each, run_input, start};
use mallacc_launch::{Fate, OwnAllocator, Paths, prepare};
use stream::event::{Control, EXIT_SIGNALLED};
use stream::{Packet, Source, StreamError};

#[test]
fn code_lies_in_the_file_that_its_object_names() {
    let Some(options) = options() else { return };
    let bench = Bench::new();
    let program = bench.compile("alloc.c", &[]);
    let (mut objects, mut files) = (Vec::new(), std::collections::BTreeMap::new());
    let mut checked = 0;
    run_each(options, &[&program], |packet| {
        objects.extend(packet.objects.iter().cloned());
        for block in &packet.blocks {
            let holds = |o: &&stream::ObjectDef| o.first_block <= block.id && o.holds(block.addr);
            let object = objects.iter().rev().find(holds).expect("all code comes from files");
            let path: &String = &object.path;
            let file = files.entry(path.clone()).or_insert_with(|| std::fs::read(path).unwrap());
            let at = (object.offset + block.addr - object.addr) as usize;
            // A cut instruction at the end of a page is not all there.
            assert_eq!(file[at], block.bytes[0], "{path} at {at:#x}");
            checked += 1;
        }
    })
    .unwrap();
    assert!(checked > 1000, "{checked}");
    let names: Vec<&str> = files.keys().filter_map(|path| path.rsplit('/').next()).collect();
    for name in ["alloc", "libc.so.6", "libmallacc_guest.so"] {
        assert!(names.contains(&name), "{names:?}");
    }
}

#[test]
fn exit_codes_and_output_are_passed_on() {
    let Some(options) = options() else { return };
    for code in [0, 1, 77, 255] {
        let run =
            run(options.clone(), &["sh", "-c", &format!("echo out; echo err >&2; exit {code}")]);
        assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("out\n", "err\n"));
        assert_eq!(run.fate, Fate::Exited(code));
        assert_eq!(run.tally.exit, Some(code as u64));
        assert_eq!(run.tally.control(Control::ThreadStart), 1);
    }
}

#[test]
fn stdin_reaches_the_program() {
    let Some(options) = options() else { return };
    let script = "read a; read b; echo \"$b $a\"";
    let run = run_input(options, &["sh", "-c", script], b"one\ntwo\n", |_| ()).unwrap();
    assert_eq!(run.stdout, "two one\n");
}

#[test]
fn scripts_and_env_run_as_in_a_shell() {
    let Some(options) = options() else { return };
    let bench = Bench::new();
    let script = bench.script("s", "#!/usr/bin/env perl\nprint \"$0 @ARGV\"; exit 4;\n");
    let run1 = run(options.clone(), &[&script, "a", "b"]);
    assert_eq!(run1.stdout, format!("{script} a b"));
    assert_eq!(run1.fate, Fate::Exited(4));
    let shell = bench.script("t", "#!/bin/sh -e\nfalse\necho not reached\n");
    let run2 = run(options.clone(), &[&shell]);
    assert_eq!((run2.stdout.as_str(), run2.fate), ("", Fate::Exited(1)));
    let env = run(options, &["env", "A=5", "perl", "-e", "print $ENV{A}"]);
    assert_eq!((env.stdout.as_str(), env.tally.control(Control::Exec)), ("5", 1));
}

#[test]
fn a_static_program_runs_with_a_warning() {
    let Some(options) = options() else { return };
    let bench = Bench::new();
    let program = bench.compile("alloc.c", &["-static"]);
    let prepared = prepare(program.as_ref(), &[], options.clone()).unwrap();
    assert_eq!(prepared.own_allocator(), Some(OwnAllocator::Static));
    let run = run(options.clone(), &[&program]);
    assert_eq!(run.fate, Fate::Exited(0));
    assert!(run.stdout.starts_with("0 "));
    let program = bench.compile("loop.c", &[]);
    assert_eq!(prepare(program.as_ref(), &[], options).unwrap().own_allocator(), None);
}

#[test]
fn threads_are_told_apart_and_all_of_them_end() {
    let Some(options) = options() else { return };
    let bench = Bench::new();
    let program = bench.compile("threads.c", &["-pthread"]);
    // Few threads, and more than the ring has buffers.
    for n in [3, 70] {
        let run = run(options.clone(), &[&program, &n.to_string()]);
        assert_eq!((run.stdout.as_str(), run.fate), ("joined\n", Fate::Exited(0)));
        assert_eq!(run.tally.threads, 2 * n + 1);
        assert_eq!(run.tally.control(Control::ThreadStart), u64::from(2 * n + 1));
        assert_eq!(run.tally.control(Control::ThreadEnd), u64::from(2 * n));
        assert_eq!(run.tally.exit, Some(0));
    }
}

#[test]
fn children_leave_the_stream_and_live_on() {
    let Some(options) = options() else { return };
    let bench = Bench::new();
    let program = bench.compile("forks.c", &["-pthread"]);
    let mut lone = None;
    let run = run_each(options, &[&program], |p| {
        lone.get_or_insert(p.thread);
        assert_eq!(p.thread, 0, "no events of a child");
    });
    let run = run.unwrap();
    // Wait statuses: exit codes in the second byte, a signal in the first.
    assert_eq!(run.stdout, format!("0 {} {} {} {}\n", 9, 2 << 8, 7 << 8, 8 << 8));
    assert_eq!(run.fate, Fate::Exited(5));
    assert_eq!(run.tally.control(Control::Fork), 5);
    assert_eq!(run.tally.exit, Some(5));
}

#[test]
fn a_program_that_handles_its_faults_goes_on() {
    let Some(options) = options() else { return };
    let bench = Bench::new();
    let program = bench.compile("faults.c", &[]);
    let run = run(options, &[&program, "500"]);
    assert_eq!((run.stdout.as_str(), run.fate), ("500\n", Fate::Exited(0)));
}

#[test]
fn death_by_a_signal_keeps_what_was_executed_and_names_the_signal() {
    let Some(options) = options() else { return };
    let bench = Bench::new();
    let program = bench.compile("faults.c", &[]);
    let alive = run(options.clone(), &[&program, "500"]);
    let dead = run(options.clone(), &[&program, "500", "die"]);
    assert_eq!(dead.fate, Fate::Killed(libc::SIGSEGV));
    assert_eq!(dead.tally.exit, Some(EXIT_SIGNALLED | libc::SIGSEGV as u64));
    // All but the way out of the program was executed and has arrived, a few thousand
    // instructions that end neither buffer nor run.
    let missing = alive.tally.instructions.abs_diff(dead.tally.instructions);
    assert!(missing < 10_000, "{missing}");
    let killed = run(options, &["sh", "-c", "kill -9 $$"]);
    assert_eq!(killed.fate, Fate::Killed(libc::SIGKILL));
    assert_eq!(killed.tally.exit, Some(EXIT_SIGNALLED | libc::SIGKILL as u64));
}

#[test]
fn a_detached_program_runs_to_its_end() {
    let Some(options) = options() else { return };
    let bench = Bench::new();
    let program = bench.compile("spin.c", &[]);
    let files = [(); 3].map(|()| tempfile::NamedTempFile::new().unwrap());
    let work = 100_000_000u64;
    let mut launched = start(options, &[&program, &work.to_string()], files.each_ref()).unwrap();
    let mut source = launched.source().unwrap();
    let (mut packet, mut words) = (Packet::default(), 0);
    for _ in 0..5 {
        assert!(source.next(&mut packet).unwrap());
        words += packet.events.len() as u64;
    }
    launched.detach();
    while source.next(&mut packet).unwrap() {}
    assert!(words < work, "there was more to come");
    assert_eq!(launched.wait().unwrap(), Fate::Exited(3));
    assert_eq!(std::fs::read_to_string(files[1].path()).unwrap(), "done\n");
}

#[test]
fn a_program_with_threads_survives_being_detached() {
    let Some(options) = options() else { return };
    let bench = Bench::new();
    let program = bench.compile("threads.c", &["-pthread"]);
    let files = [(); 3].map(|()| tempfile::NamedTempFile::new().unwrap());
    let mut launched = start(options, &[&program, "6"], files.each_ref()).unwrap();
    let mut source = launched.source().unwrap();
    let mut packet = Packet::default();
    while packet.thread < 3 {
        assert!(source.next(&mut packet).unwrap());
    }
    launched.detach();
    assert!(!source.next(&mut packet).unwrap());
    drop(source);
    assert_eq!(launched.wait().unwrap(), Fate::Exited(0));
    assert_eq!(std::fs::read_to_string(files[1].path()).unwrap(), "joined\n");
}

#[test]
fn signals_reach_the_program() {
    let Some(options) = options() else { return };
    let files = [(); 3].map(|()| tempfile::NamedTempFile::new().unwrap());
    let script =
        "$SIG{INT} = sub { print \"caught\"; exit 9 }; $| = 1; print \"ready \"; 1 while 1";
    let mut launched = start(options, &["perl", "-e", script], files.each_ref()).unwrap();
    let mut source = launched.source().unwrap();
    let (mut packet, mut tally, mut sent) = (Packet::default(), common::Tally::default(), false);
    while source.next(&mut packet).unwrap() {
        tally.add(&packet);
        if !sent && std::fs::read_to_string(files[1].path()).unwrap() == "ready " {
            sent = true;
            // SAFETY: our own child, which has not been waited for yet.
            assert_eq!(unsafe { libc::kill(launched.pid() as i32, libc::SIGINT) }, 0);
        }
    }
    assert_eq!(launched.wait().unwrap(), Fate::Exited(9));
    assert_eq!(tally.exit, Some(9));
    assert_eq!(std::fs::read_to_string(files[1].path()).unwrap(), "ready caught");
}

#[test]
fn a_killed_program_ends_its_stream() {
    let Some(options) = options() else { return };
    let bench = Bench::new();
    let program = bench.compile("spin.c", &[]);
    let files = [(); 3].map(|()| tempfile::NamedTempFile::new().unwrap());
    let mut launched = start(options, &[&program, "-1"], files.each_ref()).unwrap();
    let mut source = launched.source().unwrap();
    let (mut packet, mut tally) = (Packet::default(), common::Tally::default());
    for number in 0.. {
        if !source.next(&mut packet).unwrap() {
            break;
        }
        tally.add(&packet);
        if number == 5 {
            launched.kill().unwrap();
        }
    }
    assert_eq!(tally.exit, Some(EXIT_SIGNALLED | libc::SIGKILL as u64));
    assert_eq!(launched.wait().unwrap(), Fate::Killed(libc::SIGKILL));
}

#[test]
fn a_plugin_that_does_not_load_is_an_error() {
    let Some(options) = options() else { return };
    let Paths { guest: Some(not_a_plugin), .. } = options.paths.clone() else { return };
    let paths = Paths { feeder: not_a_plugin, ..options.paths.clone() };
    let options = mallacc_launch::Options { paths, ..options };
    match run_each(options, &["true"], |_| ()) {
        Err(StreamError::Feeder(text)) => assert!(text.contains("exit code 1"), "{text}"),
        other => panic!("{other:?}"),
    }
}
