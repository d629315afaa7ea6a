//! Several runs side by side.

use results::statistics::{Unit, Value};
use results::text::{number, stated, too_little};
use results::{Configuration, Run};

use super::entries::{Sweep, axes, line, sweeps};
use super::figures::{bar, calls, change, program, share};
use super::{Name, program_name, short};
use crate::chart::{Axis, Bars, Group, LineChart, Look, figure, side_by_side};
use crate::data::Format;
use crate::html::Html;
use crate::table::Table;

/// Number of characters of a program's name in a label.
const LABEL_LETTERS: usize = 24;

/// The answer for all runs, in a sentence.
pub fn sentences(runs: &[Run]) -> Vec<String> {
    let all: Vec<(f64, &Run)> = runs
        .iter()
        .filter_map(|run| {
            let item = stated(run)?;
            Some((program(run, item, "speedup").figure()?, run))
        })
        .collect();
    let by = |a: &&(f64, &Run), b: &&(f64, &Run)| a.0.total_cmp(&b.0);
    let (Some(least), Some(most)) = (all.iter().min_by(by), all.iter().max_by(by)) else {
        let says_why = |run: &Run| run.unmeasured.is_some() || too_little(run).is_some();
        return vec![match runs.iter().any(says_why) {
            true => "No gain is stated for any of these runs; each says below why.".into(),
            false => "None of these runs compares an accelerator with a baseline.".into(),
        }];
    };
    let show = |value: f64| Format::Change(1).show(value);
    let silent = runs.len() - all.len();
    let verb = if silent == 1 { "states" } else { "state" };
    let others = match silent {
        0 => String::new(),
        _ => format!(
            " {silent} of {} runs {verb} no gain; the reason stands with it below.",
            runs.len()
        ),
    };
    vec![
        format!(
            "Speedups of the program over {}: from {} ({}) to {} ({}).{others}",
            number::counted(all.len() as u64, "run", "runs"),
            show(least.0),
            short(program_name(least.1), LABEL_LETTERS),
            show(most.0),
            short(program_name(most.1), LABEL_LETTERS),
        ),
        "Each run's figure is that of the accelerator it is about, over the baseline; malloc stands \
         for the kind of call that allocates most often."
            .into(),
    ]
}

/// A statistic of the main allocating kind.
fn malloc(run: &Run, item: &Configuration, name: &str) -> Value {
    run.main_kind().map_or(Value::Undefined, |kind| calls(run, item, kind, name))
}

/// The overview: charts, then the table.
pub fn body(runs: &[Run], names: &[Name]) -> Html {
    let file = |what: &str| format!("mallacc-runs-{what}.csv");
    let label = |(run, name): (&Run, &Name)| {
        format!("{} ({})", short(program_name(run), LABEL_LETTERS), name.text)
    };
    let labels: Vec<String> = runs.iter().zip(names).map(label).collect();
    let mut figures = vec![
        figure(
            &speedups(runs, &labels, "Speedup of the program", program),
            &file("program-speedups"),
        ),
        figure(&speedups(runs, &labels, "Speedup of malloc", malloc), &file("malloc-speedups")),
    ];
    if let Some(chart) = against_entries(runs, &labels) {
        figures.push(figure(&chart, &file("against-entries")));
    }
    let mut html = side_by_side(figures);
    html.push(table(runs, names).html(&file("overview")));
    html
}

fn speedups(
    runs: &[Run],
    labels: &[String],
    title: &str,
    of: fn(&Run, &Configuration, &str) -> Value,
) -> Bars {
    let figures = |run: &Run| {
        let chosen = stated(run);
        let limit = chosen.and_then(|item| run.limit_of(&item.machine));
        [chosen, limit].map(|item| item.and_then(|item| bar(of(run, item, "speedup")))).to_vec()
    };
    let groups = runs
        .iter()
        .zip(labels)
        .map(|(run, label)| Group { label: label.clone(), bars: figures(run) });
    Bars {
        title: title.into(),
        note: "The accelerator that the run is about over the baseline, and the limit study."
            .into(),
        groups_are: "run".into(),
        axis: Axis::new("speedup over the baseline", Format::Change(1)),
        series: vec![("accelerator".into(), Look::MAIN), ("limit".into(), Look::LIMIT)],
        groups: groups.collect(),
    }
}

/// One line for each run with a sweep over entries.
fn against_entries(runs: &[Run], labels: &[String]) -> Option<LineChart> {
    let swept: Vec<(&Run, &String, Sweep)> = runs
        .iter()
        .zip(labels)
        .filter(|(run, _)| stated(run).is_some())
        .filter_map(|(run, label)| Some((run, label, sweeps(run).into_iter().next()?)))
        .collect();
    if swept.len() < 2 {
        return None;
    }
    let looks = (0..).map(Look);
    let series: Vec<_> = swept
        .iter()
        .zip(looks)
        .map(|((run, label, sweep), look)| {
            line(sweep, look, label, |item| malloc(run, item, "speedup"))
        })
        .collect();
    let sweeps: Vec<Sweep> = swept.into_iter().map(|(_, _, sweep)| sweep).collect();
    let (x, y) = axes(&sweeps);
    Some(LineChart {
        title: "Speedup of malloc against entries".into(),
        x,
        y,
        series,
        ..LineChart::default()
    })
}

fn table(runs: &[Run], names: &[Name]) -> Table {
    let mut table = Table::new(
        "Runs compared",
        [
            "program",
            "instructions",
            "IPC",
            "allocator's share",
            "cycles per malloc",
            "machine",
            "accelerator",
            "program speedup",
            "its limit study",
            "malloc speedup",
            "its limit study",
        ],
    );
    for (run, name) in runs.iter().zip(names) {
        let link = format!("#{}", name.id);
        let link = Html::tag("a", &[("href", &link)], &short(program_name(run), LABEL_LETTERS));
        let mut cells = vec![link, Html::text(&number::short_count(run.instructions))];
        let chosen = stated(run);
        let base = chosen.and_then(|item| run.baseline_of(item)).or(run.configurations.first());
        let limit = chosen.and_then(|item| run.limit_of(&item.machine));
        let figure = |item: Option<&Configuration>, of: &dyn Fn(&Configuration) -> String| {
            Html::text(&item.map_or(number::UNDEFINED.into(), of))
        };
        let speedup = |item: &Configuration| change(item, malloc(run, item, "speedup"));
        let whole = |item: &Configuration| change(item, program(run, item, "speedup"));
        cells.extend([
            figure(base, &|item| {
                number::value(program(run, item, "ipc"), Unit::InstructionsPerCycle)
            }),
            // A share of 0 is not what is known of an allocator that could not be measured.
            figure(base.filter(|_| run.unmeasured.is_none()), &|item| {
                share(program(run, item, "allocator_share"))
            }),
            figure(base, &|item| {
                number::value(malloc(run, item, "cycles_per_call"), Unit::CyclesPerCall)
            }),
            figure(chosen, &|item| item.machine.clone()),
            figure(chosen, &|item| item.name.clone()),
            figure(chosen, &whole),
            figure(limit, &whole),
            figure(chosen, &speedup),
            figure(limit, &speedup),
        ]);
        table.markup(&name.text, cells);
    }
    table
}
