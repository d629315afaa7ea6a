//! The timeline as a single page that needs no network, in the style of the reports: a row per uop,
//! a column per cycle, and letters for the events, so that it is readable without colour.

use std::fmt::Write;

use report::{Html, Page, escape};

use crate::timeline::{Timeline, UopEvents};

/// Additions to the style sheet of all pages.
const STYLE: &str = "
.timeline { font: 13px/1.45 var(--mono); white-space: pre; }
.timeline th, .timeline td { padding: 0 .6em; text-align: left; white-space: pre; border: 0; }
.timeline tr.first > * { border-top: 1px solid var(--line); }
.timeline thead th { position: sticky; top: 0; background: var(--paper); z-index: 1; }
.timeline tbody th[scope=row] { min-width: 0; white-space: pre; }
.timeline tbody tr:hover > * { background: none; }
.frame { max-height: 80vh; border: 1px solid var(--line); border-radius: 6px; background: \
var(--paper); }
.letters { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .2rem .9rem; \
margin: 0 0 1.2rem; font-size: .92rem; }
.letters dt { font-family: var(--mono); padding: 0 .5em; justify-self: start; }
.q { background: var(--wash); color: var(--soft); }
.w { box-shadow: inset 0 -2px var(--c2); }
.x { background: var(--c1); color: var(--paper); font-weight: 700; }
.d { background: var(--wash); box-shadow: inset 0 -2px var(--c3); }
.r { background: var(--c3); color: var(--paper); font-weight: 700; }
";

const LEGEND: [(&str, &str, &str); 6] = [
    ("q", "q", "in the decoded-uop queue"),
    ("w", "A", "allocated"),
    ("w", "-", "waits for operands, then (=) for its port"),
    ("x", "0-7", "issues to this port; E executes"),
    ("d", ".", "complete, waiting for older uops"),
    ("r", "R", "retires"),
];

/// The page. `title` is shown above the timeline.
pub fn page(timeline: &Timeline, title: &str) -> String {
    let mut page = Page::new(title);
    page.titled_by_command();
    page.style(STYLE);
    page.kicker("mallacc block · timeline of its uops");
    page.lead(summary(timeline));
    let mut body = Html::element("dl", &[("class", "letters")], legend());
    let attributes = [
        ("class", "scroll frame"),
        ("tabindex", "0"),
        ("role", "region"),
        ("aria-label", "Timeline: a row for each uop, a column for each cycle"),
    ];
    body.push(Html::element("div", &attributes, Html::raw(table(timeline))));
    page.section(1, "timeline", "A row for each uop, a column for each cycle", body);
    page.render()
}

/// How much is shown, and the block's speed.
fn summary(timeline: &Timeline) -> String {
    let iterations = timeline.uops.iter().map(|u| u.iteration);
    let count = match (iterations.clone().min(), iterations.max()) {
        (Some(first), Some(last)) => last - first + 1,
        _ => 0,
    };
    let end = timeline.uops.iter().map(|u| u.retired).max().unwrap_or(0);
    let instructions = timeline.instructions.len();
    let uops = timeline.uops.len();
    format!(
        "{count} iterations of {instructions} instructions: {uops} uops; the last retires in \
         cycle {end}."
    )
}

fn legend() -> Html {
    let entry = |(class, letter, meaning): (&str, &str, &str)| {
        let letter = Html::tag("dt", &[("class", class)], letter);
        Html::join([letter, Html::tag("dd", &[], meaning)])
    };
    Html::join(LEGEND.into_iter().map(entry))
}

/// Cycles shown before the first allocation: the time uops were queued before that matters little.
const BEFORE: u64 = 10;

/// The cycle of the first column, rounded.
fn beginning(timeline: &Timeline) -> u64 {
    let first = timeline.uops.iter().map(|u| u.allocated).min().unwrap_or(0);
    first.saturating_sub(BEFORE) / 10 * 10
}

fn table(timeline: &Timeline) -> String {
    let start = beginning(timeline);
    let end = timeline.uops.iter().map(|u| u.retired).max().unwrap_or(0);
    let mut out = format!(
        "<table class=\"timeline\"><thead><tr><th scope=\"col\">iter</th><th scope=\"col\">\
         instruction</th><th scope=\"col\">uop</th><th scope=\"col\">{}</th></tr></thead><tbody>",
        ruler(start, end)
    );
    let mut last = None;
    for u in &timeline.uops {
        let new_iteration = last.is_none_or(|(iteration, _)| iteration != u.iteration);
        let new = last != Some((u.iteration, u.instruction));
        last = Some((u.iteration, u.instruction));
        let name = timeline.instructions.get(u.instruction).filter(|_| new);
        let _ = write!(
            out,
            "<tr{}><td>{}</td><th scope=\"row\">{}</th><td>{}{}</td><td>{}</td></tr>",
            if new_iteration { " class=\"first\"" } else { "" },
            u.iteration,
            escape(name.map_or("", String::as_str)),
            if u.fused { "+ " } else { "" },
            u.kind,
            row(u, start)
        );
    }
    out + "</tbody></table>"
}

/// The number of every tenth cycle.
fn ruler(start: u64, end: u64) -> String {
    (start / 10..=end / 10).map(|ten| format!("{:<10}", ten * 10)).collect()
}

/// Letters of a uop by cycle, beginning at `start`, in runs of equal class.
fn row(u: &UopEvents, start: u64) -> String {
    let mut out = " ".repeat(u.delivered.saturating_sub(start) as usize);
    let mut run = (' ', String::new());
    for cycle in u.delivered.max(start)..=u.retired {
        let (class, letter) = letter(u, cycle);
        if class != run.0 {
            flush(&mut out, &mut run);
            run.0 = class;
        }
        run.1.push(letter);
    }
    flush(&mut out, &mut run);
    out
}

fn flush(out: &mut String, run: &mut (char, String)) {
    if !run.1.is_empty() {
        let _ = write!(out, "<span class=\"{}\">{}</span>", run.0, run.1);
        run.1.clear();
    }
}

fn letter(u: &UopEvents, cycle: u64) -> (char, char) {
    let port = u.port.and_then(|p| char::from_digit(u32::from(p), 12));
    match cycle {
        c if c == u.retired => ('r', 'R'),
        c if c < u.allocated => ('q', 'q'),
        c if c == u.allocated => ('w', 'A'),
        c if port.is_some() && c < u.ready.min(u.issued) => ('w', '-'),
        c if port.is_some() && c < u.issued => ('w', '='),
        c if c == u.issued && port.is_some() => ('x', port.unwrap_or('E')),
        c if port.is_some() && c < u.completed => ('x', 'E'),
        _ => ('d', '.'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cycle_of_a_uop_has_the_letter_of_its_state() {
        let u = UopEvents {
            iteration: 0,
            instruction: 0,
            kind: "exec",
            fused: false,
            port: Some(6),
            delivered: 1,
            allocated: 3,
            ready: 8,
            issued: 10,
            completed: 12,
            retired: 14,
        };
        let letters: String = (1..=14).map(|c| letter(&u, c).1).collect();
        // Queue 1-2, allocated 3, operands 4-7, port 8-9, issue 10, execute 11, complete 12-13.
        assert_eq!(letters, "qqA----==6E..R");
        assert!(row(&u, 0).starts_with(" <span class=\"q\">qq</span>"));
        assert!(row(&u, 2).starts_with("<span class=\"q\">q</span>"));
        let timeline =
            Timeline { instructions: vec![], uops: vec![UopEvents { allocated: 47, ..u }] };
        // Ten cycles before the allocation in cycle 47, rounded down.
        assert_eq!(beginning(&timeline), 30);
        assert!(ruler(30, 47).starts_with("30        40        "));
    }

    #[test]
    fn text_cannot_become_markup() {
        let timeline = Timeline { instructions: vec!["<b>".into()], uops: vec![] };
        let page = page(&timeline, "a<script>\"&");
        assert!(page.contains("a&lt;script&gt;&quot;&amp;") && !page.contains("<script>"));
    }
}
