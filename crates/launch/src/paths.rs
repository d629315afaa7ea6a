//! The parts that a run needs, and how QEMU is found among the system's programs.

use crate::{LaunchError, products};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Overrides the search for QEMU.
pub const QEMU_VARIABLE: &str = "MALLACC_QEMU";
/// QEMU's name.
pub const QEMU: &str = "qemu-x86_64";

/// The first version whose code generator supports AVX2, which the modelled machine has (QEMU 7.2's
/// change log, "x86").
const QEMU_MIN: (u32, u32) = (7, 2);
/// The first version that no longer supports version 1 of the plugin interface.
const QEMU_END: (u32, u32) = (9, 0);

/// The parts that a run needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// `qemu-x86_64`.
    pub qemu: PathBuf,
    /// The plugin.
    pub feeder: PathBuf,
    /// The preloaded allocator; if not set, the program keeps its own.
    pub guest: Option<PathBuf>,
}

impl Paths {
    /// Locates all parts; checks QEMU's version.
    pub fn find() -> Result<Self, LaunchError> {
        let qemu = qemu()?;
        Ok(Self { qemu, feeder: products::FEEDER.find()?, guest: Some(products::GUEST.find()?) })
    }
}

/// Bytes; see [`round`].
const ROUND: usize = 128;

impl Paths {
    /// The parts with paths of a round length each, so that a program does the same wherever they
    /// are: programs copy their environment, which names them, and the dynamic linker copies paths.
    #[must_use]
    pub fn rounded(&self) -> Self {
        Self {
            qemu: round(&self.qemu),
            feeder: round(&self.feeder),
            guest: self.guest.as_deref().map(round),
        }
    }
}

/// A path with more slashes at its root, where many count as one, up to a multiple of [`ROUND`]
/// bytes. A relative path stays as it is.
fn round(path: &Path) -> PathBuf {
    let length = path.as_os_str().len();
    if !path.is_absolute() {
        return path.to_owned();
    }
    let mut longer = OsString::from("/".repeat(length.next_multiple_of(ROUND) - length));
    longer.push(path);
    longer.into()
}

/// QEMU; its version is checked.
pub fn qemu() -> Result<PathBuf, LaunchError> {
    let name = std::env::var_os(QEMU_VARIABLE).unwrap_or_else(|| QEMU.into());
    let found = search(&name, std::env::var_os("PATH").as_deref())
        .ok_or_else(|| LaunchError::NoQemu { name: name.to_string_lossy().into_owned() })?;
    let output = Command::new(&found).arg("--version").output().map_err(|source| {
        LaunchError::Io { what: "cannot run", path: found.display().to_string(), source }
    })?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    check_version(&found, &text)?;
    Ok(found)
}

fn check_version(path: &Path, text: &str) -> Result<(), LaunchError> {
    let refuse = |found: &str, rule: String| {
        let (path, found) = (path.display().to_string(), found.to_owned());
        Err(LaunchError::QemuVersion { path, found, rule })
    };
    let Some(version) = text.split("version ").nth(1).and_then(|t| t.split_whitespace().next())
    else {
        return refuse("of an unknown version", "it must print a version".into());
    };
    if !text.starts_with(QEMU) {
        return refuse(version, format!("this is not {QEMU}"));
    }
    let mut numbers = version.split('.').map(|n| n.parse::<u32>().unwrap_or(0));
    let have = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if have < QEMU_MIN {
        return refuse(version, format!("{}.{} is the first with AVX2", QEMU_MIN.0, QEMU_MIN.1));
    }
    if have >= QEMU_END {
        let rule = "the plugin uses version 1 of the plugin interface, which ended before";
        return refuse(version, format!("{rule} {}.{}", QEMU_END.0, QEMU_END.1));
    }
    Ok(())
}

/// Finds a program as a shell does: a name with a slash as it is, other names on `path`.
pub fn search(name: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    if name.as_encoded_bytes().contains(&b'/') {
        let file = PathBuf::from(name);
        return file.exists().then_some(file);
    }
    // The system's default if PATH is not set, as in glibc's execvp.
    let default = OsString::from("/bin:/usr/bin");
    let dirs: Vec<PathBuf> = std::env::split_paths(path.unwrap_or(&default)).collect();
    // An empty entry is the current directory.
    let files = dirs.iter().map(|d| if d.as_os_str().is_empty() { Path::new(".") } else { d });
    files.map(|d| d.join(name)).find(|f| is_executable(f))
}

/// Whether anyone may execute a file.
pub fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_outside_the_range_are_refused_with_the_package_named() {
        let check = |text: &str| check_version(Path::new("q"), text).map_err(|e| e.to_string());
        let line = |v: &str| format!("qemu-x86_64 version {v} (Debian 1:7.2+dfsg-7)\nCopyright");
        for good in ["7.2.22", "7.2", "8.1.0"] {
            assert_eq!(check(&line(good)), Ok(()));
        }
        for bad in ["5.2.0", "7.1.9", "9.0.0", "10.0.2"] {
            let error = check(&line(bad)).unwrap_err();
            assert!(error.contains(bad) && error.contains("qemu-user"), "{error}");
        }
        assert!(check("something else").is_err());
        assert!(check("qemu-aarch64 version 7.2.0").is_err());
    }

    #[test]
    fn rounded_paths_are_of_one_length_and_lead_to_the_same_file() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", "a-longer-name"] {
            let file = dir.path().join(name);
            std::fs::write(&file, name).unwrap();
            let longer = round(&file);
            assert_eq!(longer.as_os_str().len(), ROUND);
            assert_eq!(std::fs::read_to_string(longer).unwrap(), name);
        }
        assert_eq!(round(Path::new("a/b")), Path::new("a/b"));
    }

    #[test]
    fn names_are_searched_like_a_shell_does() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tool");
        std::fs::write(&file, "x").unwrap();
        let path = dir.path().as_os_str();
        assert_eq!(search("tool".as_ref(), Some(path)), None, "not executable");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(search("tool".as_ref(), Some(path)), Some(file.clone()));
        assert_eq!(search(file.as_os_str(), None), Some(file));
        assert_eq!(search("".as_ref(), Some(path)), None);
        assert_eq!(search("sh".as_ref(), None), Some("/bin/sh".into()), "the default path");
    }
}
