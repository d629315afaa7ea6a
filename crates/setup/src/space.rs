//! Free space of a file system, and what a build takes of it.

use crate::error::SetupError;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Bytes in a megabyte.
pub const MB: u64 = 1_000_000;
/// The space that a build takes at most: measured 303 MB (archive 40, tree 142, objects 86, Python
/// packages 35), more with the other archive.
pub const NEEDED: u64 = 400 * MB;

/// The free space in bytes for this user where a path is, or will be; `None` if the system does not
/// say.
pub fn free(path: &Path) -> Option<u64> {
    let there = path.ancestors().find(|path| path.exists())?;
    let name = CString::new(there.as_os_str().as_bytes()).ok()?;
    // SAFETY: zeroes are a valid `statvfs`; the call fills it. The name ends in a zero.
    let (done, found) = unsafe {
        let mut found: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(name.as_ptr(), &raw mut found), found)
    };
    (done == 0).then(|| found.f_bavail.saturating_mul(found.f_frsize))
}

/// The error for a disk without room for a build.
pub fn full(folder: &Path) -> SetupError {
    let free = free(folder).unwrap_or(0) / MB;
    SetupError::Space { folder: folder.display().to_string(), free, needed: NEEDED / MB }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_yet_has_the_space_of_the_one_above() {
        let folder = tempfile::tempdir().unwrap();
        assert!(free(folder.path()).unwrap() > 0);
        assert!(free(&folder.path().join("a/b/c")).unwrap() > 0);
        // What the kernel itself provides has no room.
        assert_eq!(free(Path::new("/proc/version")), Some(0));
    }
}
