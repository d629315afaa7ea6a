//! `mallacc micro`: the microbenchmarks, and sweeps over the size of the malloc cache.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use results::{CallStats, Configuration, Run, csv, json};
use sim::ConfigSpec;

use crate::args::MicroArgs;
use crate::error::{Done, Failure, VIOLATION};
use crate::output::Stream;
use crate::run::{Target, simulate};
use crate::{configs, session};

/// The microbenchmarks, in the order of the paper.
pub const NAMES: [&str; 6] =
    ["antagonist", "gauss", "gauss_free", "sized_deletes", "tp", "tp_small"];
/// Overrides where their programs are.
const DIRECTORY_VARIABLE: &str = "MALLACC_MICRO";
/// Iterations and repeats: as in the paper, and few.
pub const USUAL: (u64, u64) = (32768, 13);
pub const QUICK: (u64, u64) = (2048, 4);

/// Runs the command.
pub fn run(args: &MicroArgs) -> Done {
    let specs = match &args.entries {
        Some(entries) => configs::sweep(entries, &args.simulation)?,
        None => configs::from_args(&args.simulation)?,
    };
    let names = chosen(&args.names)?;
    let programs: Vec<PathBuf> =
        names.iter().map(|name| program(name)).collect::<Result<_, _>>()?;
    let (output, mut rows) = session::open(&args.report, Stream::Stdout)?;
    let (mut runs, mut code, mut checks) = (Vec::new(), 0, Vec::new());
    for (name, program) in names.iter().zip(programs) {
        let (iterations, repeats) = if args.quick { QUICK } else { USUAL };
        let steps = (args.iterations.unwrap_or(iterations), args.repeats.unwrap_or(repeats));
        let mut target = Target::new(program.into(), options(steps, args.seed));
        (target.silent, target.deterministic, target.seed) = (true, true, args.seed);
        let checked = target.prepare()?;
        let what = (session::plan(&args.simulation), specs.as_slice());
        let quiet = args.report.quiet;
        let (mut finished, status) = simulate(&mut target, checked, what, &mut rows, quiet)?;
        finished.run.program = (*name).to_owned();
        rows.finish(&finished.run);
        if let Some(fault) = finished.fault() {
            eprintln!("mallacc: {name}: {fault}");
            code = VIOLATION;
        }
        session::add_checks(&mut checks, finished.checks);
        if let Some(error) = &finished.error {
            eprintln!("mallacc: {name}: {error}");
        }
        runs.push(finished.run);
        if status != 0 {
            code = status;
            break;
        }
    }
    let text = match () {
        () if output.is_csv() => lines(&runs),
        () if !output.is_table() => documents(&runs),
        () => {
            let mut text = table(&runs, &specs, args.entries.is_some());
            for check in checks.iter().filter(|check| check.made > 0 && check.failed == 0) {
                let (made, what, failure) = (check.made, check.what, check.failure);
                let _ = writeln!(text, "{made} {what} were checked: none {failure}.");
            }
            text
        }
    };
    let written = output.text(&text);
    if let Some(failure) = rows.failure().or_else(|| written.err()) {
        return Err(failure);
    }
    Ok(code)
}

/// The microbenchmarks of these names, all without any.
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

fn options((iterations, repeats): (u64, u64), seed: u64) -> Vec<std::ffi::OsString> {
    let values = [("--iterations", iterations), ("--repeats", repeats), ("--seed", seed)];
    values.iter().flat_map(|(name, value)| [(*name).into(), value.to_string().into()]).collect()
}

/// A microbenchmark with its usual input, or a small one.
pub fn target(name: &str, quick: bool) -> Result<Target, Failure> {
    let steps = if quick { QUICK } else { USUAL };
    Ok(Target::new(program(name)?.into(), options(steps, 1)))
}

fn lines(runs: &[Run]) -> String {
    let schema = sim::declared();
    let row = |run, item| csv::row(run, item, &schema);
    let rows = runs.iter().flat_map(|run| run.configurations.iter().map(move |c| row(run, c)));
    rows.fold(csv::header(&schema), |text, row| text + &row)
}

fn documents(runs: &[Run]) -> String {
    let runs: Vec<_> = runs.iter().map(json::value).collect();
    let text = serde_json::to_string_pretty(&serde_json::json!({ "runs": runs }));
    text.unwrap_or_default() + "\n"
}

/// Calls that hand out memory, or that take it back.
type Calls = fn(&Configuration) -> CallStats;

fn per_call(calls: &CallStats) -> Option<f64> {
    (calls.calls > 0).then(|| calls.cycles as f64 / calls.calls as f64)
}

/// The allocator's whole time for an allocation. A configuration moves work between malloc and free
/// (a retirement that waits is charged to whoever waits), so this is the figure to compare by.
fn both(item: &Configuration) -> CallStats {
    let freed = item.calls.deallocation().calls > 0;
    let calls = if freed { item.calls.allocation().calls } else { 0 };
    CallStats { calls, cycles: item.allocator_cycles, ..CallStats::default() }
}

/// One table for allocations, one for deallocations, one for both.
fn table(runs: &[Run], specs: &[ConfigSpec], sweep: bool) -> String {
    let groups: [(&str, Calls); 3] = [
        ("malloc", |item| item.calls.allocation()),
        ("free", |item| item.calls.deallocation()),
        ("malloc with its free", both),
    ];
    let mut text = String::new();
    for (what, calls) in groups {
        let measured = |run: &Run| run.configurations.iter().any(|c| calls(c).calls > 0);
        let runs: Vec<&Run> = runs.iter().filter(|run| measured(run)).collect();
        if runs.is_empty() {
            continue;
        }
        text += &if sweep {
            by_entries(what, calls, &runs, specs)
        } else {
            by_name(what, calls, &runs)
        };
        text.push('\n');
    }
    let ids: Vec<String> = runs.iter().filter_map(|run| run.id).map(|id| id.to_string()).collect();
    if !ids.is_empty() {
        let _ = writeln!(text, "Stored as run {}: mallacc show RUN --detail", ids.join(", "));
    }
    text
}

/// A line for each benchmark, a column for each configuration.
fn by_name(what: &str, calls: Calls, runs: &[&Run]) -> String {
    let mut text = format!("cycles per {what} (and speedup over the baseline)\n");
    let Some(first) = runs.first() else { return text };
    let names: Vec<&str> = first.configurations.iter().map(|c| c.name.as_str()).collect();
    let widths: Vec<usize> = names.iter().map(|name| name.chars().count().max(14)).collect();
    let mut header = format!("{:14}", "");
    for (name, width) in names.iter().zip(&widths) {
        let _ = write!(header, "  {name:>width$}");
    }
    let _ = writeln!(text, "{header}\n{}", "-".repeat(header.chars().count()));
    for run in runs {
        let _ = write!(text, "{:14}", run.program);
        for (item, width) in run.configurations.iter().zip(&widths) {
            let cycles = per_call(&calls(item));
            let base = run.baseline_of(item).filter(|_| !item.is_baseline());
            let base = base.and_then(|base| per_call(&calls(base)));
            let cell = match (cycles, base) {
                (Some(cycles), Some(base)) if cycles > 0.0 => {
                    format!("{cycles:.1} ({:.2}x)", base / cycles)
                }
                (Some(cycles), _) => format!("{cycles:.1}"),
                (None, _) => "-".into(),
            };
            let _ = write!(text, "  {cell:>width$}");
        }
        text.push('\n');
    }
    text
}

/// A line for each size of the malloc cache and for the limit, a column for each benchmark.
fn by_entries(what: &str, calls: Calls, runs: &[&Run], specs: &[ConfigSpec]) -> String {
    let mut text = format!("speedup of {what} over the baseline, by entries of the malloc cache\n");
    let mut header = format!("{:14}", "entries");
    for run in runs {
        let _ = write!(header, "  {:>13}", run.program);
    }
    let _ = writeln!(text, "{header}\n{}", "-".repeat(header.chars().count()));
    for (index, spec) in specs.iter().enumerate() {
        if spec.accelerator.model.name() == "none" {
            continue;
        }
        let parameters = spec.accelerator.parameters();
        let entries = parameters.iter().find(|(name, _)| name == "entries");
        let _ = write!(text, "{:14}", entries.map_or(spec.name.as_str(), |(_, value)| value));
        for run in runs {
            let item = &run.configurations[index];
            let base = run.baseline_of(item).and_then(|base| per_call(&calls(base)));
            let cell = match (base, per_call(&calls(item))) {
                (Some(base), Some(cycles)) if cycles > 0.0 => format!("{:.3}", base / cycles),
                _ => "-".into(),
            };
            let _ = write!(text, "  {cell:>13}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::CallKind;

    fn item(name: &str, accelerator: &str, cycles: u64) -> Configuration {
        let mut item = Configuration {
            name: name.into(),
            machine: "haswell".into(),
            accelerator: accelerator.into(),
            ..Configuration::default()
        };
        item.calls[CallKind::Malloc].record(cycles);
        item
    }

    #[test]
    fn speedups_are_of_the_baseline_over_the_configuration() {
        let configurations = vec![item("baseline", "none", 30), item("mallacc-8", "mallacc", 20)];
        let run = Run { program: "tp".into(), configurations, ..Run::default() };
        let calls: Calls = |item| item.calls.allocation();
        assert!(by_name("malloc", calls, &[&run]).contains("20.0 (1.50x)"));
        let machine = uarch::Machine::find("haswell").unwrap();
        let spec = |text: &str| ConfigSpec {
            name: text.into(),
            machine: machine.clone(),
            accelerator: accel::Choice::parse(text).unwrap(),
        };
        let specs = [spec("none"), spec("mallacc:entries=8")];
        let text = by_entries("malloc", calls, &[&run], &specs);
        let last: Vec<&str> = text.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(last, ["8", "1.500"]);
    }

    #[test]
    fn an_unknown_benchmark_names_the_nearest() {
        let error = chosen(&["tp_smal".into()]).unwrap_err();
        assert!(error.text.contains("\"tp_small\""), "{}", error.text);
    }
}
