//! The results store: one SQLite file, schema in `docs/schema.md`.
//!
//! A run is written in steps, so that no measurement is lost when a later step fails:
//! [`Store::begin_run`] when it starts, [`Store::finish_configuration`] as each machine finishes,
//! [`Store::finish_run`] at the end. Several processes may write to one store; each step is one
//! transaction, and a writer waits for another one up to [`BUSY_SECONDS`].

mod document;
mod error;
mod names;
mod read;
mod remove;
mod schema;
mod write;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

pub use document::markdown;
pub use error::{BUSY_SECONDS, StoreError};
pub use names::version_1;

use schema::{APPLICATION_ID, MIGRATIONS};

/// An open results store.
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

/// Pages copied at once; a copy from a file to memory has nothing to wait for.
const PAGES: i32 = 1024;

/// A copy of a database.
fn in_memory(from: &Connection) -> rusqlite::Result<Connection> {
    let mut copy = Connection::open_in_memory()?;
    Backup::new(from, &mut copy)?.run_to_completion(PAGES, Duration::ZERO, None)?;
    Ok(copy)
}

type Result<T, E = StoreError> = std::result::Result<T, E>;

impl Store {
    /// Opens the store at `path` for writing; creates it if it does not exist.
    pub fn open(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)
            .map_err(|error| StoreError::from_sqlite(path, "opened", &error))?;
        let mut store = Self { connection, path: path.to_owned() };
        store.prepare()?;
        Ok(store)
    }

    /// Opens an existing store for reading. This also works in a directory that is not writable.
    pub fn open_existing(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Err(StoreError::Missing { path: path.to_owned() });
        }
        match Self::open(path) {
            Err(StoreError::Unusable { .. }) => Self::open_immutable(path),
            other => other,
        }
    }

    /// Opens a store that nobody can write, without creating a log's side files.
    fn open_immutable(path: &Path) -> Result<Self> {
        let fail = |error: rusqlite::Error| StoreError::from_sqlite(path, "opened", &error);
        let mut escaped = String::new();
        for byte in path.to_string_lossy().bytes() {
            match byte {
                b'%' | b'?' | b'#' => escaped += &format!("%{byte:02x}"),
                _ => escaped.push(char::from(byte)),
            }
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let uri = format!("file:{escaped}?immutable=1");
        let connection = Connection::open_with_flags(uri, flags).map_err(fail)?;
        let mut store = Self { connection, path: path.to_owned() };
        match store.check_identity()? {
            0 => Err(StoreError::Unusable {
                path: store.path,
                action: "written",
                reason: "it has no tables yet".into(),
            }),
            version if version < MIGRATIONS.len() => {
                // What cannot be migrated in its place is migrated in memory.
                store.connection = in_memory(&store.connection).map_err(fail)?;
                store.migrate().map_err(fail)?;
                Ok(store)
            }
            _ => Ok(store),
        }
    }

    /// Checks that the file is a store of a known version, and migrates it to the current one.
    fn prepare(&mut self) -> Result<()> {
        let wait = Duration::from_secs(BUSY_SECONDS);
        self.connection.busy_timeout(wait).map_err(|error| self.explain("opened", &error))?;
        let version = self.check_identity()?;
        // A write-ahead log lets readers work beside a writer. If the file system does not support
        // it, SQLite keeps a rollback journal and everything still works.
        let _ = self.connection.pragma_update(None, "journal_mode", "wal");
        let settings = "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL;";
        self.connection.execute_batch(settings).map_err(|error| self.explain("opened", &error))?;
        if version < MIGRATIONS.len() {
            self.migrate().map_err(|error| self.explain("written", &error))?;
            self.check_identity()?;
        }
        Ok(())
    }

    /// The schema version, after checking that the file is a store (or empty) and not newer.
    fn check_identity(&self) -> Result<usize> {
        let (identity, version, tables) =
            self.identity().map_err(|error| self.explain("opened", &error))?;
        let ours = identity == i64::from(APPLICATION_ID);
        if !ours && (identity != 0 || version != 0 || tables > 0) {
            let reason = "an SQLite file of another program";
            return Err(StoreError::Foreign { path: self.path.clone(), reason });
        }
        match usize::try_from(version) {
            Ok(version) if version <= MIGRATIONS.len() => Ok(version),
            _ => Err(StoreError::Newer {
                path: self.path.clone(),
                found: version,
                known: MIGRATIONS.len(),
            }),
        }
    }

    /// Application, version and number of tables, in one transaction: another process may be
    /// creating the store.
    fn identity(&self) -> rusqlite::Result<(i64, i64, i64)> {
        let snapshot = self.connection.unchecked_transaction()?;
        let read = |pragma| snapshot.pragma_query_value(None, pragma, |row| row.get(0));
        let tables = "SELECT count(*) FROM sqlite_schema";
        let tables = snapshot.query_row(tables, [], |row| row.get(0))?;
        Ok((read("application_id")?, read("user_version")?, tables))
    }

    /// Applies the missing migrations in one transaction, so that two processes that create a store
    /// at the same time apply them once.
    fn migrate(&mut self) -> rusqlite::Result<()> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let version: i64 =
            transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        for migration in MIGRATIONS.iter().skip(usize::try_from(version).unwrap_or(0)) {
            transaction.execute_batch(migration)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
        transaction.commit()
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn explain(&self, action: &'static str, error: &rusqlite::Error) -> StoreError {
        StoreError::from_sqlite(&self.path, action, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_of_any_version_is_read_where_nobody_can_write_it() {
        let folder = tempfile::tempdir().unwrap();
        for version in 1..=MIGRATIONS.len() {
            let path = folder.path().join(format!("{version}.db"));
            let connection = Connection::open(&path).unwrap();
            for migration in &MIGRATIONS[..version] {
                connection.execute_batch(migration).unwrap();
            }
            connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
            connection.pragma_update(None, "user_version", version as i64).unwrap();
            let insert = "INSERT INTO runs (program, started, tool_version, seed, deterministic, \
                          host_seconds, instructions, threads, context_switches, \
                          forked_children, execs, skip, roi, complete) \
                          VALUES ('ls', 0, '', '0', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0); \
                          INSERT INTO configurations (run, position, name, machine, accelerator, \
                          resolved_machine) VALUES (1, 0, 'baseline', 'haswell', 'none', '')";
            connection.execute_batch(insert).unwrap();
            drop(connection);
            let before = std::fs::read(&path).unwrap();
            let run = Store::open_immutable(&path).unwrap().load(1).unwrap();
            assert_eq!((run.program.as_str(), run.label), ("ls", None), "version {version}");
            assert_eq!(run.configurations.len(), 1, "version {version}");
            assert_eq!(std::fs::read(&path).unwrap(), before, "version {version}");
        }
    }
}
