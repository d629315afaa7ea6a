//! What the build of QEMU needs, how to see whether it is there, and its Debian packages.

use launch::paths::search;
use std::process::{Command, Stdio};

/// Something that the build needs.
pub struct Need {
    /// In words.
    pub what: &'static str,
    /// Its Debian packages.
    pub packages: &'static [&'static str],
    /// Whether it is there.
    there: fn() -> bool,
}

/// Found by builds with less: flex, bison, git and make are for other targets and for QEMU's own
/// tests. Versions are those that QEMU's `configure` and `meson.build` ask for.
pub const NEEDS: [Need; 8] = [
    Need {
        what: "a C compiler (cc) with the C library's headers",
        packages: &["gcc", "libc6-dev"],
        there: compiler,
    },
    Need { what: "strip", packages: &["binutils"], there: || on_path("strip") },
    Need { what: "ninja", packages: &["ninja-build"], there: || on_path("ninja") },
    Need {
        what: "python3, version 3.9 or newer, with venv",
        packages: &["python3", "python3-venv"],
        there: python,
    },
    Need { what: "pkg-config", packages: &["pkg-config"], there: || on_path("pkg-config") },
    Need {
        what: "the headers of GLib, version 2.66 or newer",
        packages: &["libglib2.0-dev"],
        there: || headers("glib-2.0 >= 2.66"),
    },
    Need { what: "the headers of zlib", packages: &["zlib1g-dev"], there: || headers("zlib") },
    Need {
        what: "tar and xz",
        packages: &["tar", "xz-utils"],
        there: || on_path("tar") && on_path("xz"),
    },
];

/// What is not there.
pub fn missing() -> Vec<&'static Need> {
    NEEDS.iter().filter(|need| !(need.there)()).collect()
}

/// The packages of some needs, each once.
pub fn packages(needs: &[&Need]) -> Vec<&'static str> {
    let mut all: Vec<&str> = needs.iter().flat_map(|need| need.packages).copied().collect();
    let mut seen = Vec::new();
    all.retain(|name| {
        !seen.contains(name) && {
            seen.push(name);
            true
        }
    });
    all
}

/// Whether a program is on PATH.
pub fn on_path(name: &str) -> bool {
    search(name.as_ref(), std::env::var_os("PATH").as_deref()).is_some()
}

/// Whether a program succeeds with these arguments and this input.
fn succeeds(program: &str, args: &[&str], input: &str) -> bool {
    use std::io::Write as _;
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // A program that reads nothing closes its end.
        let _ = stdin.write_all(input.as_bytes());
    }
    child.wait().is_ok_and(|status| status.success())
}

fn compiler() -> bool {
    succeeds("cc", &["-fsyntax-only", "-x", "c", "-"], "#include <stdio.h>\nint x;\n")
}

fn python() -> bool {
    let code = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 9))";
    succeeds("python3", &["-c", code], "")
}

fn headers(package: &str) -> bool {
    succeeds("pkg-config", &["--exists", package], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_once_in_the_order_of_the_table() {
        let all: Vec<&Need> = NEEDS.iter().chain(&NEEDS).collect();
        let names = packages(&all);
        let expected: Vec<&str> = NEEDS.iter().flat_map(|need| need.packages).copied().collect();
        assert_eq!(names, expected);
        assert_eq!(packages(&[]), [""; 0]);
    }

    #[test]
    fn a_program_that_is_not_there_or_fails_does_not_succeed() {
        assert!(succeeds("sh", &["-c", "read a && test \"$a\" = b"], "b\n"));
        assert!(!succeeds("sh", &["-c", "exit 1"], ""));
        assert!(!succeeds("/no/such/program", &[], ""));
    }
}
