//! A copied source tree uses its own products.

use crate::common::{Bench, MALLACC, micro_is_built, number, root};
use std::path::Path;
use std::process::{Command, Output};

/// Puts a file into a place, by a link where the file system allows it.
fn place(from: impl AsRef<Path>, to: &Path) {
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    if std::fs::hard_link(&from, to).is_err() {
        std::fs::copy(from, to).unwrap();
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stderr.as_slice(), &output.stdout].concat()).into_owned()
}

#[test]
fn a_copied_tree_uses_its_own_workloads_microbenchmarks_and_allocator() {
    let bench = Bench::new();
    for folder in ["copy/crates", "copy/guest/build/micro", "copy/workloads"] {
        std::fs::create_dir_all(bench.path(folder)).unwrap();
    }
    let executable = bench.path("copy/target/debug/mallacc");
    place(MALLACC, &executable);
    let run = |args: &[&str]| text(&Command::new(&executable).args(args).output().unwrap());

    let file =
        "description = \"only here\"\npackages = []\nprogram = \"true\"\nargs = []\n[size]\n";
    bench.file("copy/workloads/mine.toml", file);
    let listed = run(&["workloads"]);
    assert!(listed.contains("mine") && listed.contains("only here"), "{listed}");
    assert!(!listed.contains("perl"), "the original's: {listed}");

    let refused = run(&["micro", "tp_small", "--no-store"]);
    let looked_for = bench.path("copy/guest/build/micro/tp_small").display().to_string();
    assert!(refused.contains(&looked_for), "{refused}");
    assert!(!refused.contains(root().to_str().unwrap()), "the original's: {refused}");

    if !micro_is_built() {
        return;
    }
    let feeder = launch::products::FEEDER.find().unwrap();
    place(feeder, &executable.with_file_name("libmallacc_feeder.so"));
    place(root().join("guest/build/micro/tp_small"), Path::new(&looked_for));
    let guest = bench.path("copy/guest/build/libmallacc_guest.so");
    let calls = || {
        let few = ["micro", "tp_small", "--no-store", "--iterations", "64", "--repeats", "2"];
        let document = run(&[few.as_slice(), &["--format", "json"]].concat());
        let document = serde_json::from_str(&document[document.find('{').unwrap()..]).unwrap();
        number(&document, "runs/0/configurations/0/malloc/calls")
    };
    place(launch::products::GUEST.find().unwrap(), &guest);
    assert!(calls() >= 64, "a call for each step");
    // The allocator without markers shows no calls, so it is the copy's allocator that runs.
    std::fs::remove_file(&guest).unwrap();
    place(launch::products::plain_guest().unwrap(), &guest);
    assert_eq!(calls(), 0);
}
