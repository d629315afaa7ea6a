//! Declared statistics, tables, JSON, CSV and the SQLite store.
