//! Workloads that come with mallacc: `workloads/*.toml`.

use launch::products::{self, WORKLOADS};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::Failure;
use crate::scratch::Scratch;
use crate::target::Target;

/// Overrides the folder in which they keep what they build.
const WORK_VARIABLE: &str = "MALLACC_WORK";

/// Sizes of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Some millions of instructions, for tests.
    Small,
    /// For measurements.
    Full,
}

/// A workload file. `{dir}` is the folder of the workloads, `{work}` one for what is built, `{tmp}`
/// one that is created for each run, `{n}` the size's number.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Workload {
    /// One clause.
    description: String,
    /// Debian packages that it needs.
    packages: Vec<String>,
    /// The program.
    #[serde(default)]
    program: String,
    /// Instead, a command that prints the program's path.
    #[serde(default)]
    program_from: Vec<String>,
    /// Its arguments.
    args: Vec<String>,
    /// A command that runs natively beside it and ends it: the client of a server.
    #[serde(default)]
    client: Vec<String>,
    /// A file for its stdin.
    stdin: Option<String>,
    /// The value of `{n}` for each size.
    size: BTreeMap<String, String>,
    /// What runs natively beforehand, in order.
    #[serde(default)]
    prepare: Vec<Step>,
}

/// A preparation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// The step is skipped if this exists.
    makes: String,
    /// The command.
    command: Vec<String>,
    /// Where its stdout goes, if not to stderr.
    stdout: Option<String>,
}

/// The folder in which a workload keeps what it builds.
fn work(name: &str) -> PathBuf {
    if let Some(path) = std::env::var_os(WORK_VARIABLE) {
        return PathBuf::from(path).join(name);
    }
    if let Some(root) = products::checkout() {
        return root.join("build/workloads").join(name);
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    cache.or_else(home).unwrap_or_else(std::env::temp_dir).join("mallacc").join(name)
}

/// All workloads by name.
fn all(directory: &Path) -> Result<BTreeMap<String, PathBuf>, Failure> {
    let unreadable = |error| Failure::failed(format!("{}: {error}", directory.display()));
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|e| e == "toml")
            && let Some(name) = path.file_stem().and_then(|name| name.to_str())
        {
            found.insert(name.to_owned(), path.clone());
        }
    }
    Ok(found)
}

fn read(path: &Path) -> Result<Workload, Failure> {
    let bad = |error: &dyn std::fmt::Display| {
        let error = error.to_string();
        let text = error.trim().replace('\n', " ");
        Failure::usage(format!("workload file {}: {text}", path.display()))
    };
    let text = fs::read_to_string(path).map_err(|error| bad(&error))?;
    toml::from_str(&text).map_err(|error| bad(&error))
}

/// A workload as shown in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// One clause.
    pub description: String,
    /// Debian packages that it needs.
    pub packages: Vec<String>,
}

/// All workloads by name.
pub fn list() -> Result<Vec<Listed>, Failure> {
    let listed = |(name, path): (String, PathBuf)| {
        let Workload { description, packages, .. } = read(&path)?;
        Ok(Listed { name, description, packages })
    };
    all(&WORKLOADS.find()?)?.into_iter().map(listed).collect()
}

/// The program of a workload, after its preparations.
pub fn target(name: &str, size: Size) -> Result<Target, Failure> {
    let directory = WORKLOADS.find()?;
    let known = all(&directory)?;
    let Some(path) = known.get(name) else {
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        return Err(params::unknown_name("workload", name, name, &names).into());
    };
    let workload = read(path)?;
    let work = work(name);
    let size = if size == Size::Small { "small" } else { "full" };
    let number = workload.size.get(size).ok_or_else(|| {
        Failure::usage(format!("workload {name}: its file gives no number for size {size}"))
    })?;
    let fresh = workload.args.iter().chain(&workload.client).any(|arg| arg.contains("{tmp}"));
    let scratch = fresh.then(Scratch::new).transpose()?;
    let fill = |text: &str| {
        let text = text.replace("{dir}", &directory.display().to_string());
        let text = text.replace("{work}", &work.display().to_string()).replace("{n}", number);
        match &scratch {
            Some(scratch) => text.replace("{tmp}", &scratch.path().display().to_string()),
            None => text,
        }
    };
    let folder = |error| Failure::failed(format!("{}: {error}", work.display()));
    fs::create_dir_all(&work).map_err(folder)?;
    for step in &workload.prepare {
        prepare(name, &workload, step, &fill)?;
    }
    let program = match workload.program_from.split_first() {
        Some((first, rest)) => output_of(name, &workload, &fill(first), rest)?,
        None => fill(&workload.program),
    };
    let inputs = workload.args.iter().chain(&workload.stdin);
    for input in inputs.filter(|text| text.starts_with("{dir}")).map(|text| fill(text)) {
        if !Path::new(&input).exists() {
            return Err(Failure::failed(format!(
                "workload {name}: its input {input} is missing; it comes with mallacc: get the \
                 folder `workloads` again, or set {} to a complete one",
                WORKLOADS.variable
            )));
        }
    }
    let args: Vec<_> = workload.args.iter().map(|arg| OsString::from(fill(arg))).collect();
    let program = OsString::from(program);
    launch::resolve(&program, &args).map_err(|e| missing(name, &workload, &e.to_string()))?;
    let mut target = Target::new(program, args);
    target.client = workload.client.iter().map(|word| fill(word)).collect();
    if let Some(stdin) = &workload.stdin {
        let path = fill(stdin);
        let file = File::open(&path);
        target.stdin = Some(file.map_err(|e| Failure::failed(format!("{path}: {e}")))?);
    }
    target.scratch = scratch;
    Ok(target)
}

/// The remedy for a workload that cannot run.
fn missing(name: &str, workload: &Workload, what: &str) -> Failure {
    Failure::failed(format!(
        "workload {name}: {what}; it needs: apt install {}",
        workload.packages.join(" ")
    ))
}

fn prepare(
    name: &str,
    workload: &Workload,
    step: &Step,
    fill: &dyn Fn(&str) -> String,
) -> Result<(), Failure> {
    let makes = PathBuf::from(fill(&step.makes));
    let Some((program, args)) = step.command.split_first().filter(|_| !makes.exists()) else {
        return Ok(());
    };
    let fail = |what: &str| missing(name, workload, what);
    let mut command = Command::new(fill(program));
    command.args(args.iter().map(|arg| fill(arg))).stdin(Stdio::null());
    command.stdout(match &step.stdout {
        Some(path) => File::create(fill(path)).map_err(|e| fail(&e.to_string()))?.into(),
        None => Stdio::from(std::io::stderr()),
    });
    let status = command.status().map_err(|error| fail(&format!("{program}: {error}")))?;
    if !status.success() {
        // A partial result must not be taken for a complete one next time.
        let _ = fs::remove_file(&makes);
        return Err(fail(&format!("{program} failed ({status})")));
    }
    Ok(())
}

fn output_of(
    name: &str,
    workload: &Workload,
    program: &str,
    args: &[String],
) -> Result<String, Failure> {
    let output = Command::new(program).args(args).output();
    let output = output.map_err(|e| missing(name, workload, &format!("{program}: {e}")))?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() && !text.is_empty() {
        return Ok(text);
    }
    Err(missing(name, workload, &format!("{program} did not print the path of a program")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_file_is_valid_and_has_both_sizes() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
        let known = all(&directory).unwrap();
        assert!(known.len() >= 6, "{known:?}");
        for (name, path) in known {
            let workload = read(&path).unwrap_or_else(|failure| panic!("{}", failure.text));
            assert!(!workload.packages.is_empty() && !workload.description.is_empty(), "{name}");
            let sizes: Vec<&str> = workload.size.keys().map(String::as_str).collect();
            assert_eq!(sizes, ["full", "small"], "{name}");
            let one = workload.program.is_empty() != workload.program_from.is_empty();
            assert!(one, "{name}: program or program_from, one of them");
        }
    }
}
