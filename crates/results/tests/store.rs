//! The store: what is written can be read back, and every refusal names its remedy.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mallacc_results::model::{CallKind, CallTally, Phase, SamplePoint};
use mallacc_results::store::{Store, StoreError};
use mallacc_results::{
    CallSite, Configuration, Exit, MarkerCounts, ParameterValue, Role, Run, Sampling,
};

use fixtures::machine::{Cache, Cpi, Machine, MallocCache, Predictor, Tlb};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use rusqlite::Connection;
use stats::Schema;

/// Counters that no machine exceeds, apart from the store's own bound.
fn counter() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 0..100_u64, 0..1_u64 << 40]
}

fn word() -> impl Strategy<Value = String> {
    "[A-Za-z0-9 ._äλ'\"%-]{0,12}"
}

fn parameter() -> impl Strategy<Value = ParameterValue> {
    prop_oneof![
        any::<bool>().prop_map(ParameterValue::Bool),
        any::<i64>().prop_map(ParameterValue::Integer),
        (-1.0e9..1.0e9_f64).prop_map(|x| ParameterValue::Real(x.floor() + 0.5)),
        word().prop_map(ParameterValue::Text),
    ]
}

/// Counters of a machine with any number of caches and TLBs.
fn machine() -> impl Strategy<Value = Machine> {
    let names = || btree_set("[A-Za-z0-9 _äλ'\"%-]{1,12}", 0..4);
    let counters = vec(vec(counter(), 16), 4);
    (names(), names(), counters, any::<[bool; 3]>()).prop_map(|(caches, tlbs, numbers, has)| {
        let cache = |(name, n): (String, &Vec<u64>)| {
            let [accesses, hits, misses, writebacks] = [n[0], n[1], n[2], n[3]];
            let [prefetches, prefetch_hits, evictions] = [n[4], n[5], n[6]];
            let cache =
                Cache { accesses, hits, misses, writebacks, prefetches, prefetch_hits, evictions };
            (name, cache)
        };
        let tlb = |(name, n): (String, &Vec<u64>)| {
            (name, Tlb { accesses: n[7], hits: n[8], misses: n[9] })
        };
        let n = &numbers[0];
        let malloc_cache = MallocCache {
            lookup_hits: n[10],
            pop_misses: n[11],
            blocked_cycles: n[12],
            ..MallocCache::default()
        };
        let predictor = Predictor { conditional: n[13], returns: n[14], ..Predictor::default() };
        Machine {
            cpi: has[0].then(|| Cpi { base: n[15], data_cache: n[0], branches: n[1] }),
            caches: caches.into_iter().rev().zip(&numbers).map(cache).collect(),
            tlbs: tlbs.into_iter().zip(&numbers).map(tlb).collect(),
            predictor: has[1].then_some(predictor),
            malloc_cache: has[2].then_some(malloc_cache),
        }
    })
}

fn points() -> impl Strategy<Value = Vec<SamplePoint>> {
    let tally = (0..8_usize, counter(), counter());
    let point = (counter(), counter(), counter(), vec(tally, 0..4)).prop_map(
        |(instructions, cycles, allocator_cycles, tallies)| {
            let mut point =
                SamplePoint { instructions, cycles, allocator_cycles, ..SamplePoint::default() };
            for (kind, calls, cycles) in tallies {
                point.calls[CallKind::ALL[kind]] = CallTally { calls, cycles };
            }
            point
        },
    );
    vec(point, 0..4)
}

fn configuration() -> impl Strategy<Value = (Configuration, Schema)> {
    let head = (word(), word(), word(), btree_map(word(), parameter(), 0..4), vec(counter(), 4));
    let lists = (
        vec((0..8_usize, counter()), 0..40),
        btree_map(counter(), counter(), 0..5),
        btree_map(counter(), counter(), 0..5),
        btree_map(counter(), counter(), 0..5),
        vec(option::of(0.0..1.0e9_f64), 4),
        vec((option::of(word()), counter(), counter(), counter()), 0..4),
    );
    (head, lists, machine(), vec(points(), 2)).prop_map(|(head, lists, counted, mut points)| {
        let (machine, accelerator, resolved_machine, parameters, n) = head;
        let (calls, size_classes, class_bytes, requested_sizes, stated, sites) = lists;
        let site = |(place, calls, bytes, cycles)| CallSite { place, calls, bytes, cycles };
        let mut configuration = Configuration {
            name: String::new(),
            machine,
            accelerator,
            parameters,
            resolved_machine,
            role: Role::ALL[(n[2] % 6) as usize],
            cycles: n[0],
            instructions: n[1],
            uops: n[2],
            allocator_cycles: n[3],
            size_classes,
            class_bytes,
            requested_sizes,
            call_sites: sites.into_iter().map(site).collect(),
            counted: counted.values(),
            area_um2: stated[0],
            area_rtl_um2_min: stated[1],
            area_rtl_um2_max: stated[2],
            energy_nj: stated[3],
            phases: points[0].iter().map(Phase::from).collect(),
            replicates: points.remove(1),
            samples: points.remove(0),
            ..Configuration::default()
        };
        for (kind, cycles) in calls {
            configuration.calls[CallKind::ALL[kind]].record(cycles);
        }
        (configuration, counted.schema())
    })
}

fn run() -> impl Strategy<Value = Run> {
    let exit = option::of(prop_oneof![
        any::<i32>().prop_map(Exit::Code),
        any::<i32>().prop_map(Exit::Signal)
    ]);
    let sampling = option::of(vec(counter(), 5).prop_map(|n| Sampling {
        period: n[0],
        warm: n[1],
        measure: n[2],
        samples: n[3],
        population: n[4],
    }));
    let texts = (
        (word(), vec(word(), 0..4), option::of(word()), option::of(word())),
        (word(), vec(word(), 0..3), option::of(word())),
    );
    let numbers = (
        any::<i64>(),
        any::<u64>(),
        0.0..1.0e6_f64,
        vec(counter(), 7),
        option::of([counter(), counter(), counter()]),
    );
    let flags =
        (any::<bool>(), any::<bool>(), any::<bool>(), exit, sampling, option::of(counter()));
    (texts, numbers, flags, vec(configuration(), 0..4)).prop_map(
        |(texts, (started, seed, host_seconds, n, markers), flags, configurations)| {
            let ((program, args, git_revision, label), (tool_version, warnings, unmeasured)) =
                texts;
            let (deterministic, roi, complete, exit, sampling, max) = flags;
            let schemas = configurations.iter().map(|(_, schema)| schema);
            let schema = schemas.fold(Schema::default(), |all, one| all.merged(one));
            let named = |(index, (item, _)): (usize, (Configuration, Schema))| Configuration {
                name: format!("machine {index}"),
                ..item
            };
            Run {
                id: None,
                label,
                program,
                args,
                started,
                git_revision,
                tool_version,
                seed,
                deterministic,
                host_seconds,
                instructions: n[0],
                threads: n[1],
                context_switches: n[2],
                forked_children: n[3],
                execs: n[4],
                executions: n[6],
                exit,
                warnings,
                unmeasured,
                sampling,
                skip: n[5],
                max,
                roi,
                schema,
                markers: markers.map(|[begun, ended, broken]| MarkerCounts {
                    begun,
                    ended,
                    broken,
                }),
                configurations: configurations.into_iter().enumerate().map(named).collect(),
                complete,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_run_is_loaded_equal_to_what_was_stored(first in run(), second in run()) {
        let mut store = Store::open(Path::new(":memory:")).unwrap();
        for run in [first, second] {
            let id = store.save(&run).unwrap();
            prop_assert_eq!(store.load(id).unwrap(), Run { id: Some(id), ..run });
        }
    }

    #[test]
    fn a_run_survives_its_own_json_form(run in run()) {
        let text = serde_json::to_string(&run).unwrap();
        prop_assert_eq!(serde_json::from_str::<Run>(&text).unwrap(), run);
    }
}

fn small_run() -> Run {
    let configuration = |name: &str| Configuration {
        name: name.into(),
        cycles: 7,
        parameters: BTreeMap::from([("entries".into(), ParameterValue::Integer(16))]),
        ..Configuration::default()
    };
    Run {
        program: "p".into(),
        args: vec!["a".into(), "b".into()],
        configurations: vec![configuration("x"), configuration("y")],
        ..Run::default()
    }
}

#[test]
fn each_configuration_is_kept_as_soon_as_its_machine_finishes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mallacc.db");
    let run = small_run();
    let mut writer = Store::open(&path).unwrap();
    let id = writer.begin_run(&run).unwrap();
    let reader = Store::open_existing(&path).unwrap();
    assert_eq!(reader.load(id).unwrap().configurations, []);
    // Machines finish in any order; the position preserves the order of the run.
    writer.finish_configuration(id, 1, &run.configurations[1]).unwrap();
    assert_eq!(reader.load(id).unwrap().configurations, run.configurations[1..]);
    assert!(!reader.load(id).unwrap().complete);
    writer.finish_configuration(id, 0, &run.configurations[0]).unwrap();
    let end = Run { complete: true, args: vec!["c".into()], id: Some(id), ..run };
    writer.finish_run(id, &end).unwrap();
    assert_eq!(reader.load(id).unwrap(), end);
    assert_eq!(reader.list().unwrap(), [end]);
}

#[test]
fn a_store_that_several_create_at_once_opens_for_all_of_them() {
    let folder = tempfile::tempdir().unwrap();
    // Each round is a new race.
    for round in 0..60 {
        let path = folder.path().join(format!("{round}.db"));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| Store::open(&path).map(drop).unwrap());
            }
        });
    }
}

#[test]
fn many_writers_share_one_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mallacc.db");
    let (writers, runs_each) = (4, 10);
    std::thread::scope(|scope| {
        for _ in 0..writers {
            scope.spawn(|| {
                let mut store = Store::open(&path).unwrap();
                for _ in 0..runs_each {
                    store.save(&small_run()).unwrap();
                }
            });
        }
    });
    let runs = Store::open_existing(&path).unwrap().list().unwrap();
    assert_eq!(runs.len(), writers * runs_each);
    assert!(runs.iter().all(|run| run.configurations == small_run().configurations));
}

#[test]
fn a_size_beyond_what_sqlite_counts_is_kept_as_the_largest_it_does() {
    let mut store = Store::open(Path::new(":memory:")).unwrap();
    let mut run = small_run();
    run.configurations[0].requested_sizes = BTreeMap::from([(u64::MAX, 2), (1 << 63, 3), (8, 1)]);
    let id = store.save(&run).unwrap();
    let loaded = store.load(id).unwrap();
    let expected = BTreeMap::from([(i64::MAX as u64, 5), (8, 1)]);
    assert_eq!(loaded.configurations[0].requested_sizes, expected);
}

#[test]
fn a_user_may_ask_for_more_instructions_than_there_can_be() {
    let mut store = Store::open(Path::new(":memory:")).unwrap();
    let id = store.save(&Run { max: Some(u64::MAX), ..small_run() }).unwrap();
    assert_eq!(store.load(id).unwrap().max, Some((1 << 56) - 1));
}

fn refusal<T>(result: Result<T, StoreError>) -> String {
    result.err().expect("must be refused").to_string()
}

#[test]
fn a_counter_that_overflowed_is_refused_by_name_and_leaves_nothing_half_written() {
    let mut store = Store::open(Path::new(":memory:")).unwrap();
    let mut run = small_run();
    run.configurations[0].calls[CallKind::Free].cycles = 1 << 56;
    let id = store.begin_run(&run).unwrap();
    let text = refusal(store.finish_configuration(id, 0, &run.configurations[0]));
    assert!(text.starts_with("free.cycles = 72057594037927936: must be below 2^56"), "{text}");
    assert_eq!(store.load(id).unwrap().configurations, []);
}

#[test]
fn two_caches_of_one_name_are_refused() {
    let mut store = Store::open(Path::new(":memory:")).unwrap();
    let mut run = small_run();
    run.configurations[0].counted = Machine::whole(&["L1D", "L1D"], &[]).values();
    let text = refusal(store.save(&run));
    assert!(text.starts_with("statistic = cache.L1D.accesses: occurs twice"), "{text}");
}

#[test]
fn a_configuration_without_a_run_or_a_name_of_its_own_is_refused() {
    let mut store = Store::open(Path::new(":memory:")).unwrap();
    let mut run = small_run();
    run.configurations[1].name = "x".into();
    for result in
        [store.save(&run).map(drop), store.finish_configuration(9, 0, &run.configurations[0])]
    {
        assert!(refusal(result).contains("with a name and position of its own"));
    }
}

#[test]
fn a_figure_that_is_no_number_is_refused() {
    let mut store = Store::open(Path::new(":memory:")).unwrap();
    let text = refusal(store.save(&Run { host_seconds: f64::NAN, ..small_run() }));
    assert!(text.starts_with("host_seconds = NaN: must be a finite number"), "{text}");
}

#[test]
fn a_run_that_was_not_begun_cannot_be_finished() {
    let mut store = Store::open(Path::new(":memory:")).unwrap();
    let text = refusal(store.finish_run(3, &small_run()));
    assert!(text.starts_with("run = 3: must be the number of a run"), "{text}");
}

#[test]
fn an_unknown_run_is_answered_with_the_runs_there_are() {
    let mut store = Store::open(Path::new(":memory:")).unwrap();
    assert!(refusal(store.load(9)).contains("it holds no runs yet: make one with `mallacc run`"));
    store.save(&small_run()).unwrap();
    assert!(refusal(store.load(9)).contains("it holds run 1 only"));
    store.save(&small_run()).unwrap();
    assert!(refusal(store.load(9)).contains("it holds runs 1 to 2: `mallacc list` shows them"));
}

#[test]
fn a_path_without_a_directory_is_refused_with_its_remedy() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("none/mallacc.db"), folder.path().to_owned()] {
        let text = refusal(Store::open(&path));
        assert!(text.starts_with(&format!("store {}: cannot be opened (", path.display())));
        assert!(text.ends_with("or name another file with --store"), "{text}");
    }
}

#[test]
fn a_missing_store_is_not_created_by_reading() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mallacc.db");
    assert!(
        refusal(Store::open_existing(&path)).contains("no such file; `mallacc run` creates it")
    );
    assert!(!path.exists());
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    let content = "not a database, and longer than the 100 bytes of a header. ".repeat(20);
    fs::write(&path, &content).unwrap();
    let text = refusal(Store::open(&path));
    assert!(text.contains("is not a results store (not an SQLite file)"), "{text}");
    assert_eq!(fs::read_to_string(&path).unwrap(), content);
}

#[test]
fn another_programs_database_is_refused_and_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let before = fs::read(&path).unwrap();
    let text = refusal(Store::open(&path));
    assert!(text.contains("an SQLite file of another program"), "{text}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_newer_schema_is_refused_by_both_versions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mallacc.db");
    drop(Store::open(&path).unwrap());
    let connection = Connection::open(&path).unwrap();
    let known: i64 = connection.pragma_query_value(None, "user_version", |r| r.get(0)).unwrap();
    connection.pragma_update(None, "user_version", known + 1).unwrap();
    drop(connection);
    let text = refusal(Store::open(&path));
    let expected =
        format!("has schema version {}, this mallacc knows up to {known}; use", known + 1);
    assert!(text.contains(&expected), "{text}");
}

#[test]
fn a_truncated_store_is_refused_without_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mallacc.db");
    Store::open(&path).unwrap().save(&small_run()).unwrap();
    let content = fs::read(&path).unwrap();
    for length in [50, 100, 4096, content.len() / 2] {
        fs::write(&path, &content[..length]).unwrap();
        let outcome = Store::open_existing(&path).and_then(|store| store.load(1));
        let text = refusal(outcome);
        assert!(text.starts_with("store "), "{length}: {text}");
    }
}

/// Reads a store in which every counter of every table was set to `value`.
fn tampered(value: i64) -> Result<Run, StoreError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mallacc.db");
    Store::open(&path).unwrap().save(&fixtures::whole()).unwrap();
    Store::open(&path).unwrap().save(&fixtures::sampled()).unwrap();
    let sql = format!(
        "UPDATE runs SET instructions = {value}, skip = {value}, started = {value};
         UPDATE statistics SET value = {value};
         UPDATE histograms SET count = {value};
         UPDATE samples SET cycles = {value}, allocator_cycles = {value};
         UPDATE sample_calls SET calls = {value}, cycles = {value};"
    );
    Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
    let store = Store::open_existing(&path)?;
    store.load(1)?;
    store.load(2)
}

#[test]
fn a_store_with_impossible_counters_is_refused_and_one_with_the_largest_is_shown() {
    for value in [-1, 1 << 56, i64::MAX, i64::MIN] {
        let text = refusal(tampered(value));
        assert!(text.contains("the file is damaged"), "{text}");
    }
    for value in [0, (1 << 56) - 1] {
        let run = tampered(value).unwrap();
        let style = mallacc_results::text::Style::PLAIN;
        for text in [
            mallacc_results::text::detail(&run, &style),
            mallacc_results::text::list(std::slice::from_ref(&run), &style),
            mallacc_results::json::render(&run),
            mallacc_results::csv::render(&run, &run.schema),
        ] {
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
    }
}

#[test]
fn the_store_is_one_file_once_it_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mallacc.db");
    Store::open(&path).unwrap().save(&small_run()).unwrap();
    let names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["mallacc.db"]);
}
