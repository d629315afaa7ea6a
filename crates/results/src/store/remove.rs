//! Removes runs.

use rusqlite::params;

use super::write::Fault;
use super::{Result, Store};

impl Store {
    /// Removes these runs with everything that belongs to them, or none if one of them is missing.
    pub fn remove(&mut self, ids: &[i64]) -> Result<()> {
        let there = self.ids()?;
        if let Some(&missing) = ids.iter().find(|id| !there.contains(id)) {
            return Err(self.no_such_run(missing));
        }
        self.transaction(|transaction| {
            for id in ids {
                transaction
                    .execute("DELETE FROM runs WHERE id = ?1", params![id])
                    .map_err(Fault::Sqlite)?;
            }
            let unused = "DELETE FROM declarations WHERE id NOT IN \
                          (SELECT declarations FROM runs WHERE declarations IS NOT NULL)";
            transaction.execute(unused, []).map_err(Fault::Sqlite)?;
            Ok(())
        })
    }

    /// The numbers of the runs with this label, oldest first.
    pub fn labelled(&self, label: &str) -> Result<Vec<i64>> {
        let all = self.labels()?.into_iter();
        Ok(all.filter(|(_, found)| found == label).map(|(id, _)| id).collect())
    }

    /// The labels of the runs that have one, with their numbers, oldest first.
    pub fn labels(&self) -> Result<Vec<(i64, String)>> {
        let sql = "SELECT id, label FROM runs WHERE label IS NOT NULL ORDER BY id";
        self.rows(sql, None, |row| Ok((row.get(0)?, row.get(1)?)))
    }
}
