//! The programs of the microbenchmarks, and how many steps they execute.

use std::ffi::OsString;
use std::path::PathBuf;

use launch::products::MICRO;

use crate::error::Failure;
use crate::target::Target;

/// The microbenchmarks, in the order of the paper.
pub const NAMES: [&str; 6] =
    ["antagonist", "gauss", "gauss_free", "sized_deletes", "tp", "tp_small"];

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
    Ok(MICRO.find_inside(name)?)
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
