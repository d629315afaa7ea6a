//! From the options to configurations: machines times accelerators, with unique names.

use accel::Choice;
use params::ConfigError;
use sim::ConfigSpec;
use uarch::{Core, Machine, WithDevice};

use crate::args::SimulationArgs;
use crate::error::Failure;
use crate::sweep::Entries;

/// What is simulated when nothing else is asked for.
const DEFAULT: [&str; 4] = ["none", "mallacc:entries=16", "mallacc:entries=32", "limit"];
/// Parts of Mallacc and of the limit study, of which `--ablations` leaves one at a time.
const PARTS: [&str; 3] = ["size_class", "list", "sampling"];
/// Entries of Mallacc in ablations: room enough that its parts and not its size are compared.
const ABLATION_ENTRIES: u64 = 32;

/// The configurations that the options ask for.
pub fn from_args(args: &SimulationArgs) -> Result<Vec<ConfigSpec>, Failure> {
    let mut choices = Vec::new();
    if args.configs.is_empty() {
        for text in DEFAULT {
            choices.push(choice(text)?);
        }
    }
    for text in &args.configs {
        choices.push(choice(text)?);
    }
    if args.ablations {
        choices.extend(ablations()?);
    }
    on_machines(&args.machines, choices)
}

/// The baseline, Mallacc with so many entries each, and the limit.
pub fn sweep(entries: &Entries, args: &SimulationArgs) -> Result<Vec<ConfigSpec>, Failure> {
    let mut choices = vec![choice("none")?];
    for size in &entries.0 {
        choices.push(choice(&format!("mallacc:entries={size}"))?);
    }
    choices.push(choice("limit")?);
    on_machines(&args.machines, choices)
}

/// Each accelerator on each machine.
fn on_machines(
    names: &[String],
    choices: Vec<(String, Choice)>,
) -> Result<Vec<ConfigSpec>, Failure> {
    let mut machines: Vec<Machine> = Vec::new();
    for name in names {
        let machine = Machine::find(name)?;
        if let Some(other) = machines.iter().find(|other| other.name == machine.name) {
            return Err(Failure::usage(format!(
                "--machine {name}: a machine named {:?} is there already; give each machine file \
                 a name of its own (name = \"…\")",
                other.name
            )));
        }
        // Rules between parameters show when the machine is built.
        let idle = Choice::parse("none")?.build()?;
        Core::new(&machine, idle, WithDevice)
            .map_err(|error| Failure::usage(format!("machine {name}: {}", error.0)))?;
        machines.push(machine);
    }
    let mut specs: Vec<ConfigSpec> = Vec::new();
    for machine in &machines {
        for (name, accelerator) in &choices {
            let name = match machines.len() {
                1 => name.clone(),
                _ => format!("{name}@{}", machine.name),
            };
            if specs.iter().any(|spec| spec.name == name) {
                return Err(Failure::usage(format!(
                    "configuration {name:?} is there twice; name one of them: \
                     --config NAME={}",
                    accelerator.text
                )));
            }
            let (machine, accelerator) = (machine.clone(), accelerator.clone());
            specs.push(ConfigSpec { name, machine, accelerator });
        }
    }
    Ok(specs)
}

/// Reads `[NAME=]ACCELERATOR[:KEY=VALUE,…]`.
fn choice(text: &str) -> Result<(String, Choice), ConfigError> {
    let before_settings = text.find(':').unwrap_or(text.len());
    match text.find('=').filter(|&at| at < before_settings) {
        Some(0) => Err(ConfigError(format!("configuration {text:?}: its name is empty"))),
        Some(at) => Ok((text[..at].to_owned(), Choice::parse(&text[at + 1..])?)),
        None => {
            let choice = Choice::parse(text)?;
            Ok((default_name(&choice), choice))
        }
    }
}

/// `baseline`, `mallacc-16`, `limit`; settings other than the number of entries follow a colon.
fn default_name(choice: &Choice) -> String {
    let entries = choice.parameters().into_iter().find(|(name, _)| name == "entries");
    let mut name = match (choice.model.as_str(), entries) {
        ("none", _) => "baseline".to_owned(),
        (model, Some((_, entries))) => format!("{model}-{entries}"),
        (model, None) => model.to_owned(),
    };
    let settings = choice.text.split_once(':').map_or("", |(_, settings)| settings);
    let others = settings.split(',').filter(|s| !s.is_empty() && !s.starts_with("entries="));
    for (index, setting) in others.enumerate() {
        name.push(if index == 0 { ':' } else { ',' });
        name.push_str(setting);
    }
    name
}

/// Mallacc and the limit with only one part on, and Mallacc without the index.
fn ablations() -> Result<Vec<(String, Choice)>, ConfigError> {
    let mut all = Vec::new();
    let mallacc = format!("mallacc:entries={ABLATION_ENTRIES}");
    for (text, short) in [(mallacc.as_str(), "m32"), ("limit:", "limit")] {
        for part in PARTS {
            let others = PARTS.iter().filter(|other| **other != part);
            let off: Vec<String> = others.map(|other| format!("{other}=off")).collect();
            let separator = if text.ends_with(':') { "" } else { "," };
            let choice = Choice::parse(&format!("{text}{separator}{}", off.join(",")))?;
            all.push((format!("{short}/{part}"), choice));
        }
    }
    let no_index = Choice::parse(&format!("{mallacc},index=off"))?;
    all.push(("m32/no_index".into(), no_index));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(configs: &[&str], ablations: bool) -> SimulationArgs {
        SimulationArgs {
            configs: configs.iter().map(|&c| c.to_owned()).collect(),
            ablations,
            machines: vec!["haswell".into()],
            skip: 0,
            max: None,
            sample: None,
            no_sample: false,
            roi: false,
            budget: 1,
        }
    }

    fn names(configs: &[&str], ablations: bool) -> Vec<String> {
        from_args(&args(configs, ablations)).unwrap().into_iter().map(|s| s.name).collect()
    }

    #[test]
    fn the_default_is_the_baseline_two_sizes_and_the_limit() {
        assert_eq!(names(&[], false), ["baseline", "mallacc-16", "mallacc-32", "limit"]);
    }

    #[test]
    fn a_configuration_is_named_by_the_user_or_by_its_settings() {
        let given = ["none", "big=mallacc:entries=64", "mallacc:entries=8,index=off", "limit:"];
        assert_eq!(names(&given, false), ["baseline", "big", "mallacc-8:index=off", "limit"]);
    }

    #[test]
    fn ablations_leave_one_part_on_at_a_time() {
        let specs = from_args(&args(&["none"], true)).unwrap();
        for spec in specs.iter().filter(|spec| !spec.name.ends_with("no_index")).skip(1) {
            let on: Vec<String> = spec
                .accelerator
                .parameters()
                .into_iter()
                .filter(|(name, value)| PARTS.contains(&name.as_str()) && value == "true")
                .map(|(name, _)| name)
                .collect();
            assert_eq!(spec.name.split('/').nth(1), Some(on.join("+").as_str()), "{}", spec.name);
        }
        assert_eq!(specs.len(), 1 + 2 * PARTS.len() + 1);
    }

    #[test]
    fn the_same_name_twice_is_refused_with_the_remedy() {
        let error = from_args(&args(&["none", "none"], false)).unwrap_err();
        assert!(error.text.contains("--config NAME=none"), "{}", error.text);
    }
}
