//! The parts that a run needs, and how programs are found on `PATH`.

use crate::{LaunchError, Qemu, products};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The parts that a run needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// QEMU's user mode.
    pub qemu: Qemu,
    /// The plugin.
    pub feeder: PathBuf,
    /// The preloaded allocator; if not set, the program keeps its own.
    pub guest: Option<PathBuf>,
}

impl Paths {
    /// Locates all parts.
    pub fn find() -> Result<Self, LaunchError> {
        Ok(Self {
            qemu: Qemu::find()?,
            feeder: products::FEEDER.find()?,
            guest: Some(products::GUEST.find()?),
        })
    }
}

/// A path with more slashes at its root, where many count as one, so that together with `beside`
/// bytes it has a multiple of `round`. A relative path stays as it is.
///
/// Programs copy their environment to their heaps, and the dynamic linker copies libraries' paths:
/// with the same lengths everywhere, they do the same wherever our parts are.
pub fn lengthened(path: &Path, beside: usize, round: usize) -> PathBuf {
    let used = path.as_os_str().len() + beside;
    if !path.is_absolute() {
        return path.to_owned();
    }
    let mut longer = OsString::from("/".repeat(used.next_multiple_of(round) - used));
    longer.push(path);
    longer.into()
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
    fn longer_paths_are_of_one_length_and_lead_to_the_same_file() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", "a-longer-name"] {
            let file = dir.path().join(name);
            std::fs::write(&file, name).unwrap();
            let longer = lengthened(&file, 28, 128);
            assert_eq!(longer.as_os_str().len(), 100);
            assert_eq!(std::fs::read_to_string(longer).unwrap(), name);
        }
        assert_eq!(lengthened(Path::new("a/b"), 0, 128), Path::new("a/b"));
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
