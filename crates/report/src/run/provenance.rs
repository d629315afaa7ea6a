//! The origin of the figures, and what they mean.

use results::statistics::declarations;
use results::text::number;
use results::{Exit, Run};
use stats::Schema;

use super::command;
use crate::data::{Column, Data, Datum, Format};
use crate::html::Html;

/// What a reader needs to assess a run and to repeat it.
pub fn body(run: &Run) -> Html {
    let mut pairs: Vec<(&str, String)> = vec![
        ("program", command(run)),
        ("started", format!("{} UTC", number::date(run.started))),
        ("ended", ended(run)),
        ("mallacc", run.tool_version.clone()),
        ("git revision", run.git_revision.clone().unwrap_or_else(|| "not known".into())),
        ("seed", run.seed.to_string()),
        ("deterministic", if run.deterministic { "yes" } else { "no" }.into()),
        ("instructions executed", number::count(run.instructions)),
        ("measured", measured(run)),
        ("threads", number::count(run.threads)),
        ("time on the host", format!("{:.1} s", run.host_seconds)),
    ];
    if let Some(id) = run.id {
        pairs.push(("in the store", format!("run {id}: mallacc show {id} --detail")));
    }
    let pair = |(name, value): (&str, String)| {
        Html::join([Html::tag("dt", &[], name), Html::tag("dd", &[], &value)])
    };
    Html::element("dl", &[("class", "pairs")], Html::join(pairs.into_iter().map(pair)))
}

fn ended(run: &Run) -> String {
    let how = match run.exit {
        Some(Exit::Code(code)) => format!("exit code {code}"),
        Some(Exit::Signal(signal)) => format!("killed by signal {signal}"),
        None => "interrupted".into(),
    };
    if run.complete { how } else { format!("{how}; the run did not finish") }
}

fn measured(run: &Run) -> String {
    let first = run.configurations.first().map_or(0, |item| item.instructions);
    let how = match &run.sampling {
        None => "simulated in detail".to_owned(),
        Some(sampling) => format!(
            "in {} samples of {}, one every {}, each after {} of detailed warm-up; they represent \
             {} instructions, intervals are of 95 %",
            number::count(sampling.samples),
            number::count(sampling.measure),
            number::count(sampling.period),
            number::count(sampling.warm),
            number::count(sampling.population)
        ),
    };
    let seeds = run.configurations.first().map_or(0, |item| item.replicates.len());
    let how = match (seeds, run.executions) {
        (0, _) => how,
        (_, 0 | 1) => format!("{how}; {seeds} seeds, intervals are of 95 %"),
        (_, executions) => format!("{how}; {executions} executions, intervals are of 95 %"),
    };
    let roi = if run.roi { ", regions of interest only" } else { "" };
    format!("{} instructions, {how}{roi}", number::count(first))
}

/// Every statistic with its definition.
pub fn definitions(schema: &Schema) -> Html {
    let column = |name| Column::new(name, Format::Text);
    let mut data =
        Data::new([column("statistic"), column("unit"), column("meaning"), column("formula")]);
    for declared in declarations(schema) {
        let plain = if declared.counted { "counted" } else { "stated" };
        data.row([
            Datum::Text(format!("{}: {}", declared.group, declared.name)),
            declared.unit.into(),
            declared.description.as_str().into(),
            declared.formula.as_deref().unwrap_or(plain).into(),
        ]);
    }
    let mut html = Html::prose(
        "p",
        &[],
        "All configurations saw the identical instruction stream, so their differences contain no \
         noise from the program or the host. A speedup is the baseline's cycles over a \
         configuration's own, less 1. ± is half of a 95 % confidence interval, from samples or \
         seeds, and speedups are paired by them; ±0 means that nothing varied.",
    );
    let mut details = Html::tag("summary", &[], "Every statistic and its formula");
    details.push(data.html("Every statistic and its formula"));
    html.push(Html::element("details", &[], details));
    html
}
