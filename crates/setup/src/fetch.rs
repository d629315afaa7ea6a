//! Fetches an address into a file, with Python's own library: QEMU's build needs Python anyway, and
//! it comes with proxies, certificates and TLS that the distribution keeps up to date.

use crate::child::{self, Failed, Log};
use crate::error::SetupError;
use crate::observer::{Observer, Progress, Unit};
use crate::sources;
use std::path::Path;
use std::process::Command;

/// The program that fetches.
const SCRIPT: &str = include_str!("fetch.py");

/// Fetches an address. The inner error is the reason why there is no such file there.
pub fn fetch(
    address: &str,
    file: &Path,
    log: &mut Log,
    observer: &dyn Observer,
) -> Result<Result<(), String>, SetupError> {
    let mut command = Command::new("python3");
    command.args(["-I", "-c", SCRIPT, address]).arg(file);
    // Debian's mirrors are asked as apt asks them.
    command.envs(sources::apt_proxy());
    let each = |line: &str| {
        if let Some(progress) = progress(line) {
            observer.progress(progress);
        }
    };
    match child::run(command, "fetching QEMU's source", log, observer, each) {
        Ok(()) => Ok(Ok(())),
        Err(Failed::Status(_, said)) if said.contains("Errno 28") => Err(crate::space::full(file)),
        Err(Failed::Status(_, said)) => Ok(Err(said.trim_start_matches("error: ").to_owned())),
        Err(Failed::Other(error)) => Err(error),
    }
}

/// A line `BYTES TOTAL`.
fn progress(line: &str) -> Option<Progress> {
    let (done, total) = line.split_once(' ')?;
    let total: u64 = total.parse().ok()?;
    let total = (total > 0).then_some(total);
    Some(Progress { done: done.parse().ok()?, total, unit: Unit::Bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_two_numbers_are_progress() {
        let read = |line| progress(line).map(|progress| (progress.done, progress.total));
        assert_eq!(read("5 10"), Some((5, Some(10))));
        assert_eq!(read("5 0"), Some((5, None)));
        for other in ["error: HTTP 404 Not Found", "5", "5 x", ""] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
