//! Files of measured blocks: `hex,cycles_per_100_iterations`, the format of the BHive samples.

use std::fmt;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::blocks::{BlockError, Blocks};
use crate::code::{parse_hex, shown};
use crate::score::Outcome;

/// The columns that a file must have; others are ignored.
pub const COLUMNS: [&str; 2] = ["hex", "cycles_per_100_iterations"];

/// A measured block.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Line in the file, from 1.
    pub line: usize,
    /// Machine code.
    pub bytes: Vec<u8>,
    /// Measured cycles per iteration.
    pub cycles: f64,
}

/// What is wrong with a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No field for this column.
    Missing(&'static str),
    /// The cycles are not a number above 0.
    Cycles,
    /// The block cannot be read or run.
    Block(BlockError),
}

/// A row that has no measurement or no prediction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowError {
    /// Line in the file, from 1.
    pub line: usize,
    /// Beginning of the line.
    pub text: String,
    /// What is wrong.
    pub fault: Fault,
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, text, fault } = self;
        match fault {
            Fault::Missing(column) => write!(
                f,
                "line {line}: {text:?}: no {column}; give {}, with commas between; row left out",
                COLUMNS.join(" and ")
            ),
            Fault::Cycles => write!(
                f,
                "line {line}: {text:?}: {} must be a number above 0; row left out",
                COLUMNS[1]
            ),
            Fault::Block(error) => write!(f, "line {line}: {text:?}: {error}; row left out"),
        }
    }
}

/// The readable rows of a file, and the errors of the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Measured blocks.
    pub measured: Vec<Measured>,
    /// Rows that were left out.
    pub errors: Vec<RowError>,
}

/// Reads a file's text. The header names the columns. A file without the two required columns, or
/// without rows, is rejected as a whole; a bad row is only left out.
pub fn parse(text: &str) -> Result<Rows, String> {
    let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let header = lines.find(|(_, line)| !line.is_empty()).map_or("", |(_, line)| line);
    let names: Vec<&str> = header.split(',').map(str::trim).collect();
    let find = |name: &str| {
        names.iter().position(|n| *n == name).ok_or_else(|| {
            format!(
                "header {:?}: no column {name}; the first line must name the columns {}",
                shown(header),
                COLUMNS.join(",")
            )
        })
    };
    let (hex, cycles) = (find(COLUMNS[0])?, find(COLUMNS[1])?);
    let mut rows = Rows::default();
    for (line, text) in lines.filter(|(_, line)| !line.is_empty()) {
        let fields: Vec<&str> = text.split(',').map(str::trim).collect();
        match row(fields.get(hex).copied(), fields.get(cycles).copied()) {
            Ok((bytes, cycles)) => rows.measured.push(Measured { line, bytes, cycles }),
            Err(fault) => rows.errors.push(RowError { line, text: shown(text), fault }),
        }
    }
    if rows.measured.is_empty() && rows.errors.is_empty() {
        return Err("no rows; give one line per measured block below the header".into());
    }
    Ok(rows)
}

fn row(hex: Option<&str>, cycles: Option<&str>) -> Result<(Vec<u8>, f64), Fault> {
    let hex = hex.ok_or(Fault::Missing(COLUMNS[0]))?;
    let cycles = cycles.ok_or(Fault::Missing(COLUMNS[1]))?;
    let cycles = cycles.parse::<f64>().ok().filter(|c| c.is_finite() && *c > 0.0);
    let cycles = cycles.ok_or(Fault::Cycles)? / 100.0;
    let bytes = parse_hex(hex).map_err(Fault::Block)?;
    if bytes.is_empty() {
        return Err(Fault::Block(BlockError::Empty));
    }
    Ok((bytes, cycles))
}

/// Predictions for all rows, in order, on up to `threads` threads. Rows without a prediction are
/// added to the errors, which stay in line order.
pub fn predict(
    blocks: &Blocks,
    rows: Rows,
    threads: NonZero<usize>,
) -> (Vec<Outcome>, Vec<RowError>) {
    let Rows { measured, mut errors } = rows;
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(row) = measured.get(i) else { return done };
            done.push((i, blocks.predict(&row.bytes)));
        }
    };
    let mut all = Vec::with_capacity(measured.len());
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.get()).map(|_| scope.spawn(work)).collect();
        all = work();
        for other in others {
            match other.join() {
                Ok(list) => all.extend(list),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    all.sort_by_key(|(i, _)| *i);
    let mut outcomes = Vec::with_capacity(all.len());
    for (row, (_, result)) in measured.into_iter().zip(all) {
        match result {
            Ok(prediction) => outcomes.push(Outcome { row, prediction }),
            Err(error) => {
                let text: String = row.bytes.iter().map(|b| format!("{b:02x}")).collect();
                let fault = Fault::Block(error);
                errors.push(RowError { line: row.line, text: shown(&text), fault });
            }
        }
    }
    errors.sort_by_key(|e| e.line);
    (outcomes, errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_row_is_named_with_its_line_and_the_others_stay() {
        let rows = parse(
            "hex,cycles_per_100_iterations\n4801c8,100.0\n90\n90,fast\n\n9g,1\n,7\n90,25\n90,0\n",
        )
        .unwrap();
        let good: Vec<(usize, f64)> = rows.measured.iter().map(|m| (m.line, m.cycles)).collect();
        assert_eq!(good, [(2, 1.0), (8, 0.25)]);
        let bad: Vec<usize> = rows.errors.iter().map(|e| e.line).collect();
        assert_eq!(bad, [3, 4, 6, 7, 9]);
        assert_eq!(rows.errors[0].fault, Fault::Missing(COLUMNS[1]));
        assert!(rows.errors[0].to_string().starts_with("line 3: \"90\": no cycles_per_100"));
        assert_eq!(rows.errors[1].fault, Fault::Cycles);
        assert!(rows.errors[1].to_string().starts_with("line 4: \"90,fast\""));
        assert_eq!(rows.errors[3].fault, Fault::Block(BlockError::Empty));
        assert_eq!(rows.errors[4].fault, Fault::Cycles, "0 cycles");
    }

    #[test]
    fn columns_are_found_by_name_and_missing_ones_refused() {
        let rows = parse("source,cycles_per_100_iterations,hex\nx,300,90\n").unwrap();
        assert_eq!(rows.measured, [Measured { line: 2, bytes: vec![0x90], cycles: 3.0 }]);
        assert!(parse("hex,cycles\n90,1\n").unwrap_err().contains("cycles_per_100_iterations"));
        assert!(parse("").unwrap_err().contains("hex"));
        let empty = parse("hex,cycles_per_100_iterations\n\n").unwrap_err();
        assert!(empty.starts_with("no rows"), "{empty}");
    }
}
