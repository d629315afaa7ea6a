//! The kinds of core, and how a machine file selects one: `core.kind`.

use std::fmt;

use accel::Accelerator;
use params::{ConfigError, Param, ParamDoc, toml, unknown_name};

use crate::core::Core;
use crate::machine::Machine;

/// A kind of core, as the registry describes it.
pub trait CoreKind: Sync {
    /// Unique name.
    fn name(&self) -> &'static str;
    /// One clause.
    fn describe(&self) -> &'static str;
    /// The keys that it takes in a machine file's `[core]` section besides `kind`: any of
    /// [`crate::CoreParams`], and its own.
    fn parameters(&self) -> &'static [ParamDoc];
    /// Defaults of its own keys, those that are not in [`crate::CoreParams`].
    fn own_defaults(&self) -> toml::Table {
        toml::Table::new()
    }
    /// Checks its parameters; the error names the first broken rule.
    fn check(&self, machine: &Machine) -> Result<(), ConfigError>;
    /// A core with cold caches and predictors.
    fn build(
        &self,
        machine: &Machine,
        accelerator: Box<dyn Accelerator>,
    ) -> Result<Box<dyn Core>, ConfigError>;
}

/// Every kind that a machine file can name; the first is the default.
pub fn registry() -> &'static [&'static dyn CoreKind] {
    &[&crate::ooo::OutOfOrderKind]
}

/// The kind of core of a machine: one of the registry's, or one defined outside it.
#[derive(Clone, Copy)]
pub struct Kind(pub &'static dyn CoreKind);

impl std::ops::Deref for Kind {
    type Target = dyn CoreKind;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl Default for Kind {
    fn default() -> Self {
        Self(registry()[0])
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Names are unique.
impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Param for Kind {
    fn read(value: &toml::Value, path: &str) -> Result<Self, ConfigError> {
        let name = String::read(value, path)?;
        let found = registry().iter().find(|kind| kind.name() == name);
        found.map(|kind| Self(*kind)).ok_or_else(|| {
            let valid: Vec<&str> = registry().iter().map(|kind| kind.name()).collect();
            unknown_name("kind of core", &format!("{path} = {name}"), &name, &valid)
        })
    }

    fn write(&self) -> toml::Value {
        toml::Value::String(self.name().to_owned())
    }
}

/// An error for the first of these values (path, value, minimum, maximum) that is out of range.
pub fn check_ranges(values: &[(&str, u32, u32, u32)]) -> Result<(), ConfigError> {
    for &(path, value, low, high) in values {
        if !(low..=high).contains(&value) {
            let rule = format!("must be {low} to {high}");
            let near = value.clamp(low, high);
            return Err(ConfigError::rule(path, value, &rule, &format!("try {near}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_described() {
        for (at, kind) in registry().iter().enumerate() {
            assert!(!kind.describe().is_empty());
            assert!(registry()[..at].iter().all(|other| other.name() != kind.name()));
        }
    }
}
