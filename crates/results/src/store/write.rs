//! Writes a run, step by step.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use stats::Schema;

use super::names::{Stored, flatten};
use super::schema::{COUNTER_BOUND, REPLICATES, SAMPLES};
use super::{Result, Store, StoreError};
use crate::model::{
    CallSite, Configuration, Exit, LatencyHistogram, MarkerCounts, Phase, Run, SamplePoint,
};

impl Store {
    /// Enters a run that has begun, without its configurations. Returns its number.
    pub fn begin_run(&mut self, run: &Run) -> Result<i64> {
        self.transaction(|transaction| {
            transaction
                .execute(
                    "INSERT INTO runs (program, started, tool_version, seed, deterministic, \
                     host_seconds, instructions, threads, context_switches, forked_children, \
                     execs, skip, roi, complete) \
                     VALUES ('', 0, '', '0', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
                    [],
                )
                .map_err(Fault::Sqlite)?;
            let id = transaction.last_insert_rowid();
            write_run(transaction, id, run)?;
            Ok(id)
        })
    }

    /// Writes a configuration whose machine has finished, as number `position` of its run.
    pub fn finish_configuration(
        &mut self,
        run: i64,
        position: usize,
        configuration: &Configuration,
    ) -> Result<()> {
        self.transaction(|transaction| {
            transaction
                .execute(
                    "INSERT INTO configurations \
                     (run, position, name, machine, accelerator, resolved_machine, role) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    params![
                        run,
                        position as i64,
                        configuration.name,
                        configuration.machine,
                        configuration.accelerator,
                        configuration.resolved_machine,
                        configuration.role.name()
                    ],
                )
                .map_err(Fault::Sqlite)?;
            let id = transaction.last_insert_rowid();
            write_parameters(transaction, id, configuration)?;
            write_statistics(transaction, id, configuration)?;
            write_histograms(transaction, id, configuration)?;
            write_size_classes(transaction, id, configuration)?;
            write_call_sites(transaction, id, &configuration.call_sites)?;
            write_phases(transaction, id, &configuration.phases)?;
            write_points(transaction, id, SAMPLES, &configuration.samples)?;
            write_points(transaction, id, REPLICATES, &configuration.replicates)
        })
    }

    /// Writes the replicates of configuration number `position` of a run, in place of those that it
    /// has.
    pub fn set_replicates(
        &mut self,
        run: i64,
        position: usize,
        points: &[SamplePoint],
    ) -> Result<()> {
        self.transaction(|transaction| {
            let sql = "SELECT id FROM configurations WHERE run = ?1 AND position = ?2";
            let id: i64 = transaction
                .query_row(sql, params![run, position as i64], |row| row.get(0))
                .map_err(Fault::Sqlite)?;
            for table in REPLICATES {
                let sql = format!("DELETE FROM {table} WHERE configuration = ?1");
                transaction.execute(&sql, [id]).map_err(Fault::Sqlite)?;
            }
            write_points(transaction, id, REPLICATES, points)
        })
    }

    /// Updates everything about a run at its end, except its configurations.
    pub fn finish_run(&mut self, id: i64, run: &Run) -> Result<()> {
        self.transaction(|transaction| write_run(transaction, id, run))
    }

    /// Writes a whole run at once. Returns its number.
    pub fn save(&mut self, run: &Run) -> Result<i64> {
        let id = self.begin_run(run)?;
        for (position, configuration) in run.configurations.iter().enumerate() {
            self.finish_configuration(id, position, configuration)?;
        }
        Ok(id)
    }

    /// Runs `body` as one transaction that takes the write lock immediately, so that a second
    /// writer waits instead of failing halfway.
    pub(super) fn transaction<T>(
        &mut self,
        body: impl FnOnce(&Transaction) -> Step<T>,
    ) -> Result<T> {
        let path = &self.path;
        let explain = |error| StoreError::from_sqlite(path, "written", &error);
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(explain)?;
        let value = body(&transaction).map_err(|fault| match fault {
            Fault::Sqlite(error) => explain(error),
            Fault::Value(error) => *error,
        })?;
        transaction.commit().map_err(explain)?;
        Ok(value)
    }
}

/// Why a step of a transaction failed.
pub(super) enum Fault {
    Sqlite(rusqlite::Error),
    Value(Box<StoreError>),
}

pub(super) type Step<T> = std::result::Result<T, Fault>;

fn write_run(connection: &Connection, id: i64, run: &Run) -> Step<()> {
    let (code, signal) = match run.exit {
        Some(Exit::Code(code)) => (Some(code), None),
        Some(Exit::Signal(signal)) => (None, Some(signal)),
        None => (None, None),
    };
    let sampled = |part: fn(&crate::model::Sampling) -> u64| {
        run.sampling.as_ref().map(|sampling| wish(part(sampling)))
    };
    let marked = |what: &str, part: fn(&MarkerCounts) -> u64| {
        run.markers.as_ref().map(|markers| integer(what, part(markers))).transpose()
    };
    let changed = connection
        .execute(
            "UPDATE runs SET program = ?2, started = ?3, git_revision = ?4, tool_version = ?5, \
             seed = ?6, deterministic = ?7, host_seconds = ?8, instructions = ?9, threads = ?10, \
             context_switches = ?11, forked_children = ?12, execs = ?13, exit_code = ?14, \
             exit_signal = ?15, sampling_period = ?16, sampling_warm = ?17, \
             sampling_measure = ?18, sampling_samples = ?19, sampling_population = ?20, \
             skip = ?21, max = ?22, roi = ?23, complete = ?24, declarations = ?25, \
             unmeasured = ?26, executions = ?27, calls_begun = ?28, calls_ended = ?29, \
             calls_broken = ?30, label = ?31 WHERE id = ?1",
            params![
                id,
                run.program,
                run.started,
                run.git_revision,
                run.tool_version,
                run.seed.to_string(),
                run.deterministic,
                real("host_seconds", run.host_seconds)?,
                integer("instructions", run.instructions)?,
                integer("threads", run.threads)?,
                integer("context_switches", run.context_switches)?,
                integer("forked_children", run.forked_children)?,
                integer("execs", run.execs)?,
                code,
                signal,
                sampled(|sampling| sampling.period),
                sampled(|sampling| sampling.warm),
                sampled(|sampling| sampling.measure),
                sampled(|sampling| sampling.samples),
                sampled(|sampling| sampling.population),
                wish(run.skip),
                run.max.map(wish),
                run.roi,
                run.complete,
                declare(connection, &run.schema)?,
                run.unmeasured,
                integer("executions", run.executions)?,
                marked("calls_begun", |markers| markers.begun)?,
                marked("calls_ended", |markers| markers.ended)?,
                marked("calls_broken", |markers| markers.broken)?,
                run.label,
            ],
        )
        .map_err(Fault::Sqlite)?;
    if changed != 1 {
        let rule = "must be the number of a run that was begun in this store";
        return Err(value_fault("run", id.to_string(), rule, "begin the run first"));
    }
    write_list(connection, "arguments", "value", id, &run.args)?;
    write_list(connection, "warnings", "text", id, &run.warnings)
}

/// The number of a schema, which is added if no run had it before.
fn declare(connection: &Connection, schema: &Schema) -> Step<i64> {
    let text = serde_json::to_string(schema).map_err(|error| {
        let rule = "must be expressible as JSON";
        value_fault("declarations", error.to_string(), rule, "report it")
    })?;
    let known = "SELECT id FROM declarations WHERE text = ?1";
    let known = connection.query_row(known, [&text], |row| row.get(0)).optional();
    if let Some(id) = known.map_err(Fault::Sqlite)? {
        return Ok(id);
    }
    let insert = "INSERT INTO declarations (text) VALUES (?1)";
    connection.execute(insert, [&text]).map_err(Fault::Sqlite)?;
    Ok(connection.last_insert_rowid())
}

/// Replaces a run's rows in a table of ordered texts.
fn write_list(
    connection: &Connection,
    table: &str,
    column: &str,
    run: i64,
    texts: &[String],
) -> Step<()> {
    let delete = format!("DELETE FROM {table} WHERE run = ?1");
    connection.execute(&delete, [run]).map_err(Fault::Sqlite)?;
    let insert = format!("INSERT INTO {table} (run, position, {column}) VALUES (?1, ?2, ?3)");
    let mut insert = connection.prepare_cached(&insert).map_err(Fault::Sqlite)?;
    for (position, text) in texts.iter().enumerate() {
        insert.execute(params![run, position as i64, text]).map_err(Fault::Sqlite)?;
    }
    Ok(())
}

fn write_parameters(connection: &Connection, id: i64, configuration: &Configuration) -> Step<()> {
    let sql = "INSERT INTO parameters (configuration, name, value) VALUES (?1, ?2, ?3)";
    let mut insert = connection.prepare_cached(sql).map_err(Fault::Sqlite)?;
    for (name, value) in &configuration.parameters {
        let json = serde_json::to_string(value).map_err(|error| {
            let remedy = "use a finite number";
            value_fault(name, error.to_string(), "must be expressible as JSON", remedy)
        })?;
        insert.execute(params![id, name, json]).map_err(Fault::Sqlite)?;
    }
    Ok(())
}

fn write_statistics(connection: &Connection, id: i64, configuration: &Configuration) -> Step<()> {
    let sql =
        "INSERT INTO statistics (configuration, position, name, value) VALUES (?1, ?2, ?3, ?4)";
    let mut insert = connection.prepare_cached(sql).map_err(Fault::Sqlite)?;
    let mut seen = BTreeSet::new();
    for (position, (name, value)) in flatten(configuration).into_iter().enumerate() {
        if !seen.insert(name.clone()) {
            let rule = "occurs twice in one configuration";
            let remedy = "give each group of a kind, for example each cache, a name of its own";
            return Err(value_fault("statistic", name, rule, remedy));
        }
        let position = position as i64;
        match value {
            Stored::Count(count) => {
                insert.execute(params![id, position, name, integer(&name, count)?])
            }
            Stored::Real(figure) => {
                insert.execute(params![id, position, name, real(&name, figure)?])
            }
        }
        .map_err(Fault::Sqlite)?;
    }
    Ok(())
}

fn write_histograms(connection: &Connection, id: i64, configuration: &Configuration) -> Step<()> {
    let sql = "INSERT INTO histograms (configuration, name, low, high, count) \
               VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut insert = connection.prepare_cached(sql).map_err(Fault::Sqlite)?;
    let mut row = |name: &str, low: u64, high: u64, count: u64| -> Step<()> {
        let values = params![id, name, saturated(low), saturated(high), integer(name, count)?];
        insert.execute(values).map_err(Fault::Sqlite)?;
        Ok(())
    };
    for (kind, calls) in configuration.calls.iter() {
        let name = format!("{}.latency", kind.name());
        for (bucket, count) in calls.latency.buckets() {
            let (low, high) = LatencyHistogram::bounds(bucket as usize);
            row(&name, low, high, count)?;
        }
    }
    let maps = [
        ("size_class", &configuration.size_classes),
        ("requested_size", &configuration.requested_sizes),
    ];
    for (name, counts) in maps {
        // A program may request 2^64 - 1 bytes; sizes beyond SQLite's integers are counted
        // together.
        let mut merged: BTreeMap<u64, u64> = BTreeMap::new();
        for (value, count) in counts {
            *merged.entry(saturated(*value) as u64).or_default() += count;
        }
        for (value, count) in merged {
            row(name, value, value, count)?;
        }
    }
    Ok(())
}

fn write_call_sites(connection: &Connection, id: i64, sites: &[CallSite]) -> Step<()> {
    let sql = "INSERT INTO call_sites (configuration, position, place, calls, bytes, cycles) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut insert = connection.prepare_cached(sql).map_err(Fault::Sqlite)?;
    for (position, site) in sites.iter().enumerate() {
        let row = params![
            id,
            position as i64,
            site.place,
            integer("calls of a call site", site.calls)?,
            integer("bytes of a call site", site.bytes)?,
            integer("cycles of a call site", site.cycles)?,
        ];
        insert.execute(row).map_err(Fault::Sqlite)?;
    }
    Ok(())
}

fn write_size_classes(connection: &Connection, id: i64, configuration: &Configuration) -> Step<()> {
    let sql = "INSERT INTO size_classes (configuration, class, bytes) VALUES (?1, ?2, ?3)";
    let mut insert = connection.prepare_cached(sql).map_err(Fault::Sqlite)?;
    for (class, bytes) in &configuration.class_bytes {
        insert.execute(params![id, saturated(*class), saturated(*bytes)]).map_err(Fault::Sqlite)?;
    }
    Ok(())
}

fn write_phases(connection: &Connection, id: i64, phases: &[Phase]) -> Step<()> {
    let sql = "INSERT INTO phases \
               (configuration, position, instructions, cycles, allocator_cycles) \
               VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut insert = connection.prepare_cached(sql).map_err(Fault::Sqlite)?;
    for (position, phase) in phases.iter().enumerate() {
        insert
            .execute(params![
                id,
                position as i64,
                integer("instructions of a phase", phase.instructions)?,
                integer("cycles of a phase", phase.cycles)?,
                integer("allocator_cycles of a phase", phase.allocator_cycles)?,
            ])
            .map_err(Fault::Sqlite)?;
    }
    Ok(())
}

/// Points go into a table of sums and one of the calls of each kind.
fn write_points(
    connection: &Connection,
    id: i64,
    [sums, calls]: [&str; 2],
    points: &[SamplePoint],
) -> Step<()> {
    let sql = format!(
        "INSERT INTO {sums} (configuration, position, instructions, cycles, allocator_cycles) \
         VALUES (?1, ?2, ?3, ?4, ?5)"
    );
    let mut sum = connection.prepare_cached(&sql).map_err(Fault::Sqlite)?;
    let sql = format!(
        "INSERT INTO {calls} (configuration, position, kind, calls, cycles) \
         VALUES (?1, ?2, ?3, ?4, ?5)"
    );
    let mut tally = connection.prepare_cached(&sql).map_err(Fault::Sqlite)?;
    for (position, point) in points.iter().enumerate() {
        let position = position as i64;
        sum.execute(params![
            id,
            position,
            integer("instructions of a point", point.instructions)?,
            integer("cycles of a point", point.cycles)?,
            integer("allocator_cycles of a point", point.allocator_cycles)?,
        ])
        .map_err(Fault::Sqlite)?;
        for (kind, calls) in point.calls.iter().filter(|(_, t)| t.calls > 0 || t.cycles > 0) {
            tally
                .execute(params![
                    id,
                    position,
                    kind.name(),
                    integer("calls of a point", calls.calls)?,
                    integer("call cycles of a point", calls.cycles)?,
                ])
                .map_err(Fault::Sqlite)?;
        }
    }
    Ok(())
}

fn saturated(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A number that the user asked for, which may exceed SQLite's integers.
fn wish(value: u64) -> i64 {
    saturated(value.min(COUNTER_BOUND - 1))
}

fn integer(what: &str, value: u64) -> Step<i64> {
    match i64::try_from(value) {
        Ok(integer) if value < COUNTER_BOUND => Ok(integer),
        _ => {
            let rule = "must be below 2^56, the store's bound for counters";
            Err(value_fault(what, value.to_string(), rule, "the counter overflowed: report it"))
        }
    }
}

fn real(what: &str, value: f64) -> Step<f64> {
    if value.is_finite() {
        return Ok(value);
    }
    Err(value_fault(what, value.to_string(), "must be a finite number", "leave it out"))
}

fn value_fault(
    what: impl Into<String>,
    value: String,
    rule: &'static str,
    remedy: &'static str,
) -> Fault {
    Fault::Value(Box::new(StoreError::Value { what: what.into(), value, rule, remedy }))
}
