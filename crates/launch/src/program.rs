//! Resolves what the user typed to the ELF file that runs, with its arguments.

use crate::script::{self, HEAD};
use crate::{LaunchError, Linkage, OwnAllocator, elf, paths};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Maximum depth of nested interpreters, as in Linux.
const DEPTH_MAX: usize = 5;

/// A program that can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The ELF file.
    pub path: PathBuf,
    /// Arguments, starting with the program's name.
    pub argv: Vec<OsString>,
    /// How it is linked.
    pub linkage: Linkage,
    /// Why its allocator cannot be replaced, if it cannot.
    pub own_allocator: Option<OwnAllocator>,
    /// The script that names it as its interpreter, if it was found that way.
    pub script: Option<PathBuf>,
}

/// Resolves a name and its arguments as a shell and the system do.
pub fn resolve(name: &OsStr, args: &[OsString]) -> Result<Program, LaunchError> {
    resolve_on(name, args, std::env::var_os("PATH").as_deref())
}

fn resolve_on(
    name: &OsStr,
    args: &[OsString],
    search: Option<&OsStr>,
) -> Result<Program, LaunchError> {
    let mut path = find(name, search)?;
    let mut argv = vec![name.to_owned()];
    argv.extend_from_slice(args);
    let mut script = None;
    for _ in 0..=DEPTH_MAX {
        let head = head(&path)?;
        if head.starts_with(b"\x7fELF") {
            let elf::Inspected { linkage, own_allocator } = elf::inspect(&path)
                .map_err(|found| LaunchError::NotX86 { path: path.display().to_string(), found })?;
            return Ok(Program { path, argv, linkage, own_allocator, script });
        }
        let (interpreter, front) = interpreter_of(&path, &head, search)?;
        script.get_or_insert_with(|| path.clone());
        // The script's own path replaces the name.
        argv[0] = path.into_os_string();
        argv.splice(0..0, front);
        path = interpreter;
    }
    Err(LaunchError::NotRunnable {
        path: script.unwrap_or_default().display().to_string(),
        reason: format!("its interpreters name each other more than {DEPTH_MAX} deep"),
    })
}

/// The interpreter of a file that is not an ELF file, and the arguments to insert before its path.
fn interpreter_of(
    path: &Path,
    head: &[u8],
    search: Option<&OsStr>,
) -> Result<(PathBuf, Vec<OsString>), LaunchError> {
    if let Some(found) = script::interpreter(head) {
        if let Some(words) = script::through_env(&found) {
            return Ok((find(&words[0], search)?, words));
        }
        if !found.path.exists() {
            return Err(LaunchError::NotRunnable {
                path: path.display().to_string(),
                reason: format!("its interpreter {} does not exist", found.path.display()),
            });
        }
        let mut front = vec![found.path.clone().into_os_string()];
        front.extend(found.arg);
        return Ok((found.path, front));
    }
    // In POSIX, the shell itself runs a text file without `#!`; the first line shows whether it is
    // text.
    let first = head.split(|&b| b == b'\n').next().unwrap_or_default();
    if first.is_empty() || first.contains(&0) {
        let found = if head.is_empty() { "an empty file" } else { "neither" };
        let path = path.display().to_string();
        return Err(LaunchError::NotX86 { path, found: found.to_owned() });
    }
    Ok(("/bin/sh".into(), vec!["/bin/sh".into()]))
}

fn find(name: &OsStr, search: Option<&OsStr>) -> Result<PathBuf, LaunchError> {
    let found = paths::search(name, search).ok_or_else(|| {
        let with_slash = name.as_encoded_bytes().contains(&b'/');
        let place = if with_slash { "" } else { " on PATH" };
        LaunchError::NotFound { name: name.to_string_lossy().into_owned(), place: place.to_owned() }
    })?;
    let refuse = |reason: &str| LaunchError::NotRunnable {
        path: found.display().to_string(),
        reason: reason.to_owned(),
    };
    if found.is_dir() {
        return Err(refuse("a directory, not a program"));
    }
    if !paths::is_executable(&found) {
        return Err(refuse("not executable; allow it with: chmod +x"));
    }
    Ok(found)
}

fn head(path: &Path) -> Result<Vec<u8>, LaunchError> {
    let mut head = Vec::new();
    let file = File::open(path);
    file.and_then(|f| f.take(HEAD as u64).read_to_end(&mut head)).map_err(|source| {
        LaunchError::Io { what: "cannot read", path: path.display().to_string(), source }
    })?;
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    struct Dir(tempfile::TempDir);

    impl Dir {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn file(&self, name: &str, text: &[u8], mode: u32) -> PathBuf {
            let path = self.0.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            path
        }

        /// A program named `name`: this test's executable under another name.
        fn program(&self, name: &str) -> PathBuf {
            let path = self.0.path().join(name);
            std::os::unix::fs::symlink(std::env::current_exe().unwrap(), &path).unwrap();
            path
        }

        fn resolve(&self, name: impl AsRef<OsStr>) -> Result<Program, LaunchError> {
            let args = ["one".into(), "two".into()];
            resolve_on(name.as_ref(), &args, Some(self.0.path().as_os_str()))
        }
    }

    fn strings(argv: &[OsString]) -> Vec<&str> {
        argv.iter().map(|a| a.to_str().unwrap()).collect()
    }

    #[test]
    fn a_name_on_the_path_keeps_its_argv_0() {
        let dir = Dir::new();
        let path = dir.program("prog");
        let program = dir.resolve("prog").unwrap();
        assert_eq!(program.path, path);
        assert_eq!(strings(&program.argv), ["prog", "one", "two"]);
        assert_eq!((program.linkage, program.script), (Linkage::Dynamic, None));
    }

    #[test]
    fn a_script_runs_its_interpreter_with_its_argument_and_the_scripts_path() {
        let dir = Dir::new();
        let prog = dir.program("prog");
        let line = format!("#!{} -a b\n", prog.display());
        let script = dir.file("script", line.as_bytes(), 0o755);
        let program = dir.resolve("script").unwrap();
        let (p, s) = (prog.to_str().unwrap(), script.to_str().unwrap());
        assert_eq!(program.path, prog);
        assert_eq!(strings(&program.argv), [p, "-a b", s, "one", "two"]);
        assert_eq!(program.script, Some(script));
    }

    #[test]
    fn scripts_of_scripts_and_env_are_followed() {
        let dir = Dir::new();
        let prog = dir.program("prog");
        let inner = dir.file("inner", b"#!/usr/bin/env prog\n", 0o755);
        let line = format!("#!{} x\n", inner.display());
        let outer = dir.file("outer", line.as_bytes(), 0o755);
        let program = dir.resolve("outer").unwrap();
        let (i, o) = (inner.to_str().unwrap(), outer.to_str().unwrap());
        assert_eq!(program.path, prog);
        assert_eq!(strings(&program.argv), ["prog", i, "x", o, "one", "two"]);
    }

    #[test]
    fn a_text_without_an_interpreter_line_is_run_by_the_shell() {
        let dir = Dir::new();
        let script = dir.file("text", b"echo hello\n", 0o755);
        let program = dir.resolve("text").unwrap();
        let s = script.to_str().unwrap();
        assert_eq!(strings(&program.argv), ["/bin/sh", s, "one", "two"]);
    }

    #[test]
    fn what_cannot_run_is_refused_with_a_reason() {
        let dir = Dir::new();
        let endless = dir.0.path().join("loop");
        dir.file("loop", format!("#!{}\n", endless.display()).as_bytes(), 0o755);
        dir.file("plain", b"#!/bin/sh\n", 0o644);
        dir.file("empty", b"", 0o755);
        dir.file("binary", b"\x00\x01\x02", 0o755);
        dir.file("orphan", b"#!/no/such/interpreter\n", 0o755);
        let arm = [&b"\x7fELF\x02\x01\x01"[..], &[0; 9], &[2, 0, 183, 0], &[0; 44]].concat();
        dir.file("arm", &arm, 0o755);
        let slash = |name: &str| dir.0.path().join(name).into_os_string();
        for (name, words) in [
            ("missing".into(), "program not found on PATH"),
            (slash("missing"), "program not found;"),
            (slash("plain"), "chmod +x"),
            (slash("empty"), "an empty file"),
            (slash("binary"), "scripts with #!"),
            (slash("orphan"), "/no/such/interpreter"),
            (slash("arm"), "AArch64"),
            (slash("loop"), "5 deep"),
            (slash(""), "directory"),
        ] {
            let error = dir.resolve(&name).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
