//! Modules of the command, of its experiments and of the setup depend on each other in one
//! direction only: there are no import cycles, and they leave printing and exiting to the command.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A module, as the names on its path; empty for the crate's root.
type Module = Vec<String>;
/// The modules that each module uses.
type Uses = BTreeMap<Module, BTreeSet<Module>>;

/// Every module of a crate with its text.
fn modules(source: &Path) -> BTreeMap<Module, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![(source.to_owned(), Module::new())];
    while let Some((folder, path)) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let file = entry.path();
            let stem = file.file_stem().unwrap().to_str().unwrap().to_owned();
            let mut module = path.clone();
            if file.is_dir() {
                module.push(stem);
                folders.push((file, module));
            } else if file.extension().is_some_and(|e| e == "rs") {
                if !["main", "lib", "mod"].contains(&stem.as_str()) {
                    module.push(stem);
                }
                found.insert(module, fs::read_to_string(file).unwrap());
            }
        }
    }
    found
}

/// The paths of a tree like `a::{b, c::{self, d}}`, and the text that follows it.
fn tree(text: &str) -> (Vec<Module>, &str) {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        let mut all = Vec::new();
        loop {
            rest = rest.trim_start().trim_start_matches(',').trim_start();
            if let Some(after) = rest.strip_prefix('}') {
                return (all, after);
            }
            let (paths, after) = tree(rest);
            assert!(after.len() < rest.len(), "no path: {rest:.60}");
            all.extend(paths);
            rest = after;
        }
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    match rest.strip_prefix("::") {
        Some(inner) => {
            let (paths, after) = tree(inner);
            let under = |path: Module| [vec![name.to_owned()], path].concat();
            (paths.into_iter().map(under).collect(), after)
        }
        None => (vec![vec![name.to_owned()]], rest.strip_prefix('*').unwrap_or(rest)),
    }
}

/// The modules that a module uses, except in its tests.
fn uses(module: &Module, text: &str, known: &BTreeMap<Module, String>) -> BTreeSet<Module> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code: String = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .map(|line| format!("{line}\n"))
        .collect();
    let mut found = BTreeSet::new();
    let mut add = |path: Module| {
        // The longest prefix of the path that is a module; the rest are items in it.
        let target = (0..=path.len()).rev().map(|n| path[..n].to_vec());
        let target = target.into_iter().find(|path| known.contains_key(path)).unwrap_or_default();
        if target != *module {
            found.insert(target);
        }
    };
    for (at, _) in code.match_indices("crate::") {
        if !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
            tree(&code[at + "crate::".len()..]).0.into_iter().for_each(&mut add);
        }
    }
    for (at, _) in code.match_indices("super::") {
        let parent = &module[..module.len().saturating_sub(1)];
        for path in tree(&code[at + "super::".len()..]).0 {
            add([parent.to_vec(), path].concat());
        }
    }
    // Imports of a module's own children.
    for line in code.lines().map(|line| line.trim_start().trim_start_matches("pub ")) {
        let Some(path) = line.strip_prefix("use ") else { continue };
        let first = path.split(|c: char| !c.is_alphanumeric() && c != '_').next();
        let child = [module.clone(), vec![first.unwrap_or_default().to_owned()]].concat();
        if known.contains_key(&child) {
            add(child);
        }
    }
    found
}

/// Modules that form a cycle, if there is one.
fn circle(uses: &Uses) -> Vec<Module> {
    let mut left = uses.clone();
    // A module that uses no remaining module is not part of a cycle.
    loop {
        let names: BTreeSet<Module> = left.keys().cloned().collect();
        let before = left.len();
        left.retain(|_, used| used.iter().any(|module| names.contains(module)));
        if left.len() == before {
            return left.into_keys().collect();
        }
    }
}

fn all_uses(known: &BTreeMap<Module, String>) -> Uses {
    known.iter().map(|(module, text)| (module.clone(), uses(module, text, known))).collect()
}

#[test]
fn modules_of_the_command_the_experiments_and_the_setup_have_no_circle() {
    for name in ["cli", "experiments", "setup"] {
        let known = modules(&root().join("crates").join(name).join("src"));
        let uses = all_uses(&known);
        let edges: usize = uses.values().map(BTreeSet::len).sum();
        assert!(known.len() > 15 && edges > known.len(), "{name}: {edges} of {}", known.len());
        let circle: Vec<String> = circle(&uses).iter().map(|module| module.join("::")).collect();
        assert!(circle.is_empty(), "{name}: in circles, or using one: {}", circle.join(", "));
    }
}

#[test]
fn a_circle_is_found_through_lists_parents_and_children() {
    let known = |files: &[(&str, &str)]| -> BTreeMap<Module, String> {
        let module = |path: &str| -> Module {
            path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect()
        };
        files.iter().map(|(path, text)| (module(path), (*text).to_owned())).collect()
    };
    let names = |files| -> Vec<String> {
        circle(&all_uses(&known(files))).iter().map(|module| module.join("::")).collect()
    };
    let straight =
        [("", "mod a; pub use a::A;"), ("a", "use crate::{b::B, c};"), ("b", ""), ("c", "")];
    assert_eq!(names(&straight), [""; 0]);
    let list =
        [("a", "use crate::{\n    c,\n    b::{self, B},\n};"), ("b", "crate::a::f()"), ("c", "")];
    assert_eq!(names(&list), ["a", "b"]);
    let family = [("a", "mod b;\npub use b::B;"), ("a::b", "use super::A;")];
    assert_eq!(names(&family), ["a", "a::b"]);
    let comment = [("a", "// use crate::b;"), ("b", "use crate::a;")];
    assert_eq!(names(&comment), [""; 0]);
}

/// Expressions that exit the process or write to the command's output.
const BANNED: [&str; 5] = ["print!(", "println!(", "process::exit", "stdout()", "dbg!("];

#[test]
fn experiments_and_the_setup_neither_print_nor_exit() {
    let source = |name: &str| modules(&root().join("crates").join(name).join("src"));
    for (module, text) in source("experiments").into_iter().chain(source("setup")) {
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for banned in BANNED {
                assert!(!line.contains(banned), "{}: {}", module.join("::"), line.trim());
            }
        }
    }
}
