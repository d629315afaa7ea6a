use super::*;
use crate::sheet::{Derived, Sheet, exact};

const MALLOC: (Figure, &str, &str) = (Figure::Table1, "tp_small", "malloc_cycles");

fn conditions() -> Conditions {
    Conditions { machine: "haswell-user".into(), seeds: 5, ..Conditions::default() }
}

/// Table 1 of a study in which tp_small's pair takes this many cycles.
fn table(pair: f64) -> Table {
    let mut table = Table::new("microbenchmark", &["in all per malloc", "cycles per malloc"]);
    let cycles = |value| Cell::exact(value, Unit::Cycles);
    table.row("tp_small", vec![cycles(Some(pair)), cycles(Some(14.3))]);
    table.row("sized_deletes", vec![cycles(Some(29.0)), cycles(Some(18.0))]);
    table
}

/// The explanation of tp_small's malloc of 14.3 cycles, which the paper puts at 18.
fn said(conditions: &Conditions, pair: f64) -> Explanation {
    let mut derived = Derived { table: table(pair), ..Derived::default() };
    derived.of(MALLOC.1, MALLOC.2, exact(14.3));
    let mut sheet = Sheet::new(MALLOC.0, derived, |name| name == MALLOC.1);
    let tables = vec![(Figure::Table1, sheet.table.clone())];
    sheet.explain(&Evidence { conditions, programs: vec!["tp_small"], tables });
    let found = sheet.checks.iter().find(|check| check.claim.quantity == MALLOC.2).unwrap();
    assert_eq!(found.verdict, Verdict::Differs);
    found.cause.clone().unwrap()
}

/// The cause of that claim, and the band of its 28 cycles.
fn pair() -> (&'static Cause, f64, (f64, f64)) {
    let cause = CAUSES.iter().find(|cause| cause.claims.contains(&MALLOC)).unwrap();
    let band = cause.figures.iter().find_map(|named| match named.origin {
        Origin::Study { was, band, .. } if named.words == "28 cycles" => Some((was, band)),
        _ => None,
    });
    let (was, band) = band.unwrap();
    (cause, was, band)
}

#[test]
fn a_cause_whose_figures_stand_is_printed_with_the_day_it_was_established() {
    let (cause, was, _) = pair();
    let said = said(&conditions(), was);
    assert_eq!((said.moved(), said.date()), (&[][..], Some(cause.established.date)));
    let text = said.to_string();
    assert!(text.starts_with(cause.text) && text.contains(cause.established.date), "{text}");
}

#[test]
fn a_figure_that_left_its_band_makes_its_cause_stale() {
    let (cause, was, (low, high)) = pair();
    for (now, stale) in [(low, false), (high, false), (low - 0.1, true), (high + 0.1, true)] {
        let said = said(&conditions(), now);
        assert_eq!(!said.moved().is_empty(), stale, "{now}");
        let text = said.to_string();
        assert_eq!(text.starts_with("stale: "), stale, "{text}");
        if stale {
            let expected = format!("\"28 cycles\" was {was:.1}, now {now:.1}");
            assert!(text.contains(&expected) && text.contains(cause.text), "{text}");
        }
    }
}

#[test]
fn a_cause_of_another_configuration_is_not_printed() {
    let (cause, was, _) = pair();
    let others = [
        Conditions { machine: "haswell".into(), ..conditions() },
        Conditions { machine: "haswell-user (changed)".into(), ..conditions() },
        Conditions { length: Length::Quick, ..conditions() },
        Conditions { recorded: true, ..conditions() },
    ];
    for other in others {
        let text = said(&other, was).to_string();
        assert!(text.starts_with("cause not established for this configuration"), "{text}");
        assert!(!text.contains(cause.text), "{text}");
    }
    // The number of seeds does not matter to a microbenchmark.
    assert!(said(&Conditions { seeds: 2, ..conditions() }, was).date().is_some());
}

#[test]
fn what_a_study_did_not_measure_is_reported() {
    let (cause, ..) = pair();
    let conditions = conditions();
    let evidence = Evidence { conditions: &conditions, programs: vec![], tables: vec![] };
    let text = cause.check(&evidence).to_string();
    assert!(text.contains("this run did not measure \"28 cycles\""), "{text}");
}

#[test]
fn a_claim_that_is_not_compared_says_why() {
    let text = |figure, subject: &'static str, values: &[(&'static str, f64)], quantity| {
        let mut derived = Derived::default();
        for (name, value) in values {
            derived.of(subject, name, exact(*value));
        }
        let mut sheet = Sheet::new(figure, derived, |name| name == subject);
        let conditions = conditions();
        sheet.explain(&Evidence { conditions: &conditions, programs: vec![], tables: vec![] });
        let check = sheet.checks.iter().find(|c| c.claim.quantity == quantity).unwrap();
        (check.verdict, check.cause.as_ref().unwrap().to_string())
    };
    let (verdict, beside) = text(Figure::Table1, "", &[("error", 0.03)], "error");
    assert_eq!(verdict, Verdict::NotComparable);
    assert!(beside.contains("microbenchmarks") && beside.contains("basic blocks"), "{beside}");
    let values = [("speedup", 0.0001), ("p", 0.001)];
    let (verdict, p) = text(Figure::Table2, "kv-frees", &values, "p");
    assert_eq!(verdict, Verdict::NotComparable);
    assert!(p.contains("program speedup"), "{p}");
}

#[test]
fn a_cause_belongs_to_claims_and_a_claim_has_one_cause() {
    let mut seen = Vec::new();
    for claimed in CAUSES.iter().flat_map(|cause| cause.claims) {
        let belongs = CLAIMS.iter().any(|c| (c.figure, c.subject, c.quantity) == *claimed);
        assert!(belongs && !seen.contains(&claimed), "{claimed:?}");
        seen.push(claimed);
    }
}

#[test]
fn every_number_in_a_cause_is_one_of_its_figures() {
    // Names with a number in them, and references.
    let names = ["L1D", "L2", "L1", "Figure 2", "Figure 6", "Figure 13", "Figure 15", "Figure 18"];
    for cause in CAUSES {
        let mut text = cause.text.to_owned();
        for named in cause.figures {
            assert!(text.contains(named.words), "{:?} is not in: {}", named.words, cause.text);
            text = text.replacen(named.words, "", 1);
        }
        // Longer names first, so that "Figure 1" does not match the beginning of "Figure 18".
        for name in names.iter().rev() {
            text = text.replace(name, "");
        }
        assert!(!text.contains(|c: char| c.is_ascii_digit()), "undeclared number: {text}");
    }
}

#[test]
fn what_a_figure_was_lies_in_its_band_and_its_cell_is_in_the_tables() {
    let study = crate::Study::default();
    for cause in CAUSES {
        assert!(cause.established.date.len() == 10 && !cause.experiment.is_empty());
        for named in cause.figures {
            if let Origin::Study { figure, cells, was, band: (low, high) } = named.origin {
                assert!(low <= was && was <= high, "{} {}", cause.text, named.words);
                let sheet = &crate::derive::sheets(&[figure], &study)[0];
                for (row, column) in cells {
                    // Figure 17 has a column for each program, and this study has no programs.
                    let by_program = crate::Subject::find(column).is_some();
                    let known = sheet.table.columns.iter().any(|name| name == column);
                    assert!(known || by_program, "{row} {column} of {}", figure.name());
                }
            }
        }
    }
}
