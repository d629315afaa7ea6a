//! Machines and accelerators with their parameters.

use accel::registry;
use documents::{Column, Table};
use params::{Described, Notes, Param};
use std::fmt::Write as _;
use uarch::Machine;
use uarch::machine::BUILT_IN;

use crate::error::Failure;

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

/// The built-in machines, or all parameters of one machine.
pub fn machines(name: Option<&str>) -> Result<String, Failure> {
    let mut text = String::new();
    match name {
        None => {
            for (name, _) in BUILT_IN {
                let _ = writeln!(text, "{name}");
            }
            text += "\nShow all parameters of one with: mallacc machines NAME.\n\
                     A machine file (TOML) sets what differs from the defaults: \
                     --machine FILE.toml\n";
        }
        Some(name) => {
            let file = Machine::file(name)?;
            let machine = Machine::parse(&file, name)?;
            let _ = writeln!(text, "# {}\n", machine.name);
            let values = machine.write();
            if machine == Machine::default() {
                text += &table(params::described(&machine.parameters(), &values));
            } else {
                let notes = Notes::of(&file);
                let _ = writeln!(text, "{}", notes.head);
                text += &table(notes.described(&machine.parameters(), &values));
            }
        }
    }
    Ok(text)
}

/// Everything that this version can count: the columns of its CSV.
pub fn counters() -> stats::Schema {
    sim::declared()
}

fn table(parameters: Vec<Described>) -> String {
    let mut table = Table::new(["key", "default", "unit", "what"].map(Column::left));
    for Described { key, value, unit, about } in parameters {
        table.row([format!("`{key}`"), value, unit.to_owned(), about]);
    }
    table.markdown()
}
