//! Reasons why a setup fails.

use launch::LaunchError;
use std::io;
use std::path::{Path, PathBuf};

/// Each message gives what, value, rule and remedy.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The variable names something that will not do, so that no build would help.
    #[error(
        "{variable}: {reason}; let it name a QEMU with plugins, or unset {variable}: while it is set, \
         runs use nothing else"
    )]
    Variable {
        /// The variable.
        variable: &'static str,
        /// Why.
        reason: String,
    },
    /// There is no QEMU that will do.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// What the build needs is not there.
    #[error("the build of QEMU needs {what}; {remedy}")]
    Needs {
        /// Everything that is missing.
        what: String,
        /// How to get it.
        remedy: String,
    },
    /// The packages could not be installed.
    #[error("cannot install {packages}: {reason}; install them yourself and start again")]
    Install {
        /// The packages.
        packages: String,
        /// Why.
        reason: String,
    },
    /// No place had the archive.
    #[error(
        "QEMU's source could not be fetched ({tried}); check the network and proxy (https_proxy), or \
         fetch {files} elsewhere and give --archive FILE"
    )]
    Fetch {
        /// Each place and what happened there.
        tried: String,
        /// The archives' names.
        files: String,
    },
    /// The build's Python packages could not be fetched.
    #[error(
        "meson and pycotap, which QEMU's build needs, could not be fetched with pip{said}; check the \
         network, the proxy and pip's configuration, or build from {with_them}, which brings them \
         (--archive); everything that pip printed is in {log}"
    )]
    Packages {
        /// What pip said, after a colon.
        said: String,
        /// The archive that brings them.
        with_them: &'static str,
        /// The log.
        log: String,
    },
    /// A file that is not the expected one.
    #[error(
        "{file}: its SHA-256 is {found}, expected {expected}: it is damaged or another file; fetch \
         it again"
    )]
    Sum {
        /// The file or the place that it came from.
        file: String,
        /// What it must be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// A file that is none of the pinned archives.
    #[error(
        "--archive {file}: its SHA-256 {found} is none of the known ones ({known}); if you trust it, \
         add --sha256 {found}"
    )]
    Unknown {
        /// The file.
        file: String,
        /// Its sum.
        found: String,
        /// The archives that are known.
        known: String,
    },
    /// The disk is full, or would be.
    #[error(
        "{folder}: {free} MB are free, the build needs {needed} MB; free some space, or set \
         XDG_CACHE_HOME to a folder on another disk"
    )]
    Space {
        /// Where.
        folder: String,
        /// Free space in MB.
        free: u64,
        /// Needed space in MB.
        needed: u64,
    },
    /// A program of the build failed.
    #[error("{what} failed ({how}){said}; everything that it printed is in {log}")]
    Step {
        /// What it was to do.
        what: &'static str,
        /// Its exit status.
        how: String,
        /// What it said last, after a colon.
        said: String,
        /// The log.
        log: String,
    },
    /// A program could not be started.
    #[error("{what}: cannot run {program}: {source}")]
    Start {
        /// What it was to do.
        what: &'static str,
        /// The program.
        program: String,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The unpacked tree is not QEMU's source.
    #[error("{file}: not a source archive of QEMU ({reason}); give one of its releases")]
    NotSource {
        /// The archive.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// What was built will not do.
    #[error("the QEMU that was built cannot be used: {reason}; {log} has the build's output")]
    Unusable {
        /// Why.
        reason: String,
        /// The log.
        log: String,
    },
    /// There is no folder for the result.
    #[error("there is no home for the result: set HOME or XDG_CACHE_HOME to an absolute path")]
    NoHome,
    /// The system refused.
    #[error("{what} {path}: {source}{remedy}")]
    Io {
        /// What was being done.
        what: &'static str,
        /// To which file.
        path: String,
        /// The system's reason.
        #[source]
        source: io::Error,
        /// What to do, after a semicolon.
        remedy: &'static str,
    },
    /// An end was requested.
    #[error("stopped; nothing was installed")]
    Stopped,
}

/// What is wrong and, after the first semicolon, what to do: messages are of this form.
pub fn parts(message: &str) -> (&str, &str) {
    message.split_once("; ").unwrap_or((message, ""))
}

/// For `map_err`: the system refused to do this to a file of the cache.
pub fn io_error(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SetupError {
    let path: PathBuf = path.to_owned();
    move |source| {
        let remedy = match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "; free some space, or set XDG_CACHE_HOME to a folder on another disk"
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "; set XDG_CACHE_HOME to a folder that you may write to"
            }
            _ => "",
        };
        SetupError::Io { what, path: path.display().to_string(), source, remedy }
    }
}
