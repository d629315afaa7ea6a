//! Machines and accelerators with their parameters.

use accel::registry;
use documents::{Column, Table};
use params::{Described, Notes, Param as _};
use std::fmt::Write as _;
use uarch::Machine;
use uarch::machine::BUILT_IN;

use crate::error::Failure;
use crate::input::{self, MachineFile};

/// All accelerators.
pub fn accelerators() -> String {
    let mut text = String::new();
    for model in registry() {
        let _ = writeln!(text, "{}\n    {}", model.name(), model.describe());
        let defaults = model.defaults();
        for parameter in model.parameters() {
            let value = defaults.get(parameter.name).map(ToString::to_string).unwrap_or_default();
            let setting = format!("{}={value}", parameter.name);
            let unit = if parameter.unit.is_empty() { "" } else { " " };
            let about = parameter.text.trim();
            let _ = writeln!(text, "    {setting:24}{unit}{} {about}", parameter.unit);
        }
        text.push('\n');
    }
    text += "Use one as --config NAME[:KEY=VALUE,…]; values are numbers, on or off.\n";
    text
}

/// The machines that come with the program.
pub fn machines() -> String {
    let mut text = String::new();
    for (name, _) in BUILT_IN {
        let _ = writeln!(text, "{name}");
    }
    text += "\nShow all parameters of one with: mallacc machines NAME.\n\
             A machine file (TOML) sets what differs from the defaults: --machine FILE.toml. To \
             begin one:\nmallacc machines NAME --format toml -o FILE.toml\n";
    text
}

/// All parameters of a machine, each with its value, its default and where it comes from.
pub fn machine(name: &str) -> Result<String, Failure> {
    let MachineFile { machine, text } = input::machine_file(name)?;
    let (values, parameters) = (machine.write(), machine.parameters());
    let notes = Notes::of(&text);
    let (head, described) = match machine == Machine::default() {
        true => (String::new(), params::described(&parameters, &values)),
        false => (format!("{}\n", notes.head), notes.described(&parameters, &values)),
    };
    let defaults = params::described(&parameters, &machine.defaults()?.write());
    Ok(format!("# {}\n\n{head}{}", machine.name, table(described, &defaults)))
}

/// The same as a machine file that describes the same machine, with every key in it.
pub fn machine_as_toml(name: &str) -> Result<String, Failure> {
    let MachineFile { machine, text } = input::machine_file(name)?;
    if machine == Machine::default() {
        return Ok(machine.documented());
    }
    Ok(Notes::of(&text).documented(&machine.parameters(), &machine.write()))
}

/// Everything that this version can count: the columns of its CSV.
pub fn counters() -> stats::Schema {
    sim::declared()
}

fn table(parameters: Vec<Described>, defaults: &[Described]) -> String {
    let mut table = Table::new(["key", "value", "default", "unit", "what"].map(Column::left));
    for Described { key, value, unit, about } in parameters {
        let default = defaults.iter().find(|default| default.key == key);
        let default = default.map_or_else(|| "-".to_owned(), |default| default.value.clone());
        table.row([format!("`{key}`"), value, default, unit.to_owned(), about]);
    }
    table.markdown()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Machine {
        Machine::from_file(text, "copy.toml").unwrap()
    }

    #[test]
    fn a_machine_printed_as_toml_is_the_same_machine_with_every_key() {
        for (name, _) in BUILT_IN {
            let text = machine_as_toml(name).unwrap();
            assert_eq!(read(&text), Machine::find(name).unwrap());
            let keys = |text: &str| text.lines().filter(|line| line.contains(" = ")).count();
            assert!(keys(&text) >= keys(&Machine::default().documented()) / 2, "{name}");
        }
    }

    #[test]
    fn a_file_with_one_changed_key_prints_complete_and_shows_the_default_beside_it() {
        let folder = crate::scratch::Scratch::new().unwrap();
        let file = folder.path().join("mine.toml");
        std::fs::write(&file, "# Mine.\n\n[core]\n# Half of it.\nrob = 96\n").unwrap();
        let file = file.display().to_string();
        let text = machine_as_toml(&file).unwrap();
        let (machine, haswell) = (Machine::find(&file).unwrap(), Machine::default());
        assert_eq!(read(&text), machine);
        assert!(text.starts_with("# Mine.\n\n"), "{text}");
        assert!(text.contains("# Half of it. [fused uops]\nrob = 96\n"), "{text}");
        let count = |text: &str| text.lines().filter(|line| !line.starts_with('#')).count();
        let more = count(&text) - count(&haswell.documented());
        assert_eq!(more, 1, "every key, and an empty line below the head");
        let table = super::machine(&file).unwrap();
        let row = format!("| `core.rob` | 96 | {} |", haswell.core.rob);
        assert!(table.contains(&row), "{table}");
        let level = haswell.memory.level[0].size;
        assert!(table.contains(&format!("| `memory.level[0].size` | {level} | {level} |")));
    }
}
