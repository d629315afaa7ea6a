//! The declarations of everything that can be counted: their obligations to readers, and the page
//! that is generated from them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use mallacc_sim::declared;
use results::statistics::{self, CONFIGURATION};
use results::{CallGroup, Configuration, Run, csv, json, store};
use stats::Schema;

#[test]
fn the_statistics_page_is_what_is_declared() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/statistics.md");
    let expected = statistics::markdown(&declared());
    if std::env::var_os("MALLACC_UPDATE_DOCS").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let actual = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        actual == expected,
        "docs/statistics.md differs from the declarations; MALLACC_UPDATE_DOCS=1 cargo test -p \
         mallacc-sim writes it anew"
    );
}

#[test]
fn every_name_in_every_formula_is_declared() {
    let outside = |name: &str| CONFIGURATION.iter().any(|statistic| statistic.name == name);
    assert_eq!(declared().unresolved(outside), [""; 0]);
}

#[test]
fn every_figure_has_a_name_of_its_own_in_its_kind_and_a_sentence() {
    let schema = declared();
    assert!(schema.kinds().len() > 8, "{} kinds", schema.kinds().len());
    for kind in schema.kinds() {
        assert!(kind.head.about.ends_with('.'), "{}: {}", kind.head.name, kind.head.about);
        let mut names = BTreeSet::new();
        for figure in &kind.figures {
            let name = format!("{}.{}", kind.head.name, figure.name);
            assert!(names.insert(&figure.name), "{name} twice");
            let snake = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(figure.name.chars().all(snake), "{name}");
            let sentence = &figure.sentence;
            assert!(sentence.ends_with('.') && sentence.len() > 5, "{name}: {sentence}");
            let begins = |c: char| c.is_uppercase() || c.is_ascii_digit();
            assert!(sentence.starts_with(begins), "{name}: {sentence}");
            assert_ne!(figure.since, 0, "{name}");
        }
    }
}

/// Paths must not begin like names that the store gives to calls, nor keys equal those of others.
#[test]
fn groups_take_no_name_that_a_document_has_already() {
    let schema = declared();
    let bare = Run { configurations: vec![Configuration::default()], ..Run::default() };
    let taken = json::value(&bare)["configurations"][0].clone();
    let mut keys = BTreeSet::new();
    for kind in schema.kinds() {
        let key = &kind.head.key;
        assert!(taken.get(key).is_none() && keys.insert(key.clone()), "{key} is there twice");
    }
    for group in schema.groups() {
        let path = group.path();
        assert!(CallGroup::all().all(|calls| path != calls.name()), "{path} is a kind of call");
    }
    let columns: Vec<String> = csv::header(&schema).trim().split(',').map(str::to_owned).collect();
    let unique: BTreeSet<&String> = columns.iter().collect();
    assert_eq!(unique.len(), columns.len());
}

#[test]
fn whatever_version_1_stored_is_declared_under_its_name_and_in_its_unit() {
    let (now, then) = (declared(), store::version_1());
    for group in then.groups() {
        let path = group.path();
        let (old, new) = (then.kind_at(&path).unwrap(), now.kind_at(&path).unwrap());
        assert_eq!((&old.head.key, old.head.list), (&new.head.key, new.head.list), "{path}");
        for figure in &old.figures {
            let found = new.figure(&figure.name);
            assert_eq!(found.map(|f| f.unit), Some(figure.unit), "{path}.{}", figure.name);
        }
    }
}

#[test]
fn columns_of_csv_stay_where_version_1_had_them() {
    let columns = |schema: &Schema| -> Vec<String> {
        csv::header(schema).trim().split(',').map(str::to_owned).collect()
    };
    let (now, mut then) = (columns(&declared()), columns(&store::version_1()));
    // Version 1 left the CPI stack out of CSV.
    then.retain(|name| !name.starts_with("cpi."));
    assert!(then.len() > 200, "{} columns", then.len());
    assert_eq!(now[..then.len()], then);
    assert!(now.len() > then.len());
}
