//! `docs/figures.md` shows the latest measurement. Its verdicts must be those of today's rules, its
//! causes today's causes, and the figures that the causes name must agree with its tables.

use mallacc_paper::causes::{CAUSES, Conditions, Evidence, Explanation, Origin};
use mallacc_paper::claims::{self, Claim};
use mallacc_paper::sheet::{Derived, Unit};
use mallacc_paper::verdict::Verdict;
use mallacc_paper::{Cell, Figure, SUBJECTS, Sheet, Table, render};
use results::confidence::Estimate;

/// The conditions of the study on the page: five seeds of everything on the paper's machine.
fn conditions() -> Conditions {
    Conditions { machine: "haswell-user".into(), seeds: 5, ..Conditions::default() }
}

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/figures.md");

fn page() -> String {
    std::fs::read_to_string(PATH).expect("the page is there")
}

/// A number as the page prints it, in this unit.
fn number(text: &str, unit: Unit) -> Option<Estimate> {
    let (factor, _, suffix) = unit.form();
    let mut parts = text.strip_suffix(suffix).unwrap_or(text).split(" ±");
    let mut next = || parts.next().and_then(|part| part.parse::<f64>().ok());
    Some(Estimate { value: next()? / factor, half_width: next().map(|half| half / factor) })
}

/// A cell as the page prints it; the unit follows from suffix and decimals.
fn cell(text: &str) -> Cell {
    let digits = text.split([' ', '±']).next().unwrap_or_default();
    let decimals = digits.split_once('.').map_or(0, |(_, rest)| rest.len());
    let unit = match (text.ends_with(" %"), text.ends_with(" points"), decimals) {
        (true, _, 2) => Unit::FinePercent,
        (true, ..) => Unit::Percent,
        (_, true, _) => Unit::Points,
        (.., 0) => Unit::Count,
        (.., 1) => Unit::Cycles,
        (.., 2) => Unit::Ratio,
        _ => Unit::Probability,
    };
    match number(text, unit) {
        Some(estimate) => Cell::Number(estimate, unit),
        None if text == "-" => Cell::Empty,
        None => Cell::Text(text.to_owned()),
    }
}

/// The cells of a line of a Markdown table.
fn fields(line: &str) -> Vec<&str> {
    line.trim_matches('|').split(" | ").map(str::trim).collect()
}

fn claim(figure: Figure, about: &str, paper: &str) -> &'static Claim {
    let is = |claim: &&Claim| {
        let name = match claim.subject {
            "" => claim.what.to_owned(),
            subject => format!("{subject}: {}", claim.what),
        };
        about == name && paper == format!("{} ({})", claim.paper, claim.source)
    };
    claims::of(figure).find(is).unwrap_or_else(|| panic!("{}: {about}", figure.name()))
}

/// A section of the page, parsed back into what it was made from.
fn derived(figure: Figure, section: &str) -> Derived {
    let blocks: Vec<&str> = section.trim().split("\n\n").collect();
    let mut derived = Derived::default();
    // Title, definition, table, notes, claims.
    for block in &blocks[2..] {
        let mut lines = block.lines().filter(|line| !line.starts_with("|---"));
        let head = fields(lines.next().unwrap_or_default());
        if !block.starts_with('|') {
            derived.notes.push((*block).to_owned());
        } else if head[0] == "claim" {
            for line in lines {
                let fields = fields(line);
                let claim = claim(figure, fields[0], fields[1]);
                derived.values.push((claim.subject, claim.quantity, number(fields[2], claim.unit)));
            }
        } else {
            derived.table = Table::new(head[0].to_owned().leak(), &head[1..]);
            for line in lines {
                let fields = fields(line);
                derived.table.row(fields[0], fields[1..].iter().map(|text| cell(text)).collect());
            }
        }
    }
    derived
}

/// The page's figures, judged and explained by today's rules and causes.
fn sheets(page: &str) -> Vec<Sheet> {
    let sections = page.split("\n### ").skip(1).map(|section| {
        let label = section.split(':').next().unwrap_or_default();
        let figure = Figure::parse(label).unwrap_or_else(|error| panic!("{error}"));
        (figure, derived(figure, section))
    });
    let all: Vec<(Figure, Derived)> = sections.collect();
    let conditions = conditions();
    let evidence = Evidence {
        conditions: &conditions,
        programs: SUBJECTS.iter().map(|subject| subject.name).collect(),
        tables: all.iter().map(|(figure, derived)| (*figure, derived.table.clone())).collect(),
    };
    let sheet = |(figure, derived)| {
        let mut sheet = Sheet::new(figure, derived, |_| true);
        sheet.explain(&evidence);
        sheet
    };
    all.into_iter().map(sheet).collect()
}

#[test]
fn the_page_has_the_verdicts_and_causes_of_today() {
    let page = page();
    let machine = page.lines().find(|line| line.starts_with("Machine ")).expect("the machine");
    let expected = render::markdown(machine, &sheets(&page));
    let start = page.find(machine).unwrap_or_default();
    let expected = format!("{}{expected}", &page[..start]);
    if std::env::var_os("MALLACC_UPDATE_DOCS").is_some() {
        std::fs::write(PATH, &expected).expect("it can be written");
    }
    assert!(
        page == expected || std::env::var_os("MALLACC_UPDATE_DOCS").is_some(),
        "docs/figures.md differs from what its own figures give today; MALLACC_UPDATE_DOCS=1 \
         cargo test -p mallacc-paper writes it anew"
    );
}

#[test]
fn the_accuracy_page_counts_the_verdicts_of_this_page() {
    let accuracy = PATH.replace("figures.md", "accuracy.md");
    let accuracy = std::fs::read_to_string(accuracy).expect("the page is there");
    let sheets = sheets(&page());
    let verdicts: Vec<Verdict> =
        sheets.iter().flat_map(|sheet| &sheet.checks).map(|check| check.verdict).collect();
    let count = |verdict| verdicts.iter().filter(|found| **found == verdict).count();
    let counts = format!(
        "{} claims of the Mallacc paper (2026-11-22) | {} reproduced, {} differ, {} not comparable",
        verdicts.len(),
        count(Verdict::Reproduced),
        count(Verdict::Differs),
        count(Verdict::NotComparable),
    );
    assert!(accuracy.contains(&counts), "docs/accuracy.md lacks: {counts}");
}

#[test]
fn no_cause_on_the_page_is_stale_and_every_figure_of_it_is_on_the_page() {
    let (mut found, page) = (0, page());
    for sheet in sheets(&page) {
        for check in &sheet.checks {
            if let Some(Explanation::Established { cause, moved, unmeasured }) = &check.cause {
                assert!(moved.is_empty() && unmeasured.is_empty(), "{:?}", check.cause);
                found += usize::from(!cause.figures.is_empty());
            }
        }
    }
    assert!(found > 0);
}

#[test]
fn a_figure_of_the_page_that_moves_beyond_its_band_is_noticed() {
    // Every cell that a cause rests on, moved a little beyond twice its band's upper end.
    let page = page();
    let conditions = conditions();
    let tables: Vec<(Figure, Table)> =
        sheets(&page).into_iter().map(|sheet| (sheet.figure, sheet.table)).collect();
    for cause in CAUSES {
        for named in cause.figures {
            let Origin::Study { figure, cells: [(row, column), ..], band, .. } = named.origin
            else {
                continue;
            };
            let mut tables = tables.clone();
            let table = &mut tables.iter_mut().find(|(of, _)| *of == figure).unwrap().1;
            let at = table.columns.iter().position(|name| name == column).unwrap();
            let cell = table.cell(row, column).unwrap().clone();
            let Cell::Number(_, unit) = cell else { panic!("{row} {column}: {cell:?}") };
            let beyond = band.1.abs() * 2.0 + 1.0;
            for (label, cells) in &mut table.rows {
                if label == row || label.starts_with(&format!("{row} ")) {
                    cells[at] = Cell::exact(Some(beyond), unit);
                }
            }
            let programs = SUBJECTS.iter().map(|subject| subject.name).collect();
            let evidence = Evidence { conditions: &conditions, programs, tables };
            let moved = sheets_moved(&evidence, cause.claims);
            assert!(moved.iter().any(|words| words == named.words), "{}", named.words);
        }
    }
}

/// Figures that have left their band, as the claims' checks report them.
fn sheets_moved(evidence: &Evidence<'_>, claims: &[(Figure, &str, &str)]) -> Vec<String> {
    let mut moved = Vec::new();
    for (figure, subject, quantity) in claims {
        let claim = claims::of(*figure)
            .find(|claim| (claim.subject, claim.quantity) == (*subject, *quantity))
            .unwrap();
        // A value that no rule allows, so that the claim differs.
        let (low, high) = claim.rule.bounds();
        let value = if low.is_finite() { low - 1e6 } else { high + 1e6 };
        let mut derived = Derived::default();
        derived.values.push((
            claim.subject,
            claim.quantity,
            Some(Estimate { value, half_width: None }),
        ));
        let mut sheet = Sheet::new(*figure, derived, |_| true);
        sheet.explain(evidence);
        for check in sheet.checks.iter().filter(|check| std::ptr::eq(check.claim, claim)) {
            let cause = check.cause.as_ref().expect("it differs");
            moved.extend(cause.moved().iter().map(|figure| figure.words.to_owned()));
        }
    }
    moved
}
