//! Runs the command as a user does.

#![allow(dead_code)]

use results::store::Store;
use results::{Configuration, Exit, Role, Run};
use serde_json::Value;
use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub mod system;

pub use skips::have;

/// The command under test.
pub const MALLACC: &str = env!("CARGO_BIN_EXE_mallacc");

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Whether everything for a live run is available. If not, the calling test is skipped.
#[track_caller]
pub fn live() -> bool {
    let (feeder, guest) = (launch::products::FEEDER.find(), launch::products::GUEST.find());
    for part in [launch::Qemu::find().map(|qemu| qemu.path), feeder, guest] {
        if let Err(error) = part {
            skips::without_tool(error);
            return false;
        }
    }
    true
}

/// Whether the microbenchmarks can run. If not, the calling test is skipped.
#[track_caller]
pub fn micro_is_built() -> bool {
    let built = root().join("guest/build/micro/tp_small").exists();
    if !built {
        skips::without_tool("the microbenchmarks are not built; run make guest");
    }
    built && live()
}

/// Whoever runs the tests may ignore these, as nohup(1) does, and the command would too.
fn default_signals() -> std::io::Result<()> {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the default action is no function.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    Ok(())
}

/// A folder for each test, in which the command runs.
pub struct Bench(tempfile::TempDir);

impl Bench {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(MALLACC);
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        // SAFETY: signal(2) may be called between fork and exec.
        unsafe { command.pre_exec(default_signals) };
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs with this on stdin.
    pub fn fed<S: AsRef<OsStr>>(&self, args: &[S], input: &[u8]) -> Output {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that fails early closes its end.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }

    /// Puts a small finished run of each program into the default store.
    pub fn store(&self, programs: &[&str]) {
        let mut store = Store::open(&self.path("mallacc.db")).unwrap();
        for program in programs {
            let configuration = |name: &str, role, cycles| Configuration {
                name: name.into(),
                role,
                machine: "haswell".into(),
                cycles,
                instructions: 1_000,
                ..Configuration::default()
            };
            let all = [
                configuration("baseline", Role::Baseline, 800),
                configuration("limit", Role::Limit, 700),
            ];
            let run = Run {
                program: (*program).into(),
                exit: Some(Exit::Code(0)),
                configurations: all.to_vec(),
                complete: true,
                ..Run::default()
            };
            store.save(&run).unwrap();
        }
    }

    /// Runs a command that must fail; returns its one sentence.
    pub fn refused<S: AsRef<OsStr>>(&self, args: &[S], code: i32) -> String {
        let output = self.run(args);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{text}");
        text
    }

    /// Writes a file; returns its path as text.
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), contents).unwrap();
        self.path(name).display().to_string()
    }

    /// Runs with `--format json --output` and the options; returns the document and the printed
    /// output.
    pub fn json(&self, command: &str, options: &[&str], rest: &[&str]) -> (Value, Output) {
        let report = self.path("report.json");
        let _ = std::fs::remove_file(&report);
        let place = report.display().to_string();
        let mut args = vec![command, "--format", "json", "--output", &place];
        args.extend(options);
        args.extend(rest);
        let output = self.run(&args);
        let text = std::fs::read_to_string(&report).unwrap_or_default();
        let document = serde_json::from_str(&text).unwrap_or_else(|error| {
            panic!("{error}: {text:?}; {}", String::from_utf8_lossy(&output.stderr))
        });
        (document, output)
    }

    /// Compiles a C program; without a compiler, prints a line that says so and returns `None`.
    pub fn compile(&self, name: &str, source: &str, options: &[&str]) -> Option<String> {
        if !have("gcc") {
            return None;
        }
        let file = self.file(&format!("{name}.c"), source);
        let program = self.path(name).display().to_string();
        let mut gcc = Command::new("gcc");
        let done = gcc.args(["-O1", "-fno-builtin", "-o", &program, &file]).args(options).status();
        assert!(done.unwrap().success());
        Some(program)
    }
}

/// The sentence on stderr, which must be the only one and the command's own.
pub fn sentence(text: &str) -> &str {
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1, "one line: {text}");
    lines[0].strip_prefix("mallacc: ").unwrap_or_else(|| panic!("whose? {text}"))
}

/// A number at a path like `configurations/0/cycles`.
pub fn number(document: &Value, path: &str) -> u64 {
    let found = document.pointer(&format!("/{path}"));
    found.and_then(Value::as_u64).unwrap_or_else(|| panic!("{path}: {found:?}"))
}

/// The configurations of a run.
pub fn configurations(document: &Value) -> &[Value] {
    document["configurations"].as_array().unwrap()
}

/// Properties of every run, whatever the program.
pub fn check_run(document: &Value) {
    let all = configurations(document);
    let limit = all.iter().find(|item| item["accelerator"] == "limit");
    for item in all {
        let name = &item["name"];
        assert!(number(item, "cycles") > 0, "{name}");
        assert_eq!(item["instructions"], all[0]["instructions"], "{name}: one stream");
        for kind in ["malloc", "free", "calloc", "realloc", "new", "delete"] {
            assert_eq!(item[kind]["calls"], all[0][kind]["calls"], "{name}: calls of {kind}");
        }
        let parts = item["cpi_stack"].as_object().unwrap().values();
        let sum: u64 = parts.map(|cycles| cycles.as_u64().unwrap()).sum();
        assert_eq!(sum, number(item, "cycles"), "{name}: the CPI stack");
        if let Some(limit) = limit {
            let (least, cycles) = (number(limit, "cycles"), number(item, "cycles"));
            assert!(least <= cycles, "{name}: {cycles} cycles, the limit {least}");
        }
        if let Some(cache) = item.get("malloc_cache").filter(|cache| !cache.is_null()) {
            assert_eq!(number(cache, "invariant_violations"), 0, "{name}");
        }
    }
    assert_eq!(document["contradictions"], serde_json::json!([]));
}
