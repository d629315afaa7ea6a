//! The timeline as one page that opens without a network: a row for each uop, a column for each
//! cycle, letters for the events so that it reads without colour.

use std::fmt::Write;

use crate::timeline::{Timeline, UopEvents};

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:15px/1.5 system-ui,sans-serif;margin:1.5rem;max-width:none}\
.scroll{overflow:auto;max-height:80vh;border:1px solid #8886}\
table{border-collapse:collapse;font:13px/1.45 ui-monospace,monospace;white-space:pre}\
th,td{padding:0 .6em;text-align:left;font-weight:400}\
thead th{position:sticky;top:0;background:Canvas;border-bottom:1px solid #8886}\
tr.first td,tr.first th{border-top:1px solid #8886}\
.q{background:#8883}.w{background:#e6a81744}.x{background:#2b7de988;font-weight:700}\
.d{background:#2fa36b44}.r{background:#2fa36b99;font-weight:700}\
dl{display:grid;grid-template-columns:auto 1fr;gap:.1rem .8rem}dt{font-family:monospace}\
dd{margin:0}";

const LEGEND: [(&str, &str, &str); 6] = [
    ("q", "q", "in the decoded-uop queue"),
    ("w", "A", "allocated"),
    ("w", "-", "waits for operands, then (=) for its port"),
    ("x", "0-7", "issues to this port; E executes"),
    ("d", ".", "complete, waits for older uops"),
    ("r", "R", "retires"),
];

/// The page. `title` is shown above the timeline.
pub fn page(timeline: &Timeline, title: &str) -> String {
    let mut out = String::from("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">");
    let title = escape(title);
    let _ = write!(out, "<title>{title}</title><style>{STYLE}</style></head><body>");
    let _ = write!(out, "<h1>{title}</h1><dl>");
    for (class, letter, meaning) in LEGEND {
        let _ = write!(out, "<dt class=\"{class}\">{letter}</dt><dd>{meaning}</dd>");
    }
    out.push_str("</dl><div class=\"scroll\" tabindex=\"0\" aria-label=\"uop timeline\"><table>");
    out.push_str("<thead><tr><th scope=\"col\">iter</th><th scope=\"col\">instruction</th>");
    let end = timeline.uops.iter().map(|u| u.retired).max().unwrap_or(0);
    let _ = write!(
        out,
        "<th scope=\"col\">uop</th><th scope=\"col\">{}</th></tr></thead><tbody>",
        ruler(end)
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
            row(u)
        );
    }
    out.push_str("</tbody></table></div></body></html>\n");
    out
}

/// Every tenth cycle's number.
fn ruler(end: u64) -> String {
    (0..=end / 10).map(|ten| format!("{:<10}", ten * 10)).collect()
}

/// Letters of a uop by cycle, in runs of equal class.
fn row(u: &UopEvents) -> String {
    let mut out = " ".repeat(u.delivered as usize);
    let mut run = (' ', String::new());
    for cycle in u.delivered..=u.retired {
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
    let port = u.port.and_then(|p| char::from_digit(u32::from(p), 10));
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

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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
        assert!(row(&u).starts_with(" <span class=\"q\">qq</span>"));
    }

    #[test]
    fn text_cannot_become_markup() {
        let timeline = Timeline { instructions: vec!["<b>".into()], uops: vec![] };
        let page = page(&timeline, "a<script>\"&");
        assert!(page.contains("a&lt;script&gt;&quot;&amp;") && !page.contains("<script>"));
    }
}
