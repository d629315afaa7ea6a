//! Every command of the documentation runs, and prints what the documentation shows.

use std::process::Command;

use crate::common::{MALLACC, have, micro_is_built, root};

/// The version of Perl that the README's figures are of.
const PERL: &str = "5.036";

#[test]
fn every_command_of_the_documentation_runs_and_prints_what_is_shown() {
    if !micro_is_built() || !have("python3") || !have("perl") {
        return;
    }
    let version = Command::new("perl").args(["-e", "print $]"]).output().unwrap();
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let mut tour = Command::new("python3");
    tour.arg(root().join("tools/tour.py")).args(["--mallacc", MALLACC]);
    if !version.starts_with(PERL) {
        tour.arg("--statuses");
    }
    let output = tour.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
