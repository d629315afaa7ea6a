//! Counters by path and name.

use serde::{Deserialize, Serialize};

/// Counted values: for each group, its values by name, in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Values(Vec<(String, Vec<(String, u64)>)>);

impl Values {
    /// Appends a group that has no values yet.
    pub fn group(&mut self, path: &str) {
        self.0.push((path.to_owned(), Vec::new()));
    }

    /// Appends a value to the last group of that path, or to a new one.
    pub fn push(&mut self, path: &str, name: &str, value: u64) {
        if !self.0.iter().any(|(known, _)| known == path) {
            self.group(path);
        }
        if let Some((_, values)) = self.0.iter_mut().rfind(|(known, _)| known == path) {
            values.push((name.to_owned(), value));
        }
    }

    /// The value of a name in a group.
    pub fn get(&self, path: &str, name: &str) -> Option<u64> {
        let (_, values) = self.0.iter().find(|(known, _)| known == path)?;
        values.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// Sets a value; appends it if it is missing.
    pub fn set(&mut self, path: &str, name: &str, value: u64) {
        let group = self.0.iter_mut().find(|(known, _)| known == path);
        match group.and_then(|(_, values)| values.iter_mut().find(|(known, _)| known == name)) {
            Some((_, known)) => *known = value,
            None => self.push(path, name, value),
        }
    }

    /// Whether this group exists.
    pub fn has(&self, path: &str) -> bool {
        self.0.iter().any(|(known, _)| known == path)
    }

    /// The groups with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[(String, u64)])> {
        self.0.iter().map(|(path, values)| (path.as_str(), values.as_slice()))
    }

    /// The values of identical parts (`core[0]`, `core[1]`, …) added up, under the paths that a
    /// single part would have.
    #[must_use]
    pub fn summed(&self) -> Self {
        let mut sums = Self::default();
        for (path, values) in self.iter() {
            let path = alike(path);
            for (name, value) in values {
                let sum = sums.get(&path, name).unwrap_or(0).saturating_add(*value);
                sums.set(&path, name, sum);
            }
        }
        sums
    }
}

/// A path without its numbered parts.
pub(crate) fn alike(path: &str) -> String {
    let numbered = |part: &&str| part.ends_with(']') && part.contains('[');
    let parts: Vec<&str> = path.split('.').filter(|part| !numbered(part)).collect();
    parts.join(".")
}
