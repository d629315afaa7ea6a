//! The command that runs a program under QEMU with the feeder.

use crate::environment::{self, Environment, FOLLOW, RING, SEPARATOR};
use crate::launched::Launched;
use crate::{
    LaunchError, OwnAllocator, Paths, Program, elf, handover, paths, privileges, products, program,
    qemu,
};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use stream::live::LiveRing;

/// A Haswell without the features that QEMU's code generator lacks and would warn about.
const CPU: &str = "Haswell,-pcid,-x2apic,-tsc-deadline,-hle,-rtm,-invpcid";
/// The length of the processor's description, with that of any version's properties: it is part of
/// [`FOLLOW`], which the guest library takes apart.
const CPU_LENGTH: usize = 128;
/// QEMU's seed in deterministic runs of layout 0; any number would do.
const SEED: u64 = 1;
/// Bytes by which each layout shifts the stack, and the number of layouts. The shift is an odd
/// multiple of 16 bytes, so that each layout uses different cache lines and sets.
const SHIFT_BYTES: u64 = 272;
const SHIFTS: u64 = 128;
/// The lengths of the guest library's path and of [`FOLLOW`] are multiples of these in
/// deterministic runs.
const LIBRARY_ROUND: usize = 128;
const FOLLOW_ROUND: usize = 1024;

/// The allocator of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Allocator {
    /// The guest library's.
    #[default]
    Guest,
    /// The program's own.
    Own,
    /// Another library's.
    Library(PathBuf),
}

/// How to run a program.
#[derive(Clone, Debug)]
pub struct Options {
    /// The parts that it needs; see [`Paths::find`].
    pub paths: Paths,
    /// Fixes QEMU's seed, well-known hash seeds, the size of the environment, and the times at
    /// which files were last read.
    pub deterministic: bool,
    /// The layout of a deterministic run, one of many that are equally valid: each has its own QEMU
    /// seed, hash seeds and stack position. 0 is the standard one.
    pub layout: u64,
    /// What is preloaded.
    pub allocator: Allocator,
    /// Variables to add to the user's environment.
    pub env: Vec<(OsString, OsString)>,
}

impl Options {
    /// The standard options with these parts.
    pub fn new(paths: Paths) -> Self {
        Self {
            paths,
            deterministic: false,
            layout: 0,
            allocator: Allocator::Guest,
            env: Vec::new(),
        }
    }
}

/// A program that is ready to start.
#[derive(Debug)]
pub struct Prepared {
    /// The resolved program.
    pub program: Program,
    own_allocator: Option<OwnAllocator>,
    options: Options,
}

/// Resolves a program and checks that it can be started.
pub fn prepare(
    name: &OsStr,
    args: &[OsString],
    mut options: Options,
) -> Result<Prepared, LaunchError> {
    let program = program::resolve(name, args)?;
    let mut own_allocator = program.own_allocator;
    match &options.allocator {
        Allocator::Guest => {}
        Allocator::Own => {
            options.paths.guest = None;
            own_allocator = own_allocator.or(Some(OwnAllocator::Kept));
        }
        Allocator::Library(path) => {
            let refused = |found| LaunchError::BadAllocator { path: shown(path), found };
            own_allocator = own_allocator.or(elf::inspect_allocator(path).map_err(refused)?);
            let whole = path.canonicalize().map_err(|error| refused(error.to_string()))?;
            options.paths.guest = Some(whole);
        }
    }
    // QEMU splits the values of its options at commas, the guest library splits its list of them at
    // the separator, and the dynamic linker splits its list of libraries at colons and blanks.
    for (path, what) in [(&options.paths.feeder, ","), (&options.paths.feeder, SEPARATOR)] {
        refuse(path, what)?;
    }
    for path in options.paths.guest.iter() {
        for what in [",", ":", " ", SEPARATOR] {
            refuse(path, what)?;
        }
    }
    refuse(&options.paths.qemu.path, SEPARATOR)?;
    Ok(Prepared { program, own_allocator, options })
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn refuse(path: &Path, what: &'static str) -> Result<(), LaunchError> {
    if path.as_os_str().as_bytes().contains(&what.as_bytes()[0]) {
        let what = if what == SEPARATOR { "control character" } else { what };
        return Err(LaunchError::BadPath { path: path.display().to_string(), what });
    }
    Ok(())
}

impl Prepared {
    /// Why the program's allocator cannot be replaced, if it cannot; said before it runs.
    pub fn own_allocator(&self) -> Option<OwnAllocator> {
        self.own_allocator
    }

    /// What the user should know before the program runs: that its calls will not be measured.
    pub fn warning(&self) -> Option<&'static str> {
        // The user's own choice, which may well have markers, is no surprise.
        self.own_allocator.filter(|own| *own != OwnAllocator::Kept).map(OwnAllocator::clause)
    }

    /// Why the program has fewer privileges than natively, if it has.
    pub fn lost_privileges(&self) -> Option<String> {
        privileges::lost(&self.program.path)
    }

    /// Starts the program. Its stdin, stdout and stderr are this process's.
    pub fn spawn(self) -> Result<Launched, LaunchError> {
        self.spawn_with(|_| ())
    }

    /// Starts the program after `adjust` has changed the command, for example its stdin.
    pub fn spawn_with(self, adjust: impl FnOnce(&mut Command)) -> Result<Launched, LaunchError> {
        let ring = LiveRing::create()?;
        if self.options.deterministic {
            ring.hide_access_times();
        }
        let (mut command, environment) = self.command(ring.path(), std::env::vars_os().collect());
        handover::with_environment(&mut command, environment);
        adjust(&mut command);
        let child = command.spawn().map_err(|source| LaunchError::Io {
            what: "cannot start",
            path: self.options.paths.qemu.path.display().to_string(),
            source,
        })?;
        Ok(Launched::new(child, ring))
    }

    /// The command, and the environment that it is executed with.
    fn command(&self, ring: &Path, user: environment::Variables) -> (Command, Vec<OsString>) {
        let Options { paths, deterministic, layout, env, .. } = &self.options;
        let layout = deterministic.then_some(*layout);
        let base = qemu_args(paths, layout, ring);
        let guest = paths.guest.as_deref().map(|guest| match layout {
            Some(_) => paths::lengthened(guest, 0, LIBRARY_ROUND),
            None => guest.to_owned(),
        });
        let mut environment =
            environment::build(without_our_own(user), env, guest.as_deref(), layout);
        if guest.is_some() {
            add_following(&mut environment, &paths.qemu.path, &base, ring, layout);
        }
        if let Some(layout) = layout {
            let shift = (layout % SHIFTS * SHIFT_BYTES) as usize;
            environment.pad(shift, paths.qemu.version.stack_surplus());
        }
        let mut command = Command::new(&paths.qemu.path);
        command.args(&base);
        for (name, value) in &environment.guest_only {
            let mut variable = name.clone();
            variable.push("=");
            variable.push(value);
            command.arg("-E").arg(variable);
        }
        let program = &self.program;
        // Some versions put the path without symbolic links on the program's stack, and others what
        // they are given.
        let path = program.path.canonicalize().unwrap_or_else(|_| program.path.clone());
        command.arg("-0").arg(&program.argv[0]).arg(path).args(&program.argv[1..]);
        (command, environment.ordered(paths.qemu.version))
    }
}

/// The user's variables without those that say where our parts are: a program has no use for them,
/// and copies what it is given.
fn without_our_own(mut user: environment::Variables) -> environment::Variables {
    for name in products::VARIABLES.into_iter().chain([qemu::VARIABLE]) {
        user.remove(OsStr::new(name));
    }
    user
}

fn add_following(
    environment: &mut Environment,
    qemu: &Path,
    base: &[OsString],
    ring: &Path,
    layout: Option<u64>,
) {
    let mut words = OsString::new();
    for word in base {
        words.push(SEPARATOR);
        words.push(word);
    }
    let mut all = qemu.to_owned();
    if layout.is_some() {
        all = paths::lengthened(qemu, words.len(), FOLLOW_ROUND);
    }
    let mut all = all.into_os_string();
    all.push(words);
    environment.inherited.insert(FOLLOW.into(), all);
    environment.inherited.insert(RING.into(), ring.into());
}

/// QEMU's options before the environment and the program.
fn qemu_args(paths: &Paths, layout: Option<u64>, ring: &Path) -> Vec<OsString> {
    let mut plugin = paths.feeder.clone().into_os_string();
    plugin.push(",ring=");
    plugin.push(ring);
    plugin.push(if paths.qemu.version.keeps_order() { ",order=kept" } else { ",order=swap" });
    // Commas that follow each other count as one.
    let cpu = format!("{:,<CPU_LENGTH$}", format!("{CPU}{}", paths.qemu.version.cpu_properties()));
    let mut args: Vec<OsString> = vec!["-cpu".into(), cpu.into()];
    if let Some(layout) = layout {
        args.extend(["-seed".into(), (SEED + layout).to_string().into()]);
    }
    args.extend(["-plugin".into(), plugin]);
    args
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Qemu;
    use crate::qemu::Version;

    /// The lengths of what becomes the guest's environment, with the parts in a folder.
    fn lengths(folder: &str, version: Version) -> Vec<usize> {
        let paths = Paths {
            qemu: Qemu { path: format!("{folder}/qemu-x86_64").into(), version },
            feeder: format!("{folder}/libmallacc_feeder.so").into(),
            guest: Some(format!("{folder}/libmallacc_guest.so").into()),
        };
        let options = Options { deterministic: true, ..Options::new(paths) };
        let prepared = prepare("/bin/true".as_ref(), &[], options).unwrap();
        let user = environment::Variables::from([("HOME".into(), "/root".into())]);
        let (command, environment) = prepared.command(Path::new("/proc/1/fd/3"), user);
        let preload = command.get_args().find(|arg| arg.as_bytes().starts_with(b"LD_PRELOAD="));
        let texts = environment.iter().map(|text| text.len());
        texts.chain([preload.unwrap().len()]).collect()
    }

    #[test]
    fn neither_the_parts_places_nor_qemus_version_change_a_length_in_a_deterministic_run() {
        let mut usual = lengths("/opt", qemu::OLDEST);
        let elsewhere = "/home/somebody/source/mallacc/target/release";
        assert_eq!(usual, lengths(elsewhere, qemu::OLDEST));
        // The guest gets them in the reverse order, and the vDSO takes from the padding.
        let newest = Version(10, 2);
        let mut new = lengths(elsewhere, newest);
        let padding = |all: &[usize]| all.iter().copied().max();
        assert_eq!(padding(&usual), padding(&new).map(|most| most + newest.stack_surplus()));
        usual.sort_unstable();
        new.sort_unstable();
        let others = |all: &[usize]| all[..all.len() - 1].to_vec();
        assert_eq!(others(&usual), others(&new));
    }
}
