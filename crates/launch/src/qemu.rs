//! Finds QEMU, and knows how its versions differ where programs are started.
//!
//! The order of the search:
//! 1. `MALLACC_QEMU`, and then nothing else;
//! 2. what `mallacc setup` has built, the newest version first: it has plugins, and fewer bugs than
//!    most distributions' (docs/qemu.md has the table);
//! 3. `qemu-x86_64` on `PATH`.

use crate::LaunchError;
use crate::paths::{is_executable, search};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Overrides the search.
pub const VARIABLE: &str = "MALLACC_QEMU";
/// QEMU's name.
pub const NAME: &str = "qemu-x86_64";
/// Begins the names of the folders of our own builds in the [`cache`]; the version follows.
pub const BUILD: &str = "qemu-";

/// A version's first two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32);

/// The first version whose code generator supports AVX2, which the modelled machine has (QEMU 7.2's
/// change log, "x86").
pub const OLDEST: Version = Version(7, 2);
/// The first one that is known to serve no interface that the plugin uses: version 7, which QEMU's
/// development branch has, gives all callbacks another argument.
pub const END: Version = Version(12, 0);
/// From this version on the guest gets the environment in the order that QEMU has it; before, in
/// the reverse one.
const KEEPS_ORDER: Version = Version(8, 1);
/// From this version on there is a vDSO.
const HAS_VDSO: Version = Version(8, 2);
/// From this version on, the caches that the processor reports are others by default, and the C
/// library, which asks for them, does something else.
const HAS_NEW_CACHES: Version = Version(10, 1);
/// Size of an entry in the auxiliary vector.
const ENTRY: usize = 16;

impl Version {
    /// Whether the guest gets the environment in the order that QEMU has it.
    pub fn keeps_order(self) -> bool {
        self >= KEEPS_ORDER
    }

    /// How many bytes the initial stack is longer than that of the oldest version: an entry that
    /// announces the vDSO. The feeder takes it away, and expects the padding to be as much shorter.
    pub fn stack_surplus(self) -> usize {
        if self >= HAS_VDSO { ENTRY } else { 0 }
    }

    /// Properties that make the processor of this version the one that the oldest version has.
    pub fn cpu_properties(self) -> &'static str {
        if self >= HAS_NEW_CACHES {
            ",x-consistent-cache=off,x-vendor-cpuid-only-v2=off"
        } else {
            ""
        }
    }

    /// The version in what `qemu-x86_64 --version` prints.
    fn read(text: &str) -> Option<Self> {
        let number =
            text.strip_prefix(NAME)?.split("version ").nth(1)?.split_whitespace().next()?;
        let mut parts = number.split('.').map(|part| part.parse::<u32>().ok());
        Some(Self(parts.next()??, parts.next()??))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}.{}", self.0, self.1)
    }
}

/// A QEMU that can run programs with the plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qemu {
    /// Its program.
    pub path: PathBuf,
    /// Its version.
    pub version: Version,
}

impl fmt::Display for Qemu {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "QEMU {} at {}", self.version, self.path.display())
    }
}

impl Qemu {
    /// The QEMU to use.
    pub fn find() -> Result<Self, LaunchError> {
        if let Some(name) = std::env::var_os(VARIABLE) {
            return Self::on_path(name);
        }
        match own_builds().into_iter().find_map(|path| Self::inspect(&path).ok()) {
            Some(own) => Ok(own),
            None => Self::on_path(NAME.into()),
        }
    }

    /// The one of that name on `PATH`.
    fn on_path(name: OsString) -> Result<Self, LaunchError> {
        let found = search(&name, std::env::var_os("PATH").as_deref())
            .ok_or_else(|| LaunchError::NoQemu { name: name.to_string_lossy().into_owned() })?;
        Self::inspect(&found)
    }

    /// Checks the version of the QEMU at `path` and that it takes plugins.
    pub fn inspect(path: &Path) -> Result<Self, LaunchError> {
        let version = version_in(path, &output(path, "--version")?)?;
        if !output(path, "--help")?.lines().any(|line| line.starts_with("-plugin ")) {
            let (path, version) = (path.display().to_string(), version.to_string());
            return Err(LaunchError::NoPlugins { path, version });
        }
        Ok(Self { path: path.to_owned(), version })
    }
}

/// What QEMU prints with an option.
fn output(path: &Path, option: &str) -> Result<String, LaunchError> {
    let run = Command::new(path).arg(option).output();
    let output =
        run.map_err(|source| LaunchError::BadQemu { path: path.display().to_string(), source })?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn version_in(path: &Path, text: &str) -> Result<Version, LaunchError> {
    let first = text.lines().next().unwrap_or_default();
    let refuse = |found: &str, rule: String| LaunchError::QemuVersion {
        path: path.display().to_string(),
        found: found.to_owned(),
        rule,
    };
    let Some(version) = Version::read(text) else {
        let found = if first.is_empty() { "nothing" } else { first };
        return Err(refuse(found, format!("it must begin with \"{NAME} version\"")));
    };
    if version < OLDEST {
        return Err(refuse(first, format!("{OLDEST} is the first with AVX2")));
    }
    if version >= END {
        return Err(refuse(first, format!("versions before {END} serve the plugin's interface")));
    }
    Ok(version)
}

/// The folder for what is built for this user: `$XDG_CACHE_HOME/mallacc` or `~/.cache/mallacc`.
/// `None` without a home.
pub fn cache() -> Option<PathBuf> {
    let absolute = |name: &str| {
        std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute())
    };
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(base.join("mallacc"))
}

/// The program of our own build of a version in a cache.
pub fn build_in(cache: &Path, version: &str) -> PathBuf {
    cache.join(format!("{BUILD}{version}")).join("bin").join(NAME)
}

/// Our own builds, the newest version first.
pub fn own_builds() -> Vec<PathBuf> {
    let folders = cache().and_then(|cache| std::fs::read_dir(cache).ok());
    let mut found: Vec<(Vec<u32>, PathBuf)> = folders
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let folder = entry.ok()?;
            let name = folder.file_name();
            let version = name.to_str()?.strip_prefix(BUILD)?;
            let numbers = version.split('.').map(|part| part.parse().ok());
            let program = folder.path().join("bin").join(NAME);
            is_executable(&program).then_some((numbers.collect::<Option<_>>()?, program))
        })
        .collect();
    found.sort_by(|one, other| other.cmp(one));
    found.into_iter().map(|(_, program)| program).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_outside_the_range_are_refused_with_the_rule() {
        let check = |text: &str| version_in(Path::new("q"), text).map_err(|e| e.to_string());
        let line = |v: &str| format!("qemu-x86_64 version {v} (Debian 1:7.2+dfsg-7)\nCopyright");
        for (good, version) in
            [("7.2.22", Version(7, 2)), ("7.2", Version(7, 2)), ("10.0.13", Version(10, 0))]
        {
            assert_eq!(check(&line(good)), Ok(version));
        }
        for bad in ["5.2.0", "7.1.9", "12.0.0"] {
            let error = check(&line(bad)).unwrap_err();
            assert!(error.contains(bad) && error.contains("mallacc setup"), "{error}");
        }
        assert!(check("something else").unwrap_err().contains("something else"));
        assert!(check("").unwrap_err().contains("nothing"));
        assert!(check("qemu-aarch64 version 7.2.0").is_err());
    }

    #[test]
    fn what_changed_between_versions() {
        let facts = |version: Version| (version.keeps_order(), version.stack_surplus());
        assert_eq!(facts(Version(7, 2)), (false, 0));
        assert_eq!(facts(Version(8, 1)), (true, 0));
        assert_eq!(facts(Version(8, 2)), (true, 16));
        assert_eq!(facts(Version(10, 0)), (true, 16));
    }
}
