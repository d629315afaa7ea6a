//! For people: text for a terminal, Markdown for the documentation.

use std::fmt::Write as _;

use documents::{Column, Layout};

use super::{asks, measured};
use crate::sheet::{Cell, Check, Sheet, Table};
use crate::verdict::{Rule, Verdict};

/// Sheets as text, after a sentence on the machine.
pub fn text(machine: &str, sheets: &[Sheet]) -> String {
    let mut text = format!("{machine}\n\n");
    for sheet in sheets {
        let _ = writeln!(text, "{}: {}", sheet.figure.label(), sheet.figure.title());
        text += &table(&sheet.table).text(&Layout::PLAIN);
        text.push('\n');
        for note in &sheet.notes {
            let _ = writeln!(text, "{note}");
        }
        for check in &sheet.checks {
            let claim = check.claim;
            let _ = writeln!(
                text,
                "{:14} {}: measured {}, paper {} ({})",
                check.verdict.name(),
                about(check),
                measured(check),
                claim.paper,
                claim.source
            );
            if let Some(cause) = &check.cause {
                let _ = writeln!(text, "{:14}   {cause}", "");
            }
        }
        text.push('\n');
    }
    let _ = writeln!(text, "{}", summary(sheets));
    text
}

/// Sheets as Markdown, after a sentence on the machine; one section per figure.
pub fn markdown(machine: &str, sheets: &[Sheet]) -> String {
    let mut text = format!("{machine}\n\n");
    let _ = writeln!(text, "{}", summary(sheets));
    for sheet in sheets {
        let _ = writeln!(text, "\n### {}: {}\n", sheet.figure.label(), sheet.figure.title());
        let _ = writeln!(text, "{}\n", sheet.figure.definition());
        text += &table(&sheet.table).markdown();
        for note in &sheet.notes {
            let _ = writeln!(text, "\n{note}");
        }
        let names = ["paper", "measured", "rule", "verdict"].map(Column::right);
        let mut claims = documents::Table::new([Column::left("claim")].into_iter().chain(names));
        for check in &sheet.checks {
            let verdict = match &check.cause {
                Some(cause) => format!("{}: {cause}", check.verdict.name()),
                None => check.verdict.name().to_owned(),
            };
            let claim = check.claim;
            let paper = format!("{} ({})", claim.paper, claim.source);
            // A claim that is not comparable has no rule, and its verdict gives the reason.
            let rule = match claim.rule {
                Rule::Beside => asks(check),
                _ => format!("{}: {}", asks(check), claim.reason),
            };
            claims.row([about(check), paper, measured(check), rule, verdict]);
        }
        if !claims.rows().is_empty() {
            text.push('\n');
            text += &claims.markdown();
        }
    }
    text
}

/// How many claims got each verdict.
fn summary(sheets: &[Sheet]) -> String {
    let count = |verdict: Verdict| {
        sheets.iter().flat_map(|s| &s.checks).filter(|c| c.verdict == verdict).count()
    };
    let all: usize = sheets.iter().map(|sheet| sheet.checks.len()).sum();
    let mut parts = vec![format!("{} of {all} claims reproduced", count(Verdict::Reproduced))];
    for (verdict, words) in [
        (Verdict::Differs, "differ"),
        (Verdict::Undecided, "undecided"),
        (Verdict::NotComparable, "not comparable"),
        (Verdict::NotMeasured, "not measured"),
    ] {
        let number = count(verdict);
        if number > 0 {
            parts.push(format!("{number} {words}"));
        }
    }
    let mut text = parts.join(", ") + ".";
    let stale = sheets.iter().flat_map(Sheet::stale).count();
    if stale > 0 {
        let _ = write!(text, " Stale causes: {stale}.");
    }
    text
}

fn about(check: &Check) -> String {
    match check.claim.subject {
        "" => check.claim.what.to_owned(),
        subject => format!("{subject}: {}", check.claim.what),
    }
}

/// The table, with labels aligned left and numbers aligned right.
fn table(table: &Table) -> documents::Table {
    let figures = table.columns.iter().map(Column::right);
    let columns = [Column::left(table.corner)].into_iter().chain(figures);
    let mut texts = documents::Table::new(columns);
    for (label, cells) in &table.rows {
        let empty = std::iter::repeat_n(&Cell::Empty, table.columns.len() - cells.len());
        let cells = cells.iter().chain(empty).map(Cell::text);
        texts.row([label.clone()].into_iter().chain(cells));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Figure;
    use crate::sheet::{Derived, Unit, exact};

    fn sheet() -> Sheet {
        let mut table = Table::new("entries", &["tp_small"]);
        table.row("4", vec![Cell::exact(Some(0.25), Unit::Percent)]);
        table.row("a | b", vec![]);
        let mut derived = Derived { table, ..Derived::default() };
        derived.of("tp_small", "inflection", exact(6.0));
        Sheet::new(Figure::Fig17, derived, |name| name == "tp_small")
    }

    #[test]
    fn text_has_the_table_and_a_line_for_each_claim_with_the_papers_value() {
        let text = text("Machine x: y.", &[sheet()]);
        assert!(text.starts_with("Machine x: y.\n\nFigure 17: "), "{text}");
        assert!(text.contains("entries  tp_small\n4          25.0 %\n"), "{text}");
        let line = text.lines().find(|line| line.contains("inflection")).unwrap();
        assert!(line.starts_with("differs ") && line.contains("measured 6, paper 4 (section 6.2)"));
        assert!(text.contains("0 of 3 claims reproduced, 1 differ, 2 not measured."), "{text}");
    }

    #[test]
    fn markdown_tables_are_whole() {
        let text = markdown("Machine x: y.", &[sheet()]);
        assert!(text.starts_with("Machine x: y.\n\n0 of 3 claims"), "{text}");
        for table in text.split("\n\n").filter(|part| part.starts_with('|')) {
            let bars = |line: &str| line.replace("\\|", "").matches('|').count();
            let first = table.lines().next().map(bars);
            assert!(table.lines().all(|line| Some(bars(line)) == first), "{table}");
        }
        assert!(text.contains("| 4: a number of size classes, which the programs fix |"), "{text}");
    }
}
