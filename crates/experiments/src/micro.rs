//! The programs of the microbenchmarks, and how many steps they execute.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::Failure;
use crate::target::Target;

/// The microbenchmarks, in the order of the paper.
pub const NAMES: [&str; 6] =
    ["antagonist", "gauss", "gauss_free", "sized_deletes", "tp", "tp_small"];
/// Overrides where their programs are.
const DIRECTORY_VARIABLE: &str = "MALLACC_MICRO";

/// The parameters of a microbenchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Iterations per repeat.
    pub iterations: u64,
    /// Repeats; the first is a warm-up.
    pub repeats: u64,
    /// Seed of its inputs.
    pub seed: u64,
}

impl Steps {
    /// As many as in the paper, or few for a quick run.
    pub fn usual(quick: bool) -> Self {
        let (iterations, repeats) = if quick { (2048, 4) } else { (32768, 13) };
        Self { iterations, repeats, seed: 1 }
    }

    /// As options of the program.
    pub fn options(self) -> Vec<OsString> {
        let values =
            [("--iterations", self.iterations), ("--repeats", self.repeats), ("--seed", self.seed)];
        values.iter().flat_map(|(name, value)| [(*name).into(), value.to_string().into()]).collect()
    }

    /// Steps of all repeats except the warm-up.
    pub fn measured(self) -> u64 {
        self.iterations * (self.repeats - 1)
    }
}

/// The microbenchmarks with these names; all if none is named.
pub fn chosen(names: &[String]) -> Result<Vec<&'static str>, Failure> {
    if names.is_empty() {
        return Ok(NAMES.to_vec());
    }
    let known = |name: &String| {
        let found = NAMES.into_iter().find(|known| known == name);
        found.ok_or_else(|| params::unknown_name("microbenchmark", name, name, &NAMES).into())
    };
    names.iter().map(known).collect()
}

/// Where the program of a microbenchmark is.
pub fn program(name: &str) -> Result<PathBuf, Failure> {
    let directories = match std::env::var_os(DIRECTORY_VARIABLE) {
        Some(directory) => vec![PathBuf::from(directory)],
        None => {
            let executable = std::env::current_exe().ok();
            let bin = executable.as_deref().and_then(Path::parent);
            let installed = bin.map(|bin| bin.join("../lib/mallacc/micro"));
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
            let source = source.map(|root| root.join("guest/build/micro"));
            installed.into_iter().chain(source).collect()
        }
    };
    let mut candidates = directories.iter().map(|directory| directory.join(name));
    candidates.find(|path| path.is_file()).ok_or_else(|| {
        let places: Vec<_> = directories.iter().map(|d| d.display().to_string()).collect();
        Failure::failed(format!(
            "microbenchmark {name}: its program is not built (looked in {}); build it with `make`, \
             or set {DIRECTORY_VARIABLE}",
            places.join(", ")
        ))
    })
}

/// A microbenchmark, deterministic and with its stdout discarded.
pub fn target(name: &str, steps: Steps) -> Result<Target, Failure> {
    let mut target = Target::new(program(name)?.into(), steps.options());
    (target.silent, target.deterministic, target.seed) = (true, true, steps.seed);
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_benchmark_names_the_nearest() {
        let error = chosen(&["tp_smal".into()]).unwrap_err();
        assert!(error.text.contains("\"tp_small\""), "{}", error.text);
    }
}
