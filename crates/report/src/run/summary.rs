//! The part below the headline: key figures, what was run, warnings.

use documents::text::capitalised;
use results::statistics::{Unit, Value};
use results::text::{self, number};
use results::{CallKind, Configuration, Run};

use super::figures::{calls, kind_name, program, share};
use crate::data::Format;
use crate::html::Html;

/// One key figure: its name, the figure, and the text beside it.
type Tile = (String, String, String);

/// Warnings, key figures, facts.
pub fn under_the_headline(run: &Run) -> Html {
    let mut html = Html::default();
    for alarm in text::alarms(run) {
        html.push(Html::prose("p", &[("class", "alarm"), ("role", "note")], &alarm));
    }
    let cautions = text::cautions(run).into_iter().map(|text| ("caution", text));
    for (class, text) in cautions.chain(run.warnings.iter().map(|text| ("warning", text.clone()))) {
        html.push(Html::prose("p", &[("class", class), ("role", "note")], &capitalised(&text)));
    }
    let tiles = tiles(run).into_iter().map(|(what, figure, beside)| {
        Html::element(
            "li",
            &[],
            Html::join([
                Html::prose("span", &[("class", "what")], &what),
                Html::prose("span", &[("class", "figure")], &figure),
                Html::prose("span", &[("class", "beside")], &beside),
            ]),
        )
    });
    let tiles = Html::join(tiles);
    if !tiles.is_empty() {
        html.push(Html::element("ul", &[("class", "tiles")], tiles));
    }
    let facts = text::facts(run).into_iter().map(|fact| Html::prose("p", &[], &fact));
    html.push(Html::element("div", &[("class", "facts")], Html::join(facts)));
    html
}

/// The program, then the allocator as a whole, then its calls.
fn tiles(run: &Run) -> Vec<Tile> {
    let (Some(first), Some(kind)) = (run.configurations.first(), run.main_kind()) else {
        return Vec::new();
    };
    let chosen = text::stated(run);
    let base = chosen.and_then(|item| run.baseline_of(item)).unwrap_or(first);
    let limit = run.limit_of(&base.machine);
    let mut tiles = Vec::new();
    // The tiles are about the headline's machine; where there are others, they name it.
    let on = match run.machines().len() {
        0 | 1 => String::new(),
        _ => format!(" on {}", base.machine),
    };
    if let Some(item) = chosen {
        for (what, name) in [("program", "speedup"), ("allocator", "allocator_speedup")] {
            let speedup = |item| program(run, item, name);
            tiles.push(faster(format!("{what} speedup{on}"), speedup(item), limit.map(speedup)));
        }
        for kind in run.main_kinds() {
            let per_call = |item| cycles(calls(run, item, kind, "cycles_per_call"));
            let limit = limit.map(|item| format!("limit {}", per_call(item)));
            tiles.push((
                format!("cycles per {}, {} → {}", kind_name(kind), base.name, item.name),
                format!("{} → {}", per_call(base), per_call(item)),
                limit.unwrap_or_default(),
            ));
        }
    } else {
        for kind in run.main_kinds() {
            let figure = cycles(calls(run, base, kind, "cycles_per_call"));
            tiles.push((format!("cycles per {}", kind_name(kind)), figure, base.name.clone()));
        }
    }
    tiles.push((
        "allocator's share of cycles".into(),
        share(program(run, base, "allocator_share").without_interval()),
        base.name.clone(),
    ));
    tiles.push(fast(run, kind, base, &on));
    tiles
}

/// A speedup with its interval and the limit study's speedup.
fn faster(what: String, value: Value, limit: Option<Value>) -> Tile {
    let (figure, interval) = match value {
        Value::Real(estimate) => {
            let shown = Format::Change(1).estimate(estimate);
            (shown.figure, shown.interval)
        }
        _ => (number::change(value), None),
    };
    let limit = limit.map(|value| format!("limit {}", number::change(value)));
    let beside: Vec<String> = interval.into_iter().chain(limit).collect();
    (what, figure, beside.join("; "))
}

fn fast(run: &Run, kind: CallKind, base: &Configuration, on: &str) -> Tile {
    (
        format!("{} calls under 100 cycles{on}", kind_name(kind)),
        share(calls(run, base, kind, "fast_share")),
        format!("they take {} of its cycles", share(calls(run, base, kind, "fast_cycle_share"))),
    )
}

/// Cycles per call, without the interval, which the table shows.
fn cycles(value: Value) -> String {
    number::value(value.without_interval(), Unit::CyclesPerCall)
}
