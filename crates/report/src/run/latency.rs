//! How long calls take: distribution and cumulative share, for the main kinds.

use results::{CallKind, Run};

use super::Name;
use super::figures::kind_name;
use super::roles::main;
use crate::chart::{
    Axis, Guide, LineChart, Series, Shape, cumulative, distribution, figure, side_by_side,
};
use crate::data::Format;
use crate::html::Html;

/// The section, if there were calls.
pub fn body(run: &Run, name: &Name) -> Option<Html> {
    let kinds = run.main_kinds();
    if kinds.is_empty() {
        return None;
    }
    let mut html = Html::prose(
        "p",
        &[],
        "Latencies run from the retirement of a call's first instruction to that of its ret. They \
         are exact up to 255 cycles and lie in buckets at most 6 % wide above.",
    );
    let mut figures = Vec::new();
    for kind in kinds {
        let id = kind.name().replace('_', "-");
        figures.push(figure(&shares(run, kind), &name.file(&format!("{id}-latency"))));
        figures.push(figure(&sums(run, kind), &name.file(&format!("{id}-latency-cumulative"))));
    }
    html.push(side_by_side(figures));
    Some(html)
}

/// Percentile of the latencies at which charts end.
const TAIL: f64 = 99.9;

/// An axis of cycles over the configurations' calls, without the end of their tails.
fn cycles(run: &Run, kind: CallKind) -> Axis {
    let of = |percent| {
        let shown = main(run);
        let percentiles =
            shown.iter().filter_map(|s| s.item.calls[kind].latency.percentile(percent));
        percentiles.map(|cycles| cycles as f64).collect::<Vec<f64>>()
    };
    let low = of(0.0).into_iter().fold(f64::MAX, f64::min);
    let high = of(TAIL).into_iter().fold(0.0, f64::max);
    let low = if low < 1e9 { (low * 0.8).max(1.0) } else { 1.0 };
    Axis::log("cycles per call", Format::Count).from(low).to((high * 1.3).max(low * 4.0))
}

fn series(
    run: &Run,
    kind: CallKind,
    of: fn(&str, crate::chart::Look, &results::LatencyHistogram) -> Series,
) -> Vec<Series> {
    let shown = main(run);
    shown.iter().map(|s| of(&s.item.name, s.look, &s.item.calls[kind].latency)).collect()
}

fn shares(run: &Run, kind: CallKind) -> LineChart {
    let mut series = series(run, kind, distribution);
    if let Some(first) = series.first_mut() {
        first.shape = Shape::Shaded;
    }
    LineChart {
        title: format!("{}: share of calls by latency", kind_name(kind)),
        note: "Bins of a quarter of an octave; logarithmic axis.".into(),
        x: cycles(run, kind),
        y: Axis::new("share of calls", Format::Percent(1)).from(0.0),
        series,
        guides: Vec::new(),
    }
}

fn sums(run: &Run, kind: CallKind) -> LineChart {
    let fast = results::model::FAST_CALL_CYCLES as f64;
    let x = cycles(run, kind);
    let inside = x.low.is_some_and(|low| low < fast) && x.high.is_some_and(|high| high > fast);
    let guide = Guide { label: "fast path".into(), at: fast, across: false };
    LineChart {
        title: format!("{}: calls that take at most this long", kind_name(kind)),
        note:
            "Cumulative share of calls; 50 % is the median. Calls under 100 cycles count as fast \
               path."
                .into(),
        x,
        y: Axis::new("share of calls", Format::Percent(1)).from(0.0).to(1.0),
        series: series(run, kind, cumulative),
        guides: inside.then_some(guide).into_iter().collect(),
    }
}
