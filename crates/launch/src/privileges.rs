//! Privileges that a program's file grants. The emulator opens the file as the user who starts it,
//! so the program runs without them.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The attribute that holds a file's capabilities (capabilities(7)).
const CAPABILITIES: &std::ffi::CStr = c"security.capability";

/// Why a program has fewer privileges than natively, as a clause; `None` if it has the same.
pub fn lost(path: &Path) -> Option<String> {
    let file = path.metadata().ok()?;
    // SAFETY: geteuid(2) and getegid(2) always succeed and touch no memory.
    let user = unsafe { (libc::geteuid(), libc::getegid()) };
    let what = granted(file.mode(), (file.uid(), file.gid()), has_capabilities(path), user)?;
    Some(format!("{} {what}; the simulated program runs without these privileges", path.display()))
}

/// What a file grants to a user who does not have it.
fn granted(
    mode: u32,
    (owner, group): (u32, u32),
    capabilities: bool,
    (user, own_group): (u32, u32),
) -> Option<&'static str> {
    // Without the execute bit, set-group-id means something else (inode(7)).
    let runs_as_group = libc::S_ISGID | libc::S_IXGRP;
    if mode & libc::S_ISUID != 0 && owner != user {
        Some("is set-user-id")
    } else if mode & runs_as_group == runs_as_group && group != own_group {
        Some("is set-group-id")
    } else {
        (capabilities && user != 0).then_some("has file capabilities")
    }
}

fn has_capabilities(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: both are strings that end in zero; with a size of 0 nothing is written.
    let size =
        unsafe { libc::getxattr(path.as_ptr(), CAPABILITIES.as_ptr(), std::ptr::null_mut(), 0) };
    size > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_privileges_that_the_user_lacks_are_lost() {
        let (user, other) = ((1000, 1000), (0, 0));
        for (mode, owners, capabilities, expected) in [
            (0o755, other, false, None),
            (0o4755, other, false, Some("is set-user-id")),
            (0o4755, user, false, None),
            (0o2755, other, false, Some("is set-group-id")),
            (0o2755, user, false, None),
            (0o2745, other, false, None),
            (0o755, other, true, Some("has file capabilities")),
        ] {
            assert_eq!(granted(mode, owners, capabilities, user), expected, "{mode:o}");
        }
        assert_eq!(granted(0o4755, other, true, other), None, "root has them anyway");
    }

    #[test]
    fn an_ordinary_program_loses_nothing() {
        assert_eq!(lost(&std::env::current_exe().unwrap()), None);
        assert_eq!(lost(Path::new("/no/such/file")), None);
    }
}
