//! Builds QEMU's user mode for x86-64 with plugins from a source tree.

use crate::archive::Tree;
use crate::child::{self, Log};
use crate::error::{SetupError, io_error};
use crate::observer::{Observer, Progress, Unit};
use crate::sources;
use launch::{LaunchError, Qemu, qemu};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Options of `configure`: user mode with plugins, and nothing else.
pub const OPTIONS: [&str; 9] = [
    "--target-list=x86_64-linux-user",
    "--enable-plugins",
    "--without-default-features",
    "--disable-system",
    "--disable-tools",
    "--disable-docs",
    "--disable-guest-agent",
    "--disable-install-blobs",
    "--disable-download",
];

/// What `configure` needs from PyPI if the archive does not bring it (QEMU's `pythondeps.toml`).
const PYTHON_PACKAGES: &str = "\
meson==1.9.0 \
--hash=sha256:45e51ddc41e37d961582d06e78c48e0f9039011587f3495c4d6b0781dad92357
pycotap==1.3.1 \
--hash=sha256:1c3a25b3ff89e48f4e00f1f71dbbc1642b4f65c65d416524d07e73492fff25ea
";

/// Variables that would change what is built, or how its progress is told.
const UNSET: [&str; 9] = [
    "CC",
    "CFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "DESTDIR",
    "MAKEFLAGS",
    "PYTHONHOME",
    "PYTHONPATH",
    "NINJA_STATUS",
];

/// Builds in a folder; returns the stripped program.
pub fn build(
    tree: &Tree,
    folder: &Path,
    jobs: usize,
    log: &mut Log,
    observer: &dyn Observer,
) -> Result<PathBuf, SetupError> {
    let python = python(tree, folder, log, observer)?;
    observer.step(&format!("configuring QEMU {}", tree.version));
    let objects = folder.join("objects");
    fs::create_dir(&objects).map_err(io_error("cannot make", &objects))?;
    let mut configure = tool(tree.folder.join("configure"));
    let mut option = OsString::from("--python=");
    option.push(&python);
    configure.arg(option).args(OPTIONS).current_dir(&objects);
    child::step(configure, "configuring QEMU", (log, folder), observer, |_| ())?;

    observer.step(&format!("building QEMU {} (jobs: {jobs})", tree.version));
    let mut ninja = tool("ninja");
    ninja.arg("-j").arg(jobs.to_string()).arg(qemu::NAME).current_dir(&objects);
    let each = |line: &str| {
        if let Some(progress) = progress(line) {
            observer.progress(progress);
        }
    };
    child::step(ninja, "building QEMU", (log, folder), observer, each)?;

    let program = objects.join(qemu::NAME);
    let mut strip = tool("strip");
    strip.arg(&program);
    child::step(strip, "stripping QEMU", (log, folder), observer, |_| ())?;
    Ok(program)
}

/// A program of the build, in an environment that does not change its result.
fn tool(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    for name in UNSET {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C");
    command
}

/// The Python that `configure` shall use: one with meson, unless the archive brings it.
fn python(
    tree: &Tree,
    folder: &Path,
    log: &mut Log,
    observer: &dyn Observer,
) -> Result<PathBuf, SetupError> {
    let wheels = fs::read_dir(tree.folder.join("python/wheels"));
    let is_meson =
        |entry: fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(b"meson-");
    if wheels.into_iter().flatten().flatten().any(is_meson) {
        let found = launch::paths::search("python3".as_ref(), std::env::var_os("PATH").as_deref());
        return Ok(found.unwrap_or_else(|| "python3".into()));
    }
    observer.step("fetching meson and pycotap for QEMU's build");
    let venv = folder.join("venv");
    let mut make = tool("python3");
    make.args(["-m", "venv"]).arg(&venv);
    child::step(make, "making a virtual environment", (log, folder), observer, |_| ())?;
    let list = folder.join("packages.txt");
    fs::write(&list, PYTHON_PACKAGES).map_err(io_error("cannot write", &list))?;
    let python = venv.join("bin/python");
    let mut pip = tool(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]);
    pip.args(["--no-deps", "--only-binary=:all:", "--retries=2", "--require-hashes", "-r"])
        .arg(&list);
    let done =
        child::step(pip, "fetching meson and pycotap with pip", (log, folder), observer, |_| ());
    match done {
        Err(SetupError::Step { said, log, .. }) => {
            let with_them = sources::PINNED[1].file;
            Err(SetupError::Packages { said, with_them, log })
        }
        other => other.map(|()| python),
    }
}

/// Ninja's `[DONE/ALL] what`.
fn progress(line: &str) -> Option<Progress> {
    let (done, total) = line.strip_prefix('[')?.split_once(']')?.0.split_once('/')?;
    let total = Some(total.parse().ok()?);
    Some(Progress { done: done.parse().ok()?, total, unit: Unit::Steps })
}

/// Whether a program is a QEMU that takes plugins and executes another program.
pub fn tried(program: &Path) -> Result<Qemu, String> {
    let qemu = Qemu::inspect(program).map_err(|error: LaunchError| error.to_string())?;
    let mut shell = Command::new(program);
    shell.args(["/bin/sh", "-c", "exit 42"]);
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match shell.status() {
        Ok(status) if status.code() == Some(42) => Ok(qemu),
        Ok(status) => Err(format!("under it a shell ends with {status} instead of 42")),
        Err(error) => Err(error.to_string()),
    }
}

/// The compiler's name and version, for the manifest.
pub fn compiler() -> String {
    let output = tool("cc").arg("--version").stdin(Stdio::null()).output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read_from_ninja_s_lines() {
        let read = |line| progress(line).map(|progress| (progress.done, progress.total));
        assert_eq!(read("[3/348] Compiling C object x.o"), Some((3, Some(348))));
        for other in ["ninja: no work to do.", "[x/3] y", "[3] y", "FAILED: [1/2", ""] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn each_python_package_is_of_one_version_with_its_sum() {
        for line in PYTHON_PACKAGES.lines() {
            let (package, sum) = line.split_once(" --hash=sha256:").unwrap();
            assert!(package.contains("==") && sum.len() == 64, "{line}");
        }
    }

    #[test]
    fn a_program_that_only_claims_to_be_qemu_is_not_one() {
        let says = |text: &str| tried_script(text).unwrap_err();
        let claim = "case $1 in --version) echo qemu-x86_64 version 9.9.9;; \
                     --help) echo '-plugin x';; *) exit 1;; esac";
        assert!(says(claim).contains("instead of 42"), "{}", says(claim));
        assert!(says("exit 0").contains("nothing"), "{}", says("exit 0"));
        let works = claim.replace("exit 1", "exec \"$@\"");
        assert_eq!(tried_script(&works).unwrap().version, qemu::Version(9, 9));
    }

    fn tried_script(body: &str) -> Result<Qemu, String> {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join(qemu::NAME);
        // A shell writes it: while another test forks, its child would keep a file of this process
        // open for writing, and nothing can execute it then.
        let write = "printf '#!/bin/sh\\n%s\\n' \"$2\" > \"$1\" && chmod +x \"$1\"";
        let mut shell = Command::new("sh");
        shell.args(["-c", write, "sh"]).arg(&script).arg(body);
        assert!(shell.status().unwrap().success());
        tried(&script)
    }
}
