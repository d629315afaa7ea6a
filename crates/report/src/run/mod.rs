//! The report of one run, or of several side by side.
//!
//! ```text
//! Run ─> roles (who is baseline, headline, limit; which look) ─┐
//!   ├─> summary, comparison, latency, phases, entries,         ├─> sections of a Page
//!   │   coverage, call_sites, cpi, memory, counters, machine, provenance ──┘
//! Runs ─> overview
//! ```

mod call_sites;
mod comparison;
mod counters;
mod coverage;
mod cpi;
mod entries;
mod figures;
mod latency;
mod machine;
mod memory;
mod overview;
mod phases;
mod provenance;
mod roles;
mod summary;

use results::Run;
use stats::Schema;

use documents::text::capitalised;

use crate::html::Html;
use crate::page::Page;

/// The name of a run in the page and in the names of its downloads.
struct Name {
    /// `run 7`
    text: String,
    /// `run7`
    id: String,
}

impl Name {
    fn of(run: &Run, position: usize) -> Self {
        let number = run.id.map_or_else(|| format!("{}", position + 1), |id| id.to_string());
        Self { text: format!("run {number}"), id: format!("run{number}") }
    }

    /// The name of a download.
    fn file(&self, what: &str) -> String {
        format!("mallacc-{}-{what}.csv", self.id)
    }
}

/// The program with its arguments, on one line, behind the run's label.
fn command(run: &Run) -> String {
    let quoted = |arg: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
        if !arg.is_empty() && arg.chars().all(plain) {
            arg.clone()
        } else {
            format!("'{}'", arg.replace('\'', "'\\''"))
        }
    };
    let words = std::iter::once(run.program.clone()).chain(run.args.iter().map(quoted));
    let label = run.label.as_ref().map(|label| format!("[{label}] ")).unwrap_or_default();
    label + &words.collect::<Vec<_>>().join(" ")
}

/// `text`, or its beginning if it is too long.
fn short(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    text.chars().take(letters - 1).chain(['…']).collect()
}

/// The program without the folders it lies in.
fn program_name(run: &Run) -> &str {
    run.program.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&run.program)
}

/// Number of characters of a command that fit in a heading.
const HEADING_LETTERS: usize = 160;

/// The report of these runs, as one page.
pub fn page(runs: &[Run]) -> String {
    match runs {
        [run] => single(run),
        _ => several(runs),
    }
}

fn single(run: &Run) -> String {
    let name = Name::of(run, 0);
    let mut page = Page::new(short(&command(run), HEADING_LETTERS));
    page.titled_by_command();
    page.kicker(format!("mallacc report · {}", name.text));
    for sentence in results::text::headline(run) {
        page.lead(sentence);
    }
    page.intro(summary::under_the_headline(run));
    for (id, title, body) in sections(run, &name) {
        page.section(1, id, title, body);
    }
    page.section(1, "definitions", "What the figures mean", provenance::definitions(&run.schema));
    page.foot(foot(run));
    page.render()
}

fn several(runs: &[Run]) -> String {
    let names: Vec<Name> = runs.iter().enumerate().map(|(i, run)| Name::of(run, i)).collect();
    let mut page = Page::new(format!("{} runs", runs.len()));
    page.kicker("mallacc report · comparison");
    for sentence in overview::sentences(runs) {
        page.lead(sentence);
    }
    page.section(1, "overview", "Overview", overview::body(runs, &names));
    for (run, name) in runs.iter().zip(&names) {
        let mut intro = Html::default();
        for (index, sentence) in results::text::headline(run).iter().enumerate() {
            let class = if index == 0 { "lead" } else { "lead second" };
            intro.push(Html::prose("p", &[("class", class)], sentence));
        }
        intro.push(Html::tag("p", &[("class", "mono")], &short(&command(run), HEADING_LETTERS)));
        intro.push(summary::under_the_headline(run));
        let title = format!("{}: {}", capitalised(&name.text), short(program_name(run), 60));
        page.section(1, &name.id, title, intro);
        for (id, title, body) in sections(run, name) {
            page.section(2, &format!("{}-{id}", name.id), title, body);
        }
    }
    let schemas = runs.iter().map(|run| &run.schema);
    let schema = schemas.fold(Schema::default(), |all, one| all.merged(one));
    page.section(1, "definitions", "What the figures mean", provenance::definitions(&schema));
    if let Some(run) = runs.first() {
        page.foot(foot(run));
    }
    page.render()
}

/// The non-empty sections of a run: id, title, body.
fn sections(run: &Run, name: &Name) -> Vec<(&'static str, &'static str, Html)> {
    let all = [
        ("comparison", "Configurations compared", comparison::body(run, name)),
        ("latency", "Latency of calls", latency::body(run, name)),
        ("phases", "Over the course of the run", phases::body(run, name)),
        ("entries", "Speedup against entries", entries::body(run, name)),
        ("coverage", "Size classes", coverage::body(run, name)),
        ("call-sites", "Who calls the allocator", call_sites::body(run, name)),
        ("cpi", "Where the cycles go", cpi::body(run, name)),
        ("memory", "Caches, translation, prediction", memory::body(run, name)),
        ("counters", "Every counter", counters::body(run, name)),
        ("machine", "The machine", machine::body(run, name)),
        ("provenance", "Provenance", Some(provenance::body(run))),
    ];
    all.into_iter().filter_map(|(id, title, body)| Some((id, title, body?))).collect()
}

fn foot(run: &Run) -> String {
    let version = &run.tool_version;
    format!(
        "Written by mallacc ({version} made the first run). One file, no script, no request to any \
         network; every chart's figures can be downloaded from it."
    )
}
