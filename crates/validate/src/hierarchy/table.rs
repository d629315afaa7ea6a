//! Rows as text, CSV and JSON.

use std::fmt::Write;

use uarch::Machine;

use super::{Range, Row, Unit, reference};

/// A size as people write it.
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

/// For reading.
pub fn text(machine: &Machine, rows: &[Row]) -> String {
    let mut out = format!("{}: cycles for each access, through the whole core\n\n", machine.name);
    let header = ["size", "pattern", "simulated", "measured", "error", "verdict"];
    let mut line = |cells: [&str; 6]| {
        let [size, pattern, simulated, measured, error, verdict] = cells;
        let _ = writeln!(
            out,
            "{size:>8}  {pattern:<16}  {simulated:>10}  {measured:>10}  {error:>7}  {verdict}"
        );
    };
    line(header);
    for row in rows {
        let simulated = figure(row.simulated, row.unit);
        let measured = row.measured.map_or("-".into(), |r| range(r, row.unit));
        let error = row.error().map_or("-".into(), |e| format!("{:+.1} %", 100.0 * e));
        line([&size(row.bytes), row.pattern, &simulated, &measured, &error, row.verdict()]);
    }
    let agree = rows.iter().filter(|row| row.agrees() == Some(true)).count();
    let measured = rows.iter().filter(|row| row.measured.is_some()).count();
    let _ = match reference::of(machine) {
        Some(reference) => writeln!(
            out,
            "\n{agree} of {measured} measured figures are within 10 %.\nMeasured: {}.\nSizes \
             that two levels answer together have no measured figure.",
            reference.source
        ),
        None => writeln!(
            out,
            "\nNo measurements are known of {}: the figures stand by themselves.",
            machine.name
        ),
    };
    out
}

/// A line for each row; what is undefined is empty.
pub fn csv(machine: &Machine, rows: &[Row]) -> String {
    let mut out = String::from(
        "machine,bytes,pattern,unit,simulated,measured_least,measured_most,error,verdict\n",
    );
    for row in rows {
        let unit = if row.unit == Unit::Pages { "pages" } else { "cycles" };
        let field = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
        let _ = writeln!(
            out,
            "{},{},{},{unit},{:.3},{},{},{},{}",
            machine.name,
            row.bytes,
            row.pattern,
            row.simulated,
            field(row.measured.map(|r| r.least)),
            field(row.measured.map(|r| r.most)),
            row.error().map_or(String::new(), |e| format!("{e:.4}")),
            row.verdict()
        );
    }
    out
}

/// As JSON; what is undefined is null.
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
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
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
