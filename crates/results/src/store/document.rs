//! The schema as a page.

use std::fmt::Write as _;

use documents::Column;

use super::schema::{MEANING, MIGRATIONS, Table};

/// The page `docs/schema.md`.
pub fn markdown() -> String {
    let mut page = format!(
        "\
# Schema of the results store

Generated from `crates/results/src/store/schema.rs`; a test compares this page with the tables of a
fresh store (`MALLACC_UPDATE_DOCS=1 cargo test -p mallacc-results` updates it).

A store is one SQLite file (default `mallacc.db`), readable by anything that reads SQLite.
`PRAGMA application_id` is 0x4d616c6c (\"Mall\"), `PRAGMA user_version` the schema version, now
{version}. Migrations are appended and never edited: an older store is brought up to date when it is opened, a
newer one is refused. Writers use a write-ahead log and wait for each other. While a store is open
there may be `-wal` and `-shm` files beside it, which belong to it. Counters lie below 2^56;
requested sizes above 2^63 - 1 are kept as 2^63 - 1.

Each configuration is written in one transaction when its machine finishes, so an interrupted run
keeps what was measured; `runs.complete` tells the two apart.

For example, cycles per malloc call of every configuration of run 1:

```sql
SELECT c.name, 1.0 * cycles.value / nullif(calls.value, 0) AS cycles_per_call
FROM configurations c
JOIN statistics cycles ON cycles.configuration = c.id AND cycles.name = 'malloc.cycles'
JOIN statistics calls  ON calls.configuration  = c.id AND calls.name  = 'malloc.calls'
WHERE c.run = 1 ORDER BY c.position;
```
",
        version = MIGRATIONS.len()
    );
    for Table { name, about, columns } in MEANING {
        let mut table = documents::Table::new(["column", "what"].map(Column::left));
        for (column, what) in *columns {
            table.row([format!("`{column}`"), (*what).to_owned()]);
        }
        let _ = write!(page, "\n## {name}\n{about}\n\n{}", table.markdown());
    }
    page
}
