//! From the options to configurations: machines times accelerators, with unique names.

use accel::{Choice, Role};
use params::ConfigError;
use sim::ConfigSpec;
use uarch::Machine;

use crate::error::Failure;
use crate::input;
use crate::plan::Selection;
use crate::sweep::Entries;

/// The configurations that the options ask for.
pub fn from_args(args: &Selection) -> Result<Vec<ConfigSpec>, Failure> {
    let mut choices = Vec::new();
    if args.configs.is_empty() {
        choices.extend(named(accel::registry::usual()));
    }
    for text in &args.configs {
        choices.push(choice(text)?);
    }
    // What the user names first is what he asks about. Without a word from him it is the most
    // capable one of the usual ones, which come in the order of their sizes.
    let subject = match args.configs.is_empty() {
        true => choices.iter().rposition(is_candidate),
        false => choices.iter().position(is_candidate),
    };
    if args.ablations {
        choices.extend(accel::registry::ablations());
    }
    on_machines(&args.machines, choices, subject)
}

/// The baseline, every accelerator that has a size, with each of these numbers of entries, and the
/// limit.
pub fn sweep(entries: &Entries, args: &Selection) -> Result<Vec<ConfigSpec>, Failure> {
    let choices: Vec<_> = named(accel::registry::sweep(&entries.0)).collect();
    let subject = choices.iter().rposition(is_candidate);
    on_machines(&args.machines, choices, subject)
}

fn is_candidate((_, choice): &(String, Choice)) -> bool {
    choice.role() == Role::Candidate
}

fn named(choices: Vec<Choice>) -> impl Iterator<Item = (String, Choice)> {
    choices.into_iter().map(|choice| (default_name(&choice), choice))
}

/// Each accelerator on each machine; the run is about number `subject` of them.
fn on_machines(
    names: &[String],
    choices: Vec<(String, Choice)>,
    subject: Option<usize>,
) -> Result<Vec<ConfigSpec>, Failure> {
    let mut machines: Vec<Machine> = Vec::new();
    for name in names {
        let machine = input::machine(name)?;
        if let Some(other) = machines.iter().find(|other| other.name == machine.name) {
            return Err(Failure::usage(format!(
                "--machine {name}: a machine named {:?} was given already; give each machine file \
                 a name of its own (name = \"…\")",
                other.name
            )));
        }
        machines.push(machine);
    }
    let mut specs: Vec<ConfigSpec> = Vec::new();
    for machine in &machines {
        for (position, (name, accelerator)) in choices.iter().enumerate() {
            let name = match machines.len() {
                1 => name.clone(),
                _ => format!("{name}@{}", machine.name),
            };
            if specs.iter().any(|spec| spec.name == name) {
                return Err(Failure::usage(format!(
                    "configuration {name:?} was given twice; name one of them: \
                     --config NAME={}",
                    accelerator.text()
                )));
            }
            let (machine, accelerator) = (machine.clone(), accelerator.clone());
            let subject = subject == Some(position);
            specs.push(ConfigSpec { name, machine, accelerator, subject });
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

/// `baseline`, `mallacc-16`, `limit`; settings other than the size follow a colon.
fn default_name(choice: &Choice) -> String {
    let model = choice.model();
    let mut name = match (model.role(), choice.size()) {
        (Role::Baseline, _) => "baseline".to_owned(),
        (_, Some(size)) => format!("{}-{size}", model.name()),
        (_, None) => model.name().to_owned(),
    };
    for (index, setting) in choice.others().enumerate() {
        name.push(if index == 0 { ':' } else { ',' });
        name.push_str(setting);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(configs: &[&str], ablations: bool) -> Selection {
        Selection {
            configs: configs.iter().map(|&c| c.to_owned()).collect(),
            ablations,
            machines: vec!["haswell".into()],
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

    fn subjects(configs: &[&str], ablations: bool) -> Vec<String> {
        let specs = from_args(&args(configs, ablations)).unwrap();
        specs.into_iter().filter(|spec| spec.subject).map(|spec| spec.name).collect()
    }

    #[test]
    fn a_run_is_about_the_first_accelerator_that_was_named() {
        assert_eq!(subjects(&["none", "mallacc:entries=64", "mallacc"], true), ["mallacc-64"]);
        assert_eq!(subjects(&["mallacc:entries=4"], true), ["mallacc-4"], "it is no ablation");
        assert_eq!(subjects(&[], true), ["mallacc-32"], "the largest of the usual ones");
        assert_eq!(subjects(&["none", "limit", "limit:all=on"], true), [""; 0], "no accelerator");
    }

    #[test]
    fn ablations_follow_what_was_asked_for() {
        let parts = ["m32/size_class", "m32/list", "m32/sampling"];
        let limits = ["limit/size_class", "limit/list", "limit/sampling"];
        let expected = [&["baseline"][..], &parts, &limits, &["m32/no_index"]].concat();
        assert_eq!(names(&["none"], true), expected);
    }

    #[test]
    fn the_same_name_twice_is_refused_with_the_remedy() {
        let error = from_args(&args(&["none", "none"], false)).unwrap_err();
        assert!(error.text.contains("--config NAME=none"), "{}", error.text);
    }
}
