//! Reads runs back.

use std::collections::BTreeMap;

use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, Row, RowIndex, params};
use stats::Schema;

use super::names::{Stored, complete, kind_named, restore, schema_of};
use super::schema::{COUNTER_BOUND, REPLICATES, SAMPLES};
use super::{Result, Store, StoreError};
use crate::model::{
    CallKind, CallSite, CallTally, Configuration, Exit, LatencyHistogram, MarkerCounts,
    ParameterValue, Phase, Role, Run, SamplePoint, Sampling,
};

/// How much of a run to read.
#[derive(Clone, Copy, PartialEq)]
enum Detail {
    Everything,
    Counters,
}

/// The role of that name. One of a newer version is an accelerator like others.
fn role_named(name: &str) -> Role {
    Role::ALL.into_iter().find(|role| role.name() == name).unwrap_or_default()
}

/// Declarations that were read already, by their number.
type Declared = BTreeMap<Option<i64>, Schema>;

impl Store {
    /// Reads a run, equal to what was stored.
    pub fn load(&self, id: i64) -> Result<Run> {
        let run = self.read_run(id, Detail::Everything, &mut Declared::new())?;
        run.ok_or_else(|| self.no_such_run(id))
    }

    /// All runs, oldest first, with their counters but without histograms and samples.
    pub fn list(&self) -> Result<Vec<Run>> {
        let (mut runs, mut declared) = (Vec::new(), Declared::new());
        for id in self.ids()? {
            runs.extend(self.read_run(id, Detail::Counters, &mut declared)?);
        }
        Ok(runs)
    }

    /// The numbers of all runs, oldest first.
    pub fn ids(&self) -> Result<Vec<i64>> {
        self.rows("SELECT id FROM runs ORDER BY id", None, |row| row.get(0))
    }

    pub(super) fn no_such_run(&self, id: i64) -> StoreError {
        let remedy = match self.ids().as_deref() {
            Ok([]) => "it holds no runs yet: make one with `mallacc run`".to_owned(),
            Ok([only]) => format!("it holds run {only} only"),
            Ok([first, .., last]) => {
                format!("it holds runs {first} to {last}: `mallacc list` shows them")
            }
            Err(_) => "`mallacc list` shows what there is".to_owned(),
        };
        StoreError::NoSuchRun { path: self.path.clone(), id, remedy }
    }

    fn read_run(&self, id: i64, detail: Detail, declared: &mut Declared) -> Result<Option<Run>> {
        let run = self
            .connection
            .query_row("SELECT * FROM runs WHERE id = ?1", [id], |row| {
                Ok((run_from_row(row)?, row.get("declarations")?))
            })
            .optional()
            .map_err(|error| self.explain("read", &error))?;
        let Some((mut run, declarations)) = run else { return Ok(None) };
        let sql = "SELECT value FROM arguments WHERE run = ?1 ORDER BY position";
        run.args = self.rows(sql, Some(id), |row| row.get(0))?;
        let sql = "SELECT text FROM warnings WHERE run = ?1 ORDER BY position";
        run.warnings = self.rows(sql, Some(id), |row| row.get(0))?;
        let sql = "SELECT id, name, machine, accelerator, resolved_machine, role \
                   FROM configurations WHERE run = ?1 ORDER BY position";
        let configurations = self.rows(sql, Some(id), |row| {
            let configuration = Configuration {
                name: row.get(1)?,
                machine: row.get(2)?,
                accelerator: row.get(3)?,
                resolved_machine: row.get(4)?,
                role: role_named(&row.get::<_, String>(5)?),
                ..Configuration::default()
            };
            Ok((row.get(0)?, configuration))
        })?;
        for (id, mut configuration) in configurations {
            self.read_configuration(id, &mut configuration, detail)?;
            run.configurations.push(configuration);
        }
        let schema = match declared.get(&declarations) {
            Some(schema) => schema.clone(),
            None => self.read_schema(declarations)?,
        };
        declared.insert(declarations, schema.clone());
        run.schema = complete(schema, &run.configurations);
        Ok(Some(run))
    }

    /// The declarations with that number; without a number, those of version 1.
    fn read_schema(&self, id: Option<i64>) -> Result<Schema> {
        let text: Option<String> = match id {
            None => None,
            Some(id) => {
                let sql = "SELECT text FROM declarations WHERE id = ?1";
                let mut found = self.rows(sql, Some(id), |row| row.get(0))?;
                let missing = || self.damaged(format!("it has no declarations {id}"));
                Some(found.pop().ok_or_else(missing)?)
            }
        };
        schema_of(text.as_deref()).map_err(|what| self.damaged(what))
    }

    fn read_configuration(
        &self,
        id: i64,
        configuration: &mut Configuration,
        detail: Detail,
    ) -> Result<()> {
        let sql = "SELECT name, value FROM parameters WHERE configuration = ?1";
        for (name, json) in self.rows(sql, Some(id), |row| Ok((row.get(0)?, row.get(1)?)))? {
            let (name, json): (String, String) = (name, json);
            let value: ParameterValue = serde_json::from_str(&json)
                .map_err(|_| self.damaged(format!("parameter {name} = {json} is not JSON")))?;
            configuration.parameters.insert(name, value);
        }
        let sql = "SELECT name, value FROM statistics WHERE configuration = ?1 ORDER BY position";
        let mut extremes: BTreeMap<String, u64> = BTreeMap::new();
        for (name, value) in self.rows(sql, Some(id), |row| Ok((row.get(0)?, stored(row)?)))? {
            let (name, value): (String, Stored) = (name, value);
            match value {
                Stored::Count(count) if is_extreme(&name) => {
                    extremes.insert(name, count);
                }
                _ => restore(configuration, &name, value),
            }
        }
        if detail == Detail::Everything {
            self.read_histograms(id, configuration, &extremes)?;
            let sql = "SELECT class, bytes FROM size_classes WHERE configuration = ?1";
            let classes = self.rows(sql, Some(id), |row| Ok((row.get(0)?, row.get(1)?)))?;
            configuration.class_bytes = classes.into_iter().collect();
            configuration.call_sites = self.read_call_sites(id)?;
            configuration.phases = self.read_phases(id)?;
            configuration.samples = self.read_points(id, SAMPLES)?;
            configuration.replicates = self.read_points(id, REPLICATES)?;
        }
        Ok(())
    }

    fn read_histograms(
        &self,
        id: i64,
        configuration: &mut Configuration,
        extremes: &BTreeMap<String, u64>,
    ) -> Result<()> {
        let sql = "SELECT name, low, count FROM histograms WHERE configuration = ?1";
        let rows = self.rows(sql, Some(id), |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, u64>(1)?, count(row, 2)?))
        })?;
        let mut latencies: BTreeMap<CallKind, Vec<(u32, u64)>> = BTreeMap::new();
        for (name, low, count) in rows {
            match name.as_str() {
                "size_class" => {
                    configuration.size_classes.insert(low, count);
                }
                "requested_size" => {
                    configuration.requested_sizes.insert(low, count);
                }
                _ => {
                    if let Some(kind) = name.strip_suffix(".latency").and_then(kind_named) {
                        let bucket = LatencyHistogram::bucket_of(low) as u32;
                        latencies.entry(kind).or_default().push((bucket, count));
                    }
                }
            }
        }
        for (kind, buckets) in latencies {
            let extreme = |which: &str| {
                let name = format!("{}.latency_{which}", kind.name());
                extremes.get(&name).copied().ok_or_else(|| self.damaged(format!("no {name}")))
            };
            let latency = LatencyHistogram::from_parts(extreme("min")?, extreme("max")?, buckets);
            configuration.calls[kind].latency = latency;
        }
        Ok(())
    }

    fn read_call_sites(&self, id: i64) -> Result<Vec<CallSite>> {
        let sql = "SELECT place, calls, bytes, cycles FROM call_sites \
                   WHERE configuration = ?1 ORDER BY position";
        self.rows(sql, Some(id), |row| {
            let (calls, bytes, cycles) = (count(row, 1)?, count(row, 2)?, count(row, 3)?);
            Ok(CallSite { place: row.get(0)?, calls, bytes, cycles })
        })
    }

    fn read_phases(&self, id: i64) -> Result<Vec<Phase>> {
        let sql = "SELECT instructions, cycles, allocator_cycles FROM phases \
                   WHERE configuration = ?1 ORDER BY position";
        self.rows(sql, Some(id), |row| {
            Ok(Phase {
                instructions: count(row, 0)?,
                cycles: count(row, 1)?,
                allocator_cycles: count(row, 2)?,
            })
        })
    }

    /// The points of a configuration, from a table of sums and one of the calls of each kind.
    fn read_points(&self, id: i64, [sums, calls]: [&str; 2]) -> Result<Vec<SamplePoint>> {
        let sql = format!(
            "SELECT instructions, cycles, allocator_cycles FROM {sums} \
             WHERE configuration = ?1 ORDER BY position"
        );
        let mut points = self.rows(&sql, Some(id), |row| {
            Ok(SamplePoint {
                instructions: count(row, 0)?,
                cycles: count(row, 1)?,
                allocator_cycles: count(row, 2)?,
                ..SamplePoint::default()
            })
        })?;
        let sql =
            format!("SELECT position, kind, calls, cycles FROM {calls} WHERE configuration = ?1");
        let rows = self.rows(&sql, Some(id), |row| {
            let tally = CallTally { calls: count(row, 2)?, cycles: count(row, 3)? };
            Ok((count(row, 0)?, row.get::<_, String>(1)?, tally))
        })?;
        for (position, kind, tally) in rows {
            let point = points.get_mut(position as usize);
            let (Some(point), Some(kind)) = (point, kind_named(&kind)) else {
                let what = format!("calls of kind {kind} at position {position} of {sums}");
                return Err(self.damaged(what));
            };
            point.calls[kind] = tally;
        }
        Ok(points)
    }

    fn damaged(&self, what: String) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what }
    }

    /// All rows of a query that has at most one argument.
    pub(super) fn rows<T>(
        &self,
        sql: &str,
        argument: Option<i64>,
        each: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let read = || -> rusqlite::Result<Vec<T>> {
            let mut statement = self.connection.prepare_cached(sql)?;
            match argument {
                Some(id) => statement.query_map(params![id], each)?.collect(),
                None => statement.query_map([], each)?.collect(),
            }
        };
        read().map_err(|error| self.explain("read", &error))
    }
}

/// Whether a statistic is the smallest or largest latency of a kind of call.
fn is_extreme(name: &str) -> bool {
    let (kind, field) = name.split_once('.').unwrap_or_default();
    kind_named(kind).is_some() && matches!(field, "latency_min" | "latency_max")
}

fn run_from_row(row: &Row) -> rusqlite::Result<Run> {
    let optional = |name: &str| -> rusqlite::Result<Option<u64>> {
        row.get::<_, Option<i64>>(name)?.map(|_| count(row, name)).transpose()
    };
    let number = |name: &str| count(row, name);
    let exit = match (row.get("exit_code")?, row.get("exit_signal")?) {
        (Some(code), _) => Some(Exit::Code(code)),
        (None, Some(signal)) => Some(Exit::Signal(signal)),
        (None, None) => None,
    };
    let sampling = match optional("sampling_period")? {
        None => None,
        Some(period) => Some(Sampling {
            period,
            warm: number("sampling_warm")?,
            measure: number("sampling_measure")?,
            samples: number("sampling_samples")?,
            population: number("sampling_population")?,
        }),
    };
    // A store that nobody can write may have an earlier schema version.
    let begun = match optional("calls_begun") {
        Err(rusqlite::Error::InvalidColumnName(_)) => None,
        other => other?,
    };
    let markers = match begun {
        None => None,
        Some(begun) => Some(MarkerCounts {
            begun,
            ended: number("calls_ended")?,
            broken: number("calls_broken")?,
        }),
    };
    Ok(Run {
        id: row.get("id")?,
        program: row.get("program")?,
        started: row.get("started")?,
        git_revision: row.get("git_revision")?,
        tool_version: row.get("tool_version")?,
        seed: row.get::<_, String>("seed")?.parse().unwrap_or_default(),
        deterministic: row.get("deterministic")?,
        host_seconds: row.get("host_seconds")?,
        instructions: number("instructions")?,
        threads: number("threads")?,
        context_switches: number("context_switches")?,
        forked_children: number("forked_children")?,
        execs: number("execs")?,
        exit,
        sampling,
        skip: number("skip")?,
        max: optional("max")?,
        roi: row.get("roi")?,
        complete: row.get("complete")?,
        unmeasured: row.get("unmeasured")?,
        executions: number("executions")?,
        markers,
        label: row.get("label")?,
        ..Run::default()
    })
}

/// A counter, which is not negative and is below the bound.
fn count(row: &Row, column: impl RowIndex + Copy) -> rusqlite::Result<u64> {
    let value: u64 = row.get(column)?;
    if value < COUNTER_BOUND {
        return Ok(value);
    }
    let index = column.idx(row.as_ref())?;
    Err(rusqlite::Error::IntegralValueOutOfRange(index, value.cast_signed()))
}

fn stored(row: &Row) -> rusqlite::Result<Stored> {
    Ok(match row.get_ref(1)? {
        ValueRef::Real(value) => Stored::Real(value),
        _ => Stored::Count(count(row, 1)?),
    })
}
