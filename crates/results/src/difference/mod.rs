//! What differs between two runs: their programs, machines and options, and each figure of the
//! configurations that both have.

mod document;
mod figure;

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Configuration, Exit, Run};
use crate::text::number;

pub use figure::{FigureDifference, Verdict};

/// Two values of one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What it is, for example `core.rob` or `seed`.
    pub name: String,
    /// In the first run.
    pub a: String,
    /// In the second.
    pub b: String,
}

/// A configuration that both runs have, by its name.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The name.
    pub name: String,
    /// What differs in its machine and in its accelerator's parameters.
    pub changed: Vec<Change>,
    /// Each figure that one of the two has.
    pub figures: Vec<FigureDifference>,
}

/// The differences between two runs.
pub struct Difference<'a> {
    /// The first run.
    pub a: &'a Run,
    /// The second run.
    pub b: &'a Run,
    /// What differs in the program and the options.
    pub changed: Vec<Change>,
    /// What makes figures hard to compare, a sentence each.
    pub notes: Vec<String>,
    /// Configurations that both have.
    pub pairs: Vec<Pair>,
    /// Names of those that only the first has.
    pub only_a: Vec<&'a str>,
    /// Names of those that only the second has.
    pub only_b: Vec<&'a str>,
}

impl<'a> Difference<'a> {
    /// Compares two runs.
    pub fn of(a: &'a Run, b: &'a Run) -> Self {
        let of = |run: &'a Run, name: &str| {
            run.configurations.iter().find(|configuration| configuration.name == name)
        };
        let only = |one: &'a Run, other: &'a Run| -> Vec<&'a str> {
            let names = one.configurations.iter().map(|item| item.name.as_str());
            names.filter(|name| of(other, name).is_none()).collect()
        };
        let pair = |item: &'a Configuration| {
            let other = of(b, &item.name)?;
            Some(Pair {
                name: item.name.clone(),
                changed: changes(&settings(item), &settings(other)),
                figures: figure::figures((a, item), (b, other)),
            })
        };
        Self {
            changed: changes(&facts(a), &facts(b)),
            notes: notes(a, b),
            pairs: a.configurations.iter().filter_map(pair).collect(),
            only_a: only(a, b),
            only_b: only(b, a),
            a,
            b,
        }
    }
}

/// Names with their values, in order.
type Named = Vec<(String, String)>;

/// What both have with other values, and what only one has.
fn changes(a: &Named, b: &Named) -> Vec<Change> {
    let by_name = |all: &Named| -> BTreeMap<String, String> { all.iter().cloned().collect() };
    let (of_a, of_b) = (by_name(a), by_name(b));
    let mut seen = BTreeSet::new();
    let names = a.iter().chain(b).map(|(name, _)| name).filter(|name| seen.insert(*name));
    let shown = |value: Option<&String>| value.map_or(number::UNDEFINED, String::as_str).to_owned();
    names
        .filter(|name| of_a.get(*name) != of_b.get(*name))
        .map(|name| Change {
            name: name.clone(),
            a: shown(of_a.get(name)),
            b: shown(of_b.get(name)),
        })
        .collect()
}

/// What a run executed and how much of it was measured.
fn facts(run: &Run) -> Named {
    let yes = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
    let sampling = run.sampling.as_ref().map_or("no".to_owned(), |sampling| {
        let [period, warm, measure] =
            [sampling.period, sampling.warm, sampling.measure].map(number::count);
        format!("{measure} of every {period}, after {warm}")
    });
    let exit = match run.exit {
        Some(Exit::Code(code)) => format!("code {code}"),
        Some(Exit::Signal(signal)) => format!("signal {signal}"),
        None => "unknown".to_owned(),
    };
    let all = [
        ("program", run.program.clone()),
        ("arguments", run.args.join(" ")),
        ("version of mallacc", run.tool_version.clone()),
        ("revision of mallacc", run.git_revision.clone().unwrap_or_default()),
        ("deterministic", yes(run.deterministic)),
        ("seed", run.seed.to_string()),
        ("instructions", number::count(run.instructions)),
        ("threads", number::count(run.threads)),
        ("exit", exit),
        ("complete", yes(run.complete)),
        ("sampling", sampling),
        ("skip", number::count(run.skip)),
        ("max", run.max.map_or("no bound".to_owned(), number::count)),
        ("regions of interest only", yes(run.roi)),
    ];
    all.map(|(name, value)| (name.to_owned(), value)).into()
}

/// The parameters of a configuration's machine and accelerator.
fn settings(item: &Configuration) -> Named {
    let mut all = vec![
        ("machine".to_owned(), item.machine.clone()),
        ("accelerator".to_owned(), item.accelerator.clone()),
    ];
    let parameters = item.parameters.iter();
    all.extend(
        parameters.map(|(name, value)| (format!("{}.{name}", item.accelerator), value.to_string())),
    );
    if let Ok(machine) = item.resolved_machine.parse::<toml::Table>() {
        // The name is the machine's above.
        let sections = machine.iter().filter(|(key, _)| *key != "name");
        sections.for_each(|(key, value)| leaves(key, value, &mut all));
    }
    all
}

fn leaves(path: &str, value: &toml::Value, all: &mut Named) {
    match value {
        toml::Value::Table(table) => {
            table.iter().for_each(|(key, value)| leaves(&format!("{path}.{key}"), value, all));
        }
        toml::Value::Array(items) if items.iter().any(toml::Value::is_table) => {
            for (at, item) in items.iter().enumerate() {
                leaves(&format!("{path}[{at}]"), item, all);
            }
        }
        value => all.push((path.to_owned(), value.to_string())),
    }
}

/// What makes the figures of two runs hard to compare.
fn notes(a: &Run, b: &Run) -> Vec<String> {
    let mut notes = Vec::new();
    if a.program != b.program {
        notes.push(format!(
            "The runs are of different programs, {} and {}: nothing follows from the difference of \
             their totals.",
            a.program, b.program
        ));
    }
    if a.instructions != b.instructions {
        let change = number::share(a.instructions.abs_diff(b.instructions), a.instructions);
        let more = if b.instructions > a.instructions { "more" } else { "fewer" };
        notes.push(format!(
            "The second run executed {change} {more} instructions ({} against {}), which moves \
             totals; figures per call and per instruction remain comparable.",
            number::count(b.instructions),
            number::count(a.instructions)
        ));
    }
    if !a.complete || !b.complete {
        notes.push("Of a run that did not finish, the measured part is compared.".into());
    }
    let names = |run: &Run| -> BTreeSet<String> {
        run.configurations.iter().map(|item| item.name.clone()).collect()
    };
    if names(a).is_disjoint(&names(b)) {
        notes.push("No configuration has the same name in both runs.".into());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confidence::Estimate;
    use crate::model::{ParameterValue, Role};
    use crate::statistics::{Unit, Value};
    use crate::text::Style;

    fn item(cycles: u64, machine: &str) -> Configuration {
        Configuration {
            name: "mallacc-16".into(),
            role: Role::Subject,
            machine: "haswell".into(),
            accelerator: "mallacc".into(),
            parameters: [("entries".to_owned(), ParameterValue::Integer(16))].into(),
            resolved_machine: machine.to_owned(),
            cycles,
            instructions: 1_000,
            ..Configuration::default()
        }
    }

    fn run(items: Vec<Configuration>) -> Run {
        Run {
            id: Some(1),
            program: "ls".into(),
            instructions: 1_000,
            configurations: items,
            complete: true,
            ..Run::default()
        }
    }

    const MACHINE: &str = "name = \"haswell\"\n[core]\nrob = 192\n\
                           [[memory.level]]\nname = \"L2\"\nsize = 4096\n";

    #[test]
    fn a_run_differs_from_itself_in_nothing() {
        let run = run(vec![item(800, MACHINE)]);
        let difference = Difference::of(&run, &run);
        assert_eq!(difference.changed, []);
        assert_eq!(difference.notes, [""; 0]);
        let pair = &difference.pairs[0];
        assert_eq!(pair.changed, []);
        assert!(pair.figures.len() > 3);
        assert!(pair.figures.iter().all(|figure| figure.verdict() == Verdict::Same));
        let text = difference.text(true, &Style::PLAIN);
        assert!(text.contains("machines and accelerators are the same"), "{text}");
    }

    #[test]
    fn what_changed_is_named_with_both_values() {
        let first = run(vec![item(800, MACHINE)]);
        let mut other = item(900, &MACHINE.replace("192", "96").replace("4096", "8192"));
        other.parameters.insert("entries".into(), ParameterValue::Integer(32));
        let second = Run { seed: 7, max: Some(500), ..run(vec![other]) };
        let difference = Difference::of(&first, &second);
        let shown = |changes: &[Change]| -> Vec<String> {
            changes.iter().map(|c| format!("{} {} {}", c.name, c.a, c.b)).collect()
        };
        assert_eq!(shown(&difference.changed), ["seed 0 7", "max no bound 500"]);
        let settings =
            ["mallacc.entries 16 32", "core.rob 192 96", "memory.level[0].size 4096 8192"];
        assert_eq!(shown(&difference.pairs[0].changed), settings);
        let cycles = difference.pairs[0].figures.iter().find(|f| f.name == "cycles").unwrap();
        assert_eq!((cycles.difference(), cycles.relative()), (Some(100.0), Some(100.0 / 800.0)));
        // Counts of whole runs have no interval.
        assert_eq!(cycles.verdict(), Verdict::NoInterval);
        let text = difference.text(false, &Style::PLAIN);
        assert!(text.contains("+12.5 %") && text.contains("core.rob"), "{text}");
    }

    #[test]
    fn a_difference_is_significant_beyond_both_intervals_taken_together() {
        let real = |value, half| Value::Real(Estimate { value, half_width: half });
        let verdict = |b: f64, half| {
            let (a, b) = (real(10.0, Some(3.0)), real(b, half));
            FigureDifference { name: "x".into(), unit: Unit::Count, a, b, is_main: true }.verdict()
        };
        // Half widths of 3 and 4 are 5 together.
        assert_eq!(verdict(15.1, Some(4.0)), Verdict::Significant);
        assert_eq!(verdict(4.9, Some(4.0)), Verdict::Significant);
        assert_eq!(verdict(14.9, Some(4.0)), Verdict::NotSignificant);
        assert_eq!(verdict(15.1, None), Verdict::NoInterval);
        assert_eq!(verdict(10.0, Some(4.0)), Verdict::Same);
    }

    #[test]
    fn what_cannot_be_compared_says_so() {
        let first = run(vec![item(800, "")]);
        let other = Configuration { name: "limit".into(), ..item(700, "") };
        let second = Run { program: "perl".into(), instructions: 1_500, ..run(vec![other]) };
        let difference = Difference::of(&first, &second);
        let notes = difference.notes.join(" ");
        for part in ["different programs, ls and perl", "50.0 % more", "No configuration has"] {
            assert!(notes.contains(part), "{part}: {notes}");
        }
        assert_eq!((difference.only_a, difference.only_b), (vec!["mallacc-16"], vec!["limit"]));
    }

    #[test]
    fn documents_for_programs_have_every_figure_with_its_verdict() {
        let (first, second) = (run(vec![item(800, "")]), run(vec![item(900, "")]));
        let difference = Difference::of(&first, &second);
        let json: serde_json::Value = serde_json::from_str(&difference.json()).unwrap();
        let figures = json["configurations"][0]["figures"].as_array().unwrap();
        assert_eq!(figures.len(), difference.pairs[0].figures.len());
        let cycles = figures.iter().find(|figure| figure["name"] == "cycles").unwrap();
        assert_eq!((&cycles["a"], &cycles["difference"]), (&800.0.into(), &100.0.into()));
        assert_eq!(cycles["verdict"], "no interval");
        let csv = difference.csv();
        assert_eq!(csv.lines().count(), 1 + figures.len());
        assert!(csv.contains("\nmallacc-16,cycles,cycles,800,,900,,100,0.125,no interval\n"));
    }
}
