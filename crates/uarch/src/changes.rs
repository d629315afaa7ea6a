//! How a machine file differs from the machines that come with the program: a changed machine has a
//! name of its own, and reports list what was changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use params::{Param, toml};

use crate::machine::{BUILT_IN, Machine};

/// What turns one machine into another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The built-in machine that is nearest.
    pub base: String,
    /// `path = own value (base value)`, in the order of paths.
    pub changed: Vec<String>,
}

impl Machine {
    /// How this machine differs from the built-in one that is nearest; `None` if it is that one,
    /// or that one at user level.
    pub fn changes(&self) -> Option<Changes> {
        let bases: Vec<Machine> =
            built_in().flat_map(|base| [base.clone(), base.user_level()]).collect();
        if bases.contains(self) {
            return None;
        }
        let own = leaves(self);
        let distances = bases.into_iter().map(|base| (changed(&own, &leaves(&base)), base.name));
        let (changed, base) = distances.min_by_key(|(changed, _)| changed.len())?;
        (!changed.is_empty()).then_some(Changes { base, changed })
    }

    /// Gives a machine that was read from `file` a name of its own if it bears that of a built-in
    /// machine which it is not.
    pub(crate) fn named_apart(mut self, file: &str) -> Self {
        let taken = |name: &str| BUILT_IN.iter().any(|(known, _)| *known == name);
        if !taken(&self.name) || built_in().any(|base| base == self) {
            return self;
        }
        let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        self.name = match stem {
            Some(stem) if !taken(&stem) => stem,
            _ => format!("{}-changed", self.name),
        };
        self
    }
}

fn built_in() -> impl Iterator<Item = Machine> {
    BUILT_IN.iter().filter_map(|(name, text)| Machine::parse(text, name).ok())
}

/// All values of a machine by path.
type Leaves = BTreeMap<String, String>;

/// Every value in which two machines differ, names apart.
fn changed(own: &Leaves, base: &Leaves) -> Vec<String> {
    let paths: BTreeSet<&String> = own.keys().chain(base.keys()).collect();
    let shown = |value: Option<&String>| value.map_or("none", String::as_str).to_owned();
    paths
        .into_iter()
        .filter(|path| *path != "name" && own.get(*path) != base.get(*path))
        .map(|path| format!("{path} = {} ({})", shown(own.get(path)), shown(base.get(path))))
        .collect()
}

fn leaves(machine: &Machine) -> Leaves {
    let mut all = Leaves::new();
    collect(&mut all, "", &machine.write());
    all
}

fn collect(all: &mut Leaves, path: &str, value: &toml::Value) {
    let mut inside = |key: &str, value: &toml::Value| collect(all, &params::join(path, key), value);
    match value {
        toml::Value::Table(table) => table.iter().for_each(|(key, value)| inside(key, value)),
        toml::Value::Array(items) if items.iter().any(toml::Value::is_table) => {
            for (index, value) in items.iter().enumerate() {
                inside(&index.to_string(), value);
            }
        }
        value => {
            all.insert(path.to_owned(), value.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, file: &str) -> Machine {
        Machine::parse(text, file).unwrap().named_apart(file)
    }

    #[test]
    fn the_built_in_machines_have_no_changes() {
        for machine in built_in() {
            assert_eq!(machine.changes(), None);
            assert_eq!(machine.clone().user_level().changes(), None);
            assert_eq!(read(&machine.documented(), "copy.toml").name, machine.name);
        }
    }

    #[test]
    fn a_changed_machine_has_the_files_name_and_says_what_was_changed() {
        let text = "[core]\nrob = 200\n[memory.l1d]\nsize = 65536\n";
        let machine = read(text, "a/mine.toml");
        assert_eq!(machine.name, "mine");
        let changes = machine.changes().unwrap();
        assert_eq!(changes.base, "haswell");
        let base = Machine::default();
        let expected = [
            format!("core.rob = 200 ({})", base.core.rob),
            format!("memory.l1d.size = 65536 ({})", base.memory.l1d.size),
        ];
        assert_eq!(changes.changed, expected);
        assert_eq!(read(text, "a/haswell.toml").name, "haswell-changed");
        assert_eq!(read(&format!("name = \"big\"\n{text}"), "a/mine.toml").name, "big");
    }
}
