//! The microbenchmarks on several configurations, and sweeps over the size of the malloc cache.

use std::fmt::Write as _;

use accel::Checks;
use documents::json::pretty;
use documents::{Column, Layout};
use results::confidence::Estimate;
use results::statistics::Value;
use results::text::number;
use results::{CallStats, Configuration, Exit, Run, csv, json};
use sim::{ConfigSpec, Plan};

use crate::error::{Ending, Failure};
use crate::micro::{self, Steps};
use crate::monitor::Monitor;
use crate::run::simulate;
use crate::session::{self, Rows};

/// Which microbenchmarks, with what input, on what.
pub struct Request {
    programs: Vec<&'static str>,
    steps: Steps,
    plan: Plan,
    specs: Vec<ConfigSpec>,
    sweep: bool,
}

impl Request {
    /// These microbenchmarks; all if none is named. With `sweep` the configurations are sizes of
    /// the malloc cache, and the table has one line per size. Fails when a program is missing.
    pub fn new(
        names: &[String],
        steps: Steps,
        plan: Plan,
        specs: Vec<ConfigSpec>,
        sweep: bool,
    ) -> Result<Self, Failure> {
        let programs = micro::chosen(names)?;
        programs.iter().try_for_each(|name| micro::program(name).map(|_| ()))?;
        Ok(Self { programs, steps, plan, specs, sweep })
    }
}

/// The measurements of the microbenchmarks.
pub struct Report {
    /// One run per microbenchmark.
    pub runs: Vec<Run>,
    /// What the accelerators checked against the programs.
    pub checks: Vec<Checks>,
    /// How the last program ended; after a program fails, no other is run.
    pub ending: Ending,
    specs: Vec<ConfigSpec>,
    sweep: bool,
}

/// Runs them one after the other.
pub fn run(request: Request, rows: &mut Rows, monitor: &dyn Monitor) -> Result<Report, Failure> {
    let Request { programs, steps, plan, specs, sweep } = request;
    let ending = Ending::Program(Some(Exit::Code(0)));
    let mut report = Report { runs: Vec::new(), checks: Vec::new(), ending, specs, sweep };
    for name in programs {
        let mut target = micro::target(name, steps)?;
        let checked = target.prepare()?;
        let what = (plan, report.specs.as_slice());
        let (mut finished, ending) = simulate(&mut target, checked, what, rows, monitor)?;
        finished.run.program = name.to_owned();
        rows.finish(&finished.run);
        if let Some(fault) = finished.fault() {
            monitor.problem(&format!("{name}: {fault}"));
        }
        session::add_checks(&mut report.checks, finished.checks);
        if let Some(error) = &finished.error {
            monitor.problem(&format!("{name}: {error}"));
        }
        report.runs.push(finished.run);
        report.ending = ending;
        if !ending.succeeded() {
            break;
        }
    }
    Ok(report)
}

impl Report {
    /// Whether a check failed: the figures cannot be trusted then.
    pub fn failed(&self) -> bool {
        self.checks.iter().any(|check| check.failed > 0)
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = table(&self.runs, &self.specs, self.sweep);
        for check in self.checks.iter().filter(|check| check.made > 0 && check.failed == 0) {
            let (made, what, failure) = (check.made, check.what, check.failure);
            let _ = writeln!(text, "{made} {what} were checked: none {failure}.");
        }
        text
    }

    /// One line per configuration of each run.
    pub fn csv(&self) -> String {
        lines(&self.runs)
    }

    /// Everything.
    pub fn json(&self) -> String {
        let runs: Vec<_> = self.runs.iter().map(json::value).collect();
        pretty(&serde_json::json!({ "runs": runs }))
    }
}

fn lines(runs: &[Run]) -> String {
    let schema = sim::declared();
    let row = |run, item| csv::row(run, item, &schema);
    let rows = runs.iter().flat_map(|run| run.configurations.iter().map(move |c| row(run, c)));
    rows.fold(csv::header(&schema), |text, row| text + &row)
}

/// Calls that return memory, or that take it back.
type Calls = fn(&Configuration) -> CallStats;

fn per_call(calls: &CallStats) -> Option<f64> {
    (calls.calls > 0).then(|| calls.cycles as f64 / calls.calls as f64)
}

/// The whole program's time for one allocation.
fn program(item: &Configuration) -> CallStats {
    let calls = item.calls.allocation().calls;
    CallStats { calls, cycles: item.cycles, ..CallStats::default() }
}

/// The allocator's whole time for one allocation. A configuration can shift time between malloc and
/// free (a wait at retirement is charged to whichever call is waiting), so this is the figure to
/// compare.
fn both(item: &Configuration) -> CallStats {
    let freed = item.calls.deallocation().calls > 0;
    let calls = if freed { item.calls.allocation().calls } else { 0 };
    CallStats { calls, cycles: item.allocator_cycles, ..CallStats::default() }
}

/// One table for the program, one for both kinds of call together, one for each.
fn table(runs: &[Run], specs: &[ConfigSpec], sweep: bool) -> String {
    let groups: [(&str, &str, Calls); 4] = [
        ("of the whole program for each malloc", "the program", program),
        ("for each malloc with its free", "malloc with its free", both),
        ("per malloc", "malloc", |item| item.calls.allocation()),
        ("per free", "free", |item| item.calls.deallocation()),
    ];
    let mut text = String::new();
    for (cycles, what, calls) in groups {
        let measured = |run: &Run| run.configurations.iter().any(|c| calls(c).calls > 0);
        let runs: Vec<&Run> = runs.iter().filter(|run| measured(run)).collect();
        if runs.is_empty() {
            continue;
        }
        text += &if sweep {
            by_entries(what, calls, &runs, specs)
        } else {
            by_name(cycles, calls, &runs)
        };
        text.push('\n');
    }
    let ids: Vec<String> = runs.iter().filter_map(|run| run.id).map(|id| id.to_string()).collect();
    if !ids.is_empty() {
        let _ = writeln!(text, "Stored as run {}: mallacc show RUN --detail", ids.join(", "));
    }
    text
}

/// How the tables are laid out.
const LAYOUT: Layout = Layout { ruled: true, ..Layout::PLAIN };
/// Width in characters of the first column, and of the others.
const LABEL_WIDTH: usize = 14;
const BY_NAME_WIDTH: usize = 14;
const BY_ENTRIES_WIDTH: usize = 13;

/// A table with a column of labels and columns of figures.
fn figures<'a>(
    labels: &str,
    names: impl Iterator<Item = &'a str>,
    width: usize,
) -> documents::Table {
    let labels = Column::left(labels).at_least(LABEL_WIDTH);
    let figures = names.map(|name| Column::right(name).at_least(width));
    documents::Table::new([labels].into_iter().chain(figures))
}

/// How much faster, in the one form that all reports use.
fn speedup(base: f64, own: f64) -> String {
    number::change(Value::Real(Estimate { value: base / own - 1.0, half_width: None }))
}

/// One line per benchmark, one column per configuration.
fn by_name(what: &str, calls: Calls, runs: &[&Run]) -> String {
    let text = format!("cycles {what} (and speedup over the baseline)\n");
    let Some(first) = runs.first() else { return text };
    let names = first.configurations.iter().map(|c| c.name.as_str());
    let mut table = figures("", names, BY_NAME_WIDTH);
    for run in runs {
        let cells = run.configurations.iter().map(|item| {
            let cycles = per_call(&calls(item));
            let base = run.baseline_of(item).filter(|_| !item.is_baseline());
            let base = base.and_then(|base| per_call(&calls(base)));
            match (cycles, base) {
                (Some(cycles), Some(base)) if cycles > 0.0 => {
                    format!("{cycles:.1} ({})", speedup(base, cycles))
                }
                (Some(cycles), _) => format!("{cycles:.1}"),
                (None, _) => "-".into(),
            }
        });
        table.row([run.program.clone()].into_iter().chain(cells));
    }
    text + &table.text(&LAYOUT)
}

/// One line per size of the malloc cache and one for the limit, one column per benchmark.
fn by_entries(what: &str, calls: Calls, runs: &[&Run], specs: &[ConfigSpec]) -> String {
    let text = format!("speedup of {what} over the baseline, by entries of the malloc cache\n");
    let names = runs.iter().map(|run| run.program.as_str());
    let mut table = figures("entries", names, BY_ENTRIES_WIDTH);
    for (index, spec) in specs.iter().enumerate() {
        if spec.accelerator.model().role() == accel::Role::Baseline {
            continue;
        }
        let size = spec.accelerator.size().map(|size| size.to_string());
        let label = size.as_deref().unwrap_or(&spec.name);
        let cells = runs.iter().map(|run| {
            let item = &run.configurations[index];
            let base = run.baseline_of(item).and_then(|base| per_call(&calls(base)));
            match (base, per_call(&calls(item))) {
                (Some(base), Some(cycles)) if cycles > 0.0 => speedup(base, cycles),
                _ => "-".into(),
            }
        });
        table.row([label.to_owned()].into_iter().chain(cells));
    }
    text + &table.text(&LAYOUT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::{CallKind, Role};

    fn item(name: &str, role: Role, cycles: u64) -> Configuration {
        let mut item = Configuration {
            name: name.into(),
            role,
            machine: "haswell".into(),
            ..Configuration::default()
        };
        item.calls[CallKind::Malloc].record(cycles);
        item
    }

    #[test]
    fn speedups_are_of_the_baseline_over_the_configuration() {
        let configurations =
            vec![item("baseline", Role::Baseline, 30), item("mallacc-8", Role::Subject, 20)];
        let run = Run { program: "tp".into(), configurations, ..Run::default() };
        let calls: Calls = |item| item.calls.allocation();
        assert!(by_name("malloc", calls, &[&run]).contains("20.0 (+50.0 %)"));
        let machine = uarch::Machine::find("haswell").unwrap();
        let spec = |text: &str| {
            ConfigSpec::new(text, machine.clone(), accel::Choice::parse(text).unwrap())
        };
        let specs = [spec("none"), spec("mallacc:entries=8")];
        let text = by_entries("malloc", calls, &[&run], &specs);
        let last: Vec<&str> = text.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(last, ["8", "+50.0", "%"]);
    }
}
