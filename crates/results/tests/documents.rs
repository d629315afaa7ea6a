//! The generated pages, and the obligations of every declaration.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use mallacc_results::statistics::declarations;
use mallacc_results::store::{self, Store};
use rusqlite::Connection;
use stats::Schema;

/// Compares a page in `docs/` with the generated one, or rewrites it on request.
fn check_page(name: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("MALLACC_UPDATE_DOCS").is_some() {
        fs::write(&path, expected).unwrap();
    }
    let actual = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        actual == expected,
        "docs/{name} differs from the code; MALLACC_UPDATE_DOCS=1 cargo test -p mallacc-results \
         writes it anew"
    );
}

#[test]
fn the_schema_page_is_what_is_written() {
    check_page("schema.md", &store::markdown());
}

#[test]
fn the_schema_page_describes_every_column_of_a_fresh_store_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mallacc.db");
    drop(Store::open(&path).unwrap());
    let connection = Connection::open(&path).unwrap();
    let mut statement = connection
        .prepare(
            "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c \
             WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY t.rowid, c.cid",
        )
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let actual: Vec<(String, String)> = rows.map(Result::unwrap).collect();

    let mut described = Vec::new();
    let mut table = String::new();
    for line in store::markdown().lines() {
        if let Some(name) = line.strip_prefix("## ") {
            table = name.to_owned();
        } else if let Some(rest) = line.strip_prefix("| `") {
            let (column, what) = rest.split_once("` | ").unwrap();
            assert!(what.len() > " |".len(), "{table}.{column} has no description");
            described.push((table.clone(), column.to_owned()));
        }
    }
    assert!(actual.len() > 40, "the query found {} columns only", actual.len());
    assert_eq!(described, actual);
}

#[test]
fn the_schema_pages_example_query_runs_on_a_fresh_store() {
    let page = store::markdown();
    let query = page.split("```sql\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mallacc.db");
    drop(Store::open(&path).unwrap());
    Connection::open(&path).unwrap().prepare(query).unwrap();
}

#[test]
fn every_statistic_has_a_name_of_its_own_in_its_group_a_unit_and_a_sentence() {
    let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for statistic in declarations(&Schema::default()) {
        let name = &statistic.name;
        let group = names.entry(statistic.group).or_default();
        assert!(group.insert(name.clone()), "{name} twice");
        let snake = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(!name.is_empty() && name.chars().all(snake), "{name}");
        assert!(!statistic.unit.is_empty(), "{name} has no unit");
        let sentence = &statistic.description;
        assert!(sentence.ends_with('.') && sentence.len() > 5, "{name}: {sentence}");
        assert!(sentence.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit()), "{name}");
        assert_ne!(statistic.formula.as_deref(), Some(""), "{name}");
    }
    assert_eq!(names.len(), 3);
    for (group, names) in &names {
        assert!(names.len() >= 5, "{group} has {} statistics only", names.len());
    }
}
