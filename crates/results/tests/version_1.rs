//! Stores written by schema version 1: they open, and show what they used to show.

use std::path::{Path, PathBuf};

use mallacc_results::store::{Store, version_1};
use mallacc_results::text::{self, Style};
use mallacc_results::{csv, json};
use rusqlite::Connection;

/// The tables of version 1.
const TABLES: &str = "
CREATE TABLE runs (id INTEGER PRIMARY KEY AUTOINCREMENT, program TEXT NOT NULL,
  started INTEGER NOT NULL, git_revision TEXT, tool_version TEXT NOT NULL, seed TEXT NOT NULL,
  deterministic INTEGER NOT NULL, host_seconds REAL NOT NULL, instructions INTEGER NOT NULL,
  threads INTEGER NOT NULL, context_switches INTEGER NOT NULL, forked_children INTEGER NOT NULL,
  execs INTEGER NOT NULL, exit_code INTEGER, exit_signal INTEGER, sampling_period INTEGER,
  sampling_warm INTEGER, sampling_measure INTEGER, sampling_samples INTEGER,
  sampling_population INTEGER, skip INTEGER NOT NULL, max INTEGER, roi INTEGER NOT NULL,
  complete INTEGER NOT NULL);
CREATE TABLE arguments (run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  position INTEGER NOT NULL, value TEXT NOT NULL, PRIMARY KEY (run, position)) WITHOUT ROWID;
CREATE TABLE warnings (run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  position INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (run, position)) WITHOUT ROWID;
CREATE TABLE configurations (id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, position INTEGER NOT NULL,
  name TEXT NOT NULL, machine TEXT NOT NULL, accelerator TEXT NOT NULL,
  resolved_machine TEXT NOT NULL, UNIQUE (run, position), UNIQUE (run, name));
CREATE TABLE parameters (configuration INTEGER NOT NULL REFERENCES configurations(id)
  ON DELETE CASCADE, name TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (configuration, name)) WITHOUT ROWID;
CREATE TABLE statistics (configuration INTEGER NOT NULL REFERENCES configurations(id)
  ON DELETE CASCADE, position INTEGER NOT NULL, name TEXT NOT NULL, value NOT NULL,
  PRIMARY KEY (configuration, name)) WITHOUT ROWID;
CREATE INDEX statistics_by_name ON statistics (name);
CREATE TABLE histograms (configuration INTEGER NOT NULL REFERENCES configurations(id)
  ON DELETE CASCADE, name TEXT NOT NULL, low INTEGER NOT NULL, high INTEGER NOT NULL,
  count INTEGER NOT NULL, PRIMARY KEY (configuration, name, low)) WITHOUT ROWID;
CREATE TABLE samples (configuration INTEGER NOT NULL REFERENCES configurations(id)
  ON DELETE CASCADE, position INTEGER NOT NULL, instructions INTEGER NOT NULL,
  cycles INTEGER NOT NULL, allocator_cycles INTEGER NOT NULL,
  PRIMARY KEY (configuration, position)) WITHOUT ROWID;
CREATE TABLE sample_calls (configuration INTEGER NOT NULL REFERENCES configurations(id)
  ON DELETE CASCADE, position INTEGER NOT NULL, kind TEXT NOT NULL, calls INTEGER NOT NULL,
  cycles INTEGER NOT NULL, PRIMARY KEY (configuration, position, kind)) WITHOUT ROWID;
PRAGMA application_id = 1298230380;
PRAGMA user_version = 1;
";

/// A run of a baseline and of an accelerator, as version 1 stored it.
const RUN: &str = "
INSERT INTO runs VALUES (5, 'perl', 1234567890, NULL, '0.1.0', '42', 1, 0.5, 2000000, 1, 0, 0, 0,
  0, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, 1);
INSERT INTO configurations VALUES (1, 5, 0, 'baseline', 'haswell', 'none', 'name = \"haswell\"');
INSERT INTO configurations VALUES (2, 5, 1, 'mallacc-16', 'haswell', 'mallacc', 'x');
INSERT INTO parameters VALUES (2, 'entries', '16');
";

const INSTRUCTIONS: u64 = 2_000_000;

/// Statistics of a configuration, in the order in which version 1 wrote them.
fn statistics(malloc_cache: bool) -> Vec<(&'static str, u64)> {
    let mut all = vec![
        ("cycles", 1_000_000),
        ("instructions", INSTRUCTIONS),
        ("uops", 2_100_000),
        ("allocator_cycles", 60_000),
        ("cpi.base", 700_000),
        ("cpi.load_l2", 300_000),
        ("malloc.calls", 3),
        ("malloc.cycles", 60),
        ("malloc.fast_calls", 3),
        ("malloc.fast_cycles", 60),
        ("malloc.latency_min", 20),
        ("malloc.latency_max", 20),
        ("cache.L1D.accesses", 500_000),
        ("cache.L1D.hits", 490_000),
        ("cache.L1D.misses", 10_000),
        ("cache.L1D.writebacks", 100),
        ("cache.L1D.prefetches", 400),
        ("cache.L1D.prefetch_hits", 300),
        ("tlb.DTLB.accesses", 500_000),
        ("tlb.DTLB.hits", 499_000),
        ("tlb.DTLB.misses", 1_000),
        ("predictor.conditional", 80_000),
        ("predictor.conditional_mispredicted", 2_000),
        ("predictor.indirect", 900),
        ("predictor.indirect_mispredicted", 90),
        ("predictor.returns", 700),
        ("predictor.returns_mispredicted", 10),
    ];
    if malloc_cache {
        all.extend([
            ("malloc_cache.lookup_hits", 2),
            ("malloc_cache.lookup_misses", 1),
            ("malloc_cache.invariant_violations", 0),
        ]);
    }
    all
}

fn version_1_store(folder: &Path) -> PathBuf {
    let path = folder.join("mallacc.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(TABLES).unwrap();
    connection.execute_batch(RUN).unwrap();
    for (configuration, malloc_cache) in [(1, false), (2, true)] {
        for (position, (name, value)) in statistics(malloc_cache).into_iter().enumerate() {
            let sql = "INSERT INTO statistics VALUES (?1, ?2, ?3, ?4)";
            let row = (configuration, position as i64, name, value as i64);
            connection.execute(sql, row).unwrap();
        }
        let sql = "INSERT INTO histograms VALUES (?1, 'malloc.latency', 20, 20, 3)";
        connection.execute(sql, [configuration]).unwrap();
    }
    path
}

#[test]
fn a_store_of_version_1_shows_what_it_showed() {
    let folder = tempfile::tempdir().unwrap();
    let path = version_1_store(folder.path());
    let run = Store::open_existing(&path).unwrap().load(5).unwrap();
    assert_eq!(run.schema, version_1());
    assert_eq!(run.contradictions(), [""; 0]);
    let value = json::value(&run);
    let (base, own) = (&value["configurations"][0], &value["configurations"][1]);
    assert_eq!(base["cpi_stack"]["load_l2"], 300_000);
    assert_eq!(base["caches"][0]["name"], "L1D");
    assert_eq!(base["caches"].as_array().unwrap().len(), 1, "as many as were stored");
    assert_eq!(base["caches"][0]["mpki"], 1000.0 * (10_000.0 / INSTRUCTIONS as f64));
    assert_eq!(base["caches"][0]["prefetch_accuracy"], 300.0 / 400.0);
    assert_eq!(base["tlbs"][0]["hit_rate"], 499_000.0 / 500_000.0);
    assert_eq!(base["predictor"]["accuracy"], 1.0 - 2_000.0 / 80_000.0);
    let wrong = 2_000.0 + 90.0 + 10.0;
    assert_eq!(base["predictor"]["mpki"], 1000.0 * (wrong / INSTRUCTIONS as f64));
    assert!(base["malloc_cache"].is_null());
    assert_eq!(own["malloc_cache"]["lookup_hit_rate"], 2.0 / 3.0);
    assert_eq!(own["malloc"]["cycles_per_call"], 20.0);
    let keys: Vec<&String> = own["caches"][0].as_object().unwrap().keys().collect();
    let expected = ["accesses", "hits", "misses", "writebacks", "prefetches", "prefetch_hits"];
    let ratios = ["hit_rate", "mpki", "prefetch_accuracy"];
    let expected: Vec<&str> = ["name"].into_iter().chain(expected).chain(ratios).collect();
    assert_eq!(keys, expected);
    let detail = text::detail(&run, &Style::PLAIN);
    for part in ["  load_l2", "  L1D  ", "directions right", "lookups that hit"] {
        assert!(detail.contains(part), "{part} in {detail}");
    }
    let table = csv::render(&run, &run.schema);
    assert!(table.contains(",10000,"), "{table}");
}

#[test]
fn a_store_of_version_1_is_brought_up_to_date_and_keeps_its_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = version_1_store(folder.path());
    let mut store = Store::open(&path).unwrap();
    let before = store.list().unwrap();
    let (first, second) =
        (store.save(&fixtures::whole()).unwrap(), store.save(&fixtures::sampled()).unwrap());
    assert_eq!(store.list().unwrap()[..1], before);
    let roles: Vec<&str> = before[0].configurations.iter().map(|item| item.role.name()).collect();
    assert_eq!(roles, ["baseline", "candidate"], "the accelerators' names tell");
    assert_eq!(store.load(first).unwrap().schema, fixtures::whole().schema);
    drop(store);
    let connection = Connection::open(&path).unwrap();
    let count = |sql: &str| -> i64 { connection.query_row(sql, [], |row| row.get(0)).unwrap() };
    assert_eq!(count("SELECT user_version FROM pragma_user_version"), 6);
    assert_eq!(count("SELECT count(*) FROM declarations"), 1, "runs {first} and {second} share it");
    assert_eq!(count("SELECT count(*) FROM runs WHERE declarations IS NULL"), 1);
}

#[test]
fn a_counter_that_nobody_declared_is_kept_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = version_1_store(folder.path());
    let sql = "INSERT INTO statistics VALUES (1, 90, 'cache.L1D.ways', 8);
               INSERT INTO statistics VALUES (1, 91, 'ghost.hunts', 13);";
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let mut store = Store::open(&path).unwrap();
    let run = store.load(5).unwrap();
    let value = json::value(&run);
    assert_eq!(value["configurations"][0]["caches"][0]["ways"], 8);
    assert_eq!(value["configurations"][0]["ghost"]["hunts"], 13);
    assert!(text::detail(&run, &Style::PLAIN).contains("  hunts"));
    let again = store.save(&run).unwrap();
    let mut copy = store.load(again).unwrap();
    copy.id = run.id;
    assert_eq!(copy, run);
}

#[test]
fn damaged_declarations_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mallacc.db");
    let id = Store::open(&path).unwrap().save(&fixtures::whole()).unwrap();
    for (sql, part) in [
        ("UPDATE declarations SET text = '{\"kinds\": 7}'", "its declarations are damaged ("),
        ("PRAGMA foreign_keys = OFF; DELETE FROM declarations", "it has no declarations 1"),
    ] {
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let error = Store::open_existing(&path).unwrap().load(id).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("the file is damaged"), "{error}");
    }
}
