//! Rows as text, CSV and JSON.

use std::fmt::Write;

use documents::csv::{Csv, number};
use documents::json::pretty;
use documents::{Column, Layout, Table};
use uarch::Machine;

use super::{Range, Row, Unit, reference};

/// A size in readable form.
fn size(bytes: u64) -> String {
    if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) {
        format!("{} MB", bytes >> 20)
    } else {
        format!("{} KB", bytes >> 10)
    }
}

fn figure(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Cycles => format!("{value:.1}"),
        Unit::Pages => format!("{value:.0} pages"),
    }
}

fn range(range: Range, unit: Unit) -> String {
    if range.least == range.most {
        let value = range.least;
        return if unit == Unit::Pages { format!("{value} pages") } else { value.to_string() };
    }
    format!("{}-{}", range.least, range.most)
}

/// As readable text.
pub fn text(machine: &Machine, rows: &[Row]) -> String {
    let mut table = Table::new([
        Column::right("size").at_least(8),
        Column::left("pattern").at_least(16),
        Column::right("simulated").at_least(10),
        Column::right("measured").at_least(10),
        Column::right("error").at_least(7),
        Column::left("verdict"),
    ]);
    for row in rows {
        table.row([
            size(row.bytes),
            row.pattern.to_owned(),
            figure(row.simulated, row.unit),
            row.measured.map_or("-".into(), |r| range(r, row.unit)),
            row.error().map_or("-".into(), |e| format!("{:+.1} %", 100.0 * e)),
            row.verdict().to_owned(),
        ]);
    }
    let mut out = format!("{}: cycles for each access, through the whole core\n\n", machine.name);
    out += &table.text(&Layout::PLAIN);
    let agree = rows.iter().filter(|row| row.agrees() == Some(true)).count();
    let measured = rows.iter().filter(|row| row.measured.is_some()).count();
    let _ = match reference::of(machine) {
        Some(reference) => writeln!(
            out,
            "\n{agree} of {measured} measured figures are within 10 %.\nMeasured: {}.\nSizes served by two levels together have no measured figure.",
            reference.source
        ),
        None => writeln!(
            out,
            "\nNo measurements of {} are known to compare these figures with.",
            machine.name
        ),
    };
    out
}

/// As CSV, one line per row; undefined values are empty.
pub fn csv(machine: &Machine, rows: &[Row]) -> String {
    let mut csv = Csv::new([
        "machine",
        "bytes",
        "pattern",
        "unit",
        "simulated",
        "measured_least",
        "measured_most",
        "error",
        "verdict",
    ]);
    for row in rows {
        csv.line([
            machine.name.clone(),
            row.bytes.to_string(),
            row.pattern.to_owned(),
            if row.unit == Unit::Pages { "pages" } else { "cycles" }.to_owned(),
            format!("{:.3}", row.simulated),
            number(row.measured.map(|r| r.least)),
            number(row.measured.map(|r| r.most)),
            row.error().map_or(String::new(), |e| format!("{e:.4}")),
            row.verdict().to_owned(),
        ]);
    }
    csv.text()
}

/// As JSON; undefined values are null.
pub fn json(machine: &Machine, rows: &[Row]) -> String {
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            let mut value = serde_json::json!(row);
            value["error"] = serde_json::json!(row.error());
            value["verdict"] = serde_json::json!(row.verdict());
            value
        })
        .collect();
    let source = reference::of(machine).map(|r| r.source);
    let document = serde_json::json!({
        "machine": machine.name, "measured_source": source, "rows": rows,
    });
    pretty(&document)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(bytes: u64, simulated: f64, measured: Option<Range>) -> Row {
        Row { bytes, pattern: "random chase", unit: Unit::Cycles, simulated, measured }
    }

    #[test]
    fn a_row_has_its_size_its_range_its_error_and_its_verdict() {
        let rows = [
            row(4096, 42.0, Some(Range { least: 39.0, most: 40.0 })),
            row(3 << 20, 5.0, Some(Range::about(4.0))),
            row(1 << 20, 7.0, None),
        ];
        let text = text(&Machine::default(), &rows);
        let lines: Vec<&str> = text.lines().collect();
        let words = |i: usize| lines[i].split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(3), "4 KB random chase 42.0 39-40 +5.0 % within 10 %");
        assert_eq!(words(4), "3 MB random chase 5.0 4 +25.0 % differs");
        assert_eq!(words(5), "1 MB random chase 7.0 - - not measured");
        assert!(text.contains("1 of 2 measured figures"), "{text}");
        let csv = csv(&Machine::default(), &rows);
        assert!(csv.contains("haswell,1048576,random chase,cycles,7.000,,,,not measured"), "{csv}");
        let json: serde_json::Value =
            serde_json::from_str(&json(&Machine::default(), &rows)).unwrap();
        assert_eq!(json["rows"][2]["error"], serde_json::Value::Null);
        assert_eq!(json["rows"][1]["error"], 0.25);
    }
}
