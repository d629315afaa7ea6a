//! Reasons why a program cannot be started.

use stream::StreamError;

/// Each message gives what, value, rule and remedy.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// No such program.
    #[error("{name}: program not found{place}; give a name on PATH or a path with a slash")]
    NotFound {
        /// As given.
        name: String,
        /// Where it was searched for.
        place: String,
    },
    /// The file exists but cannot be run.
    #[error("{path}: {reason}")]
    NotRunnable {
        /// The file.
        path: String,
        /// Why, with the remedy.
        reason: String,
    },
    /// Neither an x86-64 program nor a script.
    #[error(
        "{path}: {found}; mallacc runs Linux x86-64 programs (ELF, 64-bit) and scripts with #!"
    )]
    NotX86 {
        /// The file.
        path: String,
        /// What it is instead.
        found: String,
    },
    /// QEMU was not found.
    #[error(
        "{name}: not found; mallacc runs programs under QEMU's user mode: `mallacc setup` builds it, \
         MALLACC_QEMU names another"
    )]
    NoQemu {
        /// The name that was searched for.
        name: String,
    },
    /// It cannot be executed.
    #[error(
        "{path}: cannot be executed as QEMU ({source}); `mallacc setup` builds one, MALLACC_QEMU names \
         another"
    )]
    BadQemu {
        /// The file.
        path: String,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// QEMU was built without plugins.
    #[error(
        "{path}: QEMU {version} was built without plugins, which mallacc needs; `mallacc setup` \
         builds one with them, MALLACC_QEMU names another"
    )]
    NoPlugins {
        /// The QEMU.
        path: String,
        /// Its version.
        version: String,
    },
    /// QEMU's version is not supported.
    #[error(
        "{path}: \"{found}\" will not do: {rule}; `mallacc setup` builds one that does, MALLACC_QEMU \
         names another"
    )]
    QemuVersion {
        /// The QEMU.
        path: String,
        /// What it says about its version.
        found: String,
        /// What is needed.
        rule: String,
    },
    /// A part of Mallacc is missing.
    #[error("{file}: not found (looked for {places}); {remedy}, or set {variable} to its path")]
    MissingPart {
        /// File name.
        file: String,
        /// The paths that it was searched for under.
        places: String,
        /// How to get it.
        remedy: &'static str,
        /// The environment variable that overrides the search.
        variable: &'static str,
    },
    /// A library that cannot serve as allocator.
    #[error(
        "--allocator {path}: {found}; give a shared library that exports malloc, free and their relatives, or none"
    )]
    BadAllocator {
        /// The file.
        path: String,
        /// What it is instead.
        found: String,
    },
    /// A path that QEMU's options cannot carry.
    #[error(
        "{path}: QEMU's options cannot carry a {what} in a path; move or link the file elsewhere"
    )]
    BadPath {
        /// The path.
        path: String,
        /// The character.
        what: &'static str,
    },
    /// The operating system refused.
    #[error("{what} {path}: {source}")]
    Io {
        /// What was being done.
        what: &'static str,
        /// To which file.
        path: String,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// The live stream could not be set up.
    #[error(transparent)]
    Stream(#[from] StreamError),
}
