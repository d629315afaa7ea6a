//! Runs programs under QEMU for the tests and tallies their streams.
#![allow(dead_code)]

use mallacc_launch::{Fate, LaunchError, Launched, Options, Paths, Qemu, prepare, products};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use stream::event::{Control, Event, decode};
use stream::{Packet, Source, StreamError};
use tempfile::TempDir;

/// The parts, built if necessary. `None` without QEMU: the calling test is skipped.
#[track_caller]
pub fn parts() -> Option<Paths> {
    static PARTS: OnceLock<Paths> = OnceLock::new();
    match Qemu::find() {
        Ok(qemu) => {
            let build = || Paths { qemu, feeder: feeder(), guest: Some(guest()) };
            Some(PARTS.get_or_init(build).clone())
        }
        Err(error) => {
            skips::without_tool(error);
            None
        }
    }
}

/// The plugin, built with this test's profile. Cargo builds a plugin only on request.
fn feeder() -> PathBuf {
    if std::env::var_os(products::FEEDER.variable).is_none() {
        let test = std::env::current_exe().unwrap();
        // target/PROFILE/deps/test
        let profile = test.parent().unwrap().parent().unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "-p", "mallacc-feeder", "--target-dir"]);
        cargo.arg(profile.parent().unwrap()).current_dir(env!("CARGO_MANIFEST_DIR"));
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().unwrap().success(), "the plugin does not build");
    }
    products::FEEDER.find().unwrap()
}

fn guest() -> PathBuf {
    if std::env::var_os(products::GUEST.variable).is_none() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guest");
        let mut make = Command::new("make");
        make.args(["-s", "build/libmallacc_guest.so"]).current_dir(dir).stdout(Stdio::null());
        assert!(make.status().unwrap().success(), "the guest library does not build");
    }
    products::GUEST.find().unwrap()
}

/// The standard options.
#[track_caller]
pub fn options() -> Option<Options> {
    parts().map(Options::new)
}

/// Options of a deterministic run.
#[track_caller]
pub fn deterministic() -> Option<Options> {
    options().map(|o| Options { deterministic: true, ..o })
}

/// A directory with programs compiled for a test.
pub struct Bench(pub TempDir);

impl Bench {
    /// An empty one.
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Compiles one of `tests/programs`.
    pub fn compile(&self, name: &str, flags: &[&str]) -> String {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
        let out = self.0.path().join(name.trim_end_matches(".c"));
        let mut gcc = Command::new("gcc");
        gcc.args(["-O1", "-fno-builtin", "-o"]).arg(&out).arg(source).args(flags);
        assert!(gcc.status().expect("gcc").success(), "{name} does not compile");
        out.into_os_string().into_string().unwrap()
    }

    /// Writes an executable script.
    pub fn script(&self, name: &str, text: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path.into_os_string().into_string().unwrap()
    }
}

/// The contents of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub instructions: u64,
    pub loads: u64,
    pub stores: u64,
    pub packets: u64,
    pub threads: u32,
    /// Accesses with an instruction index that their block does not have; see `docs/stream.md`.
    pub strays: u64,
    /// The payload of the exit event.
    pub exit: Option<u64>,
    /// Number of control events of each kind.
    pub controls: BTreeMap<String, u64>,
    /// Hash of everything: threads, blocks, events.
    pub hash: u64,
    lens: Lens,
}

/// Instructions of each block.
#[derive(Clone, Default, PartialEq, Eq)]
struct Lens(Vec<u64>);

impl std::fmt::Debug for Lens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "of {} blocks", self.0.len())
    }
}

impl Tally {
    pub fn control(&self, kind: Control) -> u64 {
        self.controls.get(&format!("{kind:?}")).copied().unwrap_or(0)
    }

    /// Adds a packet and checks its form.
    pub fn add(&mut self, packet: &Packet) {
        let mut hasher = DefaultHasher::new();
        (self.hash, packet.thread, &packet.objects, &packet.blocks, &packet.events)
            .hash(&mut hasher);
        self.hash = hasher.finish();
        self.packets += 1;
        self.threads = self.threads.max(packet.thread + 1);
        for block in &packet.blocks {
            assert_eq!(block.id as usize, self.lens.0.len(), "numbers are dense");
            assert!(block.is_well_formed());
            self.lens.0.push(block.lens.len() as u64);
        }
        let (mut words, mut insns) = (packet.events.iter(), 0);
        while let Some(&word) = words.next() {
            match decode(word).expect("a known event") {
                Event::Mem { insn, .. } if u64::from(insn) >= insns => self.strays += 1,
                Event::Mem { store, .. } => {
                    if store {
                        self.stores += 1
                    } else {
                        self.loads += 1
                    }
                }
                Event::Block { id } => {
                    insns = self.lens.0[id as usize];
                    self.instructions += insns;
                }
                Event::Value { insn } => {
                    assert!(u64::from(insn) < insns);
                    words.next().expect("a value");
                }
                Event::Control { kind, extra, payload } => {
                    *self.controls.entry(format!("{kind:?}")).or_default() += 1;
                    if kind == Control::Exit {
                        assert_eq!(self.exit.replace(payload), None, "one exit");
                    }
                    for _ in 0..extra {
                        words.next().expect("a raw word");
                    }
                }
            }
        }
    }
}

/// The results of a run.
#[derive(Debug)]
pub struct Run {
    pub tally: Tally,
    pub fate: Fate,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a program with an empty stdin; calls `each` for every packet.
pub fn run_each(
    options: Options,
    program: &[&str],
    each: impl FnMut(&Packet),
) -> Result<Run, StreamError> {
    run_input(options, program, b"", each)
}

/// Runs a program.
pub fn run(options: Options, program: &[&str]) -> Run {
    run_each(options, program, |_| ()).unwrap()
}

/// Starts a program; its output goes into the files.
pub fn start(
    options: Options,
    program: &[&str],
    files: [&tempfile::NamedTempFile; 3],
) -> Result<Launched, LaunchError> {
    let args: Vec<OsString> = program[1..].iter().map(OsString::from).collect();
    let [stdin, stdout, stderr] = files.map(|f| f.reopen().unwrap());
    prepare(program[0].as_ref(), &args, options)?.spawn_with(|command| {
        command.stdin(stdin).stdout(stdout).stderr(stderr);
    })
}

/// Runs a program with this stdin; calls `each` for every packet.
pub fn run_input(
    options: Options,
    program: &[&str],
    input: &[u8],
    mut each: impl FnMut(&Packet),
) -> Result<Run, StreamError> {
    let files = [(); 3].map(|()| tempfile::NamedTempFile::new().unwrap());
    std::fs::write(files[0].path(), input).unwrap();
    let mut launched = start(options, program, files.each_ref()).unwrap();
    let mut source = launched.source().unwrap();
    assert!(launched.source().is_none(), "there is one source");
    let (mut tally, mut packet) = (Tally::default(), Packet::default());
    while source.next(&mut packet)? {
        tally.add(&packet);
        each(&packet);
    }
    let fate = launched.wait().unwrap();
    // No signal handler ran in these programs.
    assert_eq!(tally.strays, 0, "each access belongs to an instruction of its block");
    let text = |at: usize| std::fs::read_to_string(files[at].path()).unwrap();
    Ok(Run { tally, fate, stdout: text(1), stderr: text(2) })
}
