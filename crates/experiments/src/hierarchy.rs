//! Pointer chases through the simulated core against measured latencies.

use uarch::Machine;
use validate::hierarchy::{Row, rows, table};

use crate::error::Failure;
use crate::input;

/// The chases and their machine.
pub struct Report {
    machine: Machine,
    rows: Vec<Row>,
}

/// Chases on the machine with this name or from this file.
pub fn run(machine: &str) -> Result<Report, Failure> {
    let machine = input::machine(machine)?;
    let rows = rows(&machine)?;
    Ok(Report { machine, rows })
}

impl Report {
    /// For people.
    pub fn text(&self) -> String {
        table::text(&self.machine, &self.rows)
    }

    /// For spreadsheets.
    pub fn csv(&self) -> String {
        table::csv(&self.machine, &self.rows)
    }

    /// For programs.
    pub fn json(&self) -> String {
        table::json(&self.machine, &self.rows)
    }
}
