//! Installs Debian packages, which needs root.

use crate::error::SetupError;
use crate::needs::on_path;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

/// The command that installs packages, for messages.
pub fn command(packages: &[&str]) -> String {
    format!("{}apt-get install {}", if is_root() { "" } else { "sudo " }, packages.join(" "))
}

/// Whether there is a command that installs packages.
pub fn possible() -> bool {
    on_path("apt-get")
}

/// Installs packages. What apt prints goes to stderr; sudo may ask there for a password.
pub fn install(packages: &[&str]) -> Result<(), SetupError> {
    let failed = |reason: String| SetupError::Install { packages: packages.join(" "), reason };
    if !possible() {
        return Err(failed("there is no apt-get".into()));
    }
    if !is_root() && !on_path("sudo") {
        return Err(failed("this takes root, and there is no sudo".into()));
    }
    for args in [&["update", "-q"][..], &["install", "-y", "-q", "--no-install-recommends"]] {
        let mut apt = if is_root() {
            Command::new("apt-get")
        } else {
            let mut sudo = Command::new("sudo");
            sudo.arg("apt-get");
            sudo
        };
        apt.args(args);
        if args[0] == "install" {
            apt.args(packages);
        }
        if let Ok(stderr) = std::io::stderr().as_fd().try_clone_to_owned() {
            apt.stdout(Stdio::from(stderr));
        }
        let status = apt.status().map_err(|error| failed(error.to_string()))?;
        // Lists that cannot be renewed may still do.
        if !status.success() && args[0] == "install" {
            return Err(failed(format!("apt-get ended with {status}")));
        }
    }
    Ok(())
}

fn is_root() -> bool {
    // SAFETY: geteuid(2) always succeeds and touches no memory.
    unsafe { libc::geteuid() == 0 }
}
