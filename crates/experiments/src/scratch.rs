//! Folders that exist for the duration of one run.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Failure;

/// Prefix of their names.
pub const PREFIX: &str = "mallacc-run-";

/// A folder for one run, removed when the run is over.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Creates one.
    pub fn new() -> Result<Self, Failure> {
        // Names have a fixed length, because the program's arguments lie on its stack.
        let name = |n: u32| format!("{PREFIX}{:010}-{n}", std::process::id());
        for path in (0..10).map(|n| std::env::temp_dir().join(name(n))) {
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let text = format!("{}: {error}; set TMPDIR to a folder", path.display());
                    return Err(Failure::failed(text));
                }
            }
        }
        let folder = std::env::temp_dir();
        Err(Failure::failed(format!(
            "{}: has too many old {PREFIX}… folders; remove them",
            folder.display()
        )))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_folders_are_apart_and_go_away() {
        let (one, other) = (Scratch::new().unwrap(), Scratch::new().unwrap());
        let paths = [one.path().to_owned(), other.path().to_owned()];
        assert!(paths[0] != paths[1] && paths.iter().all(|path| path.is_dir()));
        drop((one, other));
        assert!(paths.iter().all(|path| !path.exists()));
    }
}
