//! Bad input: one clear sentence with the value and the remedy, a failing status, nothing lost.

use crate::common::{Bench, check_run, configurations, have, live, number, sentence};
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

const USAGE: i32 = 2;
const FAILED: i32 = 125;
const CANNOT_RUN: i32 = 126;
const NOT_FOUND: i32 = 127;

fn mentions(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is missing in: {text}");
    }
}

#[test]
fn a_program_that_is_not_there() {
    let bench = Bench::new();
    let text = bench.refused(&["run", "--", "no-such-program"], NOT_FOUND);
    mentions(sentence(&text), &["no-such-program", "not found", "PATH"]);
    assert!(!bench.path("mallacc.db").exists(), "nothing ran, nothing is stored");
}

#[test]
fn what_is_no_program() {
    let bench = Bench::new();
    let data = bench.file("data", b"\x00\x01\x02");
    let arm = [&b"\x7fELF\x02\x01\x01"[..], &[0; 9], &[2, 0, 183, 0], &[0; 44]].concat();
    let arm = bench.file("arm", arm);
    for file in [&data, &arm] {
        let done = std::process::Command::new("chmod").args(["+x", file]).status();
        assert!(done.unwrap().success());
    }
    let text = bench.refused(&["run", "--", &data], CANNOT_RUN);
    mentions(sentence(&text), &["data", "x86-64", "scripts"]);
    let text = bench.refused(&["record", "-o", "x.mtrace", "--", &arm], CANNOT_RUN);
    mentions(sentence(&text), &["arm", "AArch64", "x86-64"]);
}

#[test]
fn a_static_program_is_warned_of_and_measured_all_the_same() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let source = "#include <stdlib.h>\nint main(void) { free(malloc(9)); return 3; }\n";
    let Some(program) = bench.compile("static", source, &["-static"]) else { return };
    let (document, output) = bench.json("run", &[], &["--", &program]);
    assert_eq!(output.status.code(), Some(3));
    let error = String::from_utf8(output.stderr).unwrap();
    mentions(&error, &["statically linked", "allocator cannot be replaced"]);
    mentions(&document["unmeasured"].to_string(), &["statically linked"]);
    check_run(&document);
    assert_eq!(number(&document, "configurations/0/malloc/calls"), 0);
}

#[test]
fn a_program_that_loses_its_privileges_is_warned_of() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let source = "int main(void) { return 0; }\n";
    let Some(program) = bench.compile("privileged", source, &[]) else { return };
    // Only root may give a file away; for its owner a set-user-id bit changes nothing.
    if std::os::unix::fs::chown(&program, Some(65534), None).is_err() {
        return skips::without("this user may not give a file away");
    }
    let chmod = |mode: &str| {
        assert!(
            std::process::Command::new("chmod").args([mode, &program]).status().unwrap().success()
        );
        let output = bench.run(&["run", "--quiet", "--no-store", "--config", "none", &program]);
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(chmod("0755"), "");
    let text = chmod("4755");
    mentions(sentence(&text), &["privileged is set-user-id", "runs without these privileges"]);
}

#[test]
fn missing_parts_name_their_package() {
    let bench = Bench::new();
    let refused = |variable: &str| {
        let mut command = bench.command(&["run", "--", "sh", "-c", "true"]);
        let output = command.env(variable, "/no/such/file").output().unwrap();
        assert_eq!(output.status.code(), Some(FAILED));
        String::from_utf8(output.stderr).unwrap()
    };
    let text = refused(launch::qemu::VARIABLE);
    mentions(sentence(&text), &["/no/such/file", "`mallacc setup`"]);
    if launch::Qemu::find().is_ok() {
        let text = refused(launch::products::FEEDER.variable);
        mentions(sentence(&text), &["/no/such/file", "make"]);
    }
    if launch::products::FEEDER.find().is_ok() {
        let text = refused(launch::products::GUEST.variable);
        mentions(sentence(&text), &["/no/such/file", "make"]);
    }
}

#[test]
fn unknown_names_list_the_valid_ones_and_the_nearest() {
    let bench = Bench::new();
    let cases: [(&[&str], &[&str]); 8] = [
        (&["--machine", "haswel"], &["\"haswel\"", "\"haswell\""]),
        (&["--config", "malacc"], &["\"malacc\"", "\"mallacc\"", "none", "limit"]),
        (&["--config", "mallacc:entires=3"], &["entires", "\"entries\""]),
        (&["--config", "mallacc:entries=0"], &["entries", "0"]),
        (&["--config", "mallacc:entries=-3"], &["entries = -3", "whole number from 1 to 64"]),
        (&["--config", "mallacc:entries=2.5"], &["entries = 2.5", "whole number from 1 to 64"]),
        (&["--config", "none", "--config", "none"], &["twice", "--config NAME="]),
        (&["--workload", "pearl"], &["\"pearl\"", "\"perl\""]),
    ];
    for (options, words) in cases {
        let mut args = vec!["run"];
        args.extend(options);
        if !options.contains(&"--workload") {
            args.extend(["--", "sh"]);
        }
        let text = bench.refused(&args, USAGE);
        mentions(sentence(&text), words);
    }
    let text = bench.refused(&["micro", "tp_smal"], USAGE);
    mentions(sentence(&text), &["tp_smal", "\"tp_small\""]);
}

#[test]
fn a_name_that_is_near_to_none_is_answered_with_the_list_alone() {
    let bench = Bench::new();
    for (args, valid) in [
        (&["run", "--machine", "skylake", "--", "sh"][..], "goldencove"),
        (&["run", "--config", "prefetcher", "--", "sh"], "mallacc"),
        (&["run", "--workload", "firefox", "--", "sh"], "perl"),
        (&["micro", "nosuch"], "gauss"),
        (&["sma-study", "picture"], "fig4"),
        (&["validate", "blocks", "x.csv", "--category", "branch"], "scalar-integer"),
    ] {
        // A workload replaces the program.
        let end = if args.contains(&"--workload") { 3 } else { args.len() };
        let text = bench.refused(&args[..end], USAGE);
        mentions(sentence(&text), &["unknown. The valid ones are", valid]);
    }
}

#[test]
fn numbers_with_fractions_and_negative_ones_are_told_the_whole_rule() {
    let bench = Bench::new();
    bench.file("x.mtrace", "");
    for (args, words) in [
        (
            &["run", "--max", "1.5M", "sh"][..],
            &["'1.5M' for '--max", "whole number", "1500000"][..],
        ),
        (&["run", "--skip", "-1", "sh"], &["'-1' for '--skip", "whole number", "0 or more"]),
        (&["run", "--budget", "-1k", "sh"], &["'-1k' for '--budget", "whole number", "0 or more"]),
        (&["run", "--seed", "-1", "sh"], &["'-1' for '--seed", "whole number from 1 to"]),
        (&["micro", "--seed", "0.5"], &["'0.5' for '--seed", "whole number, 0 or more"]),
        (&["micro", "--iterations", "-4"], &["'-4' for '--iterations", "from 1 to 268435456"]),
        (&["micro", "--entries", "-4"], &["'-4' for '--entries", "try 16"]),
        (&["micro", "--entries", "2.5"], &["'2.5' for '--entries", "whole numbers"]),
        (&["operations", "x.mtrace", "-o", "x", "--max", "-2"], &["'-2' for '--max", "0 or more"]),
        (&["area", "--speedup", "fast"], &["'fast' for '--speedup", "number of percent"]),
        (&["paper", "--seeds", "1.5"], &["'1.5' for '--seeds", "from 1 to 100"]),
        (&["sma-study", "--subsets", "-1"], &["'-1' for '--subsets", "from 1 to 1000"]),
        (&["validate", "host", "--processes", "0"], &["'0' for '--processes", "from 1 to 1000"]),
        (&["validate", "blocks", "x", "--worst", "-1"], &["'-1' for '--worst", "whole number"]),
    ] {
        mentions(&bench.refused(args, USAGE), words);
    }
}

#[test]
fn machine_files_that_do_not_hold() {
    let bench = Bench::new();
    let cases = [
        ("core = [", &["line 1", "TOML"][..]),
        ("[core]\nrobb = 3", &["core.robb", "\"rob\""]),
        ("[core]\nrob = \"big\"", &["core.rob", "\"big\"", "whole number"]),
        ("[core]\nrob = 1", &["core.rob", "8 to 512"]),
        ("[memory.l1d]\nsize = 48001", &["48001"]),
    ];
    for (contents, words) in cases {
        let file = bench.file("bad.toml", contents);
        let text = bench.refused(&["run", "--machine", &file, "--", "sh"], USAGE);
        mentions(sentence(&text), &["bad.toml"]);
        mentions(sentence(&text), words);
    }
    let text = bench.refused(&["machines", "./none.toml"], USAGE);
    mentions(sentence(&text), &["none.toml", "cannot read"]);
}

#[test]
fn options_that_are_no_numbers_say_what_is_wanted() {
    let bench = Bench::new();
    for (option, value) in [
        ("--skip", "ten"),
        ("--max", "-"),
        ("--budget", "1T"),
        ("--sample", "10M:1k"),
        ("--sample", "100:90:20"),
    ] {
        let text = bench.refused(&["run", option, value, "--", "sh"], USAGE);
        mentions(&text, &[option, "try 10M"]);
    }
    let text = bench.refused(&["run", "--fromat", "json", "--", "sh"], USAGE);
    mentions(&text, &["--fromat", "--format"]);
}

/// A trace of a small program, with its bytes.
fn trace(bench: &Bench) -> Option<Vec<u8>> {
    if !live() {
        return None;
    }
    let args = ["record", "--quiet", "-o", "good.mtrace", "--", "sh", "-c", ":"];
    assert!(bench.run(&args).status.success());
    Some(std::fs::read(bench.path("good.mtrace")).unwrap())
}

#[test]
fn traces_that_are_none_or_of_a_newer_version() {
    let bench = Bench::new();
    let text = bench.refused(&["replay", "none.mtrace"], FAILED);
    mentions(sentence(&text), &["none.mtrace", "cannot read"]);
    bench.file("foreign", "#!/bin/sh\n");
    let text = bench.refused(&["replay", "foreign"], FAILED);
    mentions(sentence(&text), &["foreign", "not a Mallacc trace", "mallacc record"]);
    let Some(mut bytes) = trace(&bench) else { return };
    bytes[8..12].copy_from_slice(&999u32.to_le_bytes());
    bench.file("newer", &bytes);
    let text = bench.refused(&["replay", "newer"], FAILED);
    mentions(sentence(&text), &["newer", "999", "reads up to"]);
}

#[test]
fn a_cut_or_damaged_trace_fails_and_gives_what_came_before() {
    let bench = Bench::new();
    let Some(bytes) = trace(&bench) else { return };
    bench.file("cut", &bytes[..bytes.len() - 7]);
    let (document, output) = bench.json("replay", &["--no-store"], &["cut"]);
    assert_eq!(output.status.code(), Some(FAILED));
    let error = String::from_utf8(output.stderr).unwrap();
    mentions(sentence(&error), &["cut", "truncated", "--allow-truncated", "record again"]);
    assert_eq!(document["complete"], false);
    assert!(number(&document, "configurations/0/instructions") > 0);
    let (document, output) = bench.json("replay", &["--no-store", "--allow-truncated"], &["cut"]);
    assert!(output.status.success());
    mentions(&document["warnings"].to_string(), &["truncated"]);

    let mut damaged = bytes.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    bench.file("damaged", &damaged);
    let text = bench.refused(&["replay", "--quiet", "--no-store", "damaged"], FAILED);
    mentions(sentence(&text), &["damaged", "corrupt", "checksum", "record again"]);
}

#[test]
fn a_store_or_output_that_cannot_be_written_is_reported_before_the_run() {
    let bench = Bench::new();
    if !live() {
        return;
    }
    let program = ["--", "sh", "-c", "echo ran"];
    let options: [(&[&str], &[&str]); 3] = [
        (&["--store", "/no/such/folder/x.db"], &["/no/such/folder/x.db", "--store"]),
        (&["--store", "text"], &["text", "not a results store", "--store"]),
        (&["--output", "/no/such/folder/x"], &["/no/such/folder/x", "--output"]),
    ];
    bench.file(
        "text",
        "this is a text, and longer than the header of a database needs to be, so \
                        that it is told from one; it goes on for a while until there is enough.",
    );
    for (options, words) in options {
        let output = bench.run(&[&["run"], options, &program].concat());
        assert_eq!(output.status.code(), Some(FAILED));
        mentions(sentence(&String::from_utf8(output.stderr).unwrap()), words);
        assert_eq!(output.stdout, b"", "the program did not run");
    }
}

#[test]
fn a_full_disk_does_not_lose_the_report() {
    if !live() || !std::path::Path::new("/dev/full").exists() {
        return;
    }
    let bench = Bench::new();
    let options = ["run", "--no-store", "--config", "none", "--format", "json"];
    let rest = ["--output", "/dev/full", "--", "sh", "-c", ":"];
    let output = bench.run(&[&options[..], &rest].concat());
    assert_eq!(output.status.code(), Some(FAILED));
    mentions(sentence(&String::from_utf8(output.stderr).unwrap()), &["/dev/full", "stdout"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    check_run(&document);
}

#[test]
fn a_full_device_is_said_before_recording() {
    if !live() || !std::path::Path::new("/dev/full").exists() {
        return;
    }
    let bench = Bench::new();
    let args = ["record", "-o", "/dev/full", "--", "sh", "-c", "echo ended"];
    let output = bench.run(&args);
    assert_eq!(output.status.code(), Some(FAILED));
    mentions(sentence(&String::from_utf8(output.stderr).unwrap()), &["/dev/full", "cannot write"]);
}

/// A small file system for the test; where that is not allowed, prints a line that says so.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    fn mount(place: std::path::PathBuf) -> Option<Self> {
        std::fs::create_dir(&place).unwrap();
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64k", "none"]).arg(&place);
        if mount.output().is_ok_and(|output| output.status.success()) {
            return Some(Self(place));
        }
        skips::without("this user may not mount a file system");
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_disk_that_fills_while_recording_keeps_what_is_whole_and_lets_the_program_end() {
    if !live() || !have("perl") {
        return;
    }
    let bench = Bench::new();
    let Some(disk) = SmallDisk::mount(bench.path("disk")) else { return };
    let trace = disk.0.join("x.mtrace").display().to_string();
    // Addresses without a pattern take up space: several frames' worth of them.
    let script = "my %h; $h{int(rand(1e9))} = 1 for 1..60000; print \"ended\\n\"";
    let output = bench.run(&["record", "-o", &trace, "--", "perl", "-e", script]);
    assert_eq!(output.status.code(), Some(FAILED));
    assert_eq!(output.stdout, b"ended\n");
    mentions(sentence(&String::from_utf8(output.stderr).unwrap()), &["x.mtrace", "No space left"]);
}

#[test]
fn a_program_killed_by_a_signal_is_reported_with_the_signal() {
    if !live() || !have("perl") {
        return;
    }
    let bench = Bench::new();
    let script = "my @a = map { \"x$_\" } 1..500; kill 'KILL', $$; sleep 9";
    let options = ["--no-store", "--config", "none"];
    let (document, output) = bench.json("run", &options, &["--", "perl", "-e", script]);
    assert_eq!(output.status.code(), Some(128 + 9));
    assert_eq!(number(&document, "exit/signal"), 9);
    check_run(&document);
    let args = ["record", "--quiet", "-o", "k.mtrace", "--", "perl", "-e", script];
    assert_eq!(bench.run(&args).status.code(), Some(128 + 9));
    let (replayed, output) = bench.json("replay", &options, &["k.mtrace"]);
    assert!(output.status.success(), "the recording is whole");
    assert_eq!(number(&replayed, "exit/signal"), 9);
}

#[test]
fn ctrl_c_stores_what_is_there() {
    if !live() || !have("perl") {
        return;
    }
    let bench = Bench::new();
    let script = "$| = 1; print \"up\\n\"; my %h; while (1) { $h{$_} = $_ for 1..100 }";
    let mut command = bench.command(&["run", "--config", "none", "--", "perl", "-e", script]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut up = [0; 3];
    child.stdout.as_mut().unwrap().read_exact(&mut up).unwrap();
    let signalled = Instant::now();
    let pid = i32::try_from(child.id()).unwrap();
    // SAFETY: kill(2) with the number of a child that has not been waited for.
    unsafe { libc::kill(pid, libc::SIGINT) };
    let output = child.wait_with_output().unwrap();
    assert!(signalled.elapsed() < Duration::from_secs(60), "it ends soon");
    assert_eq!(output.status.code(), Some(128 + libc::SIGINT));
    mentions(&String::from_utf8_lossy(&output.stderr), &["interrupted"]);
    let shown = bench.run(&["show", "1", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(document["complete"], false);
    assert!(number(&configurations(&document)[0], "cycles") > 0);
}

#[test]
fn a_store_without_the_run_says_what_it_holds() {
    let bench = Bench::new();
    let text = bench.refused(&["show", "--store", "none.db"], FAILED);
    mentions(sentence(&text), &["none.db", "no such file", "mallacc run"]);
    assert!(!bench.path("none.db").exists());
    if live() {
        let run = ["run", "--quiet", "--config", "none", "--", "sh", "-c", ":"];
        assert!(bench.run(&run).status.success());
        let text = bench.refused(&["show", "99"], FAILED);
        mentions(sentence(&text), &["99", "run 1 only"]);
    }
}

#[test]
fn iterations_and_repeats_that_measure_nothing_are_refused_before_anything_runs() {
    let bench = Bench::new();
    for command in [&["micro", "tp"][..], &["validate", "host"]] {
        for (option, value, range) in [
            ("--repeats", "0", "from 2 to 1000"),
            ("--repeats", "1", "warm-up"),
            ("--iterations", "0", "from 1 to 268435456"),
            ("--iterations", "many", "try 32768"),
        ] {
            let text = bench.refused(&[command, &[option, value]].concat(), USAGE);
            mentions(&text, &[option, value, range]);
        }
    }
}
