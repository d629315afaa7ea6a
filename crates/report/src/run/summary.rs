//! The part below the headline: key figures, what was run, warnings.

use results::statistics::{Unit, Value};
use results::text::{self, number};
use results::{CallKind, Run};

use super::figures::{calls, kind_name, program, share};
use crate::data::Format;
use crate::html::Html;

/// One key figure: its name, the figure, and the text beside it.
type Tile = (String, String, String);

/// Warnings, key figures, facts.
pub fn under_the_headline(run: &Run) -> Html {
    let mut html = Html::default();
    for alarm in text::alarms(run) {
        html.push(Html::tag("p", &[("class", "alarm"), ("role", "note")], &alarm));
    }
    let tiles = tiles(run).into_iter().map(|(what, figure, beside)| {
        Html::element(
            "li",
            &[],
            Html::join([
                Html::tag("span", &[("class", "what")], &what),
                Html::tag("span", &[("class", "figure")], &figure),
                Html::tag("span", &[("class", "beside")], &beside),
            ]),
        )
    });
    let tiles = Html::join(tiles);
    if !tiles.is_empty() {
        html.push(Html::element("ul", &[("class", "tiles")], tiles));
    }
    let facts = text::facts(run).into_iter().map(|fact| Html::tag("p", &[], &fact));
    html.push(Html::element("div", &[("class", "facts")], Html::join(facts)));
    html
}

fn tiles(run: &Run) -> Vec<Tile> {
    let (Some(first), Some(kind)) = (run.configurations.first(), run.main_kind()) else {
        return Vec::new();
    };
    let chosen = run.headline_configuration();
    let base = chosen.and_then(|item| run.baseline_of(item)).unwrap_or(first);
    let limit = run.limit_of(&base.machine).filter(|item| run.baseline_of(item).is_some());
    let malloc = kind_name(kind);
    let beside = |text: Option<String>| text.unwrap_or_default();
    let mut tiles = Vec::new();
    if let Some(item) = chosen {
        let per_call = |item| cycles(calls(run, item, kind, "cycles_per_call"));
        tiles.push((
            format!("cycles per {malloc}, baseline → {}", item.name),
            format!("{} → {}", per_call(base), per_call(item)),
            beside(limit.map(|item| format!("limit {}", per_call(item)))),
        ));
        let speedup = |item| calls(run, item, kind, "speedup");
        tiles.push(faster(format!("{malloc} speedup"), speedup(item), limit.map(speedup)));
        let speedup = |item| program(run, item, "speedup");
        tiles.push(faster("program speedup".into(), speedup(item), limit.map(speedup)));
    } else {
        let figure = cycles(calls(run, base, kind, "cycles_per_call"));
        tiles.push((format!("cycles per {malloc}"), figure, base.name.clone()));
    }
    tiles.push((
        "allocator's share of cycles".into(),
        share(plain(program(run, base, "allocator_share"))),
        base.name.clone(),
    ));
    tiles.push(fast(run, kind, base));
    tiles
}

/// A speedup with its interval and the limit study's speedup.
fn faster(what: String, value: Value, limit: Option<Value>) -> Tile {
    let interval = value.half_width().map(|half| format!("±{}", Format::Percent(1).show(half)));
    let limit = limit.map(|value| format!("limit {}", number::change(value)));
    let beside: Vec<String> = interval.into_iter().chain(limit).collect();
    (what, number::change(plain(value)), beside.join("; "))
}

fn fast(run: &Run, kind: CallKind, base: &results::Configuration) -> Tile {
    (
        format!("{} calls under 100 cycles", kind_name(kind)),
        share(calls(run, base, kind, "fast_share")),
        format!("they take {} of its cycles", share(calls(run, base, kind, "fast_cycle_share"))),
    )
}

/// Cycles per call, without the interval, which the table shows.
fn cycles(value: Value) -> String {
    number::value(plain(value), Unit::CyclesPerCall)
}

/// A figure without its interval.
fn plain(value: Value) -> Value {
    match value {
        Value::Real(mut estimate) => {
            estimate.half_width = None;
            Value::Real(estimate)
        }
        other => other,
    }
}
