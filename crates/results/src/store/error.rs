//! Errors of the store, each with its remedy.

use std::path::{Path, PathBuf};

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file cannot be opened or created.
    #[error(
        "store {}: cannot be {action} ({reason}); check the directory, its permissions and free \
         space, or name another file with --store", path.display()
    )]
    Unusable {
        /// The store.
        path: PathBuf,
        /// `opened`, `read` or `written`.
        action: &'static str,
        /// What the system said.
        reason: String,
    },
    /// There is no such file.
    #[error(
        "store {}: no such file; `mallacc run` creates it, or name another with --store",
        path.display()
    )]
    Missing {
        /// The store.
        path: PathBuf,
    },
    /// The file is not a store.
    #[error(
        "store {}: is not a results store ({reason}); name another file with --store or move \
         this one away", path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        reason: &'static str,
    },
    /// A newer version of the tool wrote the store.
    #[error(
        "store {}: has schema version {found}, this mallacc knows up to {known}; use the newer \
         mallacc or another file with --store", path.display()
    )]
    Newer {
        /// The store.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The newest version known here.
        known: usize,
    },
    /// Another process has locked the store.
    #[error(
        "store {}: stayed locked by another process for {seconds} s; wait for it to finish or \
         name another file with --store", path.display()
    )]
    Busy {
        /// The store.
        path: PathBuf,
        /// How long the writer waited.
        seconds: u64,
    },
    /// No such run.
    #[error("run {id}: not in store {}; {remedy}", path.display())]
    NoSuchRun {
        /// The store.
        path: PathBuf,
        /// The number asked for.
        id: i64,
        /// The numbers that exist.
        remedy: String,
    },
    /// A value that the store cannot hold.
    #[error("{what} = {value}: {rule}; {remedy}")]
    Value {
        /// Which value.
        what: String,
        /// The value.
        value: String,
        /// The rule that it violates.
        rule: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// The store's content contradicts the schema.
    #[error(
        "store {}: {what}; the file is damaged, restore a copy or name another with --store",
        path.display()
    )]
    Damaged {
        /// The store.
        path: PathBuf,
        /// What was found.
        what: String,
    },
}

/// How long a writer waits for another one.
pub const BUSY_SECONDS: u64 = 30;

impl StoreError {
    /// Translates what SQLite says about the store at `path` during `action`.
    pub(super) fn from_sqlite(path: &Path, action: &'static str, error: &rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{
            ConstraintViolation, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, NotADatabase,
        };
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(NotADatabase) => Self::Foreign { path, reason: "not an SQLite file" },
            Some(DatabaseBusy | DatabaseLocked) => Self::Busy { path, seconds: BUSY_SECONDS },
            Some(ConstraintViolation) => Self::Value {
                what: "configuration".into(),
                value: error.to_string(),
                rule: "must belong to a run that was begun, with a name and position of its own",
                remedy: "give each configuration of a run another name",
            },
            Some(DatabaseCorrupt) => Self::Damaged { path, what: error.to_string() },
            Some(_) => Self::Unusable { path, action, reason: error.to_string() },
            None => Self::Damaged { path, what: error.to_string() },
        }
    }
}
