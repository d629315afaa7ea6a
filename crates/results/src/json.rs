//! A run as JSON: counters and everything derived from them.
//!
//! Every declared statistic appears under its name (`docs/statistics.md`). Undefined figures are
//! `null`. In a sampled run a statistic with a confidence interval is followed by
//! `<name>_ci95`, half the interval's width.

use documents::json::with_short_lists;
use serde_json::{Map, Value as Json, json};

use crate::figures::{GroupFigures, Placed, groups_of};
use crate::model::{Configuration, Exit, LatencyHistogram, Run, SamplePoint, Sampling};
use crate::select::{CallFigures, CallGroup};
use crate::statistics::{CONFIGURATION, Context, RUN, Value, configuration_context, values};

/// The version of this format; increases when a field changes its meaning or is removed.
pub const VERSION: u32 = 1;

/// A run as indented JSON with a newline at its end.
pub fn render(run: &Run) -> String {
    with_short_lists(&value(run))
}

/// A run as a JSON value.
pub fn value(run: &Run) -> Json {
    let mut object = Map::new();
    let mut put = |name: &str, value: Json| object.insert(name.to_owned(), value);
    put("format_version", json!(VERSION));
    put("id", json!(run.id));
    put("label", json!(run.label));
    put("program", json!(run.program));
    put("args", json!(run.args));
    put("started", json!(run.started));
    put("tool_version", json!(run.tool_version));
    put("git_revision", json!(run.git_revision));
    put("seed", json!(run.seed));
    put("deterministic", json!(run.deterministic));
    put("complete", json!(run.complete));
    put("exit", exit(run.exit));
    put("skip", json!(run.skip));
    put("max", json!(run.max));
    put("roi", json!(run.roi));
    put("sampling", run.sampling.as_ref().map_or(Json::Null, sampling));
    put("warnings", json!(run.warnings));
    put("contradictions", json!(run.contradictions()));
    put("unmeasured", json!(run.unmeasured));
    put("markers", json!(run.markers));
    extend(&mut object, values(RUN, run, &Context::plain(run.instructions)));
    let configurations: Vec<Json> =
        run.configurations.iter().map(|item| configuration(run, item)).collect();
    object.insert("configurations".into(), Json::Array(configurations));
    Json::Object(object)
}

fn exit(exit: Option<Exit>) -> Json {
    match exit {
        Some(Exit::Code(code)) => json!({ "code": code }),
        Some(Exit::Signal(signal)) => json!({ "signal": signal }),
        None => Json::Null,
    }
}

fn sampling(sampling: &Sampling) -> Json {
    json!({
        "period": sampling.period,
        "warm": sampling.warm,
        "measure": sampling.measure,
        "samples": sampling.samples,
        "population": sampling.population,
    })
}

fn replicate(point: &SamplePoint) -> Json {
    json!({
        "instructions": point.instructions,
        "cycles": point.cycles,
        "allocator_cycles": point.allocator_cycles,
    })
}

fn configuration(run: &Run, item: &Configuration) -> Json {
    let mut object = Map::new();
    object.insert("name".into(), json!(item.name));
    object.insert("machine".into(), json!(item.machine));
    object.insert("accelerator".into(), json!(item.accelerator));
    object.insert("role".into(), json!(item.role));
    object.insert("parameters".into(), json!(item.parameters));
    extend(&mut object, values(CONFIGURATION, item, &configuration_context(run, item)));
    object.insert("phases".into(), json!(item.phases));
    let replicates: Vec<Json> = item.replicates.iter().map(replicate).collect();
    object.insert("replicates".into(), Json::Array(replicates));
    if let Some(sampling) = &run.sampling {
        object.insert("whole_run".into(), whole_run(item, sampling));
    }
    for group in CallGroup::all() {
        let figures = CallFigures::of(run, item, group);
        let mut calls = Map::new();
        extend(&mut calls, figures.values());
        calls.insert("latency".into(), latency(&figures.stats().latency));
        object.insert(group.name().into(), Json::Object(calls));
    }
    groups(&mut object, run, item);
    object.insert("size_classes".into(), json!(item.size_classes));
    object.insert("class_bytes".into(), json!(item.class_bytes));
    object.insert("requested_sizes".into(), json!(item.requested_sizes));
    object.insert("call_sites".into(), json!(item.call_sites));
    Json::Object(object)
}

/// Estimates for the whole run from the samples.
fn whole_run(item: &Configuration, sampling: &Sampling) -> Json {
    let mut object = Map::new();
    let estimates = [
        ("cycles", item.whole_run_cycles(sampling.population)),
        ("allocator_cycles", item.whole_run_allocator_cycles(sampling.population)),
    ];
    for (name, estimate) in estimates {
        object.insert(name.into(), json!(estimate.map(|e| e.value)));
        object.insert(format!("{name}_ci95"), json!(estimate.and_then(|e| e.half_width)));
    }
    Json::Object(object)
}

/// A latency histogram as `[low, high, count]` for each non-empty bucket.
fn latency(histogram: &LatencyHistogram) -> Json {
    let bucket = |(bucket, count): (u32, u64)| {
        let (low, high) = LatencyHistogram::bounds(bucket as usize);
        json!([low, high, count])
    };
    histogram.buckets().map(bucket).collect()
}

/// The groups of counters, each kind under its key: a list of named groups, or a single group,
/// which is null if the configuration does not have it.
fn groups(object: &mut Map<String, Json>, run: &Run, item: &Configuration) {
    let (schema, figures) = (run.groups(), GroupFigures::of(run, item));
    for kind in schema.kinds() {
        let mut present = groups_of(&schema, kind).filter(|group| figures.has(&group.path));
        let value = if kind.head.list {
            Json::Array(present.map(|group| named(&group, &figures)).collect())
        } else {
            present.next().map_or(Json::Null, |group| named(&group, &figures))
        };
        object.insert(kind.head.key.clone(), value);
    }
}

fn named(group: &Placed<'_>, figures: &GroupFigures) -> Json {
    let mut object = Map::new();
    if !group.name.is_empty() {
        object.insert("name".into(), json!(group.name));
    }
    let known = group.kind.figures.iter().filter(|figure| figures.knows(&group.path, figure));
    extend(
        &mut object,
        known.map(|figure| (figure.name.as_str(), figures.value(&group.path, &figure.name))),
    );
    Json::Object(object)
}

fn extend<'a>(object: &mut Map<String, Json>, figures: impl Iterator<Item = (&'a str, Value)>) {
    for (name, value) in figures {
        let json = match value {
            Value::Count(count) => json!(count),
            Value::Real(estimate) => json!(estimate.value),
            Value::Undefined => Json::Null,
        };
        object.insert(name.to_owned(), json);
        if let Some(half) = value.half_width() {
            object.insert(format!("{name}_ci95"), json!(half));
        }
    }
}
